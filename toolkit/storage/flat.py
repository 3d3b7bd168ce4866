"""Behaviour that all object stores share: keys without directories, and objects without attributes."""

from __future__ import annotations

from abc import ABC, abstractmethod
from datetime import UTC, datetime, timedelta
from typing import NoReturn

from typing_extensions import override

from toolkit.el import EPOCH, CanonicalPath
from toolkit.storage.base import BasicFileSystem
from toolkit.storage.errors import AlreadyExists, NotFound, Unsupported
from toolkit.storage.port import Capabilities, FileKind, FileStatus

NEVER = EPOCH
"""The time of the root of a store in which nothing is."""

PARALLEL = 16
"""So many requests at once are good for an object store."""


def whole_seconds(moment: datetime) -> datetime:
    """In UTC, without the parts of a second that listings have and the answer about one object has not."""
    return moment.astimezone(UTC).replace(microsecond=0)


class FlatFileSystem(BasicFileSystem, ABC):
    """The part of `FileSystem` that is the same for every object store."""

    capabilities = Capabilities(
        atomic_rename=False,
        atomic_delete=False,
        directories=False,
        permissions=False,
        times=False,
        conditional_put=True,
        parallel=PARALLEL,
        time_step=timedelta(seconds=1),
        checksums=True,
    )

    @abstractmethod
    def found(self, path: CanonicalPath) -> FileStatus | None:
        """Return the status of a path, None for nothing; of an object and a directory of one name, the directory."""

    @override
    def status(self, path: CanonicalPath) -> FileStatus:
        """Return the status; `modified` of a directory is that of the first object in it."""
        found = self.found(path)
        if found is None:
            raise NotFound(path=path)
        return found

    @override
    def mkdirs(self, path: CanonicalPath) -> None:
        """Check that no object is in the way; no directory marker is written."""
        found = self.found(path)
        if found is not None and found.kind is FileKind.FILE:
            raise AlreadyExists(path=path)

    @override
    def rename(self, source: CanonicalPath, target: CanonicalPath) -> NoReturn:
        raise Unsupported(path=source, detail="objects cannot be renamed")

"""What all object stores have in common: keys without directories, and nothing that can be set on an object."""

from __future__ import annotations

from abc import ABC, abstractmethod
from datetime import UTC, datetime
from typing import NoReturn

from toolkit.el import CanonicalPath
from toolkit.storage.errors import AlreadyExists, NotFound, Unsupported
from toolkit.storage.port import Capabilities, FileKind, FileStatus

NEVER = datetime(1970, 1, 1, tzinfo=UTC)
"""The time of the root of a store in which nothing is."""

PARALLEL = 16
"""So many requests at once are good for an object store."""


class FlatFileSystem(ABC):
    """The part of `FileSystem` that is the same for every object store."""

    capabilities = Capabilities(
        atomic_rename=False,
        atomic_delete=False,
        directories=False,
        permissions=False,
        times=False,
        conditional_put=True,
        parallel=PARALLEL,
    )

    @abstractmethod
    def found(self, path: CanonicalPath) -> FileStatus | None:
        """What is at the path, None for nothing; where an object and a directory have one name, the directory."""

    def status(self, path: CanonicalPath) -> FileStatus:
        """See `FileSystem.status`; of a directory, `modified` is that of the first object in it."""
        found = self.found(path)
        if found is None:
            raise NotFound(path=path)
        return found

    def mkdirs(self, path: CanonicalPath) -> None:
        """See `FileSystem.mkdirs`; there is nothing to make, and no marker is written."""
        found = self.found(path)
        if found is not None and found.kind is FileKind.FILE:
            raise AlreadyExists(path=path)

    def rename(self, source: CanonicalPath, target: CanonicalPath) -> NoReturn:  # noqa: ARG002 - the port's signature
        """The store cannot."""
        raise Unsupported(path=source, detail="objects cannot be renamed")

    def set_permission(self, path: CanonicalPath, permission: int) -> NoReturn:  # noqa: ARG002 - the port's signature
        """The store cannot."""
        raise Unsupported(path=path, detail="objects have no permission bits")

    def set_owner(
        self,
        path: CanonicalPath,
        *,
        owner: str | None = None,  # noqa: ARG002 - the port's signature
        group: str | None = None,  # noqa: ARG002 - the port's signature
    ) -> NoReturn:
        """The store cannot."""
        raise Unsupported(path=path, detail="objects have no owner that can be set")

    def set_modified(self, path: CanonicalPath, modified: datetime) -> NoReturn:  # noqa: ARG002 - the port's signature
        """The store cannot."""
        raise Unsupported(path=path, detail="the time of an object cannot be set")

"""A file system whose mutating calls all fail, so that a dry run cannot change anything even by mistake."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from toolkit.storage.errors import ReadOnlyStorage

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from datetime import datetime
    from typing import BinaryIO

    from toolkit.el import CanonicalPath
    from toolkit.storage.look import Look
    from toolkit.storage.port import Capabilities, ContentSummary, Deleted, Entry, FileStatus, FileSystem


@dataclass(frozen=True, slots=True)
class ReadOnlyFileSystem:
    """Passes reading on to `inner`; every mutating call raises `ReadOnlyStorage`."""

    inner: FileSystem

    @property
    def capabilities(self) -> Capabilities:
        """What the inner store can do."""
        return self.inner.capabilities

    def status(self, path: CanonicalPath) -> FileStatus:
        """See `FileSystem.status`."""
        return self.inner.status(path)

    def list(self, path: CanonicalPath, *, start_from: str = "") -> Iterator[Entry]:
        """See `FileSystem.list`."""
        return self.inner.list(path, start_from=start_from)

    def read(self, path: CanonicalPath) -> BinaryIO:
        """See `FileSystem.read`."""
        return self.inner.read(path)

    def content_summary(self, path: CanonicalPath) -> ContentSummary:
        """See `FileSystem.content_summary`."""
        return self.inner.content_summary(path)

    def write(
        self,
        path: CanonicalPath,
        chunks: Iterable[bytes],  # noqa: ARG002 - the port's signature
        *,
        overwrite: bool = True,  # noqa: ARG002 - the port's signature
    ) -> None:
        """Refused."""
        raise ReadOnlyStorage(path=path)

    def set_permission(self, path: CanonicalPath, permission: int) -> None:  # noqa: ARG002 - the port's signature
        """Refused."""
        raise ReadOnlyStorage(path=path)

    def set_owner(
        self,
        path: CanonicalPath,
        *,
        owner: str | None = None,  # noqa: ARG002 - the port's signature
        group: str | None = None,  # noqa: ARG002 - the port's signature
    ) -> None:
        """Refused."""
        raise ReadOnlyStorage(path=path)

    def set_modified(self, path: CanonicalPath, modified: datetime) -> None:  # noqa: ARG002 - the port's signature
        """Refused."""
        raise ReadOnlyStorage(path=path)

    def delete_all(
        self,
        paths: Iterable[CanonicalPath],  # noqa: ARG002 - the port's signature
        *,
        below: CanonicalPath,
        first: str = "",  # noqa: ARG002 - the port's signature
    ) -> Iterator[Deleted]:
        """Refused, before the first path is looked at."""
        raise ReadOnlyStorage(path=below)

    def mkdirs(self, path: CanonicalPath) -> None:
        """Refused."""
        raise ReadOnlyStorage(path=path)

    def rename(self, source: CanonicalPath, target: CanonicalPath) -> None:  # noqa: ARG002 - the port's signature
        """Refused."""
        raise ReadOnlyStorage(path=source)

    def delete(self, path: CanonicalPath, *, below: CanonicalPath, look: Look | None = None) -> None:  # noqa: ARG002
        """Refused."""
        raise ReadOnlyStorage(path=path)

    def remove_if_empty(self, path: CanonicalPath, *, below: CanonicalPath) -> bool:  # noqa: ARG002 - the port's signature
        """Refused."""
        raise ReadOnlyStorage(path=path)

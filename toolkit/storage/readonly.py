"""A file system whose mutating calls all fail, so that a dry run cannot change anything even by mistake."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NoReturn

from typing_extensions import override

from toolkit.storage.base import BasicFileSystem
from toolkit.storage.errors import ReadOnlyStorage

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping
    from typing import BinaryIO

    from toolkit.el import CanonicalPath
    from toolkit.storage.attributes import Checksum
    from toolkit.storage.look import Look
    from toolkit.storage.port import Capabilities, ContentSummary, Deleted, Entry, FileStatus, FileSystem


@dataclass(frozen=True, slots=True)
class ReadOnlyFileSystem(BasicFileSystem):
    """Passes reading on to `inner`; every mutating call raises `ReadOnlyStorage`."""

    inner: FileSystem

    def _cannot(self, path: CanonicalPath, what: str) -> NoReturn:  # noqa: ARG002 - the base's signature
        raise ReadOnlyStorage(path=path)

    @property
    @override
    def capabilities(self) -> Capabilities:
        return self.inner.capabilities

    @override
    def status(self, path: CanonicalPath) -> FileStatus:
        return self.inner.status(path)

    @override
    def list(self, path: CanonicalPath, *, start_from: str = "") -> Iterator[Entry]:
        return self.inner.list(path, start_from=start_from)

    @override
    def list_tree(self, path: CanonicalPath) -> Iterator[Entry]:
        return self.inner.list_tree(path)

    @override
    def read(self, path: CanonicalPath, *, offset: int = 0, length: int | None = None) -> BinaryIO:
        return self.inner.read(path, offset=offset, length=length)

    @override
    def checksum(self, path: CanonicalPath) -> Checksum | None:
        return self.inner.checksum(path)

    @override
    def acl(self, path: CanonicalPath) -> tuple[str, ...]:
        return self.inner.acl(path)

    @override
    def xattrs(self, path: CanonicalPath) -> Mapping[str, bytes]:
        return self.inner.xattrs(path)

    @override
    def may_use_raw(self, path: CanonicalPath) -> bool:
        return self.inner.may_use_raw(path)

    @override
    def close(self) -> None:
        self.inner.close()

    @override
    def content_summary(self, path: CanonicalPath) -> ContentSummary:
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

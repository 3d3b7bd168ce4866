"""What a file system does when its store has nothing better."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING, NoReturn

from toolkit.storage.errors import Unsupported
from toolkit.storage.port import Entry, FileKind

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping

    from toolkit.el import CanonicalPath
    from toolkit.storage.attributes import Checksum
    from toolkit.storage.multipart import MultipartUpload, UploadedPart


_FIRST, _LAST = datetime.min.replace(tzinfo=UTC), datetime.max.replace(tzinfo=UTC)


def moment(seconds: float) -> datetime:
    """The time so long after 1970, in UTC; what anybody may have set and no calendar has is the first or the last."""
    try:
        return datetime.fromtimestamp(seconds, UTC)
    except (ValueError, OverflowError, OSError):
        return _LAST if seconds > 0 else _FIRST


def tree_below(path: CanonicalPath, listed: Callable[[CanonicalPath], Iterator[Entry]]) -> Iterator[Entry]:
    """See `FileSystem.list_tree`: one listing for each directory; those on the way down are open at the same time."""
    way = [("", path, listed(path))]
    while way:
        above, place, entries = way[-1]
        for entry in entries:
            name = f"{above}{entry.name}"
            yield Entry(name, entry.kind, entry.size, entry.modified)
            if entry.kind is FileKind.DIRECTORY:
                inner = place.child(entry.name)
                way.append((f"{name}/", inner, listed(inner)))
                break
        else:
            way.pop()


class BasicFileSystem:
    """The part of `FileSystem` that many stores cannot do: each method says so, and who can has its own."""

    def _cannot(self, path: CanonicalPath, what: str) -> NoReturn:
        raise Unsupported(path=path, detail=f"this store has no {what}")

    def set_permission(self, path: CanonicalPath, permission: int) -> None:  # noqa: ARG002 - the port's signature
        """The store cannot."""
        self._cannot(path, "permission bits")

    def set_owner(
        self,
        path: CanonicalPath,
        *,
        owner: str | None = None,  # noqa: ARG002 - the port's signature
        group: str | None = None,  # noqa: ARG002 - the port's signature
    ) -> None:
        """The store cannot."""
        self._cannot(path, "owner that can be set")

    def set_modified(self, path: CanonicalPath, modified: datetime) -> None:  # noqa: ARG002 - the port's signature
        """The store cannot."""
        self._cannot(path, "time that can be set")

    def checksum(self, path: CanonicalPath) -> Checksum | None:  # noqa: ARG002 - the port's signature
        """See `AttributeStore.checksum`; nothing is asked."""
        return None

    def acl(self, path: CanonicalPath) -> tuple[str, ...]:
        """The store cannot."""
        self._cannot(path, "access control lists")

    def set_acl(self, path: CanonicalPath, entries: tuple[str, ...]) -> None:  # noqa: ARG002 - the port's signature
        """The store cannot."""
        self._cannot(path, "access control lists")

    def xattrs(self, path: CanonicalPath) -> Mapping[str, bytes]:
        """The store cannot."""
        self._cannot(path, "extended attributes")

    def set_xattr(self, path: CanonicalPath, name: str, value: bytes) -> None:  # noqa: ARG002 - the port's signature
        """The store cannot."""
        self._cannot(path, "extended attributes")

    def start_upload(self, path: CanonicalPath, size: int) -> MultipartUpload:  # noqa: ARG002 - the port's signature
        """The store cannot."""
        self._cannot(path, "files in parts")

    def put_range(
        self,
        upload: MultipartUpload,
        offset: int,  # noqa: ARG002 - the port's signature
        chunks: Iterable[bytes],  # noqa: ARG002 - the port's signature
    ) -> tuple[UploadedPart, ...]:
        """The store cannot."""
        self._cannot(upload.path, "files in parts")

    def complete_upload(
        self,
        upload: MultipartUpload,
        parts: Iterable[UploadedPart],  # noqa: ARG002 - the port's signature
        *,
        overwrite: bool = True,  # noqa: ARG002 - the port's signature
    ) -> None:
        """The store cannot."""
        self._cannot(upload.path, "files in parts")

    def abort_upload(self, upload: MultipartUpload) -> None:
        """The store cannot."""
        self._cannot(upload.path, "files in parts")

    def abort_uploads(self, below: CanonicalPath) -> int:
        """The store cannot."""
        self._cannot(below, "files in parts")

    def close(self) -> None:
        """See `FileSystem.close`; nothing is open."""

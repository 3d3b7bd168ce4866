"""Default behaviour of a file system."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING, NoReturn

from typing_extensions import override

from toolkit.storage.deletion import delete_each
from toolkit.storage.errors import NotFound, StorageFailure, Unsupported
from toolkit.storage.port import Deleted, Entry, FileKind, FileStatus, FileSystem

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping

    from toolkit.el import CanonicalPath
    from toolkit.storage.attributes import BlockLayout, Checksum
    from toolkit.storage.multipart import MultipartUpload, UploadedPart


_FIRST, _LAST = datetime.min.replace(tzinfo=UTC), datetime.max.replace(tzinfo=UTC)


def moment(seconds: float) -> datetime:
    """The time so long after 1970, in UTC; what anybody may have set and no calendar has is the first or the last."""
    try:
        return datetime.fromtimestamp(seconds, UTC)
    except (ValueError, OverflowError, OSError):
        return _LAST if seconds > 0 else _FIRST


MOST_LEVELS = 1000
"""A tree has no more levels of directories: HDFS allows hardly more, and each costs memory or time."""


def refuse_too_deep(place: CanonicalPath, levels: int) -> None:
    """Check a directory that is so many levels below the one that is worked on.

    Raises:
        StorageFailure: these are too many.
    """
    if levels > MOST_LEVELS:
        detail = f"the directory is more than {MOST_LEVELS:,} levels deep in its tree; remove it by hand"
        raise StorageFailure(path=place, detail=detail)


def tree_below(path: CanonicalPath, listed: Callable[[CanonicalPath], Iterator[Entry]]) -> Iterator[Entry]:
    """Yield everything below a directory, with one listing for each; listings on the way down stay open.

    Raises:
        StorageFailure: a directory is too many levels below it.
    """
    way = [("", path, listed(path))]
    while way:
        above, place, entries = way[-1]
        for entry in entries:
            name = f"{above}{entry.name}"
            yield Entry(name, entry.kind, entry.size, entry.modified)
            if entry.kind is FileKind.DIRECTORY:
                inner = place.child(entry.name)
                refuse_too_deep(inner, len(way))
                way.append((f"{name}/", inner, listed(inner)))
                break
        else:
            way.pop()


def find_status(system: FileSystem, path: CanonicalPath) -> FileStatus | None:
    """Return the status of a path; None: nothing is there."""
    try:
        return system.status(path)
    except NotFound:
        return None


class BasicFileSystem(FileSystem):
    """The part of `FileSystem` that many stores do alike, or cannot do: then each method says so."""

    @override
    def list_tree(self, path: CanonicalPath) -> Iterator[Entry]:
        return tree_below(path, self.list)

    @override
    def delete_all(self, paths: Iterable[CanonicalPath], *, below: CanonicalPath, first: str = "") -> Iterator[Deleted]:
        """Delete path by path, and ignore `first`, for stores where a directory goes to its readers at once."""
        del first
        return delete_each(self, paths, below)

    def _cannot(self, path: CanonicalPath, what: str) -> NoReturn:
        raise Unsupported(path=path, detail=f"this store has no {what}")

    @override
    def write_in_blocks(
        self, path: CanonicalPath, chunks: Iterable[bytes], layout: BlockLayout, *, overwrite: bool = True
    ) -> None:
        self._cannot(path, "blocks")

    @override
    def may_use_raw(self, path: CanonicalPath) -> bool:
        self._cannot(path, "raw attributes")

    @override
    def set_permission(self, path: CanonicalPath, permission: int) -> None:
        self._cannot(path, "permission bits")

    @override
    def set_owner(
        self,
        path: CanonicalPath,
        *,
        owner: str | None = None,
        group: str | None = None,
    ) -> None:
        self._cannot(path, "owner that can be set")

    @override
    def set_modified(self, path: CanonicalPath, modified: datetime) -> None:
        self._cannot(path, "time that can be set")

    @override
    def checksum(self, path: CanonicalPath) -> Checksum | None:
        return None

    @override
    def acl(self, path: CanonicalPath) -> tuple[str, ...]:
        self._cannot(path, "access control lists")

    @override
    def set_acl(self, path: CanonicalPath, entries: tuple[str, ...]) -> None:
        self._cannot(path, "access control lists")

    @override
    def xattrs(self, path: CanonicalPath) -> Mapping[str, bytes]:
        self._cannot(path, "extended attributes")

    @override
    def set_xattr(self, path: CanonicalPath, name: str, value: bytes) -> None:
        self._cannot(path, "extended attributes")

    @override
    def start_upload(self, path: CanonicalPath, size: int) -> MultipartUpload:
        self._cannot(path, "files in parts")

    @override
    def put_range(
        self,
        upload: MultipartUpload,
        offset: int,
        chunks: Iterable[bytes],
    ) -> tuple[UploadedPart, ...]:
        self._cannot(upload.path, "files in parts")

    @override
    def complete_upload(
        self,
        upload: MultipartUpload,
        parts: Iterable[UploadedPart],
        *,
        overwrite: bool = True,
    ) -> None:
        self._cannot(upload.path, "files in parts")

    @override
    def abort_upload(self, upload: MultipartUpload) -> None:
        self._cannot(upload.path, "files in parts")

    @override
    def abort_uploads(self, below: CanonicalPath) -> int:
        self._cannot(below, "files in parts")

    @override
    def close(self) -> None:
        """Do nothing: no connection is open."""

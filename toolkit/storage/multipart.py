"""Multipart upload: several processes write ranges of one large file, put together at the end (ADR 0031)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple, Protocol

from toolkit.storage.errors import StorageFailure

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from toolkit.el import CanonicalPath


@dataclass(frozen=True, kw_only=True, slots=True)
class MultipartUpload:
    """A file that is being written in ranges; can be pickled, and used by another process on the same store.

    Attributes:
        path: of the file; nothing of it is seen there before `complete_upload`.
        size: bytes that the whole file will have.
        part_bytes: ranges begin at multiples of it, and so much of a range may be held in memory.
        token: what the store knows the upload by.
    """

    path: CanonicalPath
    size: int
    part_bytes: int
    token: str


class UploadedPart(NamedTuple):
    """Bytes that the store has of an upload: from where, how many, and what the store calls them."""

    offset: int
    size: int
    tag: str


class MultipartStore(Protocol):
    """The part of `FileSystem` that writes ranges of one file; `Capabilities.multipart` says who can."""

    def start_upload(self, path: CanonicalPath, size: int) -> MultipartUpload:
        """Begin to write a file of so many bytes, at least one, in ranges.

        Raises:
            NotFound: the directory above does not exist (on a store that has directories).
            Unsupported: the store cannot.
        """
        ...

    def put_range(self, upload: MultipartUpload, offset: int, chunks: Iterable[bytes]) -> tuple[UploadedPart, ...]:
        """Write the bytes from `offset`, a multiple of `part_bytes`, on; ranges may be written at once and again.

        A range ends at the end of the file or at a multiple of `part_bytes`. When `chunks` raises, the range has to be
        written again.

        Returns:
            What `complete_upload` wants to be told.
        """
        ...

    def complete_upload(
        self, upload: MultipartUpload, parts: Iterable[UploadedPart], *, overwrite: bool = True
    ) -> None:
        """Make the file of its parts: a reader sees nothing of it, or what was there before, until it has all of it.

        An upload that could not be completed is for the caller to abort.

        Raises:
            StorageFailure: the parts are not all of the file, or more than it; nothing has changed.
            AlreadyExists: something is there and may not be overwritten; nothing has changed.
        """
        ...

    def abort_upload(self, upload: MultipartUpload) -> None:
        """Remove what there is of an upload; one that is not there, also since it was completed, is fine.

        The hook before an effect is not asked: nothing that was there before changes, and a run that is stopped cleans.
        """
        ...

    def abort_uploads(self, below: CanonicalPath) -> int:
        """End the uploads of files below a directory that were neither completed nor given up, of any process.

        For who owns the directory, after a writer was killed. On a disk an upload is a file beside its target and goes
        with the directory, so that nothing is done here.

        Returns:
            So many were ended.

        Raises:
            Unsupported: the store has none.
        """
        ...


def in_order(upload: MultipartUpload, parts: Iterable[UploadedPart]) -> Sequence[UploadedPart]:
    """The parts from the first byte to the last.

    Raises:
        StorageFailure: they leave bytes out, overlap, or are more than the file has.
    """
    found, end = sorted(parts), 0
    for part in found:
        if part.offset != end:
            break
        end += part.size
    else:
        if end == upload.size:
            return found
    detail = f"the parts are whole up to byte {end}, and {upload.size} bytes were announced; did the source change?"
    raise StorageFailure(path=upload.path, detail=detail)

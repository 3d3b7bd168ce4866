"""Plan of a copy and its outcomes: one value for each file."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from toolkit.storage import BlockLayout, FileKind, StorageError, raw_path

if TYPE_CHECKING:
    from collections.abc import Sequence

    from toolkit.el import CanonicalPath
    from toolkit.storage import FileSystem, MultipartUpload, UploadedPart
    from toolkit.transfer.timed_tasks import TaskEnded


class CreateOptions(NamedTuple):
    """Options with which a copy writes files.

    Attributes:
        block_size: each gets the block size of its source.
        replication: each gets as many replicas as its source.
        raw: bytes and attributes of both ends are those below `RAW`; see `refuse_raw`.
    """

    block_size: bool = False
    replication: bool = False
    raw: bool = False

    def files(self, files: Sequence[FileCopy]) -> Sequence[FileCopy]:
        """Return files with the paths that are read and written."""
        if not self.raw:
            return files
        return [file._replace(source=raw_path(file.source), target=raw_path(file.target)) for file in files]

    def layout(self, source: FileSystem, path: CanonicalPath) -> BlockLayout | None:
        """Return the layout of the copy of a file; None: that of the store."""
        if not (self.block_size or self.replication):
            return None
        found = source.status(path).layout
        return BlockLayout(
            found.block_size if self.block_size else None, found.replication if self.replication else None
        )


PLAIN = CreateOptions()


class FilePart(NamedTuple):
    """Range of a file to copy.

    Attributes:
        upload: that it belongs to.
        offset: of its first byte.
    """

    upload: MultipartUpload
    offset: int


class FileCopy(NamedTuple):
    """A file to copy, or a range of one, or one directory to make; a tuple, because plans have very many of them.

    Attributes:
        source: read from its beginning to its end.
        target: written under this name; it has no readers yet, and the rest of an earlier try is replaced.
        size: bytes that were seen when the plan was made; of a directory 0, of a range its own.
        kind: a file, or a directory, which is made with those above it.
        part: the range; None: all of it.
    """

    source: CanonicalPath
    target: CanonicalPath
    size: int
    kind: FileKind = FileKind.FILE
    part: FilePart | None = None

    @property
    def key(self) -> tuple[CanonicalPath, int]:
        """Tells it from all others, and its outcome from theirs."""
        return self.target, self.part.offset if self.part else 0


class Copied(NamedTuple):
    """Outcome of a file.

    Attributes:
        size: bytes that were copied.
        digest: `DIGEST` of these; empty of a directory; of a range the digests of its pieces.
        code: that of the error; empty: it was copied.
        message: of the error, for people.
        is_of_source: the source could not be read; the target may be well.
        offset: of a range, the first byte.
        parts: of a range, what the store calls it.
    """

    target: CanonicalPath
    size: int = 0
    digest: str = ""
    code: str = ""
    message: str = ""
    is_of_source: bool = False
    offset: int = 0
    parts: tuple[UploadedPart, ...] = ()

    @property
    def key(self) -> tuple[CanonicalPath, int]:
        """The key of the copy, the same as `FileCopy.key`."""
        return self.target, self.offset


def failure(file: FileCopy, error: StorageError | TaskEnded) -> Copied:
    """Return the outcome of a file that an error kept from being copied."""
    is_of_source = isinstance(error, StorageError) and error.path == file.source
    return Copied(file.target, code=error.code, message=str(error), is_of_source=is_of_source, offset=file.key[1])

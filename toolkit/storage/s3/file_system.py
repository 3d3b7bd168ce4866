"""S3 and stores that speak its language, through botocore (DESIGN section 5; ADR 0022).

A bucket has no directories, only keys. A *directory* here is what several keys begin with, or an empty object whose
key ends with ``/`` (a marker, as s3a and many consoles write them). Nothing here writes markers. Where an object and
a directory have the same name, the directory is what `status` tells, since an instance is more likely to be one;
`read` still reads the object and a removal takes both.

In a bucket with versions a removal writes delete markers; old versions stay until a rule of the bucket removes them.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterable, Iterator
from datetime import UTC
from os.path import commonprefix
from typing import TYPE_CHECKING, BinaryIO, cast

from toolkit.el import CanonicalPath
from toolkit.storage.calls import BoundedCalls, Once
from toolkit.storage.deletion import refuse_outside
from toolkit.storage.errors import AlreadyExists, NotBegun, NotFound, WrongKind
from toolkit.storage.flat import NEVER, PARALLEL, FlatFileSystem
from toolkit.storage.look import Look
from toolkit.storage.port import ContentSummary, Deleted, Entry, FileKind, FileStatus, StorageSpec
from toolkit.storage.s3.bucket import Bucket, Page, StoredObject, just_before, key_of, prefix_of
from toolkit.storage.s3.bulk import BulkRemoval
from toolkit.storage.s3.client import ClientMaker, S3Settings
from toolkit.storage.s3.errors import translated
from toolkit.storage.s3.writing import ObjectWriter
from toolkit.storage.streams import body_stream
from toolkit.threads import WorkerPool

if TYPE_CHECKING:
    from botocore.response import StreamingBody
    from urllib3.response import HTTPResponse


def stream_of(body: StreamingBody, path: CanonicalPath, calls: BoundedCalls) -> BinaryIO:
    """A buffered stream of the body, each piece of which has the time limit of `calls`; see `body_stream`."""

    def read(size: int) -> bytes:
        with translated(path):
            return body.read(size)

    # Botocore's body has no way to end a read that hangs; what is under it does.
    raw = cast("HTTPResponse", body._raw_stream)  # type: ignore[attr-defined]  # noqa: SLF001 - said above
    return body_stream(path, raw, read, calls)


def entries(bucket: Bucket, prefix: str, start_from: str) -> Iterator[Entry]:
    """The entries of a directory in the order of the keys; the directory's own marker is none of them."""
    start = prefix + start_from
    after = just_before(start) if start_from else ""
    # A text that does not begin with the prefix lies before all keys that do; some stores would list nothing from it.
    after = after if after.startswith(prefix) else ""
    for page in _pages(bucket, prefix, after, "/"):
        for key in sorted([each.key for each in page.objects] + list(page.prefixes)):
            if key != prefix and key >= start:
                yield _entry(key, prefix)


def _entry(key: str, prefix: str) -> Entry:
    if key.endswith("/"):
        return Entry(key[len(prefix) : -1], FileKind.DIRECTORY)
    return Entry(key[len(prefix) :], FileKind.FILE)


def _pages(bucket: Bucket, prefix: str, after: str, delimiter: str) -> Iterator[Page]:
    page = bucket.page(prefix, after=after, delimiter=delimiter)
    yield page
    while page.token:
        page = bucket.page(prefix, token=page.token, delimiter=delimiter)
        yield page


def first_below(bucket: Bucket, prefix: str) -> StoredObject | None:
    """The first object below a directory, which may be its marker; None: there is no such directory."""
    return next(iter(bucket.page(prefix, most=1).objects), None)


def summary_below(bucket: Bucket, prefix: str) -> ContentSummary | None:
    """Count what is below a directory, itself included; None when it does not exist."""
    files, size, directories, before = 0, 0, 0, ""
    for page in _pages(bucket, prefix, "", ""):
        for key, length, _ in page.objects:
            files, size = files + (not key.endswith("/")), size + length
            # Keys of one directory lie together: it is new where this key and the one before differ within its name.
            shared = commonprefix([before, key]) if before else prefix  # noqa: RUF071 - of keys, not of paths
            directories += key.count("/", len(shared)) + (not before)
            before = key
    if not before and prefix:
        return None
    return ContentSummary(files=files, directories=directories or 1, size=size)  # a bucket has its root


def opened(spec: StorageSpec, before_effect: Callable[[], None]) -> S3FileSystem:
    """The file system of a bucket; nothing is asked of it yet.

    Args:
        spec: scheme ``s3``, the bucket, and ``fs.s3a`` settings.
        before_effect: called before every single request that changes something, from any thread.

    Raises:
        InvalidInput: a setting carries a secret, or has a value that cannot be used.
    """
    settings = S3Settings.of(spec)
    maker = ClientMaker(settings, before_effect)
    return S3FileSystem(Bucket(settings.bucket, maker), maker=maker)


class S3FileSystem(FlatFileSystem):
    """See `FileSystem`.

    Args:
        bucket: sends the requests.
        reads: the time limit of each piece of an object that is read.
        maker: of the bucket's client; None: the file system has no other view.
    """

    def __init__(self, bucket: Bucket, reads: BoundedCalls | None = None, *, maker: ClientMaker | None = None) -> None:
        self._bucket, self._reads, self._maker = bucket, reads or BoundedCalls(), maker
        self._threads = Once(lambda: WorkerPool(PARALLEL, f"s3-{bucket.name}"))

    def bound(self, before_effect: Callable[[], None]) -> S3FileSystem:
        """See `Bindable.bound`; threads are its own, since a run that is paused rests in them."""
        bound = copy.copy(self)
        bound._threads = Once(lambda: WorkerPool(PARALLEL, f"s3-{self._bucket.name}"))  # noqa: SLF001 - its own class
        if self._maker is not None:
            bound._bucket = Bucket(self._bucket.name, self._maker.bound(before_effect))  # noqa: SLF001 - its own class
        return bound

    def found(self, path: CanonicalPath) -> FileStatus | None:
        """See `FlatFileSystem.found`: at most one listing of one key, and one look at the object."""
        key = key_of(path, self._bucket.name)
        below = first_below(self._bucket, prefix_of(key))
        if below is not None or not key:
            modified = NEVER if below is None else below.modified.astimezone(UTC)
            return FileStatus(path=path, kind=FileKind.DIRECTORY, size=0, modified=modified)
        found = self._bucket.head(key)
        return None if found is None else _file(path, found)

    def list(self, path: CanonicalPath, *, start_from: str = "") -> Iterator[Entry]:
        """See `FileSystem.list`; one page of 1,000 is held."""
        key = key_of(path, self._bucket.name)
        is_empty = True
        for entry in entries(self._bucket, prefix_of(key), start_from):
            is_empty = False
            yield entry
        if is_empty:
            self._refuse_missing(path)

    def _refuse_missing(self, path: CanonicalPath) -> None:
        """A listing without entries: of a marker alone, of names before the first asked for, or of nothing."""
        found = self.status(path)
        if found.kind is not FileKind.DIRECTORY:
            raise WrongKind(path=path)

    def read(self, path: CanonicalPath) -> BinaryIO:
        """See `FileSystem.read`; each piece that is read has the time limit of a call."""
        key = key_of(path, self._bucket.name)
        body = self._bucket.opened(key) if key else None
        if body is not None:
            return stream_of(body, path, self._reads)
        self.status(path)
        raise WrongKind(path=path)

    def write(self, path: CanonicalPath, chunks: Iterable[bytes], *, overwrite: bool = True) -> None:
        """See `FileSystem.write`; large files go up in parts of 8 MiB, one of which is held.

        What is sent may take as long as some of it goes out within the time of a call, see `BoundedSession`.
        """
        key = key_of(path, self._bucket.name)
        if first_below(self._bucket, prefix_of(key)) is not None or not key:
            raise WrongKind(path=path) if overwrite else AlreadyExists(path=path)
        ObjectWriter(self._bucket, key, path, overwrite=overwrite).write(chunks)

    def delete(self, path: CanonicalPath, *, below: CanonicalPath, look: Look | None = None) -> None:
        """See `FileSystem.delete`: the object at the path, and every key that begins with the path and ``/``."""
        if look is not None:
            look.let_through()
        for deleted in self.delete_all([path], below=below):
            # What was not begun was called off, by an error that follows.
            if deleted.error is not None and not isinstance(deleted.error, NotBegun):
                raise deleted.error

    def delete_all(self, paths: Iterable[CanonicalPath], *, below: CanonicalPath, first: str = "") -> Iterator[Deleted]:
        """See `FileSystem.delete_all`: up to 1,000 keys a request, over several paths, several requests at once."""
        removal = BulkRemoval(
            self._bucket,
            below=below,
            first=first,
            pool=self._threads(),
            parallel=PARALLEL,
            sent=None if self._maker is None else self._maker.sent,
        )
        return removal.run(paths)

    def remove_if_empty(self, path: CanonicalPath, *, below: CanonicalPath) -> bool:
        """See `FileSystem.remove_if_empty`: removes at most the marker, by its own key."""
        refuse_outside(path, below)
        key = key_of(path, self._bucket.name)
        marker = prefix_of(key)
        found = self._bucket.page(marker, most=2).objects
        if not found and self._bucket.head(key) is not None:
            raise WrongKind(path=path)
        if [(each.key, each.size) for each in found] != [(marker, 0)]:
            return False
        problem = self._bucket.remove([marker]).get(marker)
        if problem is not None:
            raise problem.about(path, marker)
        return True

    def content_summary(self, path: CanonicalPath) -> ContentSummary:
        """See `FileSystem.content_summary`; an object and a directory of one name count both."""
        key = key_of(path, self._bucket.name)
        below, found = summary_below(self._bucket, prefix_of(key)), self._bucket.head(key)
        if below is None and found is None:
            raise NotFound(path=path)
        files, directories, size = (0, 0, 0) if below is None else (below.files, below.directories, below.size)
        return ContentSummary(
            files=files + (found is not None),
            directories=directories,
            size=size + (0 if found is None else found.size),
        )


def _file(path: CanonicalPath, found: StoredObject) -> FileStatus:
    return FileStatus(path=path, kind=FileKind.FILE, size=found.size, modified=found.modified.astimezone(UTC))

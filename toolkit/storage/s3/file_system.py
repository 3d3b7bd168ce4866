"""S3 and stores that speak its language, through botocore (DESIGN section 5; ADR 0022).

In a bucket with versions a removal writes delete markers; old versions stay until a rule of the bucket removes them.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from itertools import accumulate
from typing import TYPE_CHECKING

from typing_extensions import override

from toolkit.el import CanonicalPath
from toolkit.storage.calls import Once
from toolkit.storage.errors import NotBegun
from toolkit.storage.flat import PARALLEL, FlatFileSystem, key_of, prefix_of
from toolkit.storage.look import Look
from toolkit.storage.multipart import MultipartUpload, UploadedPart, in_order
from toolkit.storage.port import Bindable, Deleted, StorageSpec
from toolkit.storage.s3.bucket import Bucket
from toolkit.storage.s3.bulk import BulkRemoval
from toolkit.storage.s3.client import ClientMaker, S3Settings
from toolkit.storage.s3.writing import ObjectWriter, part_bytes
from toolkit.threads import WorkerPool

if TYPE_CHECKING:
    pass


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


class S3FileSystem(FlatFileSystem, Bindable):
    """File system on S3.

    Args:
        bucket: sends the requests.
        maker: of the bucket's client; None: the file system has no other view.
    """

    capabilities = replace(FlatFileSystem.capabilities, multipart=True)

    def __init__(self, bucket: Bucket, *, maker: ClientMaker | None = None) -> None:
        self._bucket, self._maker = bucket, maker
        self._threads = Once(lambda: WorkerPool(PARALLEL, f"s3-{bucket.name}"))

    @override
    def bound(self, before_effect: Callable[[], None]) -> S3FileSystem:
        """Give the view threads of its own, since a run that is paused waits in them."""
        bound = copy.copy(self)
        bound._threads = Once(lambda: WorkerPool(PARALLEL, f"s3-{self._bucket.name}"))  # noqa: SLF001 - its own class
        if self._maker is not None:
            client = self._maker.bound(before_effect)
            bound._bucket = Bucket(self._bucket.name, client, self._bucket.reads)  # noqa: SLF001 - its own class
        return bound

    @property
    @override
    def objects(self) -> Bucket:
        return self._bucket

    @override
    def write(self, path: CanonicalPath, chunks: Iterable[bytes], *, overwrite: bool = True) -> None:
        """Upload large files in parts of 8 MiB, holding one of them.

        What is sent may take as long as some of it goes out within the time of a call, see `BoundedSession`.
        """
        self._writer(path, overwrite=overwrite).write(chunks)

    def _writer(self, path: CanonicalPath, *, overwrite: bool) -> ObjectWriter:
        key = self.refuse_directory(path, overwrite=overwrite)
        return ObjectWriter(self._bucket, key, path, overwrite=overwrite)

    @override
    def start_upload(self, path: CanonicalPath, size: int) -> MultipartUpload:
        """Start a multipart upload of S3, which a lifecycle rule of the bucket can abort."""
        token = self._writer(path, overwrite=False).start()
        return MultipartUpload(path=path, size=size, part_bytes=part_bytes(size), token=token)

    @override
    def put_range(self, upload: MultipartUpload, offset: int, chunks: Iterable[bytes]) -> tuple[UploadedPart, ...]:
        """Hold one part."""
        number = offset // upload.part_bytes
        sent = self._started(upload).put_range(number + 1, chunks, upload.part_bytes)
        starts = accumulate((size for size, _ in sent), initial=offset)
        return tuple(UploadedPart(start, size, tag) for start, (size, tag) in zip(starts, sent, strict=False))

    @override
    def complete_upload(
        self, upload: MultipartUpload, parts: Iterable[UploadedPart], *, overwrite: bool = True
    ) -> None:
        tags = [(part.offset // upload.part_bytes + 1, part.tag) for part in in_order(upload, parts)]
        self._started(upload, overwrite=overwrite).complete(tags)

    @override
    def abort_upload(self, upload: MultipartUpload) -> None:
        self._started(upload).abort()

    @override
    def abort_uploads(self, below: CanonicalPath) -> int:
        ended = 0
        for key, token in self._bucket.uploads(prefix_of(key_of(below, self._bucket.root))):
            ObjectWriter(self._bucket, key, below, overwrite=True, token=f" {token}").abort()
            ended += 1
        return ended

    def _started(self, upload: MultipartUpload, *, overwrite: bool = True) -> ObjectWriter:
        key = key_of(upload.path, self._bucket.root)
        return ObjectWriter(self._bucket, key, upload.path, overwrite=overwrite, token=upload.token)

    @override
    def close(self) -> None:
        self._bucket.client.close()

    @override
    def delete(self, path: CanonicalPath, *, below: CanonicalPath, look: Look | None = None) -> None:
        """Remove the object at the path, and every key that begins with the path and ``/``."""
        if look is not None:
            look.let_through()
        for deleted in self.delete_all([path], below=below):
            # What was not begun was called off, by an error that follows.
            if deleted.error is not None and not isinstance(deleted.error, NotBegun):
                raise deleted.error

    @override
    def delete_all(self, paths: Iterable[CanonicalPath], *, below: CanonicalPath, first: str = "") -> Iterator[Deleted]:
        """Remove up to 1,000 keys a request, of several paths, with several requests at once."""
        removal = BulkRemoval(
            self._bucket,
            below=below,
            first=first,
            pool=self._threads(),
            parallel=PARALLEL,
            sent=None if self._maker is None else self._maker.sent,
        )
        return removal.run(paths)

    @override
    def remove_object(self, path: CanonicalPath, key: str) -> bool:
        problem = self._bucket.remove([key]).get(key)
        if problem is not None:
            raise problem.about(path, key)
        return True

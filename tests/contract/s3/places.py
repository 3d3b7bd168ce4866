"""A bucket of a test's own: what is in it is put and looked at without feedctl."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import TYPE_CHECKING

from tests.testbed.s3 import S3Store
from toolkit.el import CanonicalPath
from toolkit.storage import Deleted, FileSystem, StorageSpec
from toolkit.storage.local.file_system import no_check
from toolkit.storage.s3 import file_system

if TYPE_CHECKING:
    from types_boto3_s3 import S3Client


@dataclass(frozen=True, kw_only=True)
class Place:
    """An empty bucket.

    Attributes:
        store: where it is; not through a proxy.
        bucket: its name.
        spec: opens it, perhaps through a proxy.
    """

    store: S3Store
    bucket: str
    spec: StorageSpec

    def opened(self, before_effect: Callable[[], None] = no_check) -> FileSystem:
        """The adapter, without the waiting that `open_file_system` puts around it."""
        return file_system.opened(self.spec, before_effect)

    @property
    def root(self) -> CanonicalPath:
        return CanonicalPath("s3", self.bucket, "/")

    def at(self, key: str) -> CanonicalPath:
        return CanonicalPath("s3", self.bucket, f"/{key}")

    def put(self, keys: Iterable[str]) -> None:
        """Objects of one byte; markers, which end with a slash, are empty."""
        with self.store.client() as client, ThreadPoolExecutor(8) as pool:
            for _ in pool.map(lambda key: self._put_one(client, key), keys):
                pass

    def fill(self, keys: Iterable[str]) -> None:
        """Many empty objects, quickly."""
        self.store.fill(self.bucket, keys)

    def _put_one(self, client: S3Client, key: str) -> None:
        client.put_object(Bucket=self.bucket, Key=key, Body=b"" if key.endswith("/") else b"1")

    def keys(self) -> list[str]:
        """Return all keys of the bucket, in the store's order."""
        with self.store.client() as client:
            pages = client.get_paginator("list_objects_v2").paginate(Bucket=self.bucket)
            return [each["Key"] for page in pages for each in page.get("Contents", ())]

    def uploads(self) -> int:
        """How many uploads in parts were begun and neither finished nor given up."""
        with self.store.client() as client:
            return len(client.list_multipart_uploads(Bucket=self.bucket).get("Uploads", ()))


def outcomes(answers: Iterable[Deleted]) -> dict[str, type | None]:
    """The key of each path, with the kind of its error."""
    return {answer.path.path[1:]: None if answer.error is None else type(answer.error) for answer in answers}

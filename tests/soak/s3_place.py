"""A bucket as the place of a random tree: keys, some markers as s3a writes them, and keys that no path can name."""

from __future__ import annotations

import zlib
from collections.abc import Iterator
from dataclasses import dataclass

from tests.soak.places import Kind, Tree
from tests.testbed.s3 import S3Store
from toolkit.storage import StorageSpec


@dataclass(frozen=True, slots=True)
class S3Place:
    """An empty bucket; its tree is that of its keys, and those of markers end with a slash."""

    store: S3Store
    bucket: str
    has_links: bool = False
    has_directories: bool = False

    @property
    def endpoint(self) -> str:
        return f"s3://{self.bucket}"

    @property
    def spec(self) -> StorageSpec:
        return StorageSpec(scheme="s3", authority=self.bucket, hadoop_conf=self.store.settings)

    def build(self, tree: Tree) -> None:
        self.store.fill(self.bucket, sorted(set(_keys(tree))))

    def tree(self) -> Tree:
        with self.store.client() as client:
            pages = client.get_paginator("list_objects_v2").paginate(Bucket=self.bucket)
            keys = [found["Key"] for page in pages for found in page.get("Contents", [])]
        return {f"/{key}": Kind.FILE for key in keys}

    def has(self, path: str) -> bool:
        return any(key == path or key.startswith(f"{path}/") for key in self.tree())


def _keys(tree: Tree) -> Iterator[str]:
    """An empty directory is a marker; most others have one, and something strange beside what is in it."""
    above = {path.rpartition("/")[0] for path in tree}
    for path, kind in tree.items():
        draw = zlib.crc32(path.encode(errors="surrogateescape"))
        if kind is not Kind.DIRECTORY:
            yield path[1:]
        elif path not in above or draw % 3:
            yield f"{path[1:]}/"
        if path in above and draw % 7 == 0:
            yield f"{path[1:]}//{draw}"

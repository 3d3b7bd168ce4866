"""Copies between real stores, here and on a cluster's executors: the same bytes, the same digests."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from uuid import uuid4

import hdfs_native
import pytest
from xxhash import xxh3_128

from tests.contract.spread.places import spark, standalone
from tests.testbed.hdfs import HdfsCluster
from tests.testbed.s3 import S3Store
from tests.testbed.spark import SparkStandalone
from toolkit.el import CanonicalPath
from toolkit.storage import FileKind, FileSystem, NotFound, StorageSpec, open_file_system
from toolkit.transfer.copying import CHUNK_BYTES, FileCopy
from toolkit.transfer.port import ExecutorPool, LocalExecutorPool
from toolkit.transfer.spread_copy import SpreadCopy

pytestmark = [pytest.mark.slow, pytest.mark.filterwarnings("ignore::ResourceWarning")]

CONTENT = {
    "a/part-0": b"x" * 10,
    "a/part-1": b"",
    "a/b/part 2 é": b"y" * (2 * CHUNK_BYTES + 1),
    "part-3": b"z",
}


@dataclass(frozen=True, kw_only=True)
class Side:
    """An empty place in a store, and how other machines open it."""

    base: CanonicalPath
    spec: StorageSpec

    @property
    def system(self) -> FileSystem:
        """The store, opened here."""
        return open_file_system(self.spec)

    def at(self, name: str) -> CanonicalPath:
        """The path of a name below the base."""
        path = self.base
        for part in name.split("/"):
            path = path.child(part)
        return path

    def fill(self, content: Mapping[str, bytes]) -> None:
        """Write files."""
        for name, data in content.items():
            self.system.mkdirs(self.at(name).parent)
            self.system.write(self.at(name), [data])

    def content(self) -> dict[str, bytes]:
        """All files below the base."""
        return dict(self._below(self.base))

    def _below(self, place: CanonicalPath) -> Iterator[tuple[str, bytes]]:
        for entry in self.system.list(place):
            path = place.child(entry.name)
            if entry.kind is FileKind.DIRECTORY:
                yield from self._below(path)
            else:
                with self.system.read(path) as stream:
                    yield path.relative_to(self.base), stream.read()


def local(tmp_path: Path) -> Side:
    """On this disk."""
    base = tmp_path / uuid4().hex
    base.mkdir()
    return Side(base=CanonicalPath.parse(f"file://{base}"), spec=StorageSpec(scheme="file"))


def on_hdfs(cluster: HdfsCluster, uri: str = "") -> Side:
    """On an HDFS, by its own protocol."""
    path = CanonicalPath.parse(f"{uri or cluster.uri}/copies/{uuid4().hex}")
    hdfs_native.Client(cluster.uri).mkdirs(path.path, create_parent=True)
    return Side(base=path, spec=StorageSpec(scheme=path.scheme, authority=path.authority))


def on_s3(s3: S3Store, bucket: str) -> Side:
    """In a bucket."""
    spec = StorageSpec(scheme="s3", authority=bucket, hadoop_conf=s3.settings)
    return Side(base=CanonicalPath.parse(f"s3://{bucket}/copies"), spec=spec)


def copied(source: Side, target: Side, pool: ExecutorPool) -> Mapping[str, str]:
    """What was told of the copies: names with their digests, or with the code of an error."""
    files = [FileCopy(source.at(name), target.at(name), len(data)) for name, data in CONTENT.items()]
    files.append(FileCopy(source.base, target.at("empty/too"), 0, FileKind.DIRECTORY))
    spread = SpreadCopy(
        pool=pool, source=source.spec, target=target.spec, seconds_left=lambda: 300.0, check=lambda: None
    )
    return {each.target.relative_to(target.base): each.code or each.digest for each in spread.copy(files)}


def check(source: Side, target: Side, pool: ExecutorPool) -> None:
    """Copy, and compare bytes and digests; then once more over what is there."""
    source.fill(CONTENT)
    digests = {name: xxh3_128(data).hexdigest() for name, data in CONTENT.items()} | {"empty/too": ""}
    for _ in range(2):
        assert copied(source, target, pool) == digests
        assert target.content() == CONTENT
    if target.system.capabilities.directories:
        assert target.system.status(target.at("empty/too")).kind is FileKind.DIRECTORY
    else:
        with pytest.raises(NotFound):
            target.system.status(target.at("empty/too"))


def test_local_to_hdfs_and_back(hdfs: HdfsCluster, tmp_path: Path) -> None:
    check(local(tmp_path), on_hdfs(hdfs), LocalExecutorPool())
    check(on_hdfs(hdfs), local(tmp_path), LocalExecutorPool())


def test_webhdfs_to_another_hdfs(hdfs: HdfsCluster, restartable_hdfs: HdfsCluster) -> None:
    check(on_hdfs(hdfs, hdfs.webhdfs), on_hdfs(restartable_hdfs), LocalExecutorPool())


def test_hdfs_to_s3_and_back(hdfs: HdfsCluster, s3: S3Store, s3_bucket: str) -> None:
    check(on_hdfs(hdfs), on_s3(s3, s3_bucket), LocalExecutorPool())
    check(on_s3(s3, s3_bucket), on_hdfs(hdfs), LocalExecutorPool())


@pytest.mark.timeout(600)
def test_two_worker_processes_copy_between_two_clusters(
    hdfs: HdfsCluster, restartable_hdfs: HdfsCluster, spark_cluster: SparkStandalone, java_home: Path
) -> None:
    with spark(java_home, standalone(spark_cluster)) as machines:
        check(on_hdfs(hdfs), on_hdfs(restartable_hdfs), machines)

"""Copies between real stores, here and on a cluster's executors: the same bytes, the same digests."""

from __future__ import annotations

import random
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from uuid import uuid4

import hdfs_native
import pytest
from xxhash import xxh3_128

from tests.contract.spread.places import spark, standalone
from tests.integration.replications import End
from tests.local_executors import LocalExecutorPool
from tests.testbed.hdfs import HdfsCluster
from tests.testbed.s3 import S3Store
from tests.testbed.spark import SparkStandalone
from toolkit.storage import BlockLayout, FileKind, NotFound, raw_path
from toolkit.transfer.digests import CHUNK_BYTES, digest_of
from toolkit.transfer.plan import CreateOptions, FileCopy
from toolkit.transfer.port import ExecutorPool
from toolkit.transfer.spread_copy import SpreadCopy
from toolkit.transfer.uploads import LARGE_BYTES

pytestmark = [pytest.mark.slow, pytest.mark.filterwarnings("ignore::ResourceWarning")]

CONTENT = {
    "a/part-0": b"x" * 10,
    "a/part-1": b"",
    "a/b/part 2 é": b"y" * (2 * CHUNK_BYTES + 1),
    "part-3": b"z",
}


def local(tmp_path: Path) -> End:
    """On this disk."""
    base = tmp_path / uuid4().hex
    base.mkdir()
    return End(uri=f"file://{base}")


def on_hdfs(cluster: HdfsCluster, uri: str = "") -> End:
    """On an HDFS, by its own protocol unless another URI of it is given."""
    path = f"/copies/{uuid4().hex}"
    hdfs_native.Client(cluster.uri).mkdirs(path, create_parent=True)
    return End(uri=f"{uri or cluster.uri}{path}")


def on_s3(s3: S3Store, bucket: str) -> End:
    """In a bucket."""
    return End(uri=f"s3://{bucket}/copies", conf=s3.settings)


def copied(source: End, target: End, pool: ExecutorPool) -> Mapping[str, str]:
    """Return what was told of the copies: names with their digests, or with the code of an error."""
    files = [FileCopy(source.at(name), target.at(name), len(data)) for name, data in CONTENT.items()]
    files.append(FileCopy(source.root, target.at("empty/too"), 0, FileKind.DIRECTORY))
    spread = _spread(source, target, pool)
    return {each.target.relative_to(target.root): each.code or each.digest for each in spread.copy(files)}


def _spread(source: End, target: End, pool: ExecutorPool) -> SpreadCopy:
    return SpreadCopy(
        pool=pool,
        source=source.spec,
        target=target.spec,
        joining=target.system,
        seconds_left=lambda: 300.0,
        check=lambda: None,
    )


def check(source: End, target: End, pool: ExecutorPool) -> None:
    """Copy, and compare bytes and digests; then once more over what is there."""
    source.fill(CONTENT)
    digests = {name: xxh3_128(data).hexdigest() for name, data in CONTENT.items()} | {"empty/too": ""}
    for _ in range(2):
        assert copied(source, target, pool) == digests
        assert target.files("", hidden=True) == CONTENT
    if target.system.capabilities.directories:
        assert target.system.status(target.at("empty/too")).kind is FileKind.DIRECTORY
    else:
        with pytest.raises(NotFound):
            target.system.status(target.at("empty/too"))


def test_local_to_hdfs_and_back(hdfs: HdfsCluster, tmp_path: Path) -> None:
    check(local(tmp_path), on_hdfs(hdfs), LocalExecutorPool())
    check(on_hdfs(hdfs), local(tmp_path), LocalExecutorPool())


def test_webhdfs_to_another_hdfs(hdfs: HdfsCluster, other_hdfs: HdfsCluster) -> None:
    check(on_hdfs(hdfs, hdfs.webhdfs), on_hdfs(other_hdfs), LocalExecutorPool())


def test_hdfs_to_s3_and_back(hdfs: HdfsCluster, s3: S3Store, s3_bucket: str) -> None:
    check(on_hdfs(hdfs), on_s3(s3, s3_bucket), LocalExecutorPool())
    check(on_s3(s3, s3_bucket), on_hdfs(hdfs), LocalExecutorPool())


def test_files_get_the_layout_of_their_source_and_raw_ones_their_attributes(hdfs: HdfsCluster) -> None:
    source, target = (on_hdfs(hdfs, hdfs.webhdfs) for _ in range(2))
    layout = BlockLayout(2 << 20, 2)
    source.system.write_in_blocks(source.at("a"), [b"ab"], layout)
    source.system.set_xattr(raw_path(source.at("a")), "raw.b", b"key")
    spread = replace(
        _spread(source, target, LocalExecutorPool()), create=CreateOptions(block_size=True, replication=True, raw=True)
    )
    files = spread.create.files([FileCopy(source.at("a"), target.at("a"), 2)])
    assert [each.code for each in spread.copy(files)] == [""]
    assert (target.files(""), target.system.status(target.at("a")).layout) == ({"a": b"ab"}, layout)
    assert target.system.xattrs(raw_path(target.at("a"))) == {"raw.b": b"key"}


@pytest.mark.extended
@pytest.mark.parametrize("to_s3", [True, False], ids=["to S3", "back"])
def test_a_large_file_is_joined_of_ranges_and_keeps_its_digest(
    hdfs: HdfsCluster, s3: S3Store, s3_bucket: str, tmp_path: Path, *, to_s3: bool
) -> None:
    far = on_hdfs(hdfs) if to_s3 else on_s3(s3, s3_bucket)
    near = on_s3(s3, s3_bucket) if to_s3 else local(tmp_path)
    content = random.Random(1).randbytes(LARGE_BYTES + 5)  # noqa: S311 - no secret
    far.fill({"large": content})
    (found,) = _spread(far, near, LocalExecutorPool()).copy([FileCopy(far.at("large"), near.at("large"), len(content))])
    assert found.code == ""
    assert found.digest == digest_of(far.system, far.at("large"), lambda: None)
    assert near.files("", hidden=True) == {"large": content}


@pytest.mark.extended
@pytest.mark.timeout(600)
def test_two_worker_processes_copy_between_two_clusters(
    hdfs: HdfsCluster, other_hdfs: HdfsCluster, spark_cluster: SparkStandalone, java_home: Path
) -> None:
    with spark(java_home, standalone(spark_cluster)) as machines:
        check(on_hdfs(hdfs), on_hdfs(other_hdfs), machines)

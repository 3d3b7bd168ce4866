"""Tests of what an HDFS refuses by its own rules, as storage errors that say what to do."""

from __future__ import annotations

import pytest

from tests.integration.hdfs_admin import dfs, dfsadmin
from tests.testbed.hdfs import HdfsCluster
from toolkit.el import CanonicalPath
from toolkit.storage import FileSystem, QuotaExceeded, StorageFailure, StorageSpec
from toolkit.storage.hdfs.file_system import opened
from toolkit.storage.local.file_system import no_check

pytestmark = [pytest.mark.slow, pytest.mark.extended]


@pytest.fixture
def base(hdfs_dir: str) -> CanonicalPath:
    return CanonicalPath.parse(hdfs_dir)


@pytest.fixture
def system(base: CanonicalPath) -> FileSystem:
    return opened(StorageSpec(scheme="hdfs", authority=base.authority), no_check)


def test_a_used_up_quota_of_names_is_told_and_deleting_helps(
    hdfs: HdfsCluster, base: CanonicalPath, system: FileSystem
) -> None:
    dfsadmin(hdfs, "-setQuota", "3", base.path)
    for name in ("a", "b"):
        system.mkdirs(base.child(name))
    with pytest.raises(QuotaExceeded, match="quota"):
        system.mkdirs(base.child("c"))
    with pytest.raises(QuotaExceeded):
        system.write(base.child("c"), [b"x"])
    assert [entry.name for entry in system.list(base)] == ["a", "b"]
    system.delete(base.child("a"), below=base)
    system.mkdirs(base.child("c"))


def test_a_used_up_quota_of_bytes_is_told_and_leaves_no_file(
    hdfs: HdfsCluster, base: CanonicalPath, system: FileSystem
) -> None:
    dfsadmin(hdfs, "-setSpaceQuota", "1m", base.path)
    with pytest.raises(QuotaExceeded, match="quota"):
        system.write(base.child("large"), [b"x" * 1024])  # a block counts whole until its file is closed
    assert list(system.list(base)) == []


def test_a_directory_with_snapshots_stays_whole_and_says_why(
    hdfs: HdfsCluster, base: CanonicalPath, system: FileSystem
) -> None:
    path = base.child("kept")
    system.mkdirs(path.child("inner"))
    dfsadmin(hdfs, "-allowSnapshot", path.path)
    dfs(hdfs, "-createSnapshot", path.path, "s1")
    try:
        with pytest.raises(StorageFailure, match=r"SnapshotException: .*; delete its snapshots first"):
            system.delete(path, below=base)
        assert [entry.name for entry in system.list(path)] == ["inner"]
    finally:
        dfs(hdfs, "-deleteSnapshot", path.path, "s1")
        dfsadmin(hdfs, "-disallowSnapshot", path.path)

"""Two runs' views of one real store: one client for both, and each is asked about its own changes only."""

from __future__ import annotations

import threading

import pytest

from tests.testbed.hdfs import HdfsCluster
from tests.testbed.s3 import S3Store
from toolkit.el import CanonicalPath
from toolkit.storage import StorageSpec, opening
from toolkit.storage.bound import SharedStores


def _store(request: pytest.FixtureRequest, name: str) -> tuple[StorageSpec, CanonicalPath]:
    if name == "hdfs":
        cluster: HdfsCluster = request.getfixturevalue("hdfs")
        base = CanonicalPath.parse(request.getfixturevalue("hdfs_dir"))
        assert cluster.uri in str(base)
        return StorageSpec(scheme="hdfs", authority=base.authority), base
    store: S3Store = request.getfixturevalue("s3")
    bucket: str = request.getfixturevalue("s3_bucket")
    spec = StorageSpec(scheme="s3", authority=bucket, hadoop_conf=store.settings)
    return spec, CanonicalPath.parse(f"s3://{bucket}/base")


@pytest.mark.parametrize("name", ["hdfs", "s3"])
def test_views_share_a_client_and_no_hook(request: pytest.FixtureRequest, name: str) -> None:
    spec, base = _store(request, name)
    shared, log, before = SharedStores(spec_of=lambda _: spec), list[str](), len(opening._SHARED)  # noqa: SLF001
    may_go_on, is_waiting = threading.Event(), threading.Event()

    def rest() -> None:
        log.append("first")
        is_waiting.set()
        assert may_go_on.wait(30)

    first, second = shared.bound(rest).of(base), shared.bound(lambda: log.append("second")).of(base)
    assert len(opening._SHARED) == before + 1  # noqa: SLF001
    files = [base.child(f"{number}") for number in range(40)]
    for file in files:
        second.write(file, [b"x"])
    assert set(log) == {"second"}
    log.clear()
    # As a run that is paused does: all of its calls rest, and the other's go on.
    thread = threading.Thread(target=lambda: list(first.delete_all(files[:20], below=base)))
    thread.start()
    assert is_waiting.wait(30)
    assert [each.error for each in second.delete_all(files[20:], below=base)] == [None] * 20
    assert first.status(files[0]).size == 1
    may_go_on.set()
    thread.join(30)
    assert not thread.is_alive()
    assert {"first", "second"} == set(log)

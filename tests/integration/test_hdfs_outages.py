"""A NameNode that freezes, restarts or is gone while it is used: late is an error, and patience gets through."""

from __future__ import annotations

import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from itertools import islice
from pathlib import Path

import pytest

from tests.testbed.hdfs import HdfsCluster
from toolkit.el import CanonicalPath
from toolkit.storage import FileSystem, StorageError, StorageSpec, Unreachable, open_file_system
from toolkit.storage.calls import BoundedCalls
from toolkit.storage.hdfs.client import HdfsClient
from toolkit.storage.hdfs.file_system import HdfsFileSystem
from toolkit.storage.local.file_system import no_check

pytestmark = [pytest.mark.slow, pytest.mark.extended]

_ROOT = Path(__file__).resolve().parents[2]
_SECONDS = 2.0


def _spec(cluster: HdfsCluster) -> StorageSpec:
    return StorageSpec(scheme="hdfs", authority=f"127.0.0.1:{cluster.rpc}")


def _base(cluster: HdfsCluster) -> CanonicalPath:
    return CanonicalPath("hdfs", f"127.0.0.1:{cluster.rpc}", "/outages")


@pytest.fixture
def bounded() -> BoundedCalls:
    return BoundedCalls(seconds=_SECONDS, stuck=8)


@pytest.fixture
def system(restartable_hdfs: HdfsCluster, bounded: BoundedCalls) -> FileSystem:
    system = HdfsFileSystem(HdfsClient(_spec(restartable_hdfs), bounded), no_check)
    system.mkdirs(_base(restartable_hdfs))
    return system


def test_a_frozen_name_node_is_unreachable_in_time_and_works_again(
    restartable_hdfs: HdfsCluster, system: FileSystem, bounded: BoundedCalls
) -> None:
    base = _base(restartable_hdfs)
    restartable_hdfs.freeze_namenode()
    try:
        with ThreadPoolExecutor(16) as pool:
            began = time.monotonic()
            found = list(pool.map(lambda number: _error(system, base.child(str(number))), range(32)))
            assert time.monotonic() - began < 60  # 64 s one after the other
        assert found == [Unreachable] * 32
        assert bounded.stuck >= 8
    finally:
        restartable_hdfs.thaw_namenode()
    assert _becomes_quiet(bounded)
    assert system.status(base).path == base


def test_a_process_ends_though_its_calls_hang(restartable_hdfs: HdfsCluster, system: FileSystem) -> None:
    base = _base(restartable_hdfs)
    system.mkdirs(base.child("goes"))
    program = f"""
import signal, os
from toolkit.el import CanonicalPath
from toolkit.storage import StorageSpec, Unreachable
from toolkit.storage.calls import BoundedCalls
from toolkit.storage.hdfs.file_system import HdfsFileSystem
from toolkit.storage.hdfs.client import HdfsClient
from toolkit.storage.local.file_system import no_check
base = CanonicalPath("hdfs", {base.authority!r}, "/outages")
spec = StorageSpec(scheme="hdfs", authority=base.authority)
system = HdfsFileSystem(HdfsClient(spec, BoundedCalls(seconds=1)), no_check)
system.status(base)
os.kill({restartable_hdfs.namenode_pid}, signal.SIGSTOP)
for _ in range(3):
    try:
        system.delete(base.child("goes"), below=base)
    except Unreachable:
        print("late")
"""
    try:
        ended = subprocess.run(
            [sys.executable, "-c", program], cwd=_ROOT, capture_output=True, text=True, check=False, timeout=60
        )
    finally:
        restartable_hdfs.thaw_namenode()
    assert (ended.returncode, ended.stdout, ended.stderr) == (0, "late\n" * 3, "")


def test_a_name_node_that_is_gone_is_unreachable_within_seconds(
    restartable_hdfs: HdfsCluster, system: FileSystem
) -> None:
    restartable_hdfs.stop_namenode()
    began = time.monotonic()
    assert _error(system, _base(restartable_hdfs)) is Unreachable
    assert time.monotonic() - began < 60


def test_patience_gets_through_a_restart_in_the_middle_of_many_listings(
    restartable_hdfs: HdfsCluster, system: FileSystem
) -> None:
    base = _base(restartable_hdfs).child("many")
    expected = {f"{number:03}": [f"{number:03}-{part}" for part in range(3)] for number in range(200)}
    for directory, names in expected.items():
        for name in names:
            system.mkdirs(base.child(directory).child(name))
    patient, restarting = open_file_system(_spec(restartable_hdfs)), threading.Event()
    found: dict[str, list[str]] = {}

    def restart() -> None:
        restarting.wait(60)
        restartable_hdfs.stop_namenode()
        restartable_hdfs.start_namenode()

    with ThreadPoolExecutor(1) as pool:
        restarted = pool.submit(restart)
        for parent in patient.list(base):
            if len(found) == 50:
                restarting.set()
                time.sleep(1)
            found[parent.name] = [entry.name for entry in patient.list(base.child(parent.name))]
        restarted.result(120)
    assert found == expected


def test_patience_gets_a_removal_through_a_restart(restartable_hdfs: HdfsCluster, system: FileSystem) -> None:
    base = _base(restartable_hdfs).child("removal")
    paths = [base.child(f"{number:04}") for number in range(400)]
    for path in [*paths, base.child("kept")]:
        system.mkdirs(path)
    deleted = open_file_system(_spec(restartable_hdfs)).delete_all(paths, below=base)
    gone = list(islice(deleted, 100))
    with ThreadPoolExecutor(1) as pool:
        restarted = pool.submit(_restart, restartable_hdfs)
        time.sleep(0.5)
        gone += deleted
        restarted.result(120)
    open_ones = {one.path for one in gone if one.error is not None}
    assert {type(one.error) for one in gone} <= {type(None), Unreachable}
    assert sorted(one.path for one in gone) == paths
    assert len(open_ones) < 10  # those that were under way; the others wait for the restart
    assert {base.child(entry.name) for entry in system.list(base)} - open_ones == {base.child("kept")}


def test_a_data_node_that_is_gone_stops_reading_but_not_deleting(
    restartable_hdfs: HdfsCluster, system: FileSystem
) -> None:
    base = _base(restartable_hdfs)
    _write(system, base.child("file"))
    restartable_hdfs.stop_datanode()
    with pytest.raises(Unreachable), system.read(base.child("file")) as stream:
        stream.read()
    system.delete(base.child("file"), below=base)


def _write(system: FileSystem, path: CanonicalPath) -> None:
    """Write, again while the NameNode still leaves out a DataNode that an earlier test had restarted."""
    end = time.monotonic() + 60
    while True:
        try:
            return system.write(path, [b"x" * 100])
        except StorageError:
            if time.monotonic() > end:
                raise
            time.sleep(1)


def _restart(cluster: HdfsCluster) -> None:
    cluster.stop_namenode()
    cluster.start_namenode()


def _error(system: FileSystem, path: CanonicalPath) -> type[Exception]:
    try:
        system.delete(path, below=path.parent)
    except Unreachable as error:
        return type(error)
    return LookupError


def _becomes_quiet(bounded: BoundedCalls) -> bool:
    end = time.monotonic() + 30
    while bounded.stuck and time.monotonic() < end:
        time.sleep(0.1)
    return bounded.stuck == 0

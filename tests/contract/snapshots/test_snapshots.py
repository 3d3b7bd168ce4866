"""Contract of `SnapshotStore`: the fake of the unit tests and HDFS answer alike."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from typing import NamedTuple
from uuid import uuid4

import pytest
import requests
from hdfs import InsecureClient

from tests.testbed.hdfs import HdfsCluster
from tests.unit.mirror.memory_hdfs import MemoryHdfs, MemorySnapshots
from toolkit.el import CanonicalPath
from toolkit.storage import (
    AlreadyExists,
    FileSystem,
    NotFound,
    NotSnapshottable,
    ReadOnlyStorage,
    StorageSpec,
    open_file_system,
)
from toolkit.storage.snapshots import ChangeKind, SnapshotStore, TreeChange
from toolkit.storage.webhdfs.snapshots import open_snapshots
from toolkit.transfer.trees import below

_MANY = 1100
"""More than a page of a difference."""


class Place(NamedTuple):
    """An empty directory without snapshots."""

    root: CanonicalPath
    system: FileSystem
    snapshots: SnapshotStore

    def write(self, name: str, content: bytes = b"") -> None:
        self.system.write(below(self.root, name), [content])

    def rename(self, origin: str, name: str) -> None:
        self.system.rename(below(self.root, origin), below(self.root, name))

    def delete(self, name: str) -> None:
        self.system.delete(below(self.root, name), below=self.root)

    def diff(self, older: str, newer: str = "") -> set[TreeChange]:
        found = list(self.snapshots.diff(self.root, older, newer))
        assert len(found) == len(set(found))
        return set(found)


def _memory(request: pytest.FixtureRequest) -> Place:
    del request
    hdfs = MemoryHdfs()
    return Place(CanonicalPath("hdfs", "nn", "/contract"), hdfs, MemorySnapshots(hdfs))


def _webhdfs(request: pytest.FixtureRequest) -> Place:
    cluster: HdfsCluster = request.getfixturevalue("hdfs")
    spec = StorageSpec(scheme="webhdfs", authority=f"127.0.0.1:{cluster.http}", user=cluster.superuser)
    root = CanonicalPath("webhdfs", spec.authority, f"/contract/{uuid4().hex}")
    return Place(root, open_file_system(spec), open_snapshots(spec))


@pytest.fixture(params=[pytest.param(_memory, id="memory"), pytest.param(_webhdfs, id="webhdfs")])
def bare(request: pytest.FixtureRequest) -> Iterator[Place]:
    place: Place = request.param(request)
    place.system.mkdirs(place.root)
    yield place
    with suppress(NotSnapshottable):
        for each in place.snapshots.list(place.root):
            place.snapshots.delete(place.root, each.name)


@pytest.fixture
def place(bare: Place) -> Place:
    bare.snapshots.allow(bare.root)
    return bare


def test_a_directory_has_no_snapshots_before_they_are_allowed(bare: Place) -> None:
    command = f"dfsadmin -allowSnapshot {bare.root.path}"
    with pytest.raises(NotSnapshottable, match=command):
        bare.snapshots.list(bare.root)
    with pytest.raises(NotSnapshottable, match=command):
        bare.snapshots.create(bare.root, "x")
    with pytest.raises(NotFound):
        bare.snapshots.list(bare.root.child("missing"))


def test_a_directory_that_is_allowed_twice_has_no_snapshots_yet(place: Place) -> None:
    place.snapshots.allow(place.root)
    assert list(place.snapshots.list(place.root)) == []


def test_snapshots_are_listed_in_the_order_of_their_making(place: Place) -> None:
    for name in ("b", "a"):
        place.snapshots.create(place.root, name)
    found = place.snapshots.list(place.root)
    assert [each.name for each in found] == ["b", "a"]
    assert found[0].number < found[1].number
    assert found[0].created <= found[1].created
    assert isinstance(place.system, MemoryHdfs) or datetime.now(UTC) - found[1].created < timedelta(minutes=10)


def test_names_are_unique_and_unknown_ones_are_not_found(place: Place) -> None:
    place.snapshots.create(place.root, "a")
    with pytest.raises(AlreadyExists):
        place.snapshots.create(place.root, "a")
    with pytest.raises(NotFound):
        place.snapshots.delete(place.root, "b")
    with pytest.raises(NotFound):
        place.diff("a", "b")
    place.snapshots.delete(place.root, "a")
    assert list(place.snapshots.list(place.root)) == []


def test_a_snapshot_keeps_its_tree(place: Place) -> None:
    place.write("f")
    place.snapshots.create(place.root, "a")
    place.delete("f")
    assert place.system.status(below(place.root, ".snapshot/a/f")).size == 0
    with pytest.raises(NotFound):
        place.system.status(below(place.root, "f"))


def test_nothing_changed_is_no_change(place: Place) -> None:
    place.write("f")
    place.snapshots.create(place.root, "a")
    assert place.diff("a") == set()
    place.snapshots.create(place.root, "b")
    assert place.diff("a", "b") == set()


def test_a_difference_names_paths_of_the_older_tree(place: Place) -> None:
    for name in ("a", "b", "d/sub", "e", "del", "p"):
        place.system.mkdirs(below(place.root, name))
    for name in ("a/f", "b/g", "d/sub/x", "d/y", "del/in", "del/out", "p/q%20 é", "chg"):
        place.write(name)
    place.snapshots.create(place.root, "one")
    for origin, name in (("a", "t"), ("b", "a"), ("t", "b"), ("d", "e/d2"), ("e/d2/y", "yy"), ("del/out", "out2")):
        place.rename(origin, name)
    for name in ("e/d2/sub/x", "del", "chg"):
        place.delete(name)
    place.system.mkdirs(below(place.root, "newdir/deep"))
    place.rename("p/q%20 é", "newdir/deep/q")
    for name in ("e/d2/new", "chg"):
        place.write(name)
    place.system.set_permission(below(place.root, "b/f"), 0o600)
    place.snapshots.create(place.root, "two")
    create, delete, modify, rename = ChangeKind.CREATE, ChangeKind.DELETE, ChangeKind.MODIFY, ChangeKind.RENAME
    expected = {
        *(TreeChange(modify, path) for path in ("", "e", "p", "a/f", "d", "d/sub")),
        *(TreeChange(create, path) for path in ("chg", "newdir", "out2", "d/new")),
        *(TreeChange(delete, path) for path in ("chg", "del", "d/sub/x")),
        TreeChange(rename, "a", "b"),
        TreeChange(rename, "b", "a"),
        TreeChange(rename, "d", "e/d2"),
        TreeChange(rename, "d/y", "yy"),
        TreeChange(rename, "p/q%20 é", "newdir/deep/q"),
    }
    assert place.diff("one", "two") == expected
    assert place.diff("one") == expected


def test_a_difference_of_more_than_a_page_is_whole(place: Place) -> None:
    for number in range(_MANY):
        place.system.mkdirs(below(place.root, f"old-{number}"))
    place.snapshots.create(place.root, "one")
    for number in range(_MANY):
        place.rename(f"old-{number}", f"new-{number}")
    found = place.diff("one")
    assert len(found) == _MANY + 1
    assert TreeChange(ChangeKind.RENAME, "old-7", "new-7") in found


def test_snapshots_that_are_open_for_reading_change_nothing(hdfs: HdfsCluster) -> None:
    spec = StorageSpec(scheme="webhdfs", authority=f"127.0.0.1:{hdfs.http}", user=hdfs.superuser)
    snapshots, root = open_snapshots(spec, read_only=True), CanonicalPath("webhdfs", spec.authority, "/")
    for call in (snapshots.create, snapshots.delete):
        with pytest.raises(ReadOnlyStorage):
            call(root, "x")


def test_a_time_alone_is_no_change(place: Place) -> None:
    for name in ("touched", "busy", "other"):
        place.system.mkdirs(below(place.root, name))
    place.write("touched/file")
    place.snapshots.create(place.root, "one")
    for name in ("touched", "touched/file"):
        place.system.set_modified(below(place.root, name), datetime(2026, 1, 1, tzinfo=UTC))
    place.write("busy/brief")
    place.delete("busy/brief")
    place.system.set_permission(below(place.root, "other"), 0o700)
    assert place.diff("one") == {TreeChange(ChangeKind.MODIFY, "other")}


def test_hdfs_does_not_tell_of_a_file_that_was_cut_and_has_grown_to_its_size(hdfs: HdfsCluster) -> None:
    web = StorageSpec(scheme="webhdfs", authority=f"127.0.0.1:{hdfs.http}", user=hdfs.superuser)
    root = CanonicalPath("webhdfs", web.authority, f"/contract/{uuid4().hex}")
    place = Place(root, open_file_system(web), open_snapshots(web))
    place.system.mkdirs(root)
    place.write("f", b"before")
    place.snapshots.allow(root)
    place.snapshots.create(root, "one")
    address, cut = f"http://{web.authority}", {"op": "TRUNCATE", "newlength": "0", "user.name": hdfs.superuser}
    assert requests.post(f"{address}/webhdfs/v1{root.path}/f", params=cut, timeout=60).json() == {"boolean": True}
    InsecureClient(address, user=hdfs.superuser).write(f"{root.path}/f", b"behind", append=True)
    place.snapshots.create(root, "two")
    assert place.diff("one", "two") == set()

from __future__ import annotations

import secrets
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

import pytest
from hdfs_native import Client

from tests.contract.file_system.stores import Store
from tests.testbed.hdfs import HdfsCluster
from toolkit.el import CanonicalPath
from toolkit.storage import Entry, FileKind, NotFound, StorageSpec, WrongKind
from toolkit.storage.calls import BoundedCalls
from toolkit.storage.hdfs.client import HdfsClient
from toolkit.storage.hdfs.file_system import HdfsFileSystem
from toolkit.storage.local.file_system import no_check

_Answer = TypeVar("_Answer")
_FEW = 60


def _files(store: Store) -> list[str]:
    return [entry.name for entry in store.system.list_tree(store.base) if entry.kind is FileKind.FILE]


def test_everything_below_a_directory_is_told_by_the_way_to_it(store: Store) -> None:
    for name in ("b/c/d", "b/a", "a", "b-c", "z/ä ö"):
        store.put(name, b"12")
    entries = {entry.name: entry for entry in store.system.list_tree(store.base)}
    assert sorted(_files(store)) == ["a", "b-c", "b/a", "b/c/d", "z/ä ö"]
    status = store.system.status(store.at("b/c/d"))
    assert entries["b/c/d"] == Entry("b/c/d", FileKind.FILE, 2, status.modified)
    assert [entry.name for entry in store.system.list_tree(store.at("b"))][-1] == "c/d"
    if store.system.capabilities.directories:
        assert list(entries) == ["a", "b", "b/a", "b/c", "b/c/d", "b-c", "z", "z/ä ö"]
    else:
        assert list(entries) == ["a", "b-c", "b/a", "b/c/d", "z/ä ö"]


def test_empty_directories_are_told(store: Store) -> None:
    if not store.system.capabilities.directories:
        pytest.skip("directories do not exist by themselves")
    store.system.mkdirs(store.at("a/empty"))
    assert [tuple(entry)[:2] for entry in store.system.list_tree(store.base)] == [
        ("a", FileKind.DIRECTORY),
        ("a/empty", FileKind.DIRECTORY),
    ]
    assert list(store.system.list_tree(store.at("a/empty"))) == []


def test_a_tree_is_one_of_a_directory_that_is_there(store: Store) -> None:
    with pytest.raises(NotFound):
        next(iter(store.system.list_tree(store.at("none"))))
    with pytest.raises(WrongKind if store.system.capabilities.directories else (WrongKind, NotFound)):
        next(iter(store.system.list_tree(store.put("file"))))


@pytest.mark.extended
def test_a_tree_of_more_than_a_page_is_whole_and_is_the_same_every_time(store: Store) -> None:
    many = _FEW if store.system.capabilities.directories else store.many  # there each directory has pages of its own
    names = [f"d{number % 3}/{number:04}" for number in range(many)]
    for each in ("d0", "d1", "d2"):
        store.system.mkdirs(store.at(each))
    store.put_all(names)
    first, again = list(store.system.list_tree(store.base)), list(store.system.list_tree(store.base))
    assert first == again
    assert [entry.name for entry in first if "/" in entry.name] == sorted(names)


class _Counting(HdfsClient):
    """Counts the calls; each takes one request of the NameNode at most."""

    calls = 0

    def bounded(self, path: CanonicalPath, call: Callable[[Client], _Answer]) -> _Answer:
        self.calls += 1
        return super().bounded(path, call)


def test_on_hdfs_a_tree_costs_calls_for_directories_and_pages_and_none_for_files(hdfs: HdfsCluster) -> None:
    client, base = Client(hdfs.uri), f"/tree/{secrets.token_hex(8)}"
    client.mkdirs(f"{base}/a/b", create_parent=True)

    def make(number: int) -> None:
        client.create(f"{base}/a/{number:04}").close()

    with ThreadPoolExecutor(16) as pool:
        list(pool.map(make, range(2100)))
    counting = _Counting(StorageSpec(scheme="hdfs", authority=f"127.0.0.1:{hdfs.rpc}"), BoundedCalls())
    place = CanonicalPath("hdfs", f"127.0.0.1:{hdfs.rpc}", base)
    assert len(list(HdfsFileSystem(counting, no_check).list_tree(place))) == 2102
    directories, further_pages = 3, 2
    assert counting.calls == directories + further_pages

"""Tests of what other users may: the store decides, and its refusal changes nothing."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest

from tests.contract.file_system.stores import Store
from toolkit.storage import FileSystem, PermissionDenied
from toolkit.storage.local.file_system import no_check


@pytest.fixture
def stranger(store: Store, monkeypatch: pytest.MonkeyPatch) -> FileSystem:
    """The same store for a user who owns nothing in it."""
    if store.spec.scheme == "file" or not store.system.capabilities.permissions:
        pytest.skip("the store knows no users, or this process is the only one")
    # The client of HDFS reads its user from the environment whenever it connects.
    monkeypatch.setenv("HADOOP_USER_NAME", "stranger")
    return store.opened(replace(store.spec, user="stranger"), no_check)


def test_a_stranger_reads_what_all_may_read(store: Store, stranger: FileSystem) -> None:
    path = store.put("dir/file", b"1")
    assert stranger.status(path).size == 1
    assert [entry.name for entry in stranger.list(store.base)] == ["dir"]
    with stranger.read(path) as stream:
        assert stream.read() == b"1"


def test_a_stranger_changes_nothing(store: Store, stranger: FileSystem) -> None:
    store.put("dir/file")
    store.system.mkdirs(store.at("empty"))
    before = store.tree()
    file = store.at("dir/file")
    changes: list[Callable[[], object]] = [
        lambda: stranger.write(store.at("dir/new"), [b"x"]),
        lambda: stranger.write(file, [b"x"]),
        lambda: stranger.mkdirs(store.at("new")),
        lambda: stranger.rename(file, store.at("new")),
        lambda: stranger.set_permission(file, 0o777),
        lambda: stranger.set_owner(file, owner="stranger"),
        lambda: stranger.set_modified(file, store.system.status(store.base).modified),
        lambda: stranger.delete(store.at("dir"), below=store.base),
        lambda: stranger.remove_if_empty(store.at("empty"), below=store.base),
    ]
    for change in changes:
        with pytest.raises(PermissionDenied, match="stranger"):
            change()
    deleted = list(stranger.delete_all([store.at("dir"), store.at("empty")], below=store.base))
    assert [type(each.error) for each in deleted] == [PermissionDenied, PermissionDenied]
    assert store.tree() == before


def test_a_stranger_does_not_see_what_is_closed(store: Store, stranger: FileSystem) -> None:
    path = store.put("closed/file")
    store.system.set_permission(path.parent, 0o700)
    looks: list[Callable[[], object]] = [
        lambda: stranger.status(path),
        lambda: list(stranger.list(path.parent)),
        lambda: stranger.read(path),
        lambda: stranger.content_summary(path.parent),
    ]
    for look in looks:
        with pytest.raises(PermissionDenied):
            look()


def test_a_tree_with_one_closed_directory_stays_whole(store: Store, stranger: FileSystem) -> None:
    """A removal that takes all or nothing must not take a part."""
    store.put("tree/open/file")
    store.put("tree/closed/file")
    store.system.set_permission(store.base, 0o777)
    for name in ("tree", "tree/open"):
        store.system.set_permission(store.at(name), 0o777)
    with pytest.raises(PermissionDenied):
        stranger.delete(store.at("tree"), below=store.base)
    if store.system.capabilities.atomic_delete:
        assert store.system.content_summary(store.at("tree")).files == 2

from __future__ import annotations

from contextlib import suppress

import pytest

from tests.contract.file_system.stores import Store
from toolkit.storage import ASIDE_PREFIX, NotFound, OutsideBase, WrongKind, aside_name


def test_a_delete_removes_a_tree_and_only_that(store: Store) -> None:
    store.put("2026/01/deep/er/file")
    store.put("2026/010/file")
    store.put("2026/02")
    store.system.delete(store.at("2026/01"), below=store.base)
    assert store.names("2026") == ["010", "02"]


def test_a_delete_removes_a_single_file(store: Store) -> None:
    path = store.put("2026/01")
    store.put("2026/010")
    store.system.delete(path, below=store.base)
    assert store.names("2026") == ["010"]


def test_a_delete_of_nothing_is_not_found(store: Store) -> None:
    with pytest.raises(NotFound):
        store.system.delete(store.at("none"), below=store.base)


def test_a_delete_finishes_what_a_killed_one_left_aside(store: Store) -> None:
    can = store.system.capabilities
    if can.atomic_delete or not can.atomic_rename:
        pytest.skip("the store needs no aside, or has none")
    store.put(f"{ASIDE_PREFIX}01/old")
    store.put("01/new")
    store.system.delete(store.at("01"), below=store.base)
    assert store.names() == []


def test_an_atomic_delete_leaves_what_stands_aside(store: Store) -> None:
    if not store.system.capabilities.atomic_delete:
        pytest.skip("the store removes one by one")
    store.put(f"{ASIDE_PREFIX}01/old")
    store.put("01/new")
    store.system.delete(store.at("01"), below=store.base)
    assert store.names() == [f"{ASIDE_PREFIX}01"]


def test_a_name_of_our_own_can_be_deleted(store: Store) -> None:
    for name in (f"{ASIDE_PREFIX}01", aside_name("n" * 255), ".feedctl", ".feedctl-hold"):
        store.put(f"{name}/file")
        store.system.delete(store.at(name), below=store.base)
        store.put(name)
        store.system.delete(store.at(name), below=store.base)
        with pytest.raises(NotFound):
            store.system.status(store.at(name))


def test_a_name_as_long_as_the_store_allows_is_deleted(store: Store) -> None:
    for name in ("n" * 255, "é" * 127):
        store.put(f"{name}/file")
        store.system.delete(store.at(name), below=store.base)
        with pytest.raises(NotFound):
            store.system.status(store.at(name))


def test_effects_at_or_beside_the_base_are_refused(store: Store) -> None:
    """The base itself, what is above it and what merely begins with its name are never touched."""
    for file in ("inner/keep/file", "inner-2/x/file", "inner2/file"):
        store.put(file)
    before, below = store.tree(), store.at("inner")
    for path in (store.base, below, store.at("inner-2/x"), store.at("inner2")):
        for effect in (store.system.delete, store.system.remove_if_empty):
            with pytest.raises(OutsideBase):
                effect(path, below=below)
        assert [type(one.error) for one in store.system.delete_all([path], below=below)] == [OutsideBase]
    assert store.tree() == before


def test_many_are_removed_and_what_fails_stops_no_other(store: Store) -> None:
    store.put("base/a/1")
    store.put("base/b")
    store.put("beside/c")
    paths = [store.at(name) for name in ("base/a", "base/none", "beside/c", "base/b")]
    found = {one.path: type(one.error) for one in store.system.delete_all(paths, below=store.at("base"))}
    assert found == dict(zip(paths, (type(None), NotFound, OutsideBase, type(None)), strict=True))
    assert [name for name in ("a", "b") if _is_there(store, f"base/{name}")] == []
    assert store.names("beside") == ["c"]


def test_many_are_removed_with_the_flag_first(store: Store) -> None:
    for name in ("a/_SUCCESS", "a/part-0", "b/part-0"):
        store.put(name)
    paths = [store.at("a"), store.at("b")]
    found = list(store.system.delete_all(iter(paths), below=store.base, first="_SUCCESS"))
    assert sorted(found) == [(path, None) for path in paths]
    assert not [name for name in ("a", "b") if _is_there(store, name)]


def test_only_an_empty_directory_is_removed_if_empty(store: Store) -> None:
    if not store.system.capabilities.directories:
        pytest.skip("directories do not exist by themselves")
    store.put("full/file")
    store.system.mkdirs(store.at("empty"))
    store.system.mkdirs(store.at("nested/empty"))
    names = ("full", "empty", "nested", "none", "none/inner")
    removed = {name: store.system.remove_if_empty(store.at(name), below=store.base) for name in names}
    assert removed == {"full": False, "empty": True, "nested": False, "none": False, "none/inner": False}
    assert store.names() == ["full", "nested"]


def test_nothing_is_removed_as_empty_where_there_is_something(store: Store) -> None:
    store.put("full/file")
    before = store.tree()
    assert store.system.remove_if_empty(store.at("full"), below=store.base) is False
    assert store.system.remove_if_empty(store.at("none"), below=store.base) is False
    assert store.tree() == before


def test_a_file_is_no_empty_directory(store: Store) -> None:
    path = store.put("file", b"")
    with suppress(WrongKind):
        assert store.system.remove_if_empty(path, below=store.base) is False
    assert store.content("file") == b""


def test_a_file_is_refused_as_a_directory_where_there_are_directories(store: Store) -> None:
    if not store.system.capabilities.directories:
        pytest.skip("a key may be both an object and a beginning of others")
    with pytest.raises(WrongKind):
        store.system.remove_if_empty(store.put("file"), below=store.base)


def _is_there(store: Store, name: str) -> bool:
    try:
        store.system.status(store.at(name))
    except NotFound:
        return False
    return True

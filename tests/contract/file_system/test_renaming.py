from __future__ import annotations

import pytest

from tests.contract.file_system.stores import Store
from toolkit.storage import AlreadyExists, NotFound, StorageError, Unsupported


@pytest.fixture(autouse=True)
def can_rename(store: Store) -> None:
    if not store.system.capabilities.atomic_rename:
        path = store.put("file")
        with pytest.raises(Unsupported):
            store.system.rename(path, store.at("other"))
        assert store.names() == ["file"]
        pytest.skip("the store has no rename, and says so")


def test_a_rename_moves_a_directory_with_its_content(store: Store) -> None:
    store.put("old/deep/file", b"1")
    store.system.rename(store.at("old"), store.at("new"))
    assert store.names() == ["new"]
    assert store.content("new/deep/file") == b"1"


def test_a_rename_moves_a_file(store: Store) -> None:
    store.system.rename(store.put("old", b"1"), store.at("new"))
    assert (store.names(), store.content("new")) == (["new"], b"1")


def test_a_rename_never_replaces_nor_moves_into(store: Store) -> None:
    store.put("file", b"kept")
    for name in ("empty", "moving-dir", "full"):
        store.system.mkdirs(store.at(name))
    store.put("full/inner")
    store.put("moving-file")
    before = store.tree()
    for source in ("moving-dir", "moving-file"):
        for target in ("file", "empty", "full"):
            with pytest.raises(AlreadyExists):
                store.system.rename(store.at(source), store.at(target))
    assert store.tree() == before


def test_a_rename_of_nothing_is_not_found(store: Store) -> None:
    with pytest.raises(NotFound):
        store.system.rename(store.at("none"), store.at("new"))


def test_a_rename_into_a_directory_that_is_not_there_is_not_found(store: Store) -> None:
    path = store.put("file")
    with pytest.raises(NotFound):
        store.system.rename(path, store.at("none/file"))
    assert store.names() == ["file"]


def test_a_directory_does_not_move_into_itself(store: Store) -> None:
    store.put("dir/file")
    with pytest.raises(StorageError):
        store.system.rename(store.at("dir"), store.at("dir/inner"))
    assert store.names("dir") == ["file"]

"""The contract of the `FileSystem` port; a new adapter is one more `pytest.param` (DESIGN section 5)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from toolkit.el import CanonicalPath
from toolkit.storage import (
    ASIDE_PREFIX,
    AlreadyExists,
    FileKind,
    FileSystem,
    LocalFileSystem,
    NotFound,
    OutsideBase,
    WrongKind,
)


@dataclass(frozen=True)
class Store:
    """An empty place in a real store."""

    system: FileSystem
    base: CanonicalPath

    def put(self, name: str, content: bytes = b"x") -> CanonicalPath:
        path = self.at(name)
        self.system.mkdirs(path.parent)
        self.system.write(path, [content])
        return path

    def at(self, name: str) -> CanonicalPath:
        path = self.base
        for part in name.split("/"):
            path = path.child(part)
        return path

    def names(self, name: str = "") -> list[str]:
        place = self.at(name) if name else self.base
        return [entry.name for entry in self.system.list(place)]


def _local(directory: Path) -> Store:
    return Store(LocalFileSystem(), CanonicalPath.parse(str(directory), "file:///"))


@pytest.fixture(params=[pytest.param(_local, id="local")])
def store(request: pytest.FixtureRequest, tmp_path: Path) -> Store:
    opened: Store = request.param(tmp_path / "base")
    opened.system.mkdirs(opened.base)
    return opened


def test_what_is_written_is_read_back(store: Store) -> None:
    path = store.at("a file, with ünïcode and spaces")
    store.system.write(path, [b"one", b"", b"two"])
    with store.system.read(path) as stream:
        assert stream.read() == b"onetwo"


def test_a_write_replaces_and_leaves_nothing_else(store: Store) -> None:
    store.put("file", b"old")
    store.system.write(store.at("file"), [b"new"])
    with store.system.read(store.at("file")) as stream:
        assert stream.read() == b"new"
    assert store.names() == ["file"]


def test_a_write_whose_source_fails_changes_nothing(store: Store) -> None:
    def chunks() -> Iterator[bytes]:
        yield b"half"
        raise InterruptedError

    store.put("file", b"old")
    with pytest.raises(Exception):  # noqa: B017, PT011 - which error is the adapter's own matter
        store.system.write(store.at("file"), chunks())
    with store.system.read(store.at("file")) as stream:
        assert stream.read() == b"old"
    assert store.names() == ["file"]


def test_reading_what_is_not_there_is_not_found(store: Store) -> None:
    with pytest.raises(NotFound):
        store.system.read(store.at("none"))
    with pytest.raises(NotFound):
        store.system.status(store.at("none"))
    with pytest.raises(NotFound):
        next(iter(store.system.list(store.at("none"))))


def test_a_directory_is_neither_read_nor_replaced_by_a_file(store: Store) -> None:
    store.put("dir/file")
    with pytest.raises(WrongKind):
        store.system.read(store.at("dir"))
    with pytest.raises(WrongKind):
        store.system.write(store.at("dir"), [b"x"])
    assert store.names() == ["dir"]


def test_a_write_into_a_directory_that_is_not_there_is_not_found(store: Store) -> None:
    with pytest.raises(NotFound):
        store.system.write(store.at("none/file"), [b"x"])
    assert store.names() == []


def test_a_status_below_a_file_is_not_found(store: Store) -> None:
    store.put("file")
    with pytest.raises(NotFound):
        store.system.status(store.at("file/below"))


def test_a_status_tells_kind_and_size(store: Store) -> None:
    path = store.put("dir/file", b"12345")
    file, directory = store.system.status(path), store.system.status(path.parent)
    assert (file.kind, file.size, file.modified.tzname()) == (FileKind.FILE, 5, "UTC")
    assert (directory.kind, directory.size) == (FileKind.DIRECTORY, 0)


def test_owner_and_permission_are_told_where_the_store_has_them(store: Store) -> None:
    status = store.system.status(store.put("file"))
    assert (status.permission is not None) is store.system.capabilities.permissions
    assert (status.owner is not None) is store.system.capabilities.permissions


def test_a_listing_is_sorted_by_code_point_and_begins_at_a_name(store: Store) -> None:
    for name in ["b", "a", "Z", "ä", "a.b", "a-b", "10", "2"]:
        store.put(name)
    everything = ["10", "2", "Z", "a", "a-b", "a.b", "b", "ä"]
    assert store.names() == everything
    assert [entry.name for entry in store.system.list(store.base, start_from="a-b")] == everything[4:]
    assert [entry.name for entry in store.system.list(store.base, start_from="aa")] == ["b", "ä"]


def test_a_listing_of_a_file_is_refused(store: Store) -> None:
    with pytest.raises(WrongKind):
        next(iter(store.system.list(store.put("file"))))


def test_mkdirs_is_content_with_what_exists_but_not_with_a_file(store: Store) -> None:
    store.system.mkdirs(store.at("a/b/c"))
    store.system.mkdirs(store.at("a/b/c"))
    store.put("file")
    with pytest.raises(AlreadyExists):
        store.system.mkdirs(store.at("file"))


def test_a_rename_moves_a_directory_with_its_content(store: Store) -> None:
    store.put("old/deep/file", b"1")
    store.system.rename(store.at("old"), store.at("new"))
    assert store.names() == ["new"]
    assert store.names("new/deep") == ["file"]


def test_a_rename_never_replaces(store: Store) -> None:
    for kept in [store.put("file"), store.at("empty")]:
        store.system.mkdirs(store.at("empty"))
        store.system.mkdirs(store.at("moving"))
        with pytest.raises(AlreadyExists):
            store.system.rename(store.at("moving"), kept)
    assert store.names() == ["empty", "file", "moving"]


def test_a_rename_of_nothing_is_not_found(store: Store) -> None:
    with pytest.raises(NotFound):
        store.system.rename(store.at("none"), store.at("new"))


def test_a_delete_removes_a_tree_and_only_that(store: Store) -> None:
    store.put("2026/01/deep/er/file")
    store.put("2026/010/file")
    store.put("2026/02")
    store.system.delete(store.at("2026/01"), below=store.base)
    assert store.names("2026") == ["010", "02"]


def test_a_delete_removes_a_single_file(store: Store) -> None:
    path = store.put("2026/01")
    store.system.delete(path, below=store.base)
    assert store.names("2026") == []


def test_a_delete_of_nothing_is_not_found(store: Store) -> None:
    with pytest.raises(NotFound):
        store.system.delete(store.at("none"), below=store.base)


def test_a_delete_finishes_what_a_killed_one_left_aside(store: Store) -> None:
    store.put(f"{ASIDE_PREFIX}01/old")
    store.put("01/new")
    store.system.delete(store.at("01"), below=store.base)
    assert store.names() == []


def test_an_aside_itself_can_be_deleted(store: Store) -> None:
    store.put(f"{ASIDE_PREFIX}01/file")
    store.system.delete(store.at(f"{ASIDE_PREFIX}01"), below=store.base)
    assert store.names() == []


def test_a_name_as_long_as_the_store_allows_is_deleted(store: Store) -> None:
    name = "n" * 255
    store.put(f"{name}/file")
    store.system.delete(store.at(name), below=store.base)
    assert store.names() == []


@pytest.mark.parametrize("name", ["", "inner", "inner-2/x"])
def test_effects_at_or_beside_the_base_are_refused(store: Store, name: str) -> None:
    """The base itself, what is above it and what merely begins with its name are never touched."""
    store.put("inner/keep/file")
    store.put("inner-2/x/file")
    path, below = store.at(name) if name else store.base, store.at("inner")
    for effect in (store.system.delete, store.system.remove_if_empty):
        with pytest.raises(OutsideBase):
            effect(path, below=below)
    assert store.system.content_summary(store.base).files == 2


def test_only_an_empty_directory_is_removed_if_empty(store: Store) -> None:
    store.put("full/file")
    store.system.mkdirs(store.at("empty"))
    names = ("full", "empty", "none", "none/inner")
    removed = {name: store.system.remove_if_empty(store.at(name), below=store.base) for name in names}
    assert removed == {"full": False, "empty": True, "none": False, "none/inner": False}
    assert store.names() == ["full"]


def test_a_file_is_no_empty_directory(store: Store) -> None:
    with pytest.raises(WrongKind):
        store.system.remove_if_empty(store.put("file"), below=store.base)


def test_a_content_summary_counts_files_directories_and_bytes(store: Store) -> None:
    store.put("a/b/one", b"123")
    store.put("a/two", b"45")
    summary = store.system.content_summary(store.at("a"))
    assert (summary.files, summary.directories, summary.size) == (2, 2, 5)

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain

import pytest

from tests.contract.file_system.stores import Store
from toolkit.storage import STAGING_PREFIX, AlreadyExists, BadName, FileKind, NotFound, WrongKind


class _SourceFailed(Exception):  # noqa: N818 - named for what happened
    """The chunks could not be had."""


def _chunks_that_fail() -> Iterator[bytes]:
    yield b"half"
    raise _SourceFailed


def test_a_write_replaces_and_leaves_nothing_else(store: Store) -> None:
    store.put("file", b"old")
    store.system.write(store.at("file"), [b"new"])
    assert store.content("file") == b"new"
    assert store.names() == ["file"]


@pytest.mark.parametrize("overwrite", [True, False])
def test_a_write_whose_source_fails_leaves_nothing(store: Store, *, overwrite: bool) -> None:
    with pytest.raises(_SourceFailed):
        store.system.write(store.at("file"), _chunks_that_fail(), overwrite=overwrite)
    with pytest.raises(NotFound):
        store.system.status(store.at("file"))
    if store.system.capabilities.directories:
        assert store.names() == []


def test_a_write_whose_source_fails_changes_nothing(store: Store) -> None:
    store.put("file", b"old")
    with pytest.raises(_SourceFailed):
        store.system.write(store.at("file"), _chunks_that_fail())
    assert store.content("file") == b"old"
    assert store.names() == ["file"]


def test_a_write_where_nobody_reads_yet_replaces_what_an_earlier_try_left(store: Store) -> None:
    staging = f"{STAGING_PREFIX}run-unit"
    store.put(f"{staging}/file", b"of an earlier try")
    store.system.write(store.at(f"{staging}/file"), [b"a", b"", b"b" * (3 << 20)])
    assert store.content(f"{staging}/file") == b"a" + b"b" * (3 << 20)
    store.system.write(store.at(f"{staging}/file"), [])
    assert store.content(f"{staging}/file") == b""
    assert store.names(staging) == ["file"]


def test_a_write_where_nobody_reads_yet_leaves_nothing_when_its_source_fails(store: Store) -> None:
    staging = f"{STAGING_PREFIX}run-unit"
    store.put(f"{staging}/other")
    for pieces in (1, 3):
        with pytest.raises(_SourceFailed):
            store.system.write(store.at(f"{staging}/file"), chain([b"x" * (1 << 20)] * pieces, _chunks_that_fail()))
    assert store.names(staging) == ["other"]


def test_a_write_where_nobody_reads_yet_may_be_told_not_to_overwrite(store: Store) -> None:
    if not store.system.capabilities.conditional_put:
        pytest.skip("the store cannot make a write fail when something is there")
    file = f"{STAGING_PREFIX}run-unit/file"
    store.put(file, b"first")
    with pytest.raises(AlreadyExists):
        store.system.write(store.at(file), [b"second"], overwrite=False)
    assert store.content(file) == b"first"


def test_a_write_that_must_not_overwrite_does_not(store: Store) -> None:
    if not store.system.capabilities.conditional_put:
        pytest.skip("the store cannot make a write fail when something is there")
    store.system.write(store.at("file"), [b"first"], overwrite=False)
    with pytest.raises(AlreadyExists):
        store.system.write(store.at("file"), [b"second"], overwrite=False)
    assert store.content("file") == b"first"
    assert store.names() == ["file"]


@pytest.mark.parametrize("overwrite", [True, False])
def test_a_directory_is_never_replaced_by_a_file(store: Store, *, overwrite: bool) -> None:
    if not store.system.capabilities.directories:
        pytest.skip("a key may be both an object and a beginning of others")
    store.put("full/file")
    store.system.mkdirs(store.at("empty"))
    for name in ("full", "empty"):
        with pytest.raises((WrongKind, AlreadyExists)):
            store.system.write(store.at(name), [b"x"], overwrite=overwrite)
    assert store.kinds() == [("empty", FileKind.DIRECTORY), ("full", FileKind.DIRECTORY)]


def test_a_write_over_a_directory_says_so(store: Store) -> None:
    if not store.system.capabilities.directories:
        pytest.skip("a key may be both an object and a beginning of others")
    store.put("dir/file")
    with pytest.raises(WrongKind):
        store.system.write(store.at("dir"), [b"x"])


def test_a_write_into_a_directory_that_is_not_there_is_not_found(store: Store) -> None:
    if not store.system.capabilities.directories:
        pytest.skip("what is above a key need not be there")
    with pytest.raises(NotFound):
        store.system.write(store.at("none/file"), [b"x"])
    assert store.names() == []


def test_mkdirs_is_content_with_what_exists_but_not_with_a_file(store: Store) -> None:
    if not store.system.capabilities.directories:
        pytest.skip("directories do not exist by themselves")
    store.system.mkdirs(store.at("a/b/c"))
    store.system.mkdirs(store.at("a/b/c"))
    store.put("file")
    with pytest.raises(AlreadyExists):
        store.system.mkdirs(store.at("file"))
    assert (store.names(), store.names("a/b")) == (["a", "file"], ["c"])


def test_a_name_that_is_too_long_is_refused(store: Store) -> None:
    if not store.system.capabilities.directories:
        pytest.skip("a key is bounded as a whole")
    with pytest.raises(BadName):
        store.system.mkdirs(store.at("n" * 256))
    assert store.names() == []


def test_the_last_change_is_about_now_and_does_not_go_back(store: Store) -> None:
    first = store.system.status(store.put("one")).modified
    second = store.system.status(store.put("two")).modified
    assert first <= second
    assert (second - first).total_seconds() < 60

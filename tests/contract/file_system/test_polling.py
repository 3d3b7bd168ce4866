"""Tests of looks at data that others write: the same on every store."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator

import pytest

from tests.contract.file_system.stores import Store
from toolkit.entities.trigger_vocabulary import PollBy
from toolkit.planning.polls import PollFingerprint, difference
from toolkit.storage import Unsupported
from toolkit.triggers.poll_look import look_at_path

EVERY = list(PollBy)


@pytest.fixture
def look(store: Store) -> Callable[..., PollFingerprint | None]:
    return lambda by=PollBy.LISTING, name="data", flag="": look_at_path(store.system, store.at(name), by, flag)


Look = Callable[..., PollFingerprint | None]


def _methods(store: Store) -> Iterator[PollBy]:
    """Yield the methods that work on a store."""
    return (each for each in EVERY if each is not PollBy.ETAG or store.system.capabilities.checksums)


def _change_time(store: Store) -> None:
    """Wait until a change of a file has another time on the store."""
    time.sleep(max(0.02, store.system.capabilities.time_step.total_seconds() * 1.1))


def test_data_is_there_missing_or_being_written(store: Store, look: Look) -> None:
    for by in _methods(store):
        found = look(by)
        assert found is not None
        assert found.is_missing
    store.put("data/part", b"12")
    for by in _methods(store):
        found = look(by)
        assert found is not None
        assert not found.is_missing
    assert (listed := look()) is not None
    assert (listed.files, listed.size, list(listed.marks or ())) == (1, 2, ["part"])


def test_a_look_at_unchanged_data_finds_the_same(store: Store, look: Look) -> None:
    store.put("data/part", b"12")
    store.put("data/deep/part", b"3")
    for by in _methods(store):
        assert look(by) == look(by)


def test_a_rewritten_file_is_another_one(store: Store, look: Look) -> None:
    store.put("data/part", b"12")
    before = {by: look(by) for by in _methods(store)}
    _change_time(store)
    store.put("data/part", b"34")
    for by, earlier in before.items():
        found = look(by)
        assert found is not None
        assert earlier is not None
        assert found.is_same(earlier) is (by is PollBy.FLAG)


def test_the_difference_names_what_came(store: Store, look: Look) -> None:
    store.put("data/part", b"12")
    before = look()
    store.put("data/deep/part", b"3")
    after = look()
    assert before is not None
    assert after is not None
    assert difference(before, after)["added"] == ["deep/part"]


def test_hidden_files_do_not_count(store: Store, look: Look) -> None:
    store.put("data/part", b"12")
    before = {by: look(by) for by in _methods(store)}
    for name in ("_SUCCESS", ".part.crc", "_temporary/0/part-1", ".feedctl-copy-1/part"):
        store.put(f"data/{name}", b"x")
    for by, earlier in before.items():
        assert look(by) == earlier


def test_a_directory_with_hidden_files_alone_is_being_written(store: Store, look: Look) -> None:
    store.put("data/_temporary/0/part-1", b"12")
    assert look() is None


def test_a_half_written_file_is_no_data(store: Store, look: Look) -> None:
    store.put("data/part-0", b"12")
    store.put("data/part-1._COPYING_", b"3")
    assert look() is None
    store.system.delete(store.at("data/part-1._COPYING_"), below=store.base)
    store.put("data/part-1", b"34")
    found = look()
    assert found is not None
    assert found.files == 2


def test_data_without_its_flag_is_being_written(store: Store, look: Look) -> None:
    store.put("data/part", b"12")
    for by in _methods(store):
        assert look(by, flag="done") is None
    store.put("data/done")
    for by in _methods(store):
        found = look(by, flag="done")
        assert found is not None
        assert found.files == 1
        assert list(found.marks or ["part"]) == (["done"] if by is PollBy.FLAG else ["part"])


def test_a_flag_that_is_written_anew_is_a_change_by_flag_alone(store: Store, look: Look) -> None:
    store.put("data/part", b"12")
    store.put("data/_SUCCESS")
    before = {by: look(by, flag="_SUCCESS") for by in _methods(store)}
    _change_time(store)
    store.put("data/_SUCCESS")
    for by, earlier in before.items():
        found = look(by, flag="_SUCCESS")
        assert found is not None
        assert earlier is not None
        assert found.is_same(earlier) is (by is not PollBy.FLAG)


def test_data_may_be_one_file(store: Store, look: Look) -> None:
    store.put("data", b"12")
    for by in _methods(store):
        found = look(by)
        assert found is not None
        assert found.files == 1
    assert (listed := look()) is not None
    assert (listed.size, list(listed.marks or ())) == (2, ["data"])


def test_a_store_without_checksums_refuses_etags_and_says_what_to_do(store: Store, look: Look) -> None:
    if store.system.capabilities.checksums:
        pytest.skip("the store has checksums")
    store.put("data/part", b"12")
    with pytest.raises(Unsupported, match="poll it by listing or digest instead of etag"):
        look(PollBy.ETAG)

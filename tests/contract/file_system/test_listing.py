from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from tests.contract.file_system.stores import Store
from toolkit.storage import Entry, FileKind, NotFound, WrongKind


def test_a_listing_is_sorted_by_code_point_and_begins_at_a_name(store: Store) -> None:
    for name in ["b", "a", "Z", "ä", "a.b", "a-b", "10", "2"]:
        store.put(name)
    everything = ["10", "2", "Z", "a", "a-b", "a.b", "b", "ä"]
    assert store.names() == everything
    assert [entry.name for entry in store.system.list(store.base, start_from="a-b")] == everything[4:]
    assert [entry.name for entry in store.system.list(store.base, start_from="aa")] == ["b", "ä"]
    assert list(store.system.list(store.base, start_from="ä ")) == []


def test_names_of_all_scripts_are_in_the_order_of_their_code_points(store: Store) -> None:
    """HDFS has them in the order of signed bytes, Java's strings in that of UTF-16."""
    names = [
        "a",
        "a\u00e9",
        "ab",
        "a\uffe5b",
        "a\U0001f98a",
        "b",
        "\u00e9",
        "\u00e9a",
        "\u65e5",
        "\uffe5",
        "\U0001f98a",
    ]
    for name in reversed(names):
        store.put(name)
    assert store.names() == sorted(names)
    assert [entry.name for entry in store.system.list(store.base, start_from="\u65e5")] == sorted(names)[-3:]


def test_a_listing_tells_files_from_directories(store: Store) -> None:
    store.put("dir/file")
    store.put("file")
    assert store.kinds() == [("dir", FileKind.DIRECTORY), ("file", FileKind.FILE)]
    assert store.kinds("dir") == [("file", FileKind.FILE)]


def test_an_entry_of_a_file_says_what_its_status_says_and_that_of_a_directory_nothing(store: Store) -> None:
    path = store.put("dir/file", b"12345")
    status = store.system.status(path)
    assert list(store.system.list(store.base)) == [Entry("dir", FileKind.DIRECTORY, 0, None)]
    assert list(store.system.list(path.parent)) == [Entry("file", FileKind.FILE, 5, status.modified)]


def test_a_time_is_in_utc_and_cut_down_to_the_steps_of_the_store(store: Store) -> None:
    store.put("file")
    entry, step = next(iter(store.system.list(store.base))), store.system.capabilities.time_step
    assert entry.modified is not None
    assert entry.modified.utcoffset() == timedelta(0)
    assert abs(datetime.now(UTC) - entry.modified) < timedelta(minutes=1)
    assert timedelta(microseconds=entry.modified.microsecond) % step == timedelta(0)


def test_an_empty_directory_lists_nothing(store: Store) -> None:
    if not store.system.capabilities.directories:
        pytest.skip("directories do not exist by themselves")
    store.system.mkdirs(store.at("empty"))
    assert store.names("empty") == []


def test_a_listing_of_a_file_is_refused(store: Store) -> None:
    with pytest.raises(WrongKind if store.system.capabilities.directories else (WrongKind, NotFound)):
        next(iter(store.system.list(store.put("file"))))


def test_a_listing_does_not_reach_into_a_neighbour(store: Store) -> None:
    for name in ("2026/a", "2026-b/x", "20260/y"):
        store.put(name)
    assert store.names("2026") == ["a"]


@pytest.mark.extended
def test_a_long_listing_is_complete_starts_anywhere_may_be_given_up_and_comes_as_it_is_read(store: Store) -> None:
    names = [f"{number:04}" for number in range(store.many)]
    store.put_all(names)
    assert store.names() == names
    assert [entry.name for entry in store.system.list(store.base, start_from="1003")] == names[1003:]
    assert [entry.name for entry in store.system.list(store.base, start_from="10030")] == names[1004:]
    for _ in range(3):
        assert next(iter(store.system.list(store.base))).name == "0000"
    listing = store.system.list(store.base)
    assert next(listing).name == "0000"
    store.put("9999")
    if store.streams:  # else the store gives its names unsorted, so all are held
        assert [entry.name for entry in listing][-1] == "9999"
    assert store.names() == [*names, "9999"]

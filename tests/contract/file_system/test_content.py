"""Content of instances as a plan file has it: late data is seen on every store."""

from __future__ import annotations

from tests.contract.file_system.stores import Store
from toolkit.retention.review import listed_content


def test_late_data_changes_the_content_of_an_instance(store: Store) -> None:
    store.put("day/part-0", b"12345")
    store.put("neighbour/part-0", b"1")
    planned = listed_content(store.at("day"), store.system)
    assert planned[1] == 5
    assert planned[0].startswith("1 file, 5 bytes, newest of 20")
    assert listed_content(store.at("day"), store.system) == planned
    store.put("day/hour=01/part-1")
    late, size = listed_content(store.at("day"), store.system)
    assert size == 5
    assert late.startswith("2 files, 5 bytes, newest of 20")


def test_a_file_in_the_place_of_another_changes_the_content_of_an_instance(store: Store) -> None:
    """Moved in from elsewhere, it may be as large as the other, and older than the newest."""
    for name in ("day/part-0", "day/part-1", "day/part-2"):
        store.put(name, b"12345")
    before = listed_content(store.at("day"), store.system)
    store.system.delete(store.at("day/part-0"), below=store.at("day"))
    store.put("day/part-3", b"12345")
    after = listed_content(store.at("day"), store.system)
    assert before[0] != after[0]
    assert before[0].startswith("3 files, 15 bytes")
    assert after[0].startswith("3 files, 15 bytes")


def test_an_instance_that_is_a_file_has_content(store: Store) -> None:
    store.put("day", b"123")
    assert listed_content(store.at("day"), store.system)[0].startswith("1 file, 3 bytes, newest of 20")


def test_nothing_has_no_content(store: Store) -> None:
    store.put("other")
    assert listed_content(store.at("day"), store.system) == ("nothing", None)

"""Cursors in the notification events of a metastore: they save work, and a gap means that all is compared."""

from __future__ import annotations

import pytest

from tests.tables.memory_metastore import MemoryMetastore
from toolkit.catalog.model import TableName
from toolkit.hive.mirror_events import ChangedTables, EventCursor, changed_tables, scope_of

A, B = TableName("sales", "a"), TableName("sales", "b")
SCOPE = scope_of("one", "two")


@pytest.fixture
def log() -> MemoryMetastore:
    metastore = MemoryMetastore(("sales",))
    for each in (A, B, A):
        metastore.note(each)
    return metastore


def _changed(log: MemoryMetastore, cursor: EventCursor | None, most: int = 100) -> ChangedTables:
    return changed_tables(log, cursor, SCOPE, most)


def _first(log: MemoryMetastore) -> EventCursor:
    cursor = _changed(log, None).reached(())
    assert cursor is not None
    return cursor


def test_without_a_cursor_all_is_compared_and_then_what_events_name(log: MemoryMetastore) -> None:
    changed = _changed(log, None)
    assert (changed.first, changed.note) == (None, "no run of this mirror has read events before: all is compared")
    cursor = changed.reached(())
    assert cursor is not None
    assert EventCursor.of(cursor.counters) == cursor
    assert EventCursor.of({"EVENT": 3}) is None
    assert (_changed(log, cursor).first, _changed(log, cursor).note) == ({}, "")
    for each in (B, A, B):
        log.note(each)
    changed = _changed(log, cursor)
    assert (changed.first, changed.count) == ({B: 4, A: 5}, 3)
    assert changed.reached(()) == EventCursor(number=6, time=log.log[5].time, scope=SCOPE)


def test_the_next_run_begins_at_the_lowest_event_of_a_table_that_failed(log: MemoryMetastore) -> None:
    cursor = _first(log)
    for each in (B, A, B):
        log.note(each)
    reached = _changed(log, cursor).reached([A])
    assert reached is not None
    assert (reached.number, _changed(log, reached).first) == (4, {A: 5, B: 6})
    reached = _changed(log, cursor).reached([A, B])
    assert reached == cursor


def test_a_table_that_fails_without_an_event_has_all_compared(log: MemoryMetastore) -> None:
    cursor = _first(log)
    reached = _changed(log, cursor).reached([A])
    assert reached is not None
    assert _changed(log, reached).note == "a table failed that no event names: all is compared"
    assert _changed(log, None).reached([A]) is None


def test_so_many_events_are_read_and_the_rest_is_left_for_the_next_run(log: MemoryMetastore) -> None:
    cursor = _first(log)
    for each in (A, B, A):
        log.note(each)
    changed = _changed(log, cursor, most=2)
    assert (changed.first, changed.note) == ({A: 4, B: 5}, "1 events are left for the next run (max_events: 2)")
    reached = changed.reached(())
    assert reached is not None
    assert _changed(log, reached, most=2).first == {A: 6}


def test_a_gap_is_noticed(log: MemoryMetastore) -> None:
    cursor = _first(log)
    for each in (B, A, B):
        log.note(each)
    whole = list(log.log)
    for gone in ([2], [4], [2, 3, 4], range(6)):  # the cursor's own event, one in the middle, all before the last
        log.log = [each for at, each in enumerate(whole) if at not in gone]
        changed = _changed(log, cursor)
        assert (changed.first, changed.note) == (None, "events behind number 3 are missing: all is compared")
        assert changed.cursor is not None
        assert changed.cursor.number == 6


def test_an_idle_metastore_that_cleaned_its_events_has_no_gap(log: MemoryMetastore) -> None:
    cursor = _first(log)
    log.log = []
    changed = _changed(log, cursor)
    assert (changed.first, changed.reached(())) == ({}, cursor)


def test_another_metastore_or_another_mirror_begins_anew(log: MemoryMetastore) -> None:
    cursor = _first(log)
    other = MemoryMetastore(("sales",))
    other.note(A)
    assert "begin anew at 1" in _changed(other, cursor).note
    for _ in range(5):
        other.note(A)
    other.log = [each if each.number != 3 else type(each)(number=3, time=1, table=A) for each in other.log]
    assert _changed(other, cursor).note == "event 3 is another one than it was: all is compared"
    changed = changed_tables(log, cursor, scope_of("one", "three"), 10)
    assert (changed.first, changed.note.partition(":")[0]) == (
        None,
        "the mirror has other databases, tables or clusters than before",
    )


def test_a_metastore_without_events_has_all_compared() -> None:
    changed = _changed(MemoryMetastore(("sales",)), None)
    assert (changed.first, changed.reached(())) == (None, None)
    assert "keeps no notification events" in changed.note

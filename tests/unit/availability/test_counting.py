"""Tests of what latest, future and ranges count: available instances, by few looks at the store."""

from __future__ import annotations

from datetime import datetime

from tests.unit.availability.requested import CountingStore, instances
from tests.unit.retention.memory import MemoryFileSystem
from toolkit.el import UnreadyRange, parse_instant, resolve, resolve_range
from toolkit.storage import FileSystem

_NOMINAL = parse_instant("2026-03-10T12:00Z")
_MONTH = "/data/clicks/2026/03"


def counted(system: FileSystem, expression: str, nominal: datetime = _NOMINAL) -> datetime | None:
    found = instances(system)
    return resolve(expression, nominal, found.sequence, availability=found.counted())


def test_latest_is_the_newest_with_its_flag_and_asks_for_nothing_older() -> None:
    system = MemoryFileSystem()
    system.put(f"{_MONTH}/10/11/_SUCCESS", f"{_MONTH}/10/10/_SUCCESS", f"{_MONTH}/10/12/part-0")
    store = CountingStore(system)
    assert counted(store, "latest(0)") == parse_instant("2026-03-10T11:00Z")
    assert store.requested == [
        f"status {_MONTH}/10/12/_SUCCESS",
        f"status {_MONTH}/10",
        f"list {_MONTH}/10",
        f"status {_MONTH}/10/11/_SUCCESS",
    ]
    assert counted(system, "latest(-1)") == parse_instant("2026-03-10T10:00Z")
    assert counted(system, "latest(-2)") is None


def test_a_gap_of_years_costs_little_more_than_the_directories_that_are_there() -> None:
    system = MemoryFileSystem()
    system.put(f"{_MONTH}/01/07/_SUCCESS")
    store = CountingStore(system)
    assert counted(store, "latest(0)", parse_instant("2028-03-10T12:00Z")) == parse_instant("2026-03-01T07:00Z")
    assert len(store.requested) < 130  # two for each missing day of March, three for each missing month of 2026


def test_a_feed_that_never_came_costs_the_way_up_once() -> None:
    store = CountingStore(MemoryFileSystem())
    assert counted(store, "latest(0)", parse_instant("2028-03-10T12:00Z")) is None
    assert len(store.requested) < 10


def test_a_day_without_instances_is_listed_once_and_an_answer_given_once() -> None:
    system = MemoryFileSystem()
    system.make(f"{_MONTH}/10/00", f"{_MONTH}/12")
    store = CountingStore(system)
    found = instances(store)
    answers = found.counted()
    days = list(found.sequence.between(parse_instant("2026-03-10T00:00Z"), parse_instant("2026-03-13T00:00Z")))
    assert [instant in answers for instant in days] == [False] * 72
    assert [store.requested.count(f"list {_MONTH}/{number}") for number in (10, 12)] == [1, 1]
    system.put(f"{_MONTH}/10/00/_SUCCESS")
    assert days[0] not in answers
    assert days[0] in found.counted()


def test_future_counts_from_the_nominal_time_on() -> None:
    system = MemoryFileSystem()
    system.put(f"{_MONTH}/10/11/_SUCCESS", f"{_MONTH}/10/15/_SUCCESS", f"{_MONTH}/11/02/_SUCCESS")
    assert counted(system, "future(0,24)") == parse_instant("2026-03-10T15:00Z")
    assert counted(system, "future(1,24)") == parse_instant("2026-03-11T02:00Z")
    assert counted(system, "future(1,13)") is None


def test_a_range_waits_for_the_instances_that_are_missing() -> None:
    system = MemoryFileSystem()
    system.put(*(f"{_MONTH}/10/{hour:02}/_SUCCESS" for hour in range(12) if hour not in {3, 7}), f"{_MONTH}/10/07/part")
    found = instances(system)

    def ranged() -> object:
        return resolve_range("today(0,0)", "today(11,0)", _NOMINAL, found.sequence, availability=found.counted())

    waiting = ranged()
    assert isinstance(waiting, UnreadyRange)
    assert waiting.missing == (parse_instant("2026-03-10T03:00Z"), parse_instant("2026-03-10T07:00Z"))
    system.put(f"{_MONTH}/10/03/_SUCCESS", f"{_MONTH}/10/07/_SUCCESS")
    assert isinstance(ranged(), tuple)

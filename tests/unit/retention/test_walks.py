"""Tests of what is listed, in which order and when: never more than has to be."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass, field

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.unit.retention.feeds import HOURLY, FeedText
from tests.unit.retention.memory import AtomicMemory, MemoryFileSystem
from tests.unit.retention.planned import as_parallel, paths, planned
from tests.unit.retention.test_subtrees import systems
from toolkit.el import CanonicalPath
from toolkit.runs.errors import Stopped
from toolkit.storage import Entry, NotFound, Unreachable

FLAT = "/data/clicks/${YEAR}-${MONTH}-${DAY}"


@dataclass
class PagedMemory(AtomicMemory):
    """Knows which names were pulled out of its listings."""

    pulled: list[str] = field(default_factory=list)

    def list(self, path: CanonicalPath, *, start_from: str = "") -> Iterator[Entry]:
        for entry in super().list(path, start_from=start_from):
            self.pulled.append(entry.name)
            yield entry


@dataclass
class SlowMemory(AtomicMemory):
    """Each listing takes a moment; knows how many went on at once."""

    seconds: float = 0.005
    at_once: int = 0
    most: int = 0
    silent: set[str] = field(default_factory=set)
    gone: set[str] = field(default_factory=set)
    lock: threading.Lock = field(default_factory=threading.Lock)

    def list(self, path: CanonicalPath, *, start_from: str = "") -> Iterator[Entry]:
        with self.lock:
            self.at_once += 1
            self.most = max(self.most, self.at_once)
        time.sleep(self.seconds)
        with self.lock:
            self.at_once -= 1
        if path.path in self.silent:
            raise Unreachable(path=path)
        if path.path in self.gone:
            raise NotFound(path=path)
        yield from super().list(path, start_from=start_from)


def _flat(first: int, last: int) -> list[str]:
    return [f"/data/clicks/2026-{month:02d}-{day:02d}" for month in range(first, last + 1) for day in range(1, 29)]


def test_a_flat_listing_is_pulled_no_further_than_the_first_name_that_is_too_young() -> None:
    system = PagedMemory()
    system.put(*_flat(1, 12))
    assert len(paths(planned(system, FeedText(data=FLAT)))) == 28 + 28 + 10
    assert system.pulled[-1] == "2026-03-11"


def test_the_newest_of_a_flat_directory_are_listed_from_a_name_near_the_horizon() -> None:
    system = PagedMemory()
    system.put(*_flat(1, 12))
    plan = planned(system, FeedText(data=FLAT, keep_last=3))
    assert len(plan.items) == 28 + 28 + 10
    second = system.pulled[system.pulled.index("2026-03-11") + 1 :]
    assert second[0] == "2026-03-08"


def _sequential(system: MemoryFileSystem) -> MemoryFileSystem:
    other = AtomicMemory(
        files=dict(system.files), directories=set(system.directories), links=set(system.links), locked=system.locked
    )
    other.capabilities = as_parallel(system.capabilities, 1)
    return other


@given(system=systems(), layout=st.sampled_from(["tree", "passage"]))
def test_looking_ahead_finds_and_lists_what_the_walk_one_by_one_does(system: MemoryFileSystem, layout: str) -> None:
    data = {"tree": "/data/clicks/${YEAR}/${MONTH}/${DAY}", "passage": "/data/clicks/${YEAR}/01/${MONTH}/part"}[layout]
    system.capabilities = as_parallel(system.capabilities, 3)
    one_by_one = _sequential(system)
    ahead, slowly = planned(system, FeedText(data=data)), planned(one_by_one, FeedText(data=data))
    assert (ahead.items, ahead.detail.subtrees, ahead.detail.unrecognized) == (
        slowly.items,
        slowly.detail.subtrees,
        slowly.detail.unrecognized,
    )
    assert [each.item for each in ahead.unreadable] == [each.item for each in slowly.unreadable]
    assert sorted(system.listed) == sorted(one_by_one.listed)


def _slow(parallel: int, *files: str) -> SlowMemory:
    system = SlowMemory()
    system.capabilities = as_parallel(system.capabilities, parallel)
    system.put(*files)
    return system


HOURS = [f"/data/clicks/2025/{month:02d}/{day:02d}/00/part" for month in (1, 2) for day in range(1, 29)]


def test_a_remote_store_is_asked_many_things_at_once_and_no_more_than_it_likes() -> None:
    system = _slow(4, *HOURS)
    assert len(planned(system, FeedText(data=HOURLY, frequency="hours(1)")).items) == len(HOURS)
    assert system.most == 4


def test_below_literal_names_it_is_too() -> None:
    system = _slow(4, *(f"/data/2025-01-{day:02d}/clicks/raw/00/part" for day in range(1, 29)))
    feed = FeedText(data="/data/${YEAR}-${MONTH}-${DAY}/clicks/raw/${HOUR}", frequency="hours(1)")
    assert len(planned(system, feed).items) == 28
    assert system.most == 4


def test_a_local_disk_is_asked_one_thing_after_the_other() -> None:
    system = _slow(4, *HOURS)
    planned(system, FeedText(data=HOURLY, frequency="hours(1)"), default_fs="file:///")
    assert system.most == 1


@pytest.mark.parametrize("parallel", [1, 4])
def test_a_silent_directory_is_reported_in_its_place_and_the_others_are_found(parallel: int) -> None:
    system = _slow(parallel, *HOURS)
    system.silent.add("/data/clicks/2025/01/05")
    plan = planned(system, FeedText(data=HOURLY, frequency="hours(1)"))
    assert len(plan.items) == len(HOURS) - 1
    assert [each.item.path.path for each in plan.unreadable] == ["/data/clicks/2025/01/05"]
    assert [each.root.path for each in plan.detail.subtrees] == ["/data/clicks/2025/02"]


@pytest.mark.parametrize("parallel", [1, 4])
def test_a_base_that_cannot_be_listed_stops_the_feed(parallel: int) -> None:
    system = _slow(parallel, *HOURS)
    system.silent.add("/data/clicks")
    failure = planned(system, FeedText(data=HOURLY, frequency="hours(1)")).failed
    assert failure is not None
    assert failure.code == "unreachable"


@dataclass
class StopsAt:
    """Breaks at some call, and at every one after it."""

    call: int
    calls: int = 0

    def __call__(self) -> None:
        self.calls += 1
        if self.calls >= self.call:
            raise Stopped(reason="told to stop")


@pytest.mark.parametrize("parallel", [1, 4])
def test_each_listing_is_asked_for_before_it_begins_and_a_stop_ends_the_walk(parallel: int) -> None:
    system, check = _slow(parallel, *HOURS), StopsAt(call=10)
    with pytest.raises(Stopped):
        planned(system, FeedText(data=HOURLY, frequency="hours(1)"), check=check)
    assert len(system.listed) <= 9


def test_every_listing_was_asked_for() -> None:
    system, check = _slow(4, *HOURS), StopsAt(call=10**9)
    planned(system, FeedText(data=HOURLY, frequency="hours(1)"), check=check)
    assert check.calls == len(system.listed)


@pytest.mark.parametrize("parallel", [1, 4])
def test_what_vanishes_meanwhile_is_passed_over(parallel: int) -> None:
    system = _slow(parallel, *HOURS)
    system.gone.add("/data/clicks/2025/01/05")
    plan = planned(system, FeedText(data=HOURLY, frequency="hours(1)"))
    assert len(plan.items) == len(HOURS) - 1
    assert plan.unreadable == ()
    assert [each.root.path for each in plan.detail.subtrees] == ["/data/clicks/2025/02"]

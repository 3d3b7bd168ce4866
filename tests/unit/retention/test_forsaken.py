"""Directories that a killed run emptied: who removes them, and what keeps the way back to them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import pytest

from tests.unit.retention.feeds import FeedText, run
from tests.unit.retention.memory import AtomicMemory, MemoryFileSystem
from tests.unit.retention.object_memory import ObjectMemory
from tests.unit.runs.fakes import MemoryRecorder, left_item
from toolkit.el import CanonicalPath
from toolkit.ledger.runs.items import Item, NewItem
from toolkit.ledger.vocabulary import ItemState
from toolkit.planning.delete_limits import DeleteLimits
from toolkit.result import Status
from toolkit.runs.errors import Stopped
from toolkit.runs.lifeline import CurrentLifeline, ProcessLifeline
from toolkit.storage import FileStatus, StorageFailure, Unreachable

AREAS = FeedText(data="/data/clicks/${area}/${country}/${YEAR}-${MONTH}-${DAY}")
REGIONS = FeedText(data="/data/clicks/${region}/${YEAR}-${MONTH}-${DAY}")
NOTHING_GOES = DeleteLimits(instances=0)


def _left(*paths: str, key: str = "2026-03-01T00:00Z") -> list[Item]:
    news = (
        NewItem(position=at, kind="instance:data", path=f"file:///data/clicks/{path}", instance_key=key)
        for at, path in enumerate(paths)
    )
    return [left_item(new) for new in news]


def _next(recorder: MemoryRecorder) -> MemoryRecorder:
    """The ledger as the run after it finds it."""
    settled = {each.left for each in recorder.settled_left}
    open_now = {each.position: each for step in recorder.steps for each in step.intended}
    for step in recorder.steps:
        for each in step.settled:
            del open_now[each.position]
    left = [each for each in recorder.left if each not in settled]
    return MemoryRecorder(left=[*left, *(left_item(each, run_id=8) for each in open_now.values())])


def _told(*recorders: MemoryRecorder) -> list[str]:
    late = [each.event for recorder in recorders for each in recorder.settled_left if each.event is not None]
    return [event.instance_key for event in (*late, *(event for each in recorders for event in each.events()))]


@pytest.mark.parametrize("kind", [MemoryFileSystem, AtomicMemory])
def test_a_run_that_a_limit_refuses_keeps_the_way_back(kind: type[MemoryFileSystem]) -> None:
    system = kind()
    system.put("/data/clicks/us/ny/2026-03-01/part", "/data/clicks/us/ny/2026-03-19/part")
    system.make("/data/clicks/eu/de", "/data/clicks/eu/fr", "/data/clicks/us/la")
    first = MemoryRecorder(left=_left("eu/de/2026-03-01", "eu/fr/2026-03-01", "us/ny/2026-03-02", "us/la/2026-03-03"))
    before = system.tree()
    assert run(system, AREAS, recorder=first, limits=NOTHING_GOES).status is Status.REFUSED
    assert system.tree() == before
    assert [each.left.path[-16:] for each in first.settled_left] == ["us/ny/2026-03-02"]
    run(system, AREAS, recorder=_next(first))
    assert [path for path in system.directories if path.startswith(("/data/clicks/eu", "/data/clicks/us/la"))] == []


def test_so_it_does_to_markers() -> None:
    system = ObjectMemory()
    system.put("/data/clicks/us/2026-03-01/part", "/data/clicks/de/", "/data/clicks/us/")
    first = MemoryRecorder(left=_left("de/2026-03-01", "us/2026-03-02", "fr/2026-03-02"))
    run(system, REGIONS, recorder=first, limits=NOTHING_GOES)
    assert sorted(each.left.path[-13:] for each in first.settled_left) == ["fr/2026-03-02", "us/2026-03-02"]
    run(system, REGIONS, recorder=_next(first))
    assert system.tree() == []


def test_a_dry_run_leaves_what_a_killed_run_emptied() -> None:
    system = MemoryFileSystem()
    system.make("/data/clicks/de")
    run(system, REGIONS, dry_run=True, recorder=MemoryRecorder(left=_left("de/2026-03-01")))
    assert (system.effects, "/data/clicks/de" in system.tree()) == ([], True)


def test_one_that_the_store_gives_no_answer_about_is_tried_by_the_next_run() -> None:
    class Silent(MemoryFileSystem):
        is_silent = True

        def remove_if_empty(self, path: CanonicalPath, *, below: CanonicalPath) -> bool:
            if self.is_silent:
                raise Unreachable(path=path)
            return super().remove_if_empty(path, below=below)

    system = Silent()
    system.make("/data/clicks/de")
    first = MemoryRecorder(left=_left("de/2026-03-01", "2026-03-01"))
    run(system, REGIONS, recorder=first)
    assert [each.left.path[-19:] for each in first.settled_left] == ["a/clicks/2026-03-01"]
    second, system.is_silent = _next(first), False
    run(system, REGIONS, recorder=second)
    assert system.tree() == ["/data", "/data/clicks"]
    assert set(_told(first, second)) == {"2026-03-01T00:00Z"}


def test_a_hold_that_came_while_the_plan_was_made_keeps_everything() -> None:
    @dataclass
    class Late(MemoryRecorder):
        before_left: Callable[[], None] = lambda: None

        def left_over(self, run: object) -> tuple[Item, ...]:
            del run
            self.before_left()
            return tuple(self.left)

    system = MemoryFileSystem()
    system.make("/data/clicks/de")
    first = Late(left=_left("de/2026-03-01"), before_left=lambda: system.put("/data/clicks/.feedctl-hold"))
    run(system, REGIONS, recorder=first)
    assert (system.effects, first.settled_left) == ([], [])
    del system.files["/data/clicks/.feedctl-hold"]
    run(system, REGIONS, recorder=_next(first))
    assert system.tree() == ["/data", "/data/clicks"]


def test_the_store_asks_the_run_of_the_feed_before_it_removes_one() -> None:
    """Its lease may have ended while a silent store was waited for."""
    lifelines = list[CurrentLifeline]()
    beats = list[Callable[[], object]]()

    class Waits(MemoryFileSystem):
        def remove_if_empty(self, path: CanonicalPath, *, below: CanonicalPath) -> bool:
            recorder.lost.add(1)
            beats[0]()
            lifelines[0].check()
            return super().remove_if_empty(path, below=below)

    system = Waits()
    system.make("/data/clicks/de")
    recorder = MemoryRecorder(left=_left("de/2026-03-01"))
    result = run(system, REGIONS, recorder=recorder, beats=beats, lifelines=lifelines)
    assert (system.effects, recorder.settled_left, result.status) == ([], [], Status.KILLED)


def test_what_the_template_does_not_lead_through_any_more_stays() -> None:
    """A day that had regions in it is an instance now, and a young one; a region may be anything."""
    system = MemoryFileSystem()
    system.make("/data/clicks/2026-03-19", "/data/clicks/de")
    recorder = MemoryRecorder(left=_left("2026-03-19/us", "de/2026-03-01"))
    run(system, FeedText(data="/data/clicks/${YEAR}-${MONTH}-${DAY}"), recorder=recorder)
    assert system.tree() == ["/data", "/data/clicks", "/data/clicks/2026-03-19", "/data/clicks/de"]
    assert len(recorder.settled_left) == 2


def test_of_two_nested_locations_each_leads_back_through_its_own_directories() -> None:
    system = MemoryFileSystem()
    system.make("/data/clicks/eu/de", "/data/clicks/eu/stats")
    feed = replace(AREAS, others={"stats": "/data/clicks/eu/${YEAR}-${MONTH}-${DAY}"})
    run(system, feed, recorder=MemoryRecorder(left=_left("eu/de/2026-03-01")))
    assert system.tree() == ["/data", "/data/clicks", "/data/clicks/eu", "/data/clicks/eu/stats"]


def test_the_base_of_a_nested_location_stays_when_its_last_instance_goes() -> None:
    system = MemoryFileSystem()
    system.put("/data/clicks/stats/2026-03-01/part")
    system.make("/data/clicks/de/2026-03-01")
    run(system, replace(REGIONS, others={"stats": "/data/clicks/stats/${YEAR}-${MONTH}-${DAY}"}))
    assert system.tree() == ["/data", "/data/clicks", "/data/clicks/stats"]


def test_an_empty_directory_that_somebody_made_stays_and_keeps_what_it_is_in() -> None:
    system = MemoryFileSystem()
    system.make("/data/clicks/eu/de", "/data/clicks/eu/new")
    run(system, AREAS, recorder=MemoryRecorder(left=_left("eu/de/2026-03-01")))
    assert system.tree() == ["/data", "/data/clicks", "/data/clicks/eu", "/data/clicks/eu/new"]


def test_an_instance_that_is_there_again_keeps_its_directories() -> None:
    system = MemoryFileSystem()
    system.put("/data/clicks/de/2026-03-15/part")
    recorder = MemoryRecorder(left=_left("de/2026-03-15", key="2026-03-15T00:00Z"))
    run(system, REGIONS, recorder=recorder)
    assert "/data/clicks/de/2026-03-15/part" in system.files
    assert [each.item.code for each in recorder.settled_left] == ["not_done"]
    assert _told(recorder) == []


def test_an_instance_of_which_one_place_cannot_be_looked_at_is_told_when_that_can_be() -> None:
    class Locked(MemoryFileSystem):
        is_locked = True

        def status(self, path: CanonicalPath) -> FileStatus:
            if self.is_locked and path.path.endswith("us/2026-03-01"):
                raise StorageFailure(path=path)
            return super().status(path)

    system = Locked()
    system.make("/data/clicks")
    first = MemoryRecorder(left=_left("us/2026-03-01", "de/2026-03-01"))
    run(system, REGIONS, recorder=first)
    assert _told(first) == []
    second, system.is_locked = _next(first), False
    run(system, REGIONS, recorder=second)
    assert _told(first, second) == ["2026-03-01T00:00Z"]


def _runs_until_done(system: MemoryFileSystem, feed: FeedText, first: MemoryRecorder) -> MemoryRecorder:
    second = _next(first)
    assert run(system, feed, recorder=second).status is Status.SUCCEEDED
    return second


def test_a_removal_that_took_effect_before_the_run_was_stopped_leads_back() -> None:
    process = ProcessLifeline()

    class Breaks(AtomicMemory):
        def delete(self, path: CanonicalPath, *, below: CanonicalPath) -> None:
            super().delete(path, below=below)
            stopped = Stopped(reason="received SIGTERM")
            process.stop(stopped)
            raise stopped

    system = Breaks()
    system.put("/data/clicks/de/2026-03-01/part")
    first = MemoryRecorder()
    run(system, REGIONS, recorder=first, lifeline=process)
    assert "/data/clicks/de" in system.tree()
    second = _runs_until_done(system, REGIONS, first)
    assert system.tree() == ["/data", "/data/clicks"]
    assert _told(first, second) == ["2026-03-01T00:00Z"]


def test_one_that_failed_though_it_is_gone_takes_its_directories_along() -> None:
    class Breaks(AtomicMemory):
        def delete(self, path: CanonicalPath, *, below: CanonicalPath) -> None:
            super().delete(path, below=below)
            raise StorageFailure(path=path)

    system = Breaks()
    system.put("/data/clicks/de/2026-03-01/part")
    recorder = MemoryRecorder()
    run(system, REGIONS, recorder=recorder)
    assert system.tree() == ["/data", "/data/clicks"]
    assert _told(recorder) == ["2026-03-01T00:00Z"]


def test_a_parent_whose_removal_is_not_answered_is_tried_by_the_next_run() -> None:
    class Silent(AtomicMemory):
        is_silent = True

        def remove_if_empty(self, path: CanonicalPath, *, below: CanonicalPath) -> bool:
            if self.is_silent:
                raise Unreachable(path=path)
            return super().remove_if_empty(path, below=below)

    system, first = Silent(), MemoryRecorder()
    system.put("/data/clicks/eu/de/2026-03-01/part")
    result = run(system, AREAS, recorder=first)
    assert [(each.code, each.item.path.name) for each in result.items if each.code] == [("unreachable", "de")]
    system.is_silent = False
    second = _runs_until_done(system, AREAS, first)
    assert system.tree() == ["/data", "/data/clicks"]
    assert _told(first, second) == ["2026-03-01T00:00Z"]


@pytest.mark.parametrize("at", range(16))
def test_a_rerun_that_is_killed_anywhere_is_finished_by_the_next_one(at: int) -> None:
    """Before and after each removal and each record: the third run finds what is left, and tells the instance once."""

    class Killed(BaseException):
        pass

    steps = iter(range(at))

    def step() -> None:
        if next(steps, None) is None:
            raise Killed

    class Mortal(MemoryFileSystem):
        def remove_if_empty(self, path: CanonicalPath, *, below: CanonicalPath) -> bool:
            step()
            try:
                return super().remove_if_empty(path, below=below)
            finally:
                step()

    class Ledger(MemoryRecorder):
        def settle_left_over(self, items: object) -> bool:
            step()
            is_settled = super().settle_left_over(items)  # type: ignore[arg-type]
            step()
            return is_settled

    system = Mortal()
    system.make("/data/clicks/eu/de", "/data/clicks/eu/fr", "/data/clicks/us")
    second = Ledger(left=_left("eu/de/2026-03-01", "us/ny/2026-03-01", "eu/fr/2026-03-01"))
    try:
        run(system, AREAS, recorder=second)
    except Killed:
        steps = iter(range(1000))
    third = _next(second)
    run(system, AREAS, recorder=third)
    assert system.tree() == ["/data", "/data/clicks"]
    assert _told(second, third) == ["2026-03-01T00:00Z"]
    states = [each.item.state for each in (*second.settled_left, *third.settled_left)]
    assert states == [ItemState.DONE] * 3

"""Data that comes into a directory while its removal waits: it stays, since every call follows a look at once."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from functools import partial

import pytest

from tests.unit.retention.acting import BASE, SharedStore, capabilities, item
from tests.unit.retention.feeds import context_on
from tests.unit.storage.silent_store import Clock
from toolkit.actions.guard import HELD, Guard, Refusal
from toolkit.el import CanonicalPath
from toolkit.result import Outcome
from toolkit.retention.delete import SingleDelete, UnitRemoved
from toolkit.retention.delete_tree import TreeDelete
from toolkit.runs.errors import Stopped
from toolkit.storage import Entry, NotFound, Unreachable
from toolkit.storage.bound import RateLimiter
from toolkit.storage.patient import PatientFileSystem

MONTH = [item(f"2025/01/{day:02d}") for day in range(1, 5)]
ROOT = CanonicalPath.parse(f"{BASE}/2025/01")
ONE_CALL = f"delete {ROOT.path}"
PRECIOUS = f"{ROOT.path}/PRECIOUS"


@dataclass
class Run:
    """A run's stop signal and its only condition, by hand."""

    is_held: bool = False
    on_check: Callable[[], None] = lambda: None

    def check(self) -> None:
        self.on_check()

    def refusal(self, base: CanonicalPath, *, items: int, must_look: bool) -> Refusal | None:
        del base, items, must_look
        return HELD if self.is_held else None


@dataclass
class Place:
    """A store that keeps a month, behind the patience and the rate that a run has."""

    rate: float = 1000.0
    run: Run = field(default_factory=Run)
    clock: Clock = field(default_factory=Clock)
    store: SharedStore = field(default_factory=lambda: SharedStore(has=capabilities()))
    on_wait: Callable[[], None] = lambda: None
    requests: int = 0

    def __post_init__(self) -> None:
        self.store.put(*(f"{each.path.path}/part" for each in MONTH))
        self.limiter = RateLimiter(rate=self.rate, now=self.clock.now, sleep=self.clock.sleep)

    def drop(self) -> UnitRemoved:
        now, sleep = self.clock.now, self.clock.sleep
        guard = Guard(run=self.run, conditions=(self.run,))
        self.store.before_effect = partial(self.limiter.acquire, guard.check)
        system = PatientFileSystem(inner=self.store, check=guard.check, now=now, sleep=sleep)
        work = replace(context_on(system, self.run), guard=guard, wait_for_rate=lambda _: self._wait_for_rate(guard))
        tree = TreeDelete(work=work, single=SingleDelete(work=work), now=now)
        return tree.remove(ROOT, MONTH)

    def _wait_for_rate(self, guard: Guard) -> None:
        self.limiter.acquire(guard.check)
        self.on_wait()

    def fail(self, times: int, then: Callable[[], None] = lambda: None) -> None:
        """The call for the directory is not answered so often; `then` happens at each."""

        def broken(call: str, path: str) -> None:
            if (call, path) == ("delete", ROOT.path) and self.requests < times:
                self.requests += 1
                then()
                raise Unreachable(path=ROOT, detail="no answer")

        self.store.broken = broken


def _vanish(store: SharedStore) -> None:
    for each in [each for each in store.files if each.startswith(f"{ROOT.path}/")]:
        del store.files[each]
    store.directories -= {each for each in store.directories if f"{each}/".startswith(f"{ROOT.path}/")}


def _outcomes(done: UnitRemoved) -> set[tuple[str, str]]:
    return {(each.result.outcome.value, each.result.code) for each in done.removed}


def test_a_call_that_was_not_answered_is_not_sent_again() -> None:
    """It may still happen: the store is waited for, and what it still has stays open for the next run."""
    place = Place()
    place.fail(10**6)
    done = place.drop()
    assert (place.requests, place.store.effects) == (1, [])
    assert {(each.result.code, each.is_open) for each in done.removed} == {("unreachable", True)}


def test_what_comes_while_a_silent_store_is_waited_for_stays() -> None:
    place = Place()
    place.fail(1, then=lambda: place.store.put(PRECIOUS))
    done = place.drop()
    assert PRECIOUS in place.store.files
    assert {(each.result.code, each.is_open) for each in done.removed} == {("unreachable", True)}


def test_what_comes_while_the_run_is_suspended_behind_the_look_stays() -> None:
    place = Place()
    checks = 0

    def rest() -> None:
        nonlocal checks
        checks += 1
        if checks == 3:  # those before the look are for the turn, and the guard's
            place.clock.sleep(3600)
            place.store.put(PRECIOUS)

    place.run.on_check = rest
    done = place.drop()
    assert PRECIOUS in place.store.files
    assert (done.is_whole, ONE_CALL in place.store.effects) == (False, False)


def test_a_removal_that_waits_long_for_its_turn_looks_only_then() -> None:
    place = Place(rate=0.1)
    place.limiter.acquire(lambda: None)  # somebody else's, so that the next turn is 10 s later
    began = place.clock.now()
    assert place.drop().is_whole
    assert place.store.listed.count(ROOT.path) == 1
    assert place.clock.now() - began == pytest.approx(10, abs=0.2)


def test_a_look_that_is_too_old_ends_in_single_removals() -> None:
    place = Place()
    place.run.on_check = lambda: place.clock.sleep(3)
    done = place.drop()
    assert (done.is_whole, _outcomes(done)) == (False, {("done", "")})
    assert place.store.listed.count(ROOT.path) == 1
    assert "listing it took too long" in done.note


def test_a_hold_that_was_there_before_anything_was_sent_is_told_as_such() -> None:
    place = Place()
    place.run.is_held = True
    assert _outcomes(place.drop()) == {("skipped", "held")}


def test_what_an_unanswered_call_removed_counts_as_removed_by_the_run() -> None:
    place = Place()
    place.fail(1, then=lambda: _vanish(place.store))
    done = place.drop()
    assert (done.is_whole, _outcomes(done)) == (True, {("done", "")})
    assert place.store.effects == []


def test_a_store_that_does_not_answer_is_waited_for_to_see_what_became_of_the_call() -> None:
    place = Place()
    silent = [ROOT.path] * 3  # the removal and two looks

    def broken(call: str, path: str) -> None:
        if (call, path) == ("delete", ROOT.path):
            _vanish(place.store)
        if silent and not place.store.is_there(ROOT):
            raise Unreachable(path=ROOT, detail=silent.pop())

    place.store.broken = broken
    done = place.drop()
    assert (done.is_whole, _outcomes(done)) == (True, {("done", "")})
    assert sum(place.clock.slept) > 1


def test_a_hold_that_comes_while_a_run_rests_before_its_turn_is_seen() -> None:
    place = Place()

    place.on_wait = lambda: setattr(place.run, "is_held", True)
    assert _outcomes(place.drop()) == {("skipped", "held")}
    assert place.store.effects == []


def test_a_hold_that_comes_while_a_look_breaks_off_is_seen() -> None:
    place, broken_off = Place(), list[str]()

    def broken(call: str, path: str) -> None:
        if (call, path) == ("list", ROOT.path) and len(broken_off) < 4:
            broken_off.append(path)
            place.run.is_held = True
            raise Unreachable(path=ROOT, detail="no answer")

    place.store.broken = broken
    assert _outcomes(place.drop()) == {("skipped", "held")}


def test_a_stop_between_the_look_and_the_call_has_touched_nothing() -> None:
    place, calls = Place(), list[str]()
    checks = 0

    def stop() -> None:
        nonlocal checks
        checks += 1
        if checks == 3:
            raise Stopped(reason="received SIGTERM")

    place.run.on_check = stop
    place.store.broken = lambda call, path: calls.append(f"{call} {path}")
    done = place.drop()
    assert _outcomes(done) == {("skipped", "stopped")}
    assert not any(each.is_open for each in done.removed)
    assert {each for each in calls if each.startswith("status")} == {f"status {ROOT.path}"}


def test_a_stop_when_nobody_can_tell_leaves_it_open() -> None:
    place = Place()
    checks = 0

    def stop() -> None:
        nonlocal checks
        checks += 1
        if checks >= 3:
            place.store.broken = silent
            raise Stopped(reason="received SIGTERM")

    def silent(call: str, path: str) -> None:
        raise Unreachable(path=BASE, detail=f"{call} {path}")

    place.run.on_check = stop
    done = place.drop()
    assert {(each.result.outcome, each.result.code, each.is_open) for each in done.removed} == {
        (Outcome.FAILED, "interrupted", True)
    }


def test_a_stop_while_a_silent_store_is_waited_for_leaves_it_open() -> None:
    place = Place()

    def stop() -> None:
        raise Stopped(reason="received SIGTERM")

    place.fail(1, then=lambda: setattr(place.run, "on_check", stop))
    done = place.drop()
    assert {(each.result.code, each.is_open) for each in done.removed} == {("unreachable", True)}


def test_a_directory_that_somebody_else_removed_was_not_removed_by_the_run() -> None:
    place = Place()

    def removed(call: str, path: str) -> None:
        if (call, path) == ("delete", ROOT.path):
            _vanish(place.store)
            raise NotFound(path=ROOT)

    place.store.broken = removed
    done = place.drop()
    assert _outcomes(done) == {("skipped", "already_gone")}
    assert "it was not there any more" in done.note


@dataclass
class _SlowStore(SharedStore):
    """Takes long to answer a listing; what comes meanwhile is not in the answer."""

    seconds: float = 0
    meanwhile: Callable[[], None] = lambda: None
    clock: Clock = field(default_factory=Clock)

    def list(self, path: CanonicalPath, *, start_from: str = "") -> Iterator[Entry]:
        found = list(super().list(path, start_from=start_from))
        self.clock.sleep(self.seconds)
        self.meanwhile()
        return iter(found)


def test_what_comes_while_a_slow_listing_is_waited_for_stays() -> None:
    store = _SlowStore(has=capabilities(), seconds=3)
    store.meanwhile = lambda: store.put(PRECIOUS)
    place = Place(store=store, clock=store.clock)
    done = place.drop()
    assert PRECIOUS in store.files
    assert (done.is_whole, ONE_CALL in store.effects) == (False, False)
    assert _outcomes(done) == {("done", "")}
    assert "listing it took too long" in done.note

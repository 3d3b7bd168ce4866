"""What is asked before each effect, and what a stop, a condition or a silent store does to those that follow."""

from __future__ import annotations

from dataclasses import dataclass, field

import pytest

from tests.unit.actions.fake_action import BASE, Mark, StatusStore
from toolkit.actions.guard import HELD, STOPPED, CalledOff, Guard, Refusal
from toolkit.el import CanonicalPath
from toolkit.result import Outcome
from toolkit.runs.errors import LeaseExpired, Stopped
from toolkit.runs.stop import NeverStopped, ProcessStop
from toolkit.storage import Unreachable

OTHER = CanonicalPath.parse("hdfs://nn/other")


@dataclass
class Says:
    """A condition that says what it is told to."""

    answer: Refusal | None = None
    error: Exception | None = None
    calls: list[tuple[str, int, bool]] = field(default_factory=list)

    def refusal(self, base: CanonicalPath, *, items: int, must_look: bool) -> Refusal | None:
        self.calls.append((str(base), items, must_look))
        if self.error is not None:
            raise self.error
        return self.answer


def test_a_run_that_may_not_go_on_once_never_may_again_and_the_first_reason_stays() -> None:
    process = ProcessStop()
    guard = Guard(run=process, conditions=())
    assert (guard.refusal(BASE), guard.may_begin()) == (None, True)
    process.stop(Stopped(reason="received SIGTERM"))
    assert guard.refusal(BASE) == STOPPED
    guard.stop(Stopped(reason="something later"))
    assert guard.stopped is not None
    assert guard.stopped.reason == "received SIGTERM"


def test_a_stop_that_a_store_was_told_of_is_known_to_the_run() -> None:
    """Whoever catches it need not pass it on."""
    process = ProcessStop()
    guard = Guard(run=process, conditions=())
    process.stop(Stopped(reason="received SIGTERM"))
    with pytest.raises(Stopped):
        guard.check()
    assert guard.stopped is not None


def test_after_a_stop_from_within_no_change_passes_though_the_process_may_go_on() -> None:
    """As when what is done cannot be written down any more: the calls under way must end as well."""
    guard = Guard(run=NeverStopped(), conditions=[Says()])
    lost = LeaseExpired(why="taken over")
    guard.stop(lost)
    with pytest.raises(LeaseExpired):
        guard.check()
    assert guard.against(BASE) == STOPPED
    assert guard.effects == 0


def test_conditions_are_asked_in_their_order_with_what_is_to_begin() -> None:
    first, second, third = Says(), Says(HELD), Says()
    guard = Guard(run=NeverStopped(), conditions=[first, second, third])
    assert guard.refusal(BASE, items=3, must_look=True) == HELD
    assert (first.calls, third.calls) == ([(str(BASE), 3, True)], [])


def test_a_condition_calls_off_what_is_under_way_and_nothing_else() -> None:
    condition = Says()
    guard = Guard(run=NeverStopped(), conditions=[condition])
    with guard.watching(BASE):
        guard.check()
        condition.answer = HELD
        with pytest.raises(CalledOff) as caught:
            guard.check()
    assert (caught.value.refusal, guard.effects, guard.stopped) == (HELD, 1, None)
    guard.check()
    assert [items for _, items, _ in condition.calls] == [0, 0]


def test_a_run_that_ends_while_a_condition_waits_is_stopped() -> None:
    guard = Guard(run=NeverStopped(), conditions=[Says(error=Stopped(reason="received SIGTERM"))])
    assert guard.refusal(BASE) == STOPPED
    assert guard.stopped is not None


def test_a_store_that_is_silent_is_left_alone_and_the_others_are_not() -> None:
    condition = Says(error=Unreachable(path=BASE, detail="no route"))
    guard = Guard(run=NeverStopped(), conditions=[condition])
    refusal = guard.refusal(BASE)
    assert refusal is not None
    assert (refusal.code, "the storage does not answer (no route); run again" in refusal.why) == ("unreachable", True)
    assert guard.refusal(BASE) is refusal
    assert len(condition.calls) == 1
    condition.error = None
    assert (guard.refusal(OTHER), guard.is_silent(OTHER), guard.is_silent(BASE)) == (None, False, True)


def test_a_hold_that_cannot_be_looked_for_elsewhere_names_that_place() -> None:
    guard = Guard(run=NeverStopped(), conditions=[Says(error=Unreachable(path=OTHER))])
    refusal = guard.refusal(BASE)
    assert refusal is not None
    assert "a hold could not be looked for in hdfs://nn/other" in refusal.why


def test_a_call_without_answer_leaves_the_store_alone_only_when_that_is_silent() -> None:
    def silent(path: CanonicalPath) -> None:
        raise Unreachable(path=path)

    store = StatusStore()
    guard = Guard(run=NeverStopped(), conditions=())
    guard.note_unanswered(store, BASE)  # says that there is nothing
    assert not guard.is_silent(BASE)
    store.before = silent
    guard.note_unanswered(store, BASE)
    assert guard.is_silent(BASE)


def test_what_is_refused_by_an_error_failed_and_says_so_and_else_it_is_skipped() -> None:
    mark = Mark(entity="clicks", number=1)
    failed = Refusal("unreachable", "the storage does not answer").of(mark)
    assert (failed.outcome, failed.message) == (
        Outcome.FAILED,
        "file:///marks/clicks-1: not begun, since the storage does not answer",
    )
    assert (HELD.of(mark).outcome, HELD.of(mark).code) == (Outcome.SKIPPED, "held")

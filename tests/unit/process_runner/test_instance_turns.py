"""Whose turn it is, of the instances of processes, and when it comes again."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime, timedelta

import pytest

from tests.unit.process_runner.lines import KEYS, MIDNIGHT, TWICE, HandClock, attempt, ended, site
from toolkit.actions.model import INTERRUPTED, TIMED_OUT, Problem
from toolkit.entities import Order
from toolkit.ledger.runs.errors import LeaseHeld, TooManyRun
from toolkit.ledger.vocabulary import RunStatus
from toolkit.planning.process_io import ProcessSite
from toolkit.process_runner.backfill import Backfill
from toolkit.process_runner.codes import FAILED, HOPELESS, NO_OUTPUT
from toolkit.process_runner.due import line_of_due, line_of_one, line_of_range
from toolkit.process_runner.planner import INVALID, REPLACED
from toolkit.process_runner.retries import retry_at
from toolkit.process_runner.turns import InstanceTurns, ProcessTurn
from toolkit.runs.errors import Stopped

HOUR = timedelta(hours=1)


def turns_of(
    *sites: ProcessSite,
    instances: int = 3,
    waits: bool = False,
    keeps_going: bool = True,
    clock: HandClock | None = None,
) -> InstanceTurns:
    now = (clock or HandClock()).now()
    all_due = (line_of_due(each, MIDNIGHT + (instances - 1) * HOUR, {}, now) for each in sites)
    lines = [replace(each, keeps_going=keeps_going) for each in all_due]
    return InstanceTurns(lines=lines, clock=clock or HandClock(), check=lambda: None, waits=waits)


def took(turn: ProcessTurn | None) -> int:
    assert turn is not None
    return turn.target.nominal_time.hour


def test_no_more_are_under_way_than_the_process_allows() -> None:
    turns = turns_of(site(parallel=2))
    first, second = turns.take(), turns.take()
    assert (took(first), took(second), turns.at_once) == (0, 1, 2)
    assert first is not None
    assert first.terms.most == 2
    turns.give_back(first, ended(first.target))
    assert took(turns.take()) == 2


def test_without_waiting_an_instance_that_waits_has_no_second_turn() -> None:
    turns = turns_of(site(), instances=1)
    turn = turns.take()
    assert turn is not None
    turns.give_back(turn, ended(turn.target, waits=True))
    assert turns.take() is None


def test_with_waiting_its_turn_comes_again_after_a_while() -> None:
    clock = HandClock()
    turns = turns_of(site(), instances=2, waits=True, clock=clock)
    turn = turns.take()
    assert turn is not None
    turns.give_back(turn, ended(turn.target, waits=True))
    other = turns.take()
    assert other is not None
    assert took(other) == 1
    turns.give_back(other, ended(other.target))
    clock.at += turns.poll
    assert took(turns.take()) == 0


def test_with_waiting_a_failure_has_its_retry_and_without_it_is_over() -> None:
    clock = HandClock()
    turns = turns_of(site(retry=TWICE), instances=1, waits=True, clock=clock)
    for number, wait in enumerate((10, 20)):
        turn = turns.take()
        assert turn is not None
        assert (turn.target.retries, turn.terms.retry) == (number, number or None)
        turns.give_back(turn, ended(turn.target, FAILED, run_id=number + 5))
        clock.at += timedelta(minutes=wait)
    last = turns.take()
    assert last is not None
    assert (last.target.retries, last.terms.seen) == (2, 6)
    turns.give_back(last, ended(last.target, FAILED))
    assert turns.take() is None


def test_what_others_run_as_many_of_as_may_be_is_left_to_them_until_one_of_our_own_is_over() -> None:
    turns = turns_of(site(parallel=2))
    first, second = turns.take(), turns.take()
    assert first is not None
    assert second is not None
    turns.give_back(second, ended(second.target, skipped=TooManyRun.code))
    turns.give_back(first, ended(first.target))
    again = turns.take()
    assert took(again) == 1
    assert again is not None
    turns.give_back(again, ended(again.target, skipped=TooManyRun.code))
    assert turns.take() is None
    assert list(turns.notes) == [
        "2 instances of sample on primary are left to others, who run as many as may be at once (parallel: 2)"
    ]
    assert list(turns.unstarted) == []


@pytest.mark.parametrize("instances", [1, 3])
def test_instances_that_a_person_named_and_that_have_no_place_are_not_yet_run(instances: int) -> None:
    now = HandClock().now()
    asked = Backfill(first=MIDNIGHT, end=MIDNIGHT + instances * HOUR)
    line = line_of_range(site(parallel=2), asked, {}, now)
    if instances == 1:
        line = line_of_one(site(parallel=2), MIDNIGHT, {}, now, is_forced=False)
    turns = InstanceTurns(lines=[line], clock=HandClock(), check=lambda: None)
    turn = turns.take()
    assert turn is not None
    turns.give_back(turn, ended(turn.target, skipped=TooManyRun.code))
    assert turns.take() is None
    assert list(turns.notes) == []
    assert [(target.instance_key, problem.code) for target, problem in turns.unstarted] == [
        (key, TooManyRun.code) for key in KEYS[:instances]
    ]
    (first, *_) = [problem.message for _, problem in turns.unstarted]
    assert "parallel: 2" in first
    assert "run it again" in first


def test_once_the_last_one_runs_older_ones_are_replaced_also_when_somebody_else_runs_it() -> None:
    for skipped in ("", LeaseHeld.code):
        turns = turns_of(site(order=Order.LAST_ONLY, parallel=3))
        newest = turns.take()
        assert newest is not None
        turns.give_back(newest, ended(newest.target, skipped=skipped))
        older = turns.take()
        assert older is not None
        assert (took(newest), took(older), older.target.replaced_by) == (2, 1, KEYS[2])


@pytest.mark.parametrize(
    ("status", "retry_at", "is_replaced"),
    [
        (RunStatus.WAITING, None, True),
        (RunStatus.READY, None, False),  # somebody has ordered it
        (RunStatus.RUNNING, None, False),  # it has begun, and its owner died
        (RunStatus.FAILED, MIDNIGHT, False),  # its retry has come
    ],
)
def test_the_last_one_replaces_nothing_that_was_ordered_or_has_begun(
    status: RunStatus, retry_at: datetime | None, *, is_replaced: bool
) -> None:
    known = dict([attempt(0, status, retry_at=retry_at)])
    clock = HandClock()
    line = line_of_due(site(order=Order.LAST_ONLY), MIDNIGHT + HOUR, known, clock.now())
    turns = InstanceTurns(lines=[line], clock=clock, check=lambda: None)
    newest = turns.take()
    assert newest is not None
    turns.give_back(newest, ended(newest.target))
    older = turns.take()
    assert older is not None
    assert (took(newest), took(older), bool(older.target.replaced_by)) == (1, 0, is_replaced)


def test_a_last_one_that_waits_replaces_nothing() -> None:
    turns = turns_of(site(order=Order.LAST_ONLY))
    newest = turns.take()
    assert newest is not None
    turns.give_back(newest, ended(newest.target, waits=True))
    older = turns.take()
    assert older is not None
    assert older.target.replaced_by == ""


def test_with_waiting_the_newest_that_can_run_does_and_replaces_older_ones_that_waited_too() -> None:
    clock = HandClock()
    turns = turns_of(site(order=Order.LAST_ONLY, parallel=3), waits=True, clock=clock)
    for hour in (2, 1, 0):
        turn = turns.take()
        assert turn is not None
        assert took(turn) == hour
        turns.give_back(turn, ended(turn.target, waits=True))
        clock.at += timedelta(seconds=1)
    clock.at += turns.poll
    newest = turns.take()
    assert newest is not None
    assert took(newest) == 2
    turns.give_back(newest, ended(newest.target, waits=True))
    middle = turns.take()
    assert middle is not None
    assert took(middle) == 1
    turns.give_back(middle, ended(middle.target))
    clock.at += turns.poll
    again = turns.take()
    assert again is not None
    assert (took(again), again.target.replaced_by) == (2, "")
    turns.give_back(again, ended(again.target))
    oldest = turns.take()
    assert oldest is not None
    assert (took(oldest), oldest.target.replaced_by) == (0, KEYS[1])
    turns.give_back(oldest, ended(oldest.target, skipped=REPLACED))
    assert turns.take() is None


def test_what_waits_is_replaced_once_a_newer_one_has_run_and_not_when_that_waited_in_vain() -> None:
    for failed, by in ((None, KEYS[1]), (Problem(code=TIMED_OUT, message=""), "")):
        clock = HandClock()
        turns = turns_of(site(order=Order.LAST_ONLY), instances=2, waits=True, clock=clock)
        for _ in range(2):
            turn = turns.take()
            assert turn is not None
            turns.give_back(turn, ended(turn.target, waits=True))
        clock.at += turns.poll
        newest = turns.take()
        assert newest is not None
        turns.give_back(newest, ended(newest.target, failed=failed))
        turn = turns.take()
        assert turn is not None
        assert (took(newest), took(turn), turn.target.replaced_by) == (1, 0, by)


def test_a_backfill_ends_with_the_first_failure_and_says_what_was_not_begun() -> None:
    turns = turns_of(site(), keeps_going=False)
    turn = turns.take()
    assert turn is not None
    turns.give_back(turn, ended(turn.target, FAILED))
    assert turns.take() is None
    assert list(turns.notes) == [
        "2 instances of sample on primary were not begun, since one failed; --keep-going begins them"
    ]


def test_the_end_of_the_process_is_told_to_who_waits_for_a_turn() -> None:
    def stop() -> None:
        raise Stopped(reason="SIGTERM")

    turns = turns_of(site())
    turns.check = stop
    with pytest.raises(Stopped):
        turns.take()


@pytest.mark.parametrize(
    ("code", "failed", "is_retried"),
    [
        (FAILED, None, True),
        (NO_OUTPUT, None, True),
        (HOPELESS, None, False),
        (INTERRUPTED, None, False),
        ("", Problem(code="unreachable", message=""), True),
        ("", Problem(code=INVALID, message=""), False),
        ("", Problem(code=TIMED_OUT, message=""), False),
    ],
)
def test_what_another_try_can_help_is_tried_again(code: str, failed: Problem | None, *, is_retried: bool) -> None:
    turn = turns_of(site(), instances=1).take()
    assert turn is not None
    process = site(retry=TWICE).process
    at: datetime | None = retry_at(process, 0, ended(turn.target, code, failed=failed), MIDNIGHT)
    assert at == (MIDNIGHT + timedelta(minutes=10) if is_retried else None)

"""Whose turn it is, of the instances of processes, and when it comes again."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime, timedelta

import pytest

from tests.unit.process_runner.queues import KEYS, MIDNIGHT, TWICE, HandClock, attempt, ended, site
from toolkit.actions.model import INTERRUPTED, TIMED_OUT, Problem, SkipReason
from toolkit.entities import Order
from toolkit.ledger.runs.errors import LeaseHeld, TooManyRun
from toolkit.ledger.vocabulary import RunStatus
from toolkit.planning.process_io import ProcessSite
from toolkit.process_runner.backfill import Backfill
from toolkit.process_runner.codes import FAILED, HOPELESS, NO_OUTPUT
from toolkit.process_runner.due import queue_of_due, queue_of_one, queue_of_range
from toolkit.process_runner.planner import INVALID, REPLACED
from toolkit.process_runner.retries import retry_at
from toolkit.process_runner.slots import InstanceSlots, ProcessSlot
from toolkit.runs.errors import Stopped

HOUR = timedelta(hours=1)


def slots_of(
    *sites: ProcessSite,
    instances: int = 3,
    waits: bool = False,
    keeps_going: bool = True,
    clock: HandClock | None = None,
) -> InstanceSlots:
    now = (clock or HandClock()).now()
    all_due = (queue_of_due(each, MIDNIGHT + (instances - 1) * HOUR, {}, now) for each in sites)
    queues = [replace(each, keeps_going=keeps_going) for each in all_due]
    return InstanceSlots(queues=queues, clock=clock or HandClock(), check=lambda: None, waits=waits)


def took(slot: ProcessSlot | None) -> int:
    assert slot is not None
    return slot.target.nominal_time.hour


def test_no_more_are_under_way_than_the_process_allows() -> None:
    slots = slots_of(site(parallel=2))
    first, second = slots.acquire(), slots.acquire()
    assert (took(first), took(second), slots.at_once) == (0, 1, 2)
    assert first is not None
    assert first.terms.most == 2
    slots.release(first, ended(first.target))
    assert took(slots.acquire()) == 2


def test_without_waiting_an_instance_that_waits_has_no_second_turn() -> None:
    slots = slots_of(site(), instances=1)
    slot = slots.acquire()
    assert slot is not None
    slots.release(slot, ended(slot.target, waits=True))
    assert slots.acquire() is None


def test_with_waiting_its_turn_comes_again_after_a_while() -> None:
    clock = HandClock()
    slots = slots_of(site(), instances=2, waits=True, clock=clock)
    slot = slots.acquire()
    assert slot is not None
    slots.release(slot, ended(slot.target, waits=True))
    other = slots.acquire()
    assert other is not None
    assert took(other) == 1
    slots.release(other, ended(other.target))
    clock.at += slots.poll
    assert took(slots.acquire()) == 0


def test_with_waiting_a_failure_has_its_retry_and_without_it_is_over() -> None:
    clock = HandClock()
    slots = slots_of(site(retry=TWICE), instances=1, waits=True, clock=clock)
    for number, wait in enumerate((10, 20)):
        slot = slots.acquire()
        assert slot is not None
        assert (slot.target.retries, slot.terms.retry) == (number, number or None)
        slots.release(slot, ended(slot.target, FAILED, run_id=number + 5))
        clock.at += timedelta(minutes=wait)
    last = slots.acquire()
    assert last is not None
    assert (last.target.retries, last.terms.seen) == (2, 6)
    slots.release(last, ended(last.target, FAILED))
    assert slots.acquire() is None


def test_what_others_run_as_many_of_as_may_be_is_left_to_them_until_one_of_our_own_is_over() -> None:
    slots = slots_of(site(parallel=2))
    first, second = slots.acquire(), slots.acquire()
    assert first is not None
    assert second is not None
    slots.release(second, ended(second.target, skipped=TooManyRun.code))
    slots.release(first, ended(first.target))
    again = slots.acquire()
    assert took(again) == 1
    assert again is not None
    slots.release(again, ended(again.target, skipped=TooManyRun.code))
    assert slots.acquire() is None
    assert list(slots.notes) == [
        "2 instances of sample on primary are left to others, who run as many as may be at once (parallel: 2)"
    ]
    assert list(slots.unstarted) == []


@pytest.mark.parametrize("instances", [1, 3])
def test_instances_that_a_person_named_and_that_have_no_place_are_not_yet_run(instances: int) -> None:
    now = HandClock().now()
    requested = Backfill(first=MIDNIGHT, end=MIDNIGHT + instances * HOUR)
    line = queue_of_range(site(parallel=2), requested, {}, now)
    if instances == 1:
        line = queue_of_one(site(parallel=2), MIDNIGHT, {}, now, is_forced=False)
    slots = InstanceSlots(queues=[line], clock=HandClock(), check=lambda: None)
    slot = slots.acquire()
    assert slot is not None
    slots.release(slot, ended(slot.target, skipped=TooManyRun.code))
    assert slots.acquire() is None
    assert list(slots.notes) == []
    assert [(target.instance_key, problem.code) for target, problem in slots.unstarted] == [
        (key, TooManyRun.code) for key in KEYS[:instances]
    ]
    (first, *_) = [problem.message for _, problem in slots.unstarted]
    assert "parallel: 2" in first
    assert "run it again" in first


def test_once_the_last_one_runs_older_ones_are_replaced_also_when_somebody_else_runs_it() -> None:
    for skipped in ("", LeaseHeld.code):
        slots = slots_of(site(order=Order.LAST_ONLY, parallel=3))
        newest = slots.acquire()
        assert newest is not None
        slots.release(newest, ended(newest.target, skipped=skipped))
        older = slots.acquire()
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
    line = queue_of_due(site(order=Order.LAST_ONLY), MIDNIGHT + HOUR, known, clock.now())
    slots = InstanceSlots(queues=[line], clock=clock, check=lambda: None)
    newest = slots.acquire()
    assert newest is not None
    slots.release(newest, ended(newest.target))
    older = slots.acquire()
    assert older is not None
    assert (took(newest), took(older), bool(older.target.replaced_by)) == (1, 0, is_replaced)


def test_a_last_one_that_waits_replaces_nothing() -> None:
    slots = slots_of(site(order=Order.LAST_ONLY))
    newest = slots.acquire()
    assert newest is not None
    slots.release(newest, ended(newest.target, waits=True))
    older = slots.acquire()
    assert older is not None
    assert older.target.replaced_by == ""


def test_with_waiting_the_newest_that_can_run_does_and_replaces_older_ones_that_waited_too() -> None:
    clock = HandClock()
    slots = slots_of(site(order=Order.LAST_ONLY, parallel=3), waits=True, clock=clock)
    for hour in (2, 1, 0):
        slot = slots.acquire()
        assert slot is not None
        assert took(slot) == hour
        slots.release(slot, ended(slot.target, waits=True))
        clock.at += timedelta(seconds=1)
    clock.at += slots.poll
    newest = slots.acquire()
    assert newest is not None
    assert took(newest) == 2
    slots.release(newest, ended(newest.target, waits=True))
    middle = slots.acquire()
    assert middle is not None
    assert took(middle) == 1
    slots.release(middle, ended(middle.target))
    clock.at += slots.poll
    again = slots.acquire()
    assert again is not None
    assert (took(again), again.target.replaced_by) == (2, "")
    slots.release(again, ended(again.target))
    oldest = slots.acquire()
    assert oldest is not None
    assert (took(oldest), oldest.target.replaced_by) == (0, KEYS[1])
    slots.release(oldest, ended(oldest.target, skipped=REPLACED))
    assert slots.acquire() is None


def test_what_waits_is_replaced_once_a_newer_one_has_run_and_not_when_that_waited_in_vain() -> None:
    for failed, by in ((None, KEYS[1]), (Problem(code=TIMED_OUT, message=""), "")):
        clock = HandClock()
        slots = slots_of(site(order=Order.LAST_ONLY), instances=2, waits=True, clock=clock)
        for _ in range(2):
            slot = slots.acquire()
            assert slot is not None
            slots.release(slot, ended(slot.target, waits=True))
        clock.at += slots.poll
        newest = slots.acquire()
        assert newest is not None
        slots.release(newest, ended(newest.target, failed=failed))
        slot = slots.acquire()
        assert slot is not None
        assert (took(newest), took(slot), slot.target.replaced_by) == (1, 0, by)


def test_a_backfill_ends_with_the_first_failure_and_says_what_was_not_begun() -> None:
    slots = slots_of(site(), keeps_going=False)
    slot = slots.acquire()
    assert slot is not None
    slots.release(slot, ended(slot.target, FAILED))
    assert slots.acquire() is None
    assert list(slots.notes) == [
        "2 instances of sample on primary were not begun, since one failed; --keep-going begins them"
    ]


def test_the_end_of_the_process_is_told_to_who_waits_for_a_turn() -> None:
    def stop() -> None:
        raise Stopped(reason="SIGTERM")

    slots = slots_of(site())
    slots.check = stop
    with pytest.raises(Stopped):
        slots.acquire()


@pytest.mark.parametrize(
    ("code", "failed", "is_retried"),
    [
        (FAILED, None, True),
        (NO_OUTPUT, None, True),
        (HOPELESS, None, False),
        (SkipReason.REFUSED, None, False),
        (INTERRUPTED, None, False),
        ("", Problem(code="unreachable", message=""), True),
        ("", Problem(code=INVALID, message=""), False),
        ("", Problem(code=TIMED_OUT, message=""), False),
    ],
)
def test_what_another_try_can_help_is_tried_again(code: str, failed: Problem | None, *, is_retried: bool) -> None:
    slot = slots_of(site(), instances=1).acquire()
    assert slot is not None
    process = site(retry=TWICE).process
    at: datetime | None = retry_at(process, 0, ended(slot.target, code, failed=failed), MIDNIGHT)
    assert at == (MIDNIGHT + timedelta(minutes=10) if is_retried else None)

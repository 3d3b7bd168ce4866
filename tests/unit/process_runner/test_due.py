"""Which instances of a process are to run, by what the ledger has of them."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import pytest

from tests.unit.process_runner.queues import KEYS, MIDNIGHT, attempt, site
from toolkit.entities import Order
from toolkit.entities.trigger import Trigger, TriggerCondition, TriggerEntry
from toolkit.entities.trigger_vocabulary import ScheduleMode
from toolkit.ledger.vocabulary import RunStatus
from toolkit.process_runner.backfill import Backfill, Only
from toolkit.process_runner.due import Known, queue_of_due, queue_of_one, queue_of_range
from toolkit.process_runner.slots import InstanceQueue

NOON = MIDNIGHT + timedelta(hours=12)
TWO = MIDNIGHT + timedelta(hours=2)


def hours(line: InstanceQueue) -> list[int]:
    return [each.target.nominal_time.hour for each in line.candidates]


def due(known: Known, order: Order = Order.FIFO) -> InstanceQueue:
    return queue_of_due(site(order=order), TWO, known, NOON)


def test_all_instances_up_to_the_nominal_time_are_due_in_the_order_of_the_process() -> None:
    assert hours(due({})) == [0, 1, 2]
    assert hours(due({}, Order.LIFO)) == [2, 1, 0]


@pytest.mark.parametrize(
    ("status", "is_due"),
    [
        (RunStatus.WAITING, True),
        (RunStatus.READY, True),
        (RunStatus.RUNNING, True),
        (RunStatus.SKIPPED, True),
        (RunStatus.SUSPENDED, False),
        (RunStatus.SUCCEEDED, False),
        (RunStatus.FAILED, False),
        (RunStatus.KILLED, False),
        (RunStatus.TIMED_OUT, False),
    ],
)
def test_what_is_over_is_not_due(status: RunStatus, *, is_due: bool) -> None:
    assert (1 in hours(due(dict([attempt(1, status)])))) == is_due


def test_a_retry_is_due_when_its_time_has_come_and_counts_on() -> None:
    later = dict([attempt(1, RunStatus.FAILED, retry=1, retry_at=NOON + timedelta(seconds=1))])
    assert hours(due(later)) == [0, 2]
    line = due(dict([attempt(1, RunStatus.FAILED, retry=1, retry_at=NOON)]))
    assert [(each.target.retries, each.seen) for each in line.candidates] == [(0, 0), (2, 7), (0, 0)]


def test_who_starts_knows_which_attempt_was_over_when_it_was_looked_at() -> None:
    known = dict([attempt(0, RunStatus.SKIPPED), attempt(1, RunStatus.WAITING), attempt(2, RunStatus.RUNNING)])
    assert [each.seen for each in due(known).candidates] == [7, 6, 6]


def test_an_instance_waits_for_its_timeout_from_its_time_or_from_when_it_was_first_looked_at() -> None:
    known = dict([attempt(1, RunStatus.WAITING, created_at=MIDNIGHT + timedelta(hours=3))])
    waits = [each.target.waits_until - MIDNIGHT for each in due(known).candidates]
    assert waits == [timedelta(hours=18), timedelta(hours=9), timedelta(hours=18)]
    early = queue_of_due(site(), MIDNIGHT, {}, MIDNIGHT - timedelta(minutes=4))
    assert early.candidates[0].target.waits_until == MIDNIGHT + timedelta(hours=6)


def test_of_a_process_that_runs_the_last_one_what_is_older_than_what_has_run_is_replaced() -> None:
    known = dict([attempt(1, RunStatus.SUCCEEDED)])
    line = due(known, Order.LAST_ONLY)
    assert [(each.target.nominal_time.hour, each.target.replaced_by) for each in line.candidates] == [
        (2, ""),
        (0, KEYS[1]),
    ]
    skipped = dict([attempt(0, RunStatus.SKIPPED), attempt(1, RunStatus.FAILED)])
    assert hours(due(skipped, Order.LAST_ONLY)) == [2]


@pytest.mark.parametrize("status", [RunStatus.WAITING, RunStatus.SKIPPED])
def test_an_order_that_waits_or_was_skipped_is_not_replaced_by_a_newer_instance(status: RunStatus) -> None:
    known = dict([attempt(0, status, number=2), attempt(1, RunStatus.SUCCEEDED)])
    found = {each.target.nominal_time.hour: each.target for each in due(known, Order.LAST_ONLY).candidates}
    assert (found[0].replaced_by, found[0].may_be_replaced) == ("", False)


def test_a_named_instance_runs_unless_it_has_succeeded() -> None:
    known = dict([attempt(2, RunStatus.SUCCEEDED)])
    assert hours(queue_of_one(site(), TWO, known, NOON, is_forced=False)) == []
    assert hours(queue_of_one(site(), TWO, known, NOON, is_forced=True)) == [2]
    failed = queue_of_one(site(), TWO, dict([attempt(2, RunStatus.FAILED, retry=2)]), NOON, is_forced=False)
    assert [each.target.retries for each in failed.candidates] == [0]


@pytest.mark.parametrize(
    ("only", "expected"), [(None, [0, 2, 3]), (Only.FAILED, [0]), (Only.MISSING, [2, 3]), (Only.ALL, [0, 1, 2, 3])]
)
def test_a_backfill_is_about_what_is_asked_for(only: Only | None, expected: list[int]) -> None:
    known = dict([attempt(0, RunStatus.KILLED), attempt(1, RunStatus.SUCCEEDED), attempt(3, RunStatus.WAITING)])
    requested = Backfill(first=MIDNIGHT, end=MIDNIGHT + timedelta(hours=4), only=only)
    assert hours(queue_of_range(site(), requested, known, NOON)) == expected


def test_a_backfill_runs_no_more_at_once_than_the_process_allows_and_nothing_whose_time_has_not_come() -> None:
    requested = Backfill(first=MIDNIGHT, end=MIDNIGHT + timedelta(days=2), at_once=9, order=Order.LIFO)
    line = queue_of_range(site(parallel=3), requested, {}, TWO)
    assert (line.at_once, hours(line), line.keeps_going) == (3, [1, 0], False)


ON_CLICKS = Trigger(condition=TriggerCondition(any=(TriggerEntry(feed="clicks"),)))


def triggered(
    known: Known, schedule: ScheduleMode, trigger: Trigger = ON_CLICKS, *, alone: bool = False
) -> InstanceQueue:
    return queue_of_due(site(schedule=schedule, trigger=trigger), TWO, known, NOON, by_frequency=not alone)


@pytest.mark.parametrize(
    ("schedule", "expected"),
    [(ScheduleMode.ALSO, [0, 1, 2, 5]), (ScheduleMode.AND, [1, 5]), (ScheduleMode.NEVER, [1, 5])],
)
def test_of_a_process_with_a_trigger_ordered_instances_are_due_also_later_ones(
    schedule: ScheduleMode, expected: list[int]
) -> None:
    known = dict([attempt(1, RunStatus.READY), attempt(5, RunStatus.READY), attempt(6, RunStatus.SUCCEEDED)])
    assert hours(triggered(known, schedule)) == expected


def test_triggers_alone_start_nothing_by_frequency() -> None:
    known = dict([attempt(1, RunStatus.READY)])
    assert hours(triggered(known, ScheduleMode.ALSO, alone=True)) == [1]


def test_a_retry_of_a_triggered_run_is_due_when_its_time_has_come() -> None:
    known = dict([attempt(1, RunStatus.FAILED, retry=1, retry_at=NOON), attempt(2, RunStatus.FAILED)])
    assert hours(triggered(known, ScheduleMode.NEVER)) == [1]


def test_an_ordered_instance_may_be_of_a_time_that_the_frequency_does_not_have() -> None:
    key, ready = attempt(1, RunStatus.READY)
    off = key.replace("T01:00Z", "T01:17Z")
    line = triggered({off: replace(ready, instance_key=off), key: ready}, ScheduleMode.NEVER)
    assert [(each.target.instance_key, each.target.is_off_grid) for each in line.candidates] == [
        (key, False),
        (off, True),
    ]


def test_the_order_of_the_trigger_wins_over_that_of_the_process() -> None:
    known = dict([attempt(0, RunStatus.READY), attempt(1, RunStatus.READY)])
    assert hours(triggered(known, ScheduleMode.NEVER, replace(ON_CLICKS, order=Order.LIFO))) == [1, 0]


def test_an_ordered_instance_at_the_end_of_the_calendar_waits_until_that() -> None:
    of = site()
    by_data = replace(of, process=replace(of.process, schedule=ScheduleMode.NEVER))
    ((_, newest),) = [attempt(1, RunStatus.READY)]
    key = "9999-12-31T23:40Z"
    line = queue_of_due(by_data, TWO, {key: replace(newest, instance_key=key)}, NOON)
    assert [each.target.waits_until.year for each in line.candidates] == [9999]

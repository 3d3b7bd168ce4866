"""Instances of a process that are to run, by what the ledger has of each: pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

from toolkit.el import format_instant, parse_instant
from toolkit.el.errors import OutOfRange
from toolkit.el.frequency import shift
from toolkit.entities import Order
from toolkit.entities.trigger_vocabulary import ScheduleMode
from toolkit.ledger.runs.queries import FAILURES
from toolkit.ledger.vocabulary import RunStatus
from toolkit.process_runner.backfill import Backfill, BackfillEvents, Only
from toolkit.process_runner.slots import InstanceQueue, QueuedInstance
from toolkit.process_runner.targets import ProcessTarget

if TYPE_CHECKING:
    from collections.abc import Iterable

    from toolkit.ledger.runs.instances import NewestAttempt
    from toolkit.planning.process_io import ProcessSite

Known = Mapping[str, "NewestAttempt"]
"""The newest attempt of each instance, by key; of one that is left out nothing was recorded."""


_MINUTE = timedelta(minutes=1)
_END = datetime.max.replace(tzinfo=UTC, second=0, microsecond=0)
_OPEN = (None, RunStatus.WAITING, RunStatus.READY, RunStatus.RUNNING, RunStatus.SKIPPED)
"""States of instances to start; the owner of a running one may be dead, which the start finds out."""
_NOT_BEGUN = (RunStatus.WAITING, RunStatus.SKIPPED)


def queue_of_one(
    site: ProcessSite, nominal: datetime, known: Known, now: datetime, *, is_forced: bool
) -> InstanceQueue:
    """The one instance that the user names; nothing when it has succeeded and need not do so again."""
    newest = known.get(format_instant(nominal))
    is_done = newest is not None and newest.status is RunStatus.SUCCEEDED and not is_forced
    candidates = () if is_done else (_candidate(site, nominal, newest, now, is_forced=is_forced),)
    return InstanceQueue(candidates=candidates, at_once=1, is_named=True)


def queue_of_due(
    site: ProcessSite,
    nominal: datetime,
    known: Known,
    now: datetime,
    *,
    by_frequency: bool = True,
    unrecorded: Iterable[datetime] | None = None,
) -> InstanceQueue:
    """Return the due instances that have not run or are to run again, in the process's order.

    Instances of a process with a trigger are also due once an attempt at them was ordered. Such an instance may be of
    any time, also of one that its frequency does not have.

    Args:
        site: the process on its cluster.
        nominal: the newest instance of its frequency that is due.
        known: see `Known`.
        now: of the wall clock.
        by_frequency: False: only instances that have an attempt are due.
        unrecorded: the instances of its frequency until `nominal` that have no attempt; then `known` may lack what is
            done. None: nothing is said of them, so that each is looked up in `known`.
    """
    order = order_of(site)
    is_last_only = order is Order.LAST_ONLY
    newest_run = max((key for key, each in known.items() if _has_run(each)), default="") if is_last_only else ""
    candidates = []
    for instant in _due_instants(site, nominal, known, unrecorded, by_frequency=by_frequency):
        key = format_instant(instant)
        newest = known.get(key)
        if not _is_due(newest, now) or (newest is not None and _is_dropped(newest, newest_run)):
            continue
        candidate = _candidate(site, instant, newest, now, is_retry=True)
        may_be = newest is None or (newest.status in _NOT_BEGUN and not _is_again(newest))
        by = newest_run if may_be and key < newest_run else ""
        target = replace(candidate.target, may_be_replaced=may_be, replaced_by=by)
        candidates.append(replace(candidate, target=target))
    return InstanceQueue(
        candidates=_in_order(candidates, order), at_once=site.process.parallel, is_last_only=is_last_only
    )


def order_of(site: ProcessSite) -> Order:
    """Return the order in which due instances run."""
    trigger = site.process.trigger
    return site.process.order if trigger is None or trigger.order is None else trigger.order


def starts_by_frequency(site: ProcessSite) -> bool:
    """Return whether an instance is due once its time has come, without an order."""
    return site.process.schedule in {ScheduleMode.ONLY, ScheduleMode.ALSO}


def _due_instants(
    site: ProcessSite, nominal: datetime, known: Known, unrecorded: Iterable[datetime] | None, *, by_frequency: bool
) -> list[datetime]:
    """Return the times that may be due, oldest first: those of the frequency, and those of ordered attempts."""
    instances = site.process.instances_on(site.cluster.name)
    recorded = {parse_instant(key) for key in known}
    found: set[datetime] = set()
    if by_frequency and starts_by_frequency(site):
        found |= set(instances.between(instances.start, nominal + _MINUTE) if unrecorded is None else unrecorded)
        found |= {each for each in recorded if each <= nominal and each in instances}
    if site.process.schedule is not ScheduleMode.ONLY:
        found |= recorded
    return sorted(found)


def queue_of_range(site: ProcessSite, backfill: Backfill, known: Known, now: datetime) -> InstanceQueue:
    """The instances of a range, by what became of them so far; none whose time has not come."""
    instances = site.process.instances_on(site.cluster.name)
    found = [
        _candidate(site, instant, known.get(format_instant(instant)), now, is_forced=backfill.is_forced)
        for instant in instances.between(backfill.first, min(backfill.end, now))
        if _is_requested(known.get(format_instant(instant)), backfill.only)
    ]
    found = _announced(found, backfill.events)
    order = backfill.order or (Order.FIFO if site.process.order is Order.LAST_ONLY else site.process.order)
    at_once = min(backfill.at_once or site.process.parallel, site.process.parallel)
    return InstanceQueue(
        candidates=_in_order(found, order),
        at_once=at_once,
        keeps_going=backfill.keeps_going,
        is_last_only=order is Order.LAST_ONLY,
        is_named=True,
    )


def _announced(oldest_first: Sequence[QueuedInstance], events: BackfillEvents) -> list[QueuedInstance]:
    """Return the instances of a backfill, of which those are silent that announce no update."""
    loud = {BackfillEvents.ALL: len(oldest_first), BackfillEvents.LATEST: 1, BackfillEvents.NONE: 0}[events]
    first = len(oldest_first) - loud
    return [
        replace(each, target=replace(each.target, is_silent=True)) if at < first else each
        for at, each in enumerate(oldest_first)
    ]


def _in_order(oldest_first: Iterable[QueuedInstance], order: Order) -> tuple[QueuedInstance, ...]:
    found = tuple(oldest_first)
    return found if order is Order.FIFO else found[::-1]


def _is_due(newest: NewestAttempt | None, now: datetime) -> bool:
    if newest is None or newest.status in _OPEN:
        return True
    return newest.retry_at is not None and newest.retry_at <= now


def _has_run(newest: NewestAttempt) -> bool:
    """An instance that timed out waited in vain."""
    return newest.started_at is not None and newest.status is not RunStatus.TIMED_OUT


def _is_dropped(newest: NewestAttempt, newest_run: str) -> bool:
    """Return whether it was skipped for a newer one, which has run since."""
    is_skipped = newest.status is RunStatus.SKIPPED and not _is_again(newest)
    return is_skipped and newest.instance_key < newest_run


def _is_again(newest: NewestAttempt) -> bool:
    """Return whether it follows another attempt, as what a person ordered does: then no newer instance replaces it."""
    return newest.attempt > 1


def _is_requested(newest: NewestAttempt | None, only: Only | None) -> bool:
    if newest is not None and newest.status is RunStatus.SUSPENDED:
        return False
    has_failed = newest is not None and newest.status in FAILURES
    is_missing = newest is None or newest.status in _OPEN
    match only:
        case Only.FAILED:
            return has_failed
        case Only.MISSING:
            return is_missing
        case Only.ALL:
            return True
        case _:
            return has_failed or is_missing


def _candidate(
    site: ProcessSite,
    instant: datetime,
    newest: NewestAttempt | None,
    now: datetime,
    *,
    is_forced: bool = False,
    is_retry: bool = False,
) -> QueuedInstance:
    is_over = newest is not None and newest.status.is_terminal
    is_retried = is_retry and newest is not None and newest.retry_at is not None
    is_taken_up = newest is not None and newest.status is RunStatus.WAITING
    since = newest.created_at if newest is not None and is_taken_up else now
    process = site.process
    retries = 0 if newest is None else (newest.retry or 0)
    target = ProcessTarget(
        site=site,
        nominal_time=instant,
        waits_until=_waits_until(site, max(instant, since)),
        is_forced=is_forced,
        retries=retries + 1 if is_retried else retries if is_taken_up else 0,
        is_off_grid=instant not in process.instances_on(site.cluster.name),
    )
    seen = 0 if newest is None else newest.run_id if is_over else newest.run_id - 1
    return QueuedInstance(target=target, seen=seen)


def _waits_until(site: ProcessSite, since: datetime) -> datetime:
    """Return the end of the wait; an instance at the end of the calendar must not end the pass of all others."""
    try:
        return shift(since, site.process.effective_timeout, 1, site.process.timezone)
    except OutOfRange:
        return _END

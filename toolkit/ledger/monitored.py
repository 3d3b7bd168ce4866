"""Queries of the monitor: runs, validations and events since its last pass, and those that alerts are about (issue 32).

Each costs what has happened since the last pass and what is wrong, and not what the ledger has.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass
from datetime import datetime
from typing import NamedTuple

import sqlalchemy as sa

from toolkit.ledger.columns import is_one_of
from toolkit.ledger.database import Transaction, in_chunks
from toolkit.ledger.named_rows import listed_rows
from toolkit.ledger.runs.queries import FAILURES
from toolkit.ledger.sla_evidence import SlaEvent, events_after
from toolkit.ledger.statements import InsertOr
from toolkit.ledger.tables import consumer_cursor, event, run, verdict
from toolkit.ledger.vocabulary import LifeCycle, RunStatus, ValidationState

SERIES_LIFE_CYCLES = (LifeCycle.EVICTION, LifeCycle.INGEST, LifeCycle.COMPACTION)
"""Actions on a feed as a whole: their runs have nominal times, and a later one makes up for one that failed."""
_CONSUMER = "monitor.copies"
_CHUNK = 200


class AlertSubject(NamedTuple):
    """Subject of runs and validations.

    Attributes:
        entity: its name.
        cluster: where.
        instance_key: empty: the feed as a whole.
    """

    entity: str
    cluster: str
    instance_key: str


@dataclass(frozen=True, kw_only=True, slots=True)
class MonitoredRun:
    """A run; the fields are columns of `run`, where each is explained."""

    run_id: int
    life_cycle: LifeCycle
    entity: str
    cluster: str
    counterpart: str
    instance_key: str
    attempt: int
    status: RunStatus
    exit_code: int | None
    reason: str | None
    retry: int | None
    retry_at: datetime | None
    ended_at: datetime | None
    log_location: str | None

    def is_over(self, at: datetime) -> bool:
        """Return whether it had ended by a time."""
        return self.ended_at is not None and self.ended_at <= at

    @property
    def subject(self) -> AlertSubject:
        """The subject of its alert."""
        key = "" if self.life_cycle in SERIES_LIFE_CYCLES else self.instance_key
        return AlertSubject(self.entity, self.cluster, key)


@dataclass(frozen=True, kw_only=True, slots=True)
class MonitoredValidation:
    """A validation result; the fields are columns of `verdict`, where each is explained."""

    verdict_id: int
    feed: str
    cluster: str
    instance_key: str
    unit: str
    state: ValidationState
    reason: str | None
    page: str | None
    recorded_at: datetime
    decided_at: datetime | None
    decided_by: str | None


_RUN = tuple(run.c[name] for name in MonitoredRun.__dataclass_fields__)
_VALIDATION = tuple(verdict.c[name] for name in MonitoredValidation.__dataclass_fields__)
_RUN_SUBJECT = (run.c.entity, run.c.cluster, run.c.instance_key)
_VALIDATION_SUBJECT = (verdict.c.feed, verdict.c.cluster, verdict.c.instance_key)
_FAILED = is_one_of(run.c.status, *FAILURES)
_SUCCEEDED = is_one_of(run.c.status, RunStatus.SUCCEEDED)


def failures(tx: Transaction, after: datetime, until: datetime) -> list[MonitoredRun]:
    """Return the runs that failed, were killed or timed out in (after, until]."""
    wanted = sa.select(*_RUN).where(_FAILED, run.c.ended_at > after, run.c.ended_at <= until)
    return list(tx.rows(MonitoredRun, wanted))


def waiting_retries(tx: Transaction, until: datetime) -> list[MonitoredRun]:
    """Return the failed runs whose retry was due by a time and has not begun."""
    wanted = sa.select(*_RUN).where(run.c.retry_at.is_not(None), run.c.retry_at <= until)
    return [each for each in tx.rows(MonitoredRun, wanted) if each.status in FAILURES]


def attempts(tx: Transaction, subjects: Collection[AlertSubject]) -> list[MonitoredRun]:
    """Return the attempts of instances, of each action the oldest first."""
    wanted = sa.select(*_RUN).order_by(run.c.life_cycle, run.c.counterpart, run.c.attempt)
    return [MonitoredRun(**row) for row in listed_rows(tx, wanted, _RUN_SUBJECT, subjects)]


def series_runs(tx: Transaction, since: Iterable[tuple[AlertSubject, datetime]], until: datetime) -> list[MonitoredRun]:
    """Return the runs of actions on feeds as a whole that failed or succeeded between two times, the oldest first.

    Args:
        tx: the transaction.
        since: the feeds on their clusters, with the first time of each.
        until: the last time.
    """
    found: list[MonitoredRun] = []
    for subject, first in since:
        of_it = (
            run.c.entity == subject.entity,
            run.c.life_cycle.in_(SERIES_LIFE_CYCLES),
            run.c.cluster == subject.cluster,
            run.c.counterpart == "",
            run.c.ended_at >= first,
            run.c.ended_at <= until,
        )
        for status in (_FAILED, _SUCCEEDED):  # each has an index of its own
            found += tx.rows(MonitoredRun, sa.select(*_RUN).where(status, *of_it))
    return sorted(found, key=lambda each: (each.ended_at or until, each.run_id))


def eviction_times(
    tx: Transaction, feeds: Collection[tuple[str, str]], after: datetime, until: datetime
) -> dict[tuple[str, str], list[datetime]]:
    """Return when retention of feeds succeeded in (after, until], and the last time before, oldest first.

    Args:
        tx: the transaction.
        feeds: their names, and clusters.
        after: see above.
        until: see above.
    """
    found: dict[tuple[str, str], list[datetime]] = {}
    for chunk in in_chunks(feeds, _CHUNK):
        rows = [sa.select(sa.literal(name).label("entity"), sa.literal(on).label("cluster")) for name, on in chunk]
        feed = sa.union_all(*rows).cte("feed")
        of_it = (
            run.c.entity == feed.c.entity,
            run.c.life_cycle == LifeCycle.EVICTION,
            run.c.cluster == feed.c.cluster,
            run.c.counterpart == "",  # as the index has it
            _SUCCEEDED,
        )
        last = (
            sa.select(sa.func.max(run.c.ended_at))
            .where(*of_it, run.c.ended_at <= after)
            .correlate(feed)
            .scalar_subquery()
        )
        before = sa.select(feed.c.entity, feed.c.cluster, last.label("at"))
        later = sa.select(feed.c.entity, feed.c.cluster, run.c.ended_at).select_from(feed).join(run, sa.and_(*of_it))
        for wanted in (before, later.where(run.c.ended_at > after, run.c.ended_at <= until).order_by(run.c.ended_at)):
            for entity, cluster, at in tx.execute(wanted):
                if at is not None:
                    found.setdefault((entity, cluster), []).append(at)
    return found


def blocked(tx: Transaction, after: datetime, until: datetime) -> list[AlertSubject]:
    """Return the instances of which data was blocked by its quality checks in (after, until]."""
    states = (ValidationState.BLOCKED, ValidationState.RELEASED, ValidationState.REJECTED)
    wanted = sa.select(*_VALIDATION_SUBJECT).distinct()
    wanted = wanted.where(verdict.c.recorded_at > after, verdict.c.recorded_at <= until, verdict.c.state.in_(states))
    return [AlertSubject(*row) for row in tx.execute(wanted.where(~verdict.c.is_by_hand)).tuples()]


def validations(tx: Transaction, subjects: Collection[AlertSubject], until: datetime) -> list[MonitoredValidation]:
    """Return the validation results of instances up to a time, oldest first, without those that decide nothing."""
    decides = (verdict.c.recorded_at <= until, ~verdict.c.is_by_hand)
    wanted = sa.select(*_VALIDATION).where(*decides).order_by(verdict.c.verdict_id)
    return [MonitoredValidation(**row) for row in listed_rows(tx, wanted, _VALIDATION_SUBJECT, subjects)]


def forget_events(tx: Transaction) -> None:
    """Let no event be kept for `next_events`."""
    tx.execute(sa.delete(consumer_cursor).where(consumer_cursor.c.consumer == _CONSUMER))


def next_events(tx: Transaction, until: datetime) -> list[SlaEvent]:
    """Return the events that no pass has got from here, up to a time; a first pass gets none."""
    of_it = consumer_cursor.c.consumer == _CONSUMER
    position = tx.execute(sa.select(consumer_cursor.c.sequence).where(of_it)).scalar()
    if position is None:
        last = sa.select(sa.func.max(event.c.sequence)).where(event.c.recorded_at <= until)
        sequence = tx.execute(last).scalar() or 0
        values = {"consumer": _CONSUMER, "sequence": sequence, "is_waiting": False, "moved_at": until}
        tx.execute(InsertOr(consumer_cursor), values)
        return []
    found = list(events_after(tx, position, until))
    if found:
        moved = {"sequence": found[-1].sequence, "moved_at": until}
        tx.execute(sa.update(consumer_cursor).where(of_it).values(**moved))
    return found

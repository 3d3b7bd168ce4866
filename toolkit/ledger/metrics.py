"""Figures of the ledger for metrics: runs, alerts, SLAs and messages by entity and cluster, a query each.

A query reads an index of what it counts, or as many rows as there are entities; none reads the runs themselves.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from datetime import datetime
from typing import NamedTuple

import sqlalchemy as sa

from toolkit.ledger.columns import is_one_of
from toolkit.ledger.database import Transaction, in_chunks
from toolkit.ledger.runs.errors import HELD_BY
from toolkit.ledger.runs.queries import FAILURES, OPEN, is_newest
from toolkit.ledger.tables import alert, item, outbox, outbox_channel, run, verdict
from toolkit.ledger.vocabulary import (
    AlertKind,
    AlertLevel,
    ItemState,
    LifeCycle,
    RunStatus,
)

SLA_KINDS = (AlertKind.SLA, AlertKind.SLA_START, AlertKind.SLA_END)
"""Alerts of instances that were not there in time."""


class RunCount(NamedTuple):
    """Number of runs of an action on an entity on a cluster with one status."""

    entity: str
    life_cycle: LifeCycle
    cluster: str
    status: RunStatus
    number: int


class LastRun(NamedTuple):
    """The run of an action on an entity on a cluster that succeeded last, and how many ever did.

    Attributes:
        counterpart: of a replication, the source; else empty.
    """

    entity: str
    life_cycle: LifeCycle
    cluster: str
    counterpart: str
    number: int
    run_id: int
    started_at: datetime | None
    ended_at: datetime


class LeaseWaits(NamedTuple):
    """Number of instances whose newest attempt was skipped because another run held a lease."""

    entity: str
    life_cycle: LifeCycle
    cluster: str
    number: int


class AlertCount(NamedTuple):
    """Number of open alerts of an entity on a cluster."""

    entity: str
    cluster: str
    kind: AlertKind
    level: AlertLevel
    number: int


class MissedCount(NamedTuple):
    """Number of instances of an entity that were ever late, by the limit that they missed."""

    entity: str
    cluster: str
    low: int
    high: int


class ChannelMessages(NamedTuple):
    """Messages of a channel.

    Attributes:
        waiting: that are not sent yet.
        oldest: when the oldest of them was written; None: none waits.
        dead: that were given up.
        failures: tries that failed in a row.
    """

    channel: str
    waiting: int
    oldest: datetime | None
    dead: int
    failures: int


class ValidatedData(NamedTuple):
    """Data of the newest instance of a feed that was validated."""

    feed: str
    cluster: str
    rows: int | None
    files: int
    bytes: int


_SITE = (run.c.entity, run.c.life_cycle, run.c.cluster)
"""In the order of the indexes, so that nothing is sorted."""
_NUMBER = sa.func.count().label("number")


def last_runs(tx: Transaction) -> Iterator[LastRun]:
    """Yield the last success of each action; the counts are read from an index that has all that is asked for."""
    subject = ("entity", "life_cycle", "cluster", "counterpart")
    columns = [run.c[name] for name in subject]
    is_success = is_one_of(run.c.status, RunStatus.SUCCEEDED)
    newest = sa.func.max(run.c.ended_at).label("ended_at")
    counted = sa.select(*columns, _NUMBER, newest).where(is_success).group_by(*columns).subquery()
    same = [run.c[name] == counted.c[name] for name in (*subject, "ended_at")]
    found = sa.select(*columns, counted.c.number, run.c.run_id, run.c.started_at, run.c.ended_at)
    return map(LastRun._make, tx.execute(found.join_from(counted, run, sa.and_(*same, is_success))))


def run_counts(tx: Transaction) -> Iterator[RunCount]:
    """Yield the number of runs that did not succeed: of those that are over all attempts, else those that are open."""
    skipped = sa.literal_column(f"'{RunStatus.SKIPPED.value}'", run.c.status.type)  # or the rows would be read
    for statuses, status in (((RunStatus.SKIPPED,), skipped), (FAILURES, run.c.status), (OPEN, run.c.status)):
        counted = sa.select(*_SITE, status, sa.func.count()).where(is_one_of(run.c.status, *statuses))
        grouped = counted.group_by(*_SITE) if status is skipped else counted.group_by(*_SITE, status)
        yield from map(RunCount._make, tx.execute(grouped))


def lease_waits(tx: Transaction) -> Iterator[LeaseWaits]:
    """Yield the number of instances that wait for the lease of another run."""
    is_waiting = (is_one_of(run.c.status, RunStatus.SKIPPED), run.c.reason.contains(HELD_BY), is_newest())
    return map(LeaseWaits._make, tx.execute(sa.select(*_SITE, _NUMBER).where(*is_waiting).group_by(*_SITE)))


def evicted(tx: Transaction, run_ids: Collection[int]) -> dict[int, int]:
    """Return how many instances each run of retention has evicted; a run without any is left out."""
    found: dict[int, int] = {}
    for ids in in_chunks(run_ids):
        is_evicted = (item.c.run_id.in_(ids), item.c.state == ItemState.DONE, item.c.instance_key != "")
        counted = sa.select(item.c.run_id, sa.func.count(item.c.instance_key.distinct())).where(*is_evicted)
        found.update((run_id, count) for run_id, count in tx.execute(counted.group_by(item.c.run_id)))
    return found


def validated(tx: Transaction, sites: Collection[tuple[str, str]]) -> Iterator[ValidatedData]:
    """Yield the data of the newest validated instance of each feed and cluster, by one look into the index each."""
    columns = (verdict.c.feed, verdict.c.cluster, verdict.c.rows, verdict.c.files, verdict.c.bytes)
    order = (verdict.c.instance_key.desc(), verdict.c.verdict_id.desc())
    newest = (
        sa.select(*columns)
        .where(verdict.c.feed == sa.bindparam("of_feed"), verdict.c.cluster == sa.bindparam("on_cluster"))
        .order_by(*order)
        .limit(1)
    )
    for feed, cluster in sites:
        yield from map(ValidatedData._make, tx.execute(newest, {"of_feed": feed, "on_cluster": cluster}))


def alert_counts(tx: Transaction) -> Iterator[AlertCount]:
    """Yield the number of open alerts."""
    columns = (alert.c.entity, alert.c.cluster, alert.c.kind, alert.c.level)
    is_open = alert.c.closed_at.is_(None)
    return map(AlertCount._make, tx.execute(sa.select(*columns, _NUMBER).where(is_open).group_by(*columns)))


def missed(tx: Transaction) -> Iterator[MissedCount]:
    """Yield how many instances were ever late; neither number ever falls while its alerts are kept."""
    site = (alert.c.entity, alert.c.cluster)
    is_high = alert.c.level == AlertLevel.HIGH
    was_low = sa.or_(~is_high, alert.c.escalated_at.is_not(None))
    low, high = (sa.func.sum(sa.case((each, 1), else_=0)) for each in (was_low, is_high))
    counted = sa.select(*site, low.label("low"), high.label("high"))
    return map(MissedCount._make, tx.execute(counted.where(alert.c.kind.in_(SLA_KINDS)).group_by(*site)))


def channels(tx: Transaction) -> Iterator[ChannelMessages]:
    """Yield the state of each channel that has ever sent or has something to send, by name."""
    is_waiting = outbox.c.sent_at.is_(None) & outbox.c.dead_at.is_(None)
    waits = sa.select(outbox.c.channel, _NUMBER, sa.func.min(outbox.c.created_at)).where(is_waiting)
    waiting = {row[0]: (row[1], row[2]) for row in tx.execute(waits.group_by(outbox.c.channel))}
    gone = sa.select(outbox.c.channel, _NUMBER).where(outbox.c.dead_at.is_not(None)).group_by(outbox.c.channel)
    dead = {row[0]: row[1] for row in tx.execute(gone)}
    failures = {row[0]: row[1] for row in tx.execute(sa.select(outbox_channel.c.channel, outbox_channel.c.failures))}
    for name in sorted({*waiting, *dead, *failures}):
        count, oldest = waiting.get(name, (0, None))
        yield ChannelMessages(
            channel=name, waiting=count, oldest=oldest, dead=dead.get(name, 0), failures=failures.get(name, 0)
        )

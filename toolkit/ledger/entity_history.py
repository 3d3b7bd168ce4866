"""History of single entities: marks that change with it, newest attempts and newest events of all instances."""

from __future__ import annotations

from datetime import datetime
from typing import NamedTuple

import sqlalchemy as sa

from toolkit.ledger.database import Transaction
from toolkit.ledger.tables import event, run, verdict
from toolkit.ledger.vocabulary import EventKind, LifeCycle, RunStatus


class InstanceAttempt(NamedTuple):
    """Newest attempt of an action on an instance; columns of the table `run`."""

    life_cycle: LifeCycle
    cluster: str
    counterpart: str
    instance_key: str
    attempt: int
    run_id: int
    status: RunStatus
    started_at: datetime | None
    ended_at: datetime | None
    reason: str | None


class InstanceEvent(NamedTuple):
    """Newest event of an instance on a cluster; columns of the table `event`."""

    cluster: str
    instance_key: str
    kind: EventKind
    run_id: int | None


def history_marks(tx: Transaction) -> dict[str, str]:
    """Return by entity a text that is another one after each change of its runs, events and validation results."""
    newest = (sa.func.max(each) for each in (run.c.run_id, run.c.started_at, run.c.retry_at))
    counts = (sa.func.count(), sa.func.count(run.c.retry_at))
    of_verdicts = (sa.func.max(verdict.c.verdict_id), sa.func.max(verdict.c.decided_at))
    queries = (
        sa.select(run.c.entity, run.c.status, *counts, *newest).group_by(run.c.entity, run.c.status),
        sa.select(event.c.feed, sa.func.max(event.c.sequence)).group_by(event.c.feed),
        sa.select(verdict.c.feed, *of_verdicts).group_by(verdict.c.feed),
    )
    found: dict[str, list[str]] = {}
    for query in queries:
        for name, *values in tx.execute(query.order_by(*query.selected_columns[:2])):
            found.setdefault(name, []).append(" ".join(map(str, values)))
    return {name: "; ".join(marks) for name, marks in found.items()}


def instance_attempts(tx: Transaction, entity: str) -> list[InstanceAttempt]:
    """Return the newest attempt of each action of an entity, by instance key."""
    columns = [run.c[name] for name in InstanceAttempt._fields]
    ordered = sa.select(*columns).where(run.c.entity == entity).order_by(run.c.instance_key, run.c.attempt)
    found = (InstanceAttempt._make(row) for row in tx.execute(ordered))
    return list({each[:4]: each for each in found}.values())


def instance_events(tx: Transaction, feed: str) -> list[InstanceEvent]:
    """Return the newest event of each instance of a feed; events of the series as such are left out."""
    columns = [event.c[name] for name in InstanceEvent._fields]
    is_of = (event.c.feed == feed, event.c.instance_key != "")
    found = map(InstanceEvent._make, tx.execute(sa.select(*columns).where(*is_of).order_by(event.c.sequence)))
    return list({each[:2]: each for each in found}.values())

"""Status of the instances of an action: the newest attempt of each, for many instances at once."""

from __future__ import annotations

from dataclasses import dataclass, fields
from datetime import datetime

import sqlalchemy as sa

from toolkit.ledger.database import Transaction
from toolkit.ledger.runs.queries import InstanceSpan
from toolkit.ledger.tables import run
from toolkit.ledger.vocabulary import RunStatus


@dataclass(frozen=True, kw_only=True, slots=True)
class NewestAttempt:
    """Newest attempt of an instance, as far as it decides whether another one begins; columns of the table `run`."""

    instance_key: str
    run_id: int
    attempt: int
    status: RunStatus
    cause: str | None
    retry: int | None
    retry_at: datetime | None
    created_at: datetime
    started_at: datetime | None
    ended_at: datetime | None


def newest_attempts(tx: Transaction, span: InstanceSpan) -> dict[str, NewestAttempt]:
    """The newest attempt of each instance, by key; in one statement. Of an instance that is left out none began."""
    columns = [run.c[each.name] for each in fields(NewestAttempt)]
    wanted = sa.select(*columns).where(*_within(run, span), run.c.attempt == _newest(span))
    return {each.instance_key: each for each in tx.rows(NewestAttempt, wanted.order_by(run.c.instance_key))}


def _newest(span: InstanceSpan) -> sa.ScalarSelect[int]:
    """The number of the newest attempt of the row around: one look into the index for each instance."""
    other = run.alias("other")
    same = other.c.instance_key == run.c.instance_key
    return sa.select(sa.func.max(other.c.attempt)).where(*_within(other, span), same).correlate(run).scalar_subquery()


def _within(table: sa.FromClause, span: InstanceSpan) -> list[sa.ColumnElement[bool]]:
    """The attempts of the span; a copy from another cluster is an action of its own."""
    return [
        table.c.entity == span.subject.entity,
        table.c.life_cycle == span.subject.life_cycle,
        table.c.cluster == span.subject.cluster,
        table.c.counterpart == "",
        table.c.instance_key >= span.start_key,
        table.c.instance_key < span.end_key,
    ]

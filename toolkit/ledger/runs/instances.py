"""Status of the instances of an action: the newest attempt of each, for many instances at once."""

from __future__ import annotations

from dataclasses import dataclass, fields
from datetime import datetime

import sqlalchemy as sa

from toolkit.ledger.columns import is_one_of
from toolkit.ledger.database import Transaction
from toolkit.ledger.runs.queries import OPEN, InstanceSpan, is_newest
from toolkit.ledger.tables import run
from toolkit.ledger.vocabulary import JobMode, LifeCycle, RunStatus


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


_COLUMNS = [run.c[each.name] for each in fields(NewestAttempt)]

Newest = dict[str, NewestAttempt]
"""Newest attempts by instance key."""


def newest_attempts(tx: Transaction, span: InstanceSpan) -> dict[str, NewestAttempt]:
    """The newest attempt of each instance, by key; in one statement. Of an instance that is left out none began."""
    wanted = sa.select(*_COLUMNS).where(*within(span), is_newest())
    return {each.instance_key: each for each in tx.rows(NewestAttempt, wanted.order_by(run.c.instance_key))}


def succeeded_runs(tx: Transaction, span: InstanceSpan) -> dict[str, int]:
    """Return the newest attempts of instances, as far as they have succeeded: run by instance key."""
    has_succeeded = run.c.status == RunStatus.SUCCEEDED
    wanted = sa.select(run.c.instance_key, run.c.run_id).where(*within(span), has_succeeded, is_newest())
    return {row.instance_key: row.run_id for row in tx.execute(wanted)}


def open_attempts(tx: Transaction, life_cycle: LifeCycle, cluster: str, at: datetime) -> dict[str, Newest]:
    """Return the attempts of entities on a cluster that may begin, or go on, without an order: by entity and key.

    These are attempts that wait, are ready or run, and failed ones whose retry is due by an instant. One statement,
    which reads what is open and nothing of what is over. Jobs on the queue are left out.
    """
    columns = [run.c.entity, *_COLUMNS]
    of_cluster = (
        run.c.life_cycle == life_cycle,
        run.c.cluster == cluster,
        run.c.counterpart == "",
        run.c.mode.is_distinct_from(JobMode.QUEUE),
    )
    is_open = sa.select(*columns).where(is_one_of(run.c.status, *OPEN), *of_cluster)
    is_retried = sa.select(*columns).where(run.c.retry_at.is_not(None), run.c.retry_at <= at, *of_cluster)
    found: dict[str, Newest] = {}
    for row in tx.execute(is_open.union(is_retried).order_by("instance_key")).mappings():
        values = dict(row)
        newest = found.setdefault(values.pop("entity"), {})
        newest[values["instance_key"]] = NewestAttempt(**values)
    return found


def newest_begun(tx: Transaction, span: InstanceSpan) -> NewestAttempt | None:
    """Return the newest attempt of the latest instance that has begun and did not time out; None: there is none."""
    has_begun = (run.c.started_at.is_not(None), run.c.status != RunStatus.TIMED_OUT)
    wanted = sa.select(*_COLUMNS).where(*within(span), *has_begun, is_newest())
    return tx.row(NewestAttempt, wanted.order_by(run.c.instance_key.desc()).limit(1))


def skipped_attempts(tx: Transaction, span: InstanceSpan, again_before: str) -> Newest:
    """Return the newest attempts that were skipped, by key.

    Args:
        tx: the transaction.
        span: of which instances.
        again_before: of instances before this key only attempts that follow another one.
    """
    is_wanted = sa.or_(run.c.instance_key >= again_before, run.c.attempt > 1)
    skipped = (is_one_of(run.c.status, RunStatus.SKIPPED), is_wanted, is_newest())
    wanted = sa.select(*_COLUMNS).where(*within(span), *skipped)
    return {each.instance_key: each for each in tx.rows(NewestAttempt, wanted.order_by(run.c.instance_key))}


def within(span: InstanceSpan) -> list[sa.ColumnElement[bool]]:
    """Return the conditions of the attempts of a span of instances."""
    return [
        run.c.entity == span.subject.entity,
        run.c.life_cycle == span.subject.life_cycle,
        run.c.cluster == span.subject.cluster,
        run.c.counterpart == span.subject.counterpart,
        run.c.instance_key >= span.start_key,
        run.c.instance_key < span.end_key,
    ]

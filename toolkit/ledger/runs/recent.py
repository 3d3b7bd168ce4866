"""Runs that need attention now: waiting, to be tried again, failed of late; and how far the running ones are."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection
from dataclasses import dataclass
from datetime import datetime
from typing import Any

import sqlalchemy as sa

from toolkit.ledger.columns import is_one_of
from toolkit.ledger.database import Transaction, in_chunks
from toolkit.ledger.runs.queries import FAILURES, OPEN, is_newest
from toolkit.ledger.runs.rows import Run
from toolkit.ledger.tables import item, run, step, step_run
from toolkit.ledger.vocabulary import ItemState, RunStatus

Site = tuple[str, str]
"""An entity and a cluster."""


@dataclass(frozen=True, kw_only=True, slots=True)
class RunProgress:
    """Progress of a run, from its items and steps.

    Attributes:
        done: items that are done or skipped.
        failed: items that failed.
        begun: items whose outcome is not known yet.
        steps: names of the steps that run.
    """

    done: int = 0
    failed: int = 0
    begun: int = 0
    steps: tuple[str, ...] = ()


def open_runs(tx: Transaction) -> list[Run]:
    """Return the runs that are not over, the oldest first."""
    found = tx.rows(Run, sa.select(run).where(is_one_of(run.c.status, *OPEN)))
    return sorted(found, key=lambda each: each.run_id)  # sorted there, SQLite would read the whole table


def to_retry(tx: Transaction) -> list[Run]:
    """Return the failed runs that are to be tried again, the next one first."""
    return list(tx.rows(Run, sa.select(run).where(run.c.retry_at.is_not(None)).order_by(run.c.retry_at)))


def failures_by_site(tx: Transaction, since: datetime) -> dict[Site, int]:
    """Count the instances whose newest attempt failed since then, by entity and cluster."""
    # Counted here: asked for groups, SQLite reads all failures that there ever were in their order.
    found = tx.execute(sa.select(run.c.entity, run.c.cluster).where(*_failed_since(since)))
    return Counter((entity, cluster) for entity, cluster in found)


def newest_failures(tx: Transaction, since: datetime, limit: int, entities: Collection[str] | None = None) -> list[Run]:
    """Return newest attempts that failed since then, the last one first.

    Args:
        tx: the transaction.
        since: the earliest end.
        limit: at most so many.
        entities: only of these; None: of all.
    """
    wanted = sa.select(run).where(*_failed_since(since)).order_by(run.c.ended_at.desc()).limit(limit)
    if entities is None:
        return list(tx.rows(Run, wanted))
    found = [each for names in in_chunks(entities) for each in tx.rows(Run, wanted.where(run.c.entity.in_(names)))]
    return sorted(found, key=lambda each: (each.ended_at is not None, each.ended_at), reverse=True)[:limit]


def _failed_since(since: datetime) -> list[sa.ColumnElement[bool]]:
    return [is_one_of(run.c.status, *FAILURES), run.c.ended_at >= since, is_newest()]


def progress_of(tx: Transaction, run_ids: Collection[int]) -> dict[int, RunProgress]:
    """Return the progress of runs; one without items and running steps is left out."""
    counts: dict[int, dict[str, int]] = {}
    steps: dict[int, list[str]] = {}
    for ids in in_chunks(run_ids):
        for run_id, state, number in tx.execute(_item_counts(ids)):
            field = _FIELDS[state]
            of_run = counts.setdefault(run_id, {})
            of_run[field] = of_run.get(field, 0) + number
        for run_id, name in tx.execute(_running_steps(ids)):
            steps.setdefault(run_id, []).append(name)
    return {
        run_id: RunProgress(**counts.get(run_id, {}), steps=tuple(steps.get(run_id, ()))) for run_id in counts | steps
    }


_FIELDS = {
    ItemState.DONE: "done",
    ItemState.SKIPPED: "done",
    ItemState.FAILED: "failed",
    ItemState.INTENDED: "begun",
}


def _item_counts(ids: Collection[int]) -> sa.Select[Any]:
    counted = sa.select(item.c.run_id, item.c.state, sa.func.count()).where(item.c.run_id.in_(ids))
    return counted.group_by(item.c.run_id, item.c.state)


def _running_steps(ids: Collection[int]) -> sa.Select[Any]:
    named = sa.select(step_run.c.run_id, step.c.name).join(step, step.c.step_id == step_run.c.step_id)
    is_running = is_one_of(step_run.c.status, RunStatus.RUNNING)
    return named.where(step_run.c.run_id.in_(ids), is_running).order_by(step_run.c.step_run_id)

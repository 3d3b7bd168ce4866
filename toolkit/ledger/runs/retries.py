"""Attempts that are to follow a failure by themselves, later (Falcon specification, Retry)."""

from __future__ import annotations

from datetime import datetime

import sqlalchemy as sa

from toolkit.ledger.columns import is_one_of
from toolkit.ledger.database import Transaction
from toolkit.ledger.runs.queries import get, is_of
from toolkit.ledger.runs.rows import Run, RunKey
from toolkit.ledger.tables import run
from toolkit.ledger.vocabulary import LifeCycle, RunStatus

RETRIED = (RunStatus.FAILED, RunStatus.TIMED_OUT)
"""After these a retry may follow; what was killed stays so."""


def schedule(tx: Transaction, run_id: int, at: datetime) -> None:
    """Another attempt is to begin then, if this one fails or times out; any next attempt undoes it.

    Args:
        tx: the transaction.
        run_id: the newest attempt, which is about to end or has ended.
        at: the earliest instant; the past: at once.

    Raises:
        UnknownRun: there is no such run.
    """
    get(tx, run_id)
    tx.execute(sa.update(run).where(run.c.run_id == run_id).values(retry_at=at))


def cancel(tx: Transaction, key: RunKey) -> bool:
    """No retry of what is over is to begin; False: none was to."""
    is_waiting = is_of(key) & run.c.retry_at.is_not(None)
    return tx.execute(sa.update(run).where(is_waiting).values(retry_at=None)).rowcount > 0


def due(tx: Transaction, life_cycle: LifeCycle, cluster: str, at: datetime) -> list[Run]:
    """The failed attempts on a cluster whose retry is to begin by an instant, whose turn came first first."""
    has_come = (run.c.retry_at.is_not(None), run.c.retry_at <= at)
    wanted = sa.select(run).where(*has_come, run.c.life_cycle == life_cycle, run.c.cluster == cluster)
    return list(tx.rows(Run, wanted.where(is_one_of(run.c.status, *RETRIED)).order_by(run.c.retry_at, run.c.run_id)))

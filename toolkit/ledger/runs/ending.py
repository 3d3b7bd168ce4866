"""What a run lets go of when it ends, or waits again."""

from __future__ import annotations

from datetime import datetime

import sqlalchemy as sa

from toolkit.ledger.runs.rows import Run
from toolkit.ledger.tables import lease, queue, request, step_run
from toolkit.ledger.transaction import Transaction
from toolkit.ledger.vocabulary import QueueState, RunStatus


def tidy(tx: Transaction, left: Run, now: datetime) -> None:
    """Give back the leases of a run that nobody works on any more; close its requests when it is over.

    Args:
        tx: the transaction, which has the run's row locked.
        left: the run as it is now.
        now: by the database's clock.
    """
    tx.execute(sa.delete(lease).where(lease.c.run_id == left.run_id))
    if not left.status.is_terminal:
        return
    is_open = (request.c.run_id == left.run_id) & request.c.honoured_at.is_(None)
    tx.execute(sa.update(request).where(is_open).values(honoured_at=now))
    if left.mode is not None and left.status is not RunStatus.SUCCEEDED:
        _let_go(tx, left, now)


def _let_go(tx: Transaction, job: Run, now: datetime) -> None:
    """No step may look as if it ran for ever because its job was ended from outside, and its batches can be taken."""
    is_running = (step_run.c.run_id == job.run_id) & (step_run.c.status == RunStatus.RUNNING)
    tx.execute(sa.update(step_run).where(is_running).values(status=RunStatus.KILLED, ended_at=now))
    is_taken = (queue.c.target_batch_id == job.target_batch_id) & (queue.c.state == QueueState.ACCESSED)
    tx.execute(sa.update(queue).where(is_taken).values(state=QueueState.FAILED, ended_at=now))

"""Jobs that are not over, and batches that were begun and not finished."""

from __future__ import annotations

from dataclasses import asdict

import sqlalchemy as sa

from toolkit.ledger.columns import is_one_of
from toolkit.ledger.registry.rows import RegisteredProcess
from toolkit.ledger.runs import finding
from toolkit.ledger.runs.rows import Run, RunKey
from toolkit.ledger.tables import batch, run
from toolkit.ledger.transaction import Transaction
from toolkit.ledger.vocabulary import BatchState, JobMode


def open_in_queue(tx: Transaction, process: RegisteredProcess) -> tuple[Run, ...]:
    """The jobs of a process on the queue that are not over, the oldest first: one that runs, and ordered reruns."""
    wanted = sa.select(run).where(
        run.c.entity == process.name,
        is_one_of(run.c.status, *finding.OPEN),
        run.c.cluster == process.cluster,  # not process_id: SQLite would take ix_run_job and read all jobs there were
        run.c.mode == JobMode.QUEUE,
    )
    return tuple(tx.rows(Run, wanted.order_by(run.c.run_id)))


def unfinished_in_queue(tx: Transaction, process_id: int) -> Run | None:
    """The last attempt at a batch that a job on the queue began and none has finished; the oldest batch first.

    It is the state of the batch that tells, not rows that were left in the queue, nor the order of starts.
    """
    unfinished = (
        sa.select(run)
        .join(batch, batch.c.source_run_id == run.c.run_id)
        .where(
            batch.c.process_id == process_id,
            is_one_of(batch.c.state, BatchState.ALLOCATED),
            run.c.mode == JobMode.QUEUE,
        )
    )
    return tx.row(Run, unfinished.order_by(batch.c.batch_id).limit(1))


def unfinished_of(tx: Transaction, key: RunKey) -> int | None:
    """The batch that the last attempt of a key began to make, unless it was finished."""
    newest = (
        sa.select(run.c.target_batch_id, batch.c.state)
        .join(batch, batch.c.batch_id == run.c.target_batch_id)
        .where(*(run.c[name] == value for name, value in asdict(key).items()))
        .order_by(run.c.attempt.desc())
        .limit(1)
    )
    found = tx.execute(newest).first()
    return int(found[0]) if found is not None and found[1] is BatchState.ALLOCATED else None

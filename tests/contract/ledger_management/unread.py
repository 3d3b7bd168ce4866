"""Batches that wait in the queue, written straight into the tables."""

from __future__ import annotations

import sqlalchemy as sa

from tests.databases.ledgers import START
from toolkit.ledger import tables
from toolkit.ledger.database import Ledger, Transaction
from toolkit.ledger.vocabulary import BatchKind, BatchState, ProcessKind, QueueState


def enqueue(ledger: Ledger, *, process: str, steps: tuple[str, ...], batches: int) -> None:
    """A process on primary whose steps all wait for the same batches."""
    ledger.write(lambda tx: _enqueue(tx, process, steps, batches))


def _enqueue(tx: Transaction, process: str, steps: tuple[str, ...], batches: int) -> None:
    known = {"domain": None, "description": None, "digest": "d", "snapshot": "s"}
    times = {"registered_at": START, "updated_at": START}
    owner = tx.insert(
        tables.process, kind=ProcessKind.PROCESS, name=process, cluster="primary", is_deleted=False, **known, **times
    )
    step_ids = [
        tx.insert(tables.step, process_id=owner, name=name, position=at, is_recoverable=True, is_deleted=False)
        for at, name in enumerate(steps)
    ]
    for _ in range(batches):
        batch = tx.insert(tables.batch, kind=BatchKind.FILE, state=BatchState.PUBLISHED, created_at=START)
        waiting = {"source_batch_id": batch, "state": QueueState.NEW, "inserted_at": START}
        tx.execute(sa.insert(tables.queue), [{**waiting, "step_id": each} for each in step_ids])

"""New batches, and batches that are there."""

from __future__ import annotations

from dataclasses import fields
from datetime import datetime

import sqlalchemy as sa

from toolkit.ledger.batches.errors import UnknownBatch
from toolkit.ledger.batches.rows import Batch
from toolkit.ledger.tables import batch
from toolkit.ledger.transaction import Transaction
from toolkit.ledger.vocabulary import BatchKind, BatchState

_COLUMNS = [batch.c[each.name] for each in fields(Batch)]


def allocate(tx: Transaction, process_id: int) -> int:
    """The number of a new batch that a job is going to make; nobody may read it yet."""
    values = {"kind": BatchKind.RUN, "state": BatchState.ALLOCATED, "process_id": process_id, "created_at": tx.now()}
    return tx.insert(batch, **values)


def make_file_batch(tx: Transaction, process_id: int | None, marking: str | None) -> int:
    """The number of a new batch from outside, which may be read at once."""
    now = tx.now()
    return tx.insert(
        batch,
        kind=BatchKind.FILE,
        state=BatchState.PUBLISHED,
        process_id=process_id,
        marking=marking,
        created_at=now,
        published_at=now,
    )


def assign(tx: Transaction, batch_id: int, run_id: int) -> None:
    """Let a batch know the newest job that tries to make it."""
    tx.execute(sa.update(batch).where(batch.c.batch_id == batch_id).values(source_run_id=run_id))


def publish(tx: Transaction, batch_id: int, marking: str | None, now: datetime) -> None:
    """Let others read what a job has made."""
    values = {"state": BatchState.PUBLISHED, "published_at": now, "marking": marking}
    tx.execute(sa.update(batch).where(batch.c.batch_id == batch_id).values(values))


def adopt(tx: Transaction, adopted: Batch) -> None:
    """Give a batch its source and marking."""
    values = {"process_id": adopted.process_id, "marking": adopted.marking}
    tx.execute(sa.update(batch).where(batch.c.batch_id == adopted.batch_id).values(values))


def find_batch(tx: Transaction, batch_id: int) -> Batch:
    """A batch.

    Raises:
        UnknownBatch: there is none of that number, or it is the seed, which never has files.
    """
    return _found(tx, batch_id, _by_number(batch_id))


def locked_batch(tx: Transaction, batch_id: int) -> Batch:
    """As `find_batch`; until the transaction ends nobody else changes it or takes it for the first time."""
    return _found(tx, batch_id, _by_number(batch_id).with_for_update())


def _by_number(batch_id: int) -> sa.Select[tuple[object, ...]]:
    return sa.select(*_COLUMNS).where(batch.c.batch_id == batch_id, batch.c.kind != BatchKind.SEED)


def _found(tx: Transaction, batch_id: int, statement: sa.Select[tuple[object, ...]]) -> Batch:
    found = tx.row(Batch, statement)
    if found is None:
        raise UnknownBatch(batch_id=batch_id)
    return found

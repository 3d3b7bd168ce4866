"""New batches and those that are there; one that is complete is enqueued downstream and announced."""

from __future__ import annotations

from dataclasses import fields
from datetime import datetime
from operator import attrgetter

import sqlalchemy as sa

from toolkit.ledger.batches.errors import UnknownBatch
from toolkit.ledger.batches.rows import BatchRow, Downstream
from toolkit.ledger.database import Transaction
from toolkit.ledger.statements import InsertOr, Timed, given
from toolkit.ledger.tables import archive, batch, process, queue, step, upstream
from toolkit.ledger.vocabulary import BatchKind, BatchState, QueueState

_COLUMNS = [batch.c[each.name] for each in fields(BatchRow)]


_ALLOCATED = Timed(lambda now: sa.insert(batch).values(created_at=now).returning(batch.c.batch_id, batch.c.created_at))


def allocate(tx: Transaction, process_id: int) -> tuple[int, datetime]:
    """Number and time of a new batch that a job is going to make; it must not be read yet."""
    values = {"kind": BatchKind.RUN, "state": BatchState.ALLOCATED, "process_id": process_id}
    number, at = tx.execute_timed(_ALLOCATED, values).one()
    return number, at


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


_CHANGED = sa.update(batch).where(batch.c.batch_id == given(batch.c.batch_id, "of_batch"))


def assign(tx: Transaction, batch_id: int, run_id: int) -> None:
    """Let a batch know the newest job that tries to make it."""
    tx.execute(_CHANGED, {"of_batch": batch_id, "source_run_id": run_id})


def publish(tx: Transaction, batch_id: int, marking: str | None, now: datetime) -> None:
    """Let others read what a job has made."""
    values = {"state": BatchState.PUBLISHED, "published_at": now, "marking": marking}
    tx.execute(_CHANGED, {"of_batch": batch_id, **values})


def adopt(tx: Transaction, adopted: BatchRow) -> None:
    """Give a batch its source and marking."""
    values = {"process_id": adopted.process_id, "marking": adopted.marking}
    tx.execute(sa.update(batch).where(batch.c.batch_id == adopted.batch_id).values(values))


def find_batch(tx: Transaction, batch_id: int) -> BatchRow:
    """A batch.

    Raises:
        UnknownBatch: there is none of that number, or it is the seed, which never has files.
    """
    return _found(tx, batch_id, _by_number(batch_id))


def locked_batch(tx: Transaction, batch_id: int) -> BatchRow:
    """Return a batch as `find_batch` does, and lock its row until the transaction ends."""
    return _found(tx, batch_id, _by_number(batch_id).with_for_update())


def _by_number(batch_id: int) -> sa.Select[tuple[object, ...]]:
    return sa.select(*_COLUMNS).where(batch.c.batch_id == batch_id, batch.c.kind != BatchKind.SEED)


def _found(tx: Transaction, batch_id: int, statement: sa.Select[tuple[object, ...]]) -> BatchRow:
    found = tx.row(BatchRow, statement)
    if found is None:
        raise UnknownBatch(batch_id=batch_id)
    return found


def enqueue_downstream(
    tx: Transaction, process_id: int, batch_id: int, marking: str | None, now: datetime
) -> tuple[Downstream, ...]:
    """Put a published batch into the queue of every live step of a live process downstream.

    A step that has the batch already, in the queue or in the archive, does not get it again; nothing is ever removed.

    Returns:
        All steps downstream that have not taken it yet.
    """
    values = {"of_batch": batch_id, "of_process": process_id}
    enqueue_new(tx, process_id, batch_id, marking, now)
    return tuple(tx.rows(Downstream, _WAITING, values))


def enqueue_new(
    tx: Transaction, process_id: int, batch_id: int, marking: str | None, now: datetime
) -> tuple[Downstream, ...]:
    """Enqueue downstream, and return only the steps that have the batch from now on: all, of a new batch."""
    values = {"of_batch": batch_id, "of_process": process_id, "of_marking": marking, "at": now}
    found = (Downstream(**row) for row in tx.execute(_ENQUEUED, values).mappings())
    return tuple(sorted(found, key=attrgetter("queue_id")))


_OF_BATCH, _OF_PROCESS = given(queue.c.source_batch_id, "of_batch"), given(queue.c.source_process_id, "of_process")


def _has_it() -> list[sa.Exists]:
    """Three looks, one for each index."""
    queued = sa.select(queue.c.queue_id).where(queue.c.source_batch_id == _OF_BATCH, queue.c.step_id == step.c.step_id)
    unread = queued.where(queue.c.source_process_id == _OF_PROCESS, queue.c.target_batch_id.is_(None))
    taken = queued.where(queue.c.target_batch_id.is_not(None))
    archived = sa.select(archive.c.queue_id).where(
        archive.c.source_batch_id == _OF_BATCH, archive.c.step_id == step.c.step_id
    )
    return [sa.exists(each.correlate(step)) for each in (unread, taken, archived)]


_DOWNSTREAM = (
    sa.select(
        _OF_BATCH,
        step.c.step_id,
        _OF_PROCESS,
        sa.literal_column(f"'{QueueState.NEW.value}'", queue.c.state.type),
        given(queue.c.marking, "of_marking"),
        given(queue.c.inserted_at, "at"),
    )
    .select_from(upstream)
    .join(step, step.c.step_id == upstream.c.step_id)
    .join(process, process.c.process_id == step.c.process_id)
    .where(
        upstream.c.process_id == _OF_PROCESS,
        step.c.is_deleted.is_(sa.false()),
        process.c.is_deleted.is_(sa.false()),
        *(~each for each in _has_it()),
    )
    .order_by(step.c.step_id)
)


def _of_reader(column: sa.Column[str], name: str) -> sa.Label[str]:
    """Return a column of a new row's step, or of its process; as text, since SQLAlchemy omits the table names here."""
    reader = "step JOIN process ON process.process_id = step.process_id"
    found = f"(SELECT {column.table.name}.{column.name} FROM {reader} WHERE step.step_id = queue.step_id)"  # noqa: S608 - names of our own
    return sa.literal_column(found, column.type).label(name)


_ENQUEUED = (
    InsertOr(queue)
    .from_select(["source_batch_id", "step_id", "source_process_id", "state", "marking", "inserted_at"], _DOWNSTREAM)
    .returning(
        queue.c.queue_id,
        _of_reader(process.c.name, "process"),
        _of_reader(process.c.cluster, "cluster"),
        _of_reader(step.c.name, "step"),
    )
)


_WAITING = (
    sa.select(
        queue.c.queue_id,
        process.c.name.label("process"),
        process.c.cluster,
        step.c.name.label("step"),
    )
    .select_from(upstream)
    .join(step, step.c.step_id == upstream.c.step_id)
    .join(process, process.c.process_id == step.c.process_id)
    .join(queue, queue.c.step_id == step.c.step_id)
    .where(
        upstream.c.process_id == _OF_PROCESS,
        queue.c.source_process_id == _OF_PROCESS,
        queue.c.source_batch_id == _OF_BATCH,
        queue.c.target_batch_id.is_(None),
    )
    .order_by(queue.c.queue_id)
)
"""Found from the steps downstream, which are few, since no index of the queue begins with the batch."""


def unread_batches(tx: Transaction) -> dict[tuple[str, str], int]:
    """Return the number of batches not taken yet, by process and cluster; what several steps wait for counts once."""
    number = sa.func.count(queue.c.source_batch_id.distinct()).label("number")
    waiting = (
        sa.select(process.c.name, process.c.cluster, number)
        .join(step, step.c.step_id == queue.c.step_id)
        .join(process, process.c.process_id == step.c.process_id)
        .where(queue.c.target_batch_id.is_(None), ~step.c.is_deleted, ~process.c.is_deleted)
        .group_by(process.c.name, process.c.cluster)
    )
    return {(row["name"], row["cluster"]): row["number"] for row in tx.execute(waiting).mappings()}

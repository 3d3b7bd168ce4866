"""From who makes a batch to the steps that read it: one row in the queue for each (BDRE, BATCH_CONSUMP_QUEUE)."""

from __future__ import annotations

from datetime import datetime

import sqlalchemy as sa

from toolkit.ledger.batches.rows import Downstream
from toolkit.ledger.tables import archive, process, queue, step, upstream
from toolkit.ledger.transaction import Transaction
from toolkit.ledger.vocabulary import QueueState


def enqueue_downstream(
    tx: Transaction, process_id: int, batch_id: int, marking: str | None, now: datetime
) -> tuple[Downstream, ...]:
    """Put a published batch into the queue of every live step of a live process downstream.

    A step that has the batch already, in the queue or in the archive, does not get it again; nothing is ever removed.

    Returns:
        All steps downstream that have not taken it yet.
    """
    rows = (
        sa.select(
            sa.literal(batch_id),
            step.c.step_id,
            sa.literal(process_id),
            sa.literal(QueueState.NEW, queue.c.state.type),
            sa.literal(marking, queue.c.marking.type),
            sa.literal(now, queue.c.inserted_at.type),
        )
        .select_from(upstream)
        .join(step, step.c.step_id == upstream.c.step_id)
        .join(process, process.c.process_id == step.c.process_id)
        .where(
            upstream.c.process_id == process_id,
            step.c.is_deleted.is_(sa.false()),
            process.c.is_deleted.is_(sa.false()),
            *(~each for each in _has_it(process_id, batch_id)),
        )
        .order_by(step.c.step_id)
    )
    columns = ["source_batch_id", "step_id", "source_process_id", "state", "marking", "inserted_at"]
    tx.execute(tx.upsert(queue).from_select(columns, rows).on_conflict_do_nothing())
    return tuple(tx.rows(Downstream, _waiting(process_id, batch_id)))


def _has_it(process_id: int, batch_id: int) -> list[sa.Exists]:
    """Three looks, one for each index."""
    queued = sa.select(queue.c.queue_id).where(queue.c.source_batch_id == batch_id, queue.c.step_id == step.c.step_id)
    unread = queued.where(queue.c.source_process_id == process_id, queue.c.target_batch_id.is_(None))
    taken = queued.where(queue.c.target_batch_id.is_not(None))
    archived = sa.select(archive.c.queue_id).where(
        archive.c.source_batch_id == batch_id, archive.c.step_id == step.c.step_id
    )
    return [sa.exists(each.correlate(step)) for each in (unread, taken, archived)]


def _waiting(process_id: int, batch_id: int) -> sa.Select[tuple[int, str, str, str]]:
    """Found from the steps downstream, which are few, since no index of the queue begins with the batch."""
    return (
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
            upstream.c.process_id == process_id,
            queue.c.source_process_id == process_id,
            queue.c.source_batch_id == batch_id,
            queue.c.target_batch_id.is_(None),
        )
        .order_by(queue.c.queue_id)
    )

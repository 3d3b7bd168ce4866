"""Batches that wait to be read, for all processes at once."""

from __future__ import annotations

import sqlalchemy as sa

from toolkit.ledger.tables import process, queue, step
from toolkit.ledger.transaction import Transaction


def unread_batches(tx: Transaction) -> dict[tuple[str, str], int]:
    """How many batches nobody has taken yet, by process and cluster; what several steps wait for counts once."""
    number = sa.func.count(queue.c.source_batch_id.distinct()).label("number")
    waiting = (
        sa.select(process.c.name, process.c.cluster, number)
        .join(step, step.c.step_id == queue.c.step_id)
        .join(process, process.c.process_id == step.c.process_id)
        .where(queue.c.target_batch_id.is_(None), ~step.c.is_deleted, ~process.c.is_deleted)
        .group_by(process.c.name, process.c.cluster)
    )
    return {(row["name"], row["cluster"]): row["number"] for row in tx.execute(waiting).mappings()}

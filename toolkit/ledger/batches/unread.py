"""Instances of a feed with batches that a step has not finished yet."""

from __future__ import annotations

from collections.abc import Collection

import sqlalchemy as sa

from toolkit.ledger.columns import is_one_of
from toolkit.ledger.database import Transaction, in_chunks
from toolkit.ledger.tables import batch, batch_instance, process, queue, step
from toolkit.ledger.vocabulary import BatchState


def unread_instances(tx: Transaction, feed: str, cluster: str, keys: Collection[str]) -> dict[str, str]:
    """Return a step for each of the instances that it has not finished, as ``PROCESS/STEP``, by instance key.

    A batch leaves the queue when the job that took it has succeeded. Steps that the config repo no longer has read
    nothing, and a batch that was taken back is not for reading.
    """
    found: dict[str, str] = {}
    wanted = (
        sa.select(batch_instance.c.instance_key, process.c.name, step.c.name)
        .join(batch, batch.c.batch_id == batch_instance.c.batch_id)
        .join(queue, queue.c.source_batch_id == batch.c.batch_id)
        .join(step, step.c.step_id == queue.c.step_id)
        .join(process, process.c.process_id == step.c.process_id)
        .where(batch_instance.c.feed == feed, batch_instance.c.cluster == cluster)
        .where(is_one_of(batch.c.state, BatchState.PUBLISHED))
        .where(step.c.is_deleted.is_(sa.false()), process.c.is_deleted.is_(sa.false()))
        .distinct()
    )
    for chunk in in_chunks(sorted(keys)):
        for key, owner, name in tx.execute(wanted.where(batch_instance.c.instance_key.in_(chunk))):
            found[key] = min(found.get(key, f"{owner}/{name}"), f"{owner}/{name}")
    return found

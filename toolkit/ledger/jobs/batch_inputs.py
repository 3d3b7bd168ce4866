"""Batches that a job takes; the process's row is locked, so no other process changes those of its steps meanwhile."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import lru_cache

import sqlalchemy as sa

from toolkit.ledger.batches.rows import FeedInstance
from toolkit.ledger.columns import is_one_of
from toolkit.ledger.database import Transaction, in_chunks
from toolkit.ledger.schema_version import SEED_BATCH_ID
from toolkit.ledger.statements import Timed, given
from toolkit.ledger.tables import archive, batch, batch_instance, queue, step, step_input
from toolkit.ledger.vocabulary import BatchState, QueueState

_IS_UNREAD = queue.c.target_batch_id.is_(None)
_OWN_COLUMNS = [
    "source_batch_id",
    "step_id",
    "source_process_id",
    "target_batch_id",
    "state",
    "marking",
    "inserted_at",
]


@dataclass(frozen=True, kw_only=True, slots=True)
class Edge:
    """A step and one of its upstreams, by number and by name.

    Attributes:
        is_optional: no job waits for it.
        oldest: the row in the queue of the oldest batch that it has enqueued and no job has taken; None: there is none.
    """

    step_id: int
    upstream_id: int
    step: str
    upstream: str
    is_optional: bool
    oldest: int | None


def oldest_unread(
    step_id: sa.ColumnElement[int], upstream_id: sa.ColumnElement[int], limit: int | None
) -> sa.Select[tuple[int]]:
    """The oldest unread rows of a step from an upstream; a batch that was taken back is passed over.

    The order, and a limit that stands in the statement, lead PostgreSQL to the index: it would rather read the whole
    queue, in the hope of meeting a row soon, which a step without any pays for.
    """
    found = (
        sa.select(queue.c.queue_id)
        .join(batch, batch.c.batch_id == queue.c.source_batch_id)
        .where(
            queue.c.step_id == step_id,
            queue.c.source_process_id == upstream_id,
            _IS_UNREAD,
            is_one_of(batch.c.state, BatchState.PUBLISHED),
        )
        .order_by(queue.c.source_batch_id)
    )
    return found if limit is None else found.limit(sa.literal_column(str(limit), sa.Integer))


def take_unread(tx: Transaction, edges: Collection[Edge], target_batch_id: int, limit: int | None) -> None:
    """Take the oldest unread batches, for each step and each of its upstreams.

    Args:
        tx: the transaction.
        edges: steps with their upstreams; what has nothing unread is left out.
        target_batch_id: what the batches go into.
        limit: at most so many from each upstream for each step; None: all.
    """
    taken, readers = _taken(target_batch_id), [each for each in edges if each.oldest is not None]
    if limit == 1:
        tx.execute(_ROWS_TAKEN, {"rows": [each.oldest for each in readers], **taken})
    elif readers:
        rows = [{"of_step": each.step_id, "of_upstream": each.upstream_id, **taken} for each in readers]
        tx.execute(_take_oldest(limit), rows)


_ROWS_TAKEN = sa.update(queue).where(
    queue.c.queue_id.in_(sa.bindparam("rows", type_=queue.c.queue_id.type, expanding=True))
)


@lru_cache(maxsize=16)
def _take_oldest(limit: int | None) -> sa.Update:
    reader = given(queue.c.step_id, "of_step"), given(queue.c.source_process_id, "of_upstream")
    return sa.update(queue).where(queue.c.queue_id.in_(oldest_unread(*reader, limit)))


def take_seed(tx: Transaction, step_ids: Collection[int], target_batch_id: int) -> None:
    """Let steps that read nothing have a row all the same: batch 0 (BDRE, InitJob)."""
    taken = {"source_batch_id": SEED_BATCH_ID, **_taken(target_batch_id)}
    rows: list[dict[str, object]] = [{"step_id": each, **taken} for each in step_ids]
    if rows:
        tx.execute_timed(_SEEDED, rows)


_SEEDED = Timed(lambda now: sa.insert(queue).values(inserted_at=now))


def take_again(tx: Transaction, step_ids: Collection[int], target_batch_id: int) -> None:
    """Let steps that have to run again read their batches again."""
    mine = queue.c.target_batch_id == target_batch_id
    again = {"state": QueueState.ACCESSED, "started_at": None, "ended_at": None}
    tx.execute(sa.update(queue).where(mine, queue.c.step_id.in_(step_ids)).values(again))


def take_archived(tx: Transaction, made_batch_id: int, target_batch_id: int) -> None:
    """Let live steps read once more what they read for a batch that was made with success."""
    read = (
        sa.select(
            archive.c.source_batch_id,
            archive.c.step_id,
            archive.c.source_process_id,
            *_own_values(target_batch_id),
            archive.c.marking,
            sa.literal(tx.now(), queue.c.inserted_at.type),
        )
        .join(step, step.c.step_id == archive.c.step_id)
        .where(archive.c.target_batch_id == made_batch_id, step.c.is_deleted.is_(sa.false()))
        .order_by(archive.c.queue_id)
    )
    tx.execute(sa.insert(queue).from_select(_OWN_COLUMNS, read))


def take_instances(
    tx: Transaction, step_ids: Sequence[int], instances: Sequence[FeedInstance], target_batch_id: int
) -> None:
    """Let steps read the published batches of the instances, read before or not: each step those of its feeds."""
    keys: dict[tuple[str, str], set[str]] = {}
    for each in instances:
        keys.setdefault((each.feed, each.cluster), set()).add(each.instance_key)
    for (feed, cluster), of_feed in sorted(keys.items()):
        for chunk in in_chunks(sorted(of_feed)):
            values = {
                "steps": step_ids,
                "of_feed": feed,
                "of_cluster": cluster,
                "keys": chunk,
                "target": target_batch_id,
            }
            tx.execute(_UNREAD_TAKEN, values)
            tx.execute_timed(_READ_AGAIN, values)


def feeds_read(tx: Transaction, process_id: int) -> frozenset[str]:
    """The feeds that the live steps of a process read."""
    return frozenset(tx.execute(_FEEDS, {"of_process": process_id}).scalars())


_FEEDS = (
    sa.select(step_input.c.feed)
    .join(step, step.c.step_id == step_input.c.step_id)
    .where(step.c.process_id == given(step.c.process_id, "of_process"), step.c.is_deleted.is_(sa.false()))
)


_WANTED = (
    sa.select(batch.c.batch_id, batch.c.process_id, batch.c.marking, step_input.c.step_id)
    .select_from(batch_instance)
    .join(batch, batch.c.batch_id == batch_instance.c.batch_id)
    .join(step_input, step_input.c.feed == batch_instance.c.feed)
    .where(
        batch_instance.c.feed == given(batch_instance.c.feed, "of_feed"),
        batch_instance.c.cluster == given(batch_instance.c.cluster, "of_cluster"),
        batch_instance.c.instance_key.in_(
            sa.bindparam("keys", type_=batch_instance.c.instance_key.type, expanding=True)
        ),
        is_one_of(batch.c.state, BatchState.PUBLISHED),
        step_input.c.step_id.in_(sa.bindparam("steps", type_=step_input.c.step_id.type, expanding=True)),
    )
    .distinct()
    .subquery("wanted")
)
"""The published batches of some instances of a feed, for each of the steps that reads it."""

_SAME = (queue.c.source_batch_id == _WANTED.c.batch_id, queue.c.step_id == _WANTED.c.step_id)
_TARGET = given(queue.c.target_batch_id, "target")
_IS_ACCESSED = sa.literal_column(f"'{QueueState.ACCESSED.value}'", queue.c.state.type)

_UNREAD_TAKEN = (
    sa.update(queue)
    .where(
        queue.c.queue_id.in_(
            sa.select(queue.c.queue_id)
            .join(_WANTED, sa.and_(*_SAME, queue.c.source_process_id == _WANTED.c.process_id))
            .where(_IS_UNREAD)
        )
    )
    .values(target_batch_id=_TARGET, state=_IS_ACCESSED)
)
"""An unread row is taken."""


def _read_again(now: sa.ColumnElement[datetime]) -> sa.Insert:
    """For a batch that was read, or never enqueued for the step, there is a row of its own."""
    has_row = sa.exists(
        sa.select(queue.c.queue_id).where(*_SAME, queue.c.target_batch_id == _TARGET).correlate(_WANTED)
    )
    wanted = (_WANTED.c.batch_id, _WANTED.c.step_id, _WANTED.c.process_id)
    own = sa.select(*wanted, _TARGET, _IS_ACCESSED, _WANTED.c.marking, now).where(~has_row)
    return sa.insert(queue).from_select(_OWN_COLUMNS, own.order_by(_WANTED.c.step_id, _WANTED.c.batch_id))


_READ_AGAIN = Timed(_read_again)


def _taken(target_batch_id: int) -> dict[str, object]:
    return {"target_batch_id": target_batch_id, "state": QueueState.ACCESSED}


def _own_values(target_batch_id: int) -> list[sa.ColumnElement[object]]:
    return [
        sa.literal(target_batch_id, queue.c.target_batch_id.type),
        sa.literal(QueueState.ACCESSED, queue.c.state.type),
    ]

"""Which batches a job takes; the process's row is locked, so nobody else takes or gives back any of its steps'."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass

import sqlalchemy as sa

from toolkit.ledger.batches.rows import FeedInstance
from toolkit.ledger.columns import is_one_of
from toolkit.ledger.database import Transaction, in_chunks
from toolkit.ledger.schema_version import SEED_BATCH_ID
from toolkit.ledger.tables import archive, batch, batch_instance, process, queue, step, step_input, upstream
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
        has_unread: it has enqueued something that nobody has taken.
    """

    step_id: int
    upstream_id: int
    step: str
    upstream: str
    is_optional: bool
    has_unread: bool


def edges(tx: Transaction, process_id: int) -> tuple[Edge, ...]:
    """From whom the live steps of a process read, and whether there is anything to read."""
    unread = _oldest_unread(upstream.c.step_id, upstream.c.process_id, 1).correlate(upstream).scalar_subquery()
    wanted = (
        sa.select(
            upstream.c.step_id,
            upstream.c.process_id.label("upstream_id"),
            step.c.name.label("step"),
            process.c.name.label("upstream"),
            upstream.c.is_optional,
            unread.is_not(None).label("has_unread"),
        )
        .select_from(upstream)
        .join(step, step.c.step_id == upstream.c.step_id)
        .join(process, process.c.process_id == upstream.c.process_id)
        .where(*_live_steps_of(process_id))
        .order_by(step.c.position, step.c.step_id, process.c.name)
    )
    return tuple(tx.rows(Edge, wanted))


def take_unread(tx: Transaction, readers: Collection[Edge], target_batch_id: int, limit: int | None) -> None:
    """Take the oldest unread batches, for each step and each of its upstreams.

    Args:
        tx: the transaction.
        readers: steps with upstreams that have something unread.
        target_batch_id: what the batches go into.
        limit: at most so many from each upstream for each step; None: all.
    """
    for chunk in in_chunks(readers):
        oldest = [sa.select(_oldest_unread(each.step_id, each.upstream_id, limit).subquery()) for each in chunk]
        taken = sa.update(queue).where(queue.c.queue_id.in_(sa.union_all(*oldest))).values(_taken(target_batch_id))
        tx.execute(taken)


def take_seed(tx: Transaction, step_ids: Collection[int], target_batch_id: int) -> None:
    """Let steps that read nothing have a row all the same: batch 0 (BDRE, InitJob)."""
    now = tx.now()
    rows: list[dict[str, object]] = [
        {"source_batch_id": SEED_BATCH_ID, "step_id": each, "inserted_at": now, **_taken(target_batch_id)}
        for each in step_ids
    ]
    if rows:
        tx.execute(sa.insert(queue), rows)


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
            _take_chunk(tx, _batches_of(step_ids, feed, cluster, chunk), target_batch_id)


def feeds_read(tx: Transaction, process_id: int) -> frozenset[str]:
    """The feeds that the live steps of a process read."""
    read = sa.select(step_input.c.feed).join(step, step.c.step_id == step_input.c.step_id)
    return frozenset(tx.execute(read.where(*_live_steps_of(process_id))).scalars())


def _take_chunk(tx: Transaction, wanted: sa.Subquery, target_batch_id: int) -> None:
    """An unread row is taken; for a batch that was read, or never enqueued for the step, there is a row of its own."""
    same = (queue.c.source_batch_id == wanted.c.batch_id, queue.c.step_id == wanted.c.step_id)
    of_source = queue.c.source_process_id == wanted.c.process_id
    unread = sa.select(queue.c.queue_id).join(wanted, sa.and_(*same, of_source)).where(_IS_UNREAD)
    tx.execute(sa.update(queue).where(queue.c.queue_id.in_(unread)).values(_taken(target_batch_id)))
    has_row = sa.exists(
        sa.select(queue.c.queue_id).where(*same, queue.c.target_batch_id == target_batch_id).correlate(wanted)
    )
    own = sa.select(
        wanted.c.batch_id,
        wanted.c.step_id,
        wanted.c.process_id,
        *_own_values(target_batch_id),
        wanted.c.marking,
        sa.literal(tx.now(), queue.c.inserted_at.type),
    ).where(~has_row)
    tx.execute(sa.insert(queue).from_select(_OWN_COLUMNS, own.order_by(wanted.c.step_id, wanted.c.batch_id)))


def _batches_of(step_ids: Sequence[int], feed: str, cluster: str, keys: Sequence[str]) -> sa.Subquery:
    return (
        sa.select(batch.c.batch_id, batch.c.process_id, batch.c.marking, step_input.c.step_id)
        .select_from(batch_instance)
        .join(batch, batch.c.batch_id == batch_instance.c.batch_id)
        .join(step_input, step_input.c.feed == batch_instance.c.feed)
        .where(
            batch_instance.c.feed == feed,
            batch_instance.c.cluster == cluster,
            batch_instance.c.instance_key.in_(keys),
            batch.c.state == BatchState.PUBLISHED,
            step_input.c.step_id.in_(step_ids),
        )
        .distinct()
        .subquery("wanted")
    )


def _oldest_unread(
    step_id: sa.ColumnElement[int] | int, upstream_id: sa.ColumnElement[int] | int, limit: int | None
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


def _live_steps_of(process_id: int) -> list[sa.ColumnElement[bool]]:
    return [step.c.process_id == process_id, step.c.is_deleted.is_(sa.false())]


def _taken(target_batch_id: int) -> dict[str, object]:
    return {"target_batch_id": target_batch_id, "state": QueueState.ACCESSED}


def _own_values(target_batch_id: int) -> list[sa.ColumnElement[object]]:
    return [
        sa.literal(target_batch_id, queue.c.target_batch_id.type),
        sa.literal(QueueState.ACCESSED, queue.c.state.type),
    ]

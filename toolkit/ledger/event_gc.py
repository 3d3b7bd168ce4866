"""Garbage collection of events: those that every live consumer has consumed are removed, never an unread one."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass
from datetime import datetime

import sqlalchemy as sa

from toolkit.ledger.database import Transaction, in_chunks
from toolkit.ledger.runs.queries import OPEN
from toolkit.ledger.tables import consumer_cursor, event, poll, run, trigger_cause, trigger_dropped, trigger_pending
from toolkit.ledger.triggers import is_trigger


@dataclass(frozen=True, kw_only=True, slots=True)
class LiveConsumers:
    """Triggers of the config repo.

    Attributes:
        names: of all, as they read events.
        from_earliest: those that begin with the earliest event, once they read for the first time.
    """

    names: Collection[str]
    from_earliest: Collection[str] = ()


@dataclass(frozen=True, kw_only=True, slots=True)
class CollectedGarbage:
    """Rows that were removed, or that a dry run would remove.

    Attributes:
        events: number of events.
        consumers: cursors of triggers that are not in the config repo, by name.
        datasets: those that the config repo does not name and that have no event any more, by canonical URI.
        floor: number of the last event that every live consumer has read.
        slowest: the consumer that is there; empty: there is none.
    """

    events: int
    consumers: tuple[str, ...]
    datasets: tuple[str, ...]
    floor: int
    slowest: str


def collect(
    tx: Transaction,
    live: LiveConsumers,
    is_named: Callable[[str], bool],
    before: datetime,
    *,
    is_dry: bool = False,
) -> CollectedGarbage:
    """Remove events that are older than an instant and that every live consumer has consumed.

    The newest event of each instance stays as long as the config repo names the dataset: it says whether the instance
    is there. So does a cause of a run that is not over, and an update that waits for others. Consumers that are no
    triggers always live.

    Args:
        tx: the transaction.
        live: triggers of the config repo; the cursors of others are removed, unless they have moved since `before`.
        is_named: whether the config repo names a dataset, by its canonical URI.
        before: only events that were recorded earlier are removed.
        is_dry: nothing is removed.
    """
    rows = tx.execute(_CURSORS if is_dry else tx.locked(_CURSORS)).all()
    cursors = {row.consumer: row.sequence for row in rows}
    # a younger cursor may be of a process that this checkout does not have yet
    still = {row.consumer for row in rows if row.moved_at < before}
    left = sorted(name for name in still if is_trigger(name) and name not in live.names)
    read = {name: at for name, at in cursors.items() if name not in left}
    read |= {name: 0 for name in live.from_earliest if name not in cursors}
    slowest = min(read, key=lambda name: (read[name], name), default="")
    floor = read[slowest] if slowest else _newest(tx)
    old = _consumed(floor, before, left)
    datasets = list(tx.execute(sa.select(event.c.dataset).distinct()).scalars())
    unnamed = sorted(each for each in datasets if not is_named(each))
    number = _count(tx, old, unnamed)
    polled = tx.execute(sa.select(poll.c.dataset).distinct()).scalars()
    gone = sorted({*_emptied(tx, old, unnamed), *(each for each in polled if not is_named(each))})
    if not is_dry:
        _remove_consumers(tx, left)
        _remove_events(tx, old, unnamed)
        for chunk in in_chunks(gone):
            tx.execute(sa.delete(poll).where(poll.c.dataset.in_(chunk)))
    return CollectedGarbage(events=number, consumers=tuple(left), datasets=tuple(gone), floor=floor, slowest=slowest)


_CURSORS = sa.select(consumer_cursor.c.consumer, consumer_cursor.c.sequence, consumer_cursor.c.moved_at).order_by(
    consumer_cursor.c.consumer
)


def _newest(tx: Transaction) -> int:
    return tx.execute(sa.select(sa.func.max(event.c.sequence))).scalar() or 0


def _consumed(floor: int, before: datetime, left: Collection[str]) -> sa.ColumnElement[bool]:
    """Return the condition of events that no consumer needs any more."""
    waits = trigger_pending.c.sequence == event.c.sequence
    for chunk in in_chunks(left):
        waits = waits & trigger_pending.c.consumer.not_in(chunk)
    causes = trigger_cause.join(run, run.c.run_id == trigger_cause.c.run_id)
    is_cause = (trigger_cause.c.sequence == event.c.sequence) & run.c.status.in_(OPEN)
    return (
        (event.c.sequence <= floor)
        & (event.c.recorded_at < before)
        & ~sa.exists(sa.select(trigger_pending.c.sequence).where(waits).correlate(event))
        & ~sa.exists(sa.select(trigger_cause.c.sequence).select_from(causes).where(is_cause).correlate(event))
    )


def _conditions(old: sa.ColumnElement[bool], unnamed: Collection[str]) -> Iterator[sa.ColumnElement[bool]]:
    """Yield disjoint conditions: of events with a newer one of the same instance, and of the last of unnamed data."""
    newer = event.alias("newer")
    same = (newer.c.dataset == event.c.dataset) & (newer.c.instance_key == event.c.instance_key)
    has_newer = sa.exists(sa.select(newer.c.sequence).where(same, newer.c.sequence > event.c.sequence).correlate(event))
    yield old & has_newer
    yield from (old & ~has_newer & event.c.dataset.in_(chunk) for chunk in in_chunks(unnamed))


def _count(tx: Transaction, old: sa.ColumnElement[bool], unnamed: Collection[str]) -> int:
    counts = (sa.select(sa.func.count()).select_from(event).where(each) for each in _conditions(old, unnamed))
    return sum(tx.execute(each).scalar_one() for each in counts)


def _emptied(tx: Transaction, old: sa.ColumnElement[bool], unnamed: Collection[str]) -> Iterator[str]:
    """Yield the unnamed datasets of which no event stays."""
    for chunk in in_chunks(unnamed):
        stays = sa.select(event.c.dataset).where(event.c.dataset.in_(chunk), ~old).distinct()
        kept = set(tx.execute(stays).scalars())
        yield from (each for each in chunk if each not in kept)


def _remove_consumers(tx: Transaction, left: Collection[str]) -> None:
    for chunk in in_chunks(left):
        for table in (trigger_pending, trigger_dropped, consumer_cursor):
            tx.execute(sa.delete(table).where(table.c.consumer.in_(chunk)))


def _remove_events(tx: Transaction, old: sa.ColumnElement[bool], unnamed: Collection[str]) -> None:
    for each in _conditions(old, unnamed):  # the older ones first: then the last one of unnamed data is left
        tx.execute(sa.delete(event).where(each))
    stays = sa.exists(sa.select(event.c.sequence).where(event.c.sequence == trigger_dropped.c.sequence))
    tx.execute(sa.delete(trigger_dropped).where(~stays.correlate(trigger_dropped)))

"""Events: what happened to instances, in the order in which it became visible (DESIGN section 6).

A writer holds the one row of `event_counter` until its transaction ends. So numbers have no gaps and become
visible in their order, and a consumer that reads on from its cursor never skips one.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import takewhile

import sqlalchemy as sa

from toolkit.el.dataset_uri import feed_uri
from toolkit.errors import Failed, InvalidInput
from toolkit.ledger import manifests
from toolkit.ledger.database import Transaction, in_chunks
from toolkit.ledger.runs.rows import RUN_KEY
from toolkit.ledger.statements import Timed, given
from toolkit.ledger.tables import consumer_cursor, event, event_counter, run, trigger_cause
from toolkit.ledger.vocabulary import EventKind

_MANY = 4_000
"""The events of more instances are read as one range."""


@dataclass(frozen=True, kw_only=True, slots=True)
class NewEvent:
    """Event of a dataset: of an instance of a feed, or of data that is no feed.

    Attributes:
        kind: what happened.
        feed: the feed; empty: the data is no feed.
        cluster: where; empty: the data is no feed.
        instance_key: which instance; empty: the series as such.
        uri: where the data is, or was.
        dataset: canonical URI of the series; empty: that of the feed.
        extra: JSON of its emitter.
        chain: number of triggered runs that led to it; None: as many as to its run.
        idempotency_key: of an event from outside, see `emit`.
    """

    kind: EventKind
    feed: str = ""
    cluster: str = ""
    instance_key: str = ""
    uri: str | None = None
    dataset: str = ""
    extra: str | None = None
    chain: int | None = None
    idempotency_key: str | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class Event:
    """An event; the fields are the columns of the table `event`, where each is explained."""

    sequence: int
    kind: EventKind
    dataset: str
    feed: str
    cluster: str
    instance_key: str
    uri: str | None
    run_id: int | None
    recorded_at: datetime
    chain: int = 0
    extra: str | None = None
    idempotency_key: str | None = None


class CursorMovedOn(Failed):
    """A consumer's cursor is further already: the same consumer runs twice.

    Args:
        consumer: who reads.
        found: where its cursor is.
        wanted: where it should have been set.
    """

    code = "cursor_moved_on"

    def __init__(self, *, consumer: str, found: int, wanted: int) -> None:
        self.consumer, self.found, self.wanted = consumer, found, wanted
        what = f"the cursor of {consumer} is at {found} already and does not go back to {wanted}"
        super().__init__(f"{what}; does the same consumer run twice? Read on from {found}")


class NoSuchEvent(InvalidInput):
    """A cursor was to move to where there is no event yet.

    Args:
        sequence: the number that was given.
        last: of the newest event.
    """

    code = "no_such_event"

    def __init__(self, *, sequence: int, last: int) -> None:
        self.sequence, self.last = sequence, last
        super().__init__(f"there is no event {sequence} yet; the newest is {last}")


def lock_counter(tx: Transaction) -> None:
    """Wait for all that append: what they have committed is visible then, and nothing is added before this one.

    To be called late in a transaction, as `append`, and before the last events of data are read.
    """
    tx.execute(tx.locked(sa.select(event_counter.c.last_sequence)))


def append(tx: Transaction, events: Sequence[NewEvent], run_id: int | None = None) -> range:
    """Append events; to be called last in a transaction, since all others that append wait for its end.

    Args:
        tx: the transaction.
        events: in their order.
        run_id: the run that did it; None: it came from outside.

    Returns:
        Their numbers.
    """
    if not events:
        return range(0)
    _forget_copies(tx, events)
    chain = chain_of(tx, run_id) if run_id is not None and any(each.chain is None for each in events) else 0
    last: int = tx.execute(_COUNTED, {"more": len(events)}).scalar_one()
    numbers = range(last - len(events) + 1, last + 1)
    always = {"run_id": run_id}
    rows = [
        {**_columns(each, chain), **always, "sequence": number} for number, each in zip(numbers, events, strict=True)
    ]
    tx.execute_timed(_APPENDED, rows)
    return numbers


_COUNTED = (
    sa.update(event_counter)
    .values(
        last_sequence=event_counter.c.last_sequence + sa.bindparam("more", type_=event_counter.c.last_sequence.type)
    )
    .returning(event_counter.c.last_sequence)
)
_APPENDED = Timed(lambda now: sa.insert(event).values(recorded_at=now))


def _forget_copies(tx: Transaction, events: Sequence[NewEvent]) -> None:
    """Forget the manifests of evicted instances, since their files are gone."""
    gone: dict[tuple[str, str], list[str]] = {}
    for each in events:
        if each.kind is EventKind.EVICTED:
            gone.setdefault((each.feed, each.cluster), []).append(each.instance_key)
    for (feed, cluster), keys in gone.items():
        manifests.forget(tx, feed, cluster, keys)


def _columns(new: NewEvent, chain: int) -> dict[str, object]:
    """Return the columns of an event; `asdict` takes ten times as long, for each of a run's many events."""
    return {
        "kind": new.kind,
        "dataset": new.dataset or feed_uri(new.feed, new.cluster),
        "feed": new.feed,
        "cluster": new.cluster,
        "instance_key": new.instance_key,
        "uri": new.uri,
        "chain": chain if new.chain is None else new.chain,
        "extra": new.extra,
        "idempotency_key": new.idempotency_key,
    }


def chain_of(tx: Transaction, run_id: int) -> int:
    """Return the number of triggered runs that led to a run, itself among them; 0: no event triggered it.

    A later attempt at a triggered instance has the chain of the attempt that was triggered last.
    """
    found: int | None = tx.execute(_CHAIN, {"of_run": run_id}).scalar()
    return 0 if found is None else found + 1


def _chain() -> sa.Select[tuple[int]]:
    this, earlier = run.alias("this"), run.alias("earlier")
    is_same = sa.and_(*(earlier.c[name] == this.c[name] for name in RUN_KEY))
    triggered = (
        sa.select(sa.func.max(trigger_cause.c.run_id))
        .join_from(this, earlier, is_same & (earlier.c.run_id <= this.c.run_id))
        .join(trigger_cause, trigger_cause.c.run_id == earlier.c.run_id)
        .where(this.c.run_id == sa.bindparam("of_run", type_=run.c.run_id.type))
        .scalar_subquery()
    )
    causes = trigger_cause.join(event, event.c.sequence == trigger_cause.c.sequence)
    return sa.select(sa.func.max(event.c.chain)).select_from(causes).where(trigger_cause.c.run_id == triggered)


_CHAIN = _chain()


def after(
    tx: Transaction, sequence: int, limit: int = 1000, feed: str | None = None, cluster: str | None = None
) -> list[Event]:
    """The events that follow a number, of all feeds or one, on all clusters or one, in their order.

    Args:
        tx: the transaction.
        sequence: the last event that is known already; 0: none.
        limit: at most so many.
        feed: only of this feed.
        cluster: only of this cluster.
    """
    where = [event.c.sequence > sequence]
    if feed is not None:
        where.append(event.c.feed == feed)
    if cluster is not None:
        where.append(event.c.cluster == cluster)
    return list(tx.rows(Event, sa.select(event).where(*where).order_by(event.c.sequence).limit(limit)))


def of_instance(tx: Transaction, feed: str, cluster: str, instance_key: str) -> list[Event]:
    """Return the events of one instance, in order."""
    of_it = (event.c.feed == feed) & (event.c.cluster == cluster) & (event.c.instance_key == instance_key)
    return list(tx.rows(Event, sa.select(event).where(of_it).order_by(event.c.sequence)))


_LAST = (
    sa.select(event.c.kind)
    .where(*(event.c[name] == given(event.c[name]) for name in ("feed", "cluster", "instance_key")))
    .order_by(event.c.sequence.desc())
    .limit(1)
)


def last_kind(tx: Transaction, feed: str, cluster: str, instance_key: str) -> EventKind | None:
    """Return the kind of an instance's last event; None: it has none."""
    values = {"feed": feed, "cluster": cluster, "instance_key": instance_key}
    found: EventKind | None = tx.execute(_LAST, values).scalar()
    return found


def newest(tx: Transaction) -> int:
    """The number of the newest event; 0: there is none."""
    last: int = tx.execute(sa.select(event_counter.c.last_sequence)).scalar_one()
    return last


def cursor(tx: Transaction, consumer: str) -> int:
    """The last event that a consumer has dealt with; 0: none."""
    found = sa.select(consumer_cursor.c.sequence).where(consumer_cursor.c.consumer == consumer)
    sequence: int = tx.execute(found).scalar_one_or_none() or 0
    return sequence


def advance(tx: Transaction, consumer: str, to: int) -> None:
    """Move a consumer's cursor, best in the transaction that records what it did.

    Raises:
        CursorMovedOn: it is further already.
        NoSuchEvent: there is no event of this number yet.
    """
    last = newest(tx)
    if to > last:
        raise NoSuchEvent(sequence=to, last=last)
    moved = {"sequence": to, "moved_at": tx.now()}
    insert = tx.upsert(consumer_cursor).values(consumer=consumer, **moved)
    is_behind = consumer_cursor.c.sequence <= to
    upsert = insert.on_conflict_do_update(index_elements=["consumer"], set_=moved, where=is_behind)
    if tx.execute(upsert.returning(consumer_cursor.c.sequence)).first() is None:
        raise CursorMovedOn(consumer=consumer, found=cursor(tx, consumer), wanted=to)


def last_events(tx: Transaction, feed: str, cluster: str, first_key: str, last_key: str) -> dict[str, EventKind]:
    """The kind of the last event of each instance from one key to another, both included; others are left out."""
    within = event.c.instance_key.between(first_key, last_key)
    of_feed = sa.select(event.c.instance_key, event.c.kind).where(
        event.c.feed == feed, event.c.cluster == cluster, within
    )
    return {row["instance_key"]: row["kind"] for row in tx.execute(of_feed.order_by(event.c.sequence)).mappings()}


def last_kinds(tx: Transaction, feed: str, cluster: str, keys: Collection[str]) -> dict[str, EventKind]:
    """Return the kind of the last event of each of these instances; those without one are left out."""
    if len(keys) > _MANY:
        found = last_events(tx, feed, cluster, min(keys), max(keys))
        return {key: found[key] for key in keys if key in found}
    known: dict[str, EventKind] = {}
    for chunk in in_chunks(keys):
        of_chunk = (event.c.feed == feed, event.c.cluster == cluster, event.c.instance_key.in_(chunk))
        wanted = sa.select(event.c.instance_key, event.c.kind).where(*of_chunk).order_by(event.c.sequence)
        known |= {row["instance_key"]: row["kind"] for row in tx.execute(wanted).mappings()}
    return known


UPDATES = (EventKind.AVAILABLE, EventKind.UPDATED)
"""Kinds that say that data is there."""


def is_announced(tx: Transaction, feed: str, cluster: str, instance_key: str) -> bool:
    """Return whether an instance has an event `available` since the last one that says that its data is gone.

    An `updated` alone does not count: late rows may come between the closing of an instance and its announcement.
    """
    this = (event.c.feed == feed, event.c.cluster == cluster, event.c.instance_key == instance_key)
    found = tx.execute(sa.select(event.c.kind).where(*this).order_by(event.c.sequence.desc())).scalars()
    since = takewhile(lambda kind: kind in UPDATES, found)
    return EventKind.AVAILABLE in list(since)


def update_kind(last: EventKind | None, instance_key: str) -> EventKind:
    """Return the kind of an update: `updated` if the same instance is there already.

    Data without an instance key is a series as such: each of its updates brings something new, so it is `available`.

    Args:
        last: kind of the last event of the same instance; None: it has none.
        instance_key: empty: the series as such.
    """
    return EventKind.UPDATED if instance_key and last in UPDATES else EventKind.AVAILABLE


def last_of_dataset(tx: Transaction, dataset: str, instance_key: str) -> Event | None:
    """Return the last event of an instance of a dataset, or of the series as such if the key is empty."""
    return tx.row(Event, _LAST_OF_DATASET, {"dataset": dataset, "instance_key": instance_key})


_LAST_OF_DATASET = (
    sa.select(event)
    .where(*(event.c[name] == given(event.c[name]) for name in ("dataset", "instance_key")))
    .order_by(event.c.sequence.desc())
    .limit(1)
)

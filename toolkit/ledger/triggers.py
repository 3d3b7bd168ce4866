"""State of triggers: how far each has read the events, what waits, and which events caused which run.

Everything that one decision changes is written in one transaction. It locks the cursors of the consumers first, in the
order of their names, and never the event counter. Producers lock that counter last, so no two of them wait in a circle.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import sqlalchemy as sa

from toolkit.foreign_json import BadJson, parse_json
from toolkit.ledger.columns import is_one_of
from toolkit.ledger.database import Transaction, in_chunks
from toolkit.ledger.runs.queries import OPEN
from toolkit.ledger.statements import InsertOr, given
from toolkit.ledger.tables import consumer_cursor, event, event_counter, run, trigger_cause, trigger_dropped
from toolkit.ledger.tables import trigger_pending as waiting
from toolkit.ledger.vocabulary import LifeCycle
from toolkit.planning.triggers import Dropped, Pending, Update

_PREFIX = "trigger/"


def consumer_name(process: str, cluster: str) -> str:
    """Return the name under which the trigger of a process on a cluster reads events."""
    return f"{_PREFIX}{process}@{cluster}"


def is_trigger(consumer: str) -> bool:
    """Return whether a consumer of events is a trigger."""
    return consumer.startswith(_PREFIX)


@dataclass(frozen=True, kw_only=True, slots=True)
class TriggerCursor:
    """Progress of a consumer.

    Attributes:
        sequence: the last event that it has read.
        is_waiting: a run is due and could not be created yet, so that it is looked at again without new events.
        digest: of the trigger as the last decision knew it.
    """

    sequence: int
    is_waiting: bool
    digest: str = ""


@dataclass(frozen=True, kw_only=True, slots=True)
class TriggerPositions:
    """Progress of all triggers.

    Attributes:
        newest: number of the newest event.
        cursors: by the name of the consumer.
    """

    newest: int
    cursors: Mapping[str, TriggerCursor]

    def needs_decision(self, consumer: str, digest: str) -> bool:
        """Return whether a consumer is new or edited, has events to read, or has a run that waits."""
        cursor = self.cursors.get(consumer)
        if cursor is None or cursor.is_waiting or cursor.sequence < self.newest:
            return True
        return cursor.digest != digest


_POSITIONS = sa.select(
    event_counter.c.last_sequence,
    consumer_cursor.c.consumer,
    consumer_cursor.c.sequence,
    consumer_cursor.c.is_waiting,
    consumer_cursor.c.digest,
).outerjoin_from(event_counter, consumer_cursor, consumer_cursor.c.consumer.startswith(_PREFIX))


def positions(tx: Transaction) -> TriggerPositions:
    """Return how far all triggers are; one statement, whatever their number."""
    rows = tx.execute(_POSITIONS).all()
    cursors = {
        row.consumer: TriggerCursor(sequence=row.sequence, is_waiting=row.is_waiting, digest=row.digest or "")
        for row in rows
        if row.consumer is not None
    }
    return TriggerPositions(newest=rows[0].last_sequence, cursors=cursors)


def subscribe(tx: Transaction, starts: Mapping[str, int], digests: Mapping[str, str] | None = None) -> None:
    """Let new consumers begin to read.

    Args:
        tx: the transaction.
        starts: the last event that does not count, by the name of the consumer; 0: all count. A consumer that is
            there already stays where it is.
        digests: of the triggers, by the same name.
    """
    if starts:
        moved = {"moved_at": tx.now(), "is_waiting": False}
        rows: list[dict[str, object]] = [
            {"consumer": name, "sequence": starts[name], "digest": (digests or {}).get(name), **moved}
            for name in sorted(starts)
        ]
        tx.execute(InsertOr(consumer_cursor), rows)


def lock(tx: Transaction, consumers: Collection[str]) -> dict[str, TriggerCursor]:
    """Return the cursors of consumers; no other process decides for them until the transaction ends."""
    found = {}
    for chunk in in_chunks(sorted(consumers)):
        cursor = consumer_cursor.c
        wanted = sa.select(cursor.consumer, cursor.sequence, cursor.is_waiting, cursor.digest).where(
            cursor.consumer.in_(chunk)
        )
        for row in tx.execute(tx.locked(wanted.order_by(cursor.consumer))):
            found[row.consumer] = TriggerCursor(
                sequence=row.sequence, is_waiting=row.is_waiting, digest=row.digest or ""
            )
    return found


UPDATE_COLUMNS = (
    event.c.sequence,
    event.c.dataset,
    event.c.feed,
    event.c.instance_key,
    event.c.kind,
    event.c.recorded_at,
    event.c.extra,
    event.c.chain,
)
_UPDATES = (
    sa.select(*UPDATE_COLUMNS)
    .where(
        event.c.sequence > given(event.c.sequence, "after"),
        event.c.sequence <= given(event.c.sequence, "last"),
    )
    .order_by(event.c.sequence)
)


def updates(tx: Transaction, after: int, last: int) -> list[Update]:
    """Return the events after one number up to another, in order of commit."""
    if after >= last:
        return []
    return [update_of(row) for row in tx.execute(_UPDATES, {"after": after, "last": last})]


def update_of(row: sa.Row[Any]) -> Update:
    """Return the update of a row of `UPDATE_COLUMNS`."""
    return Update(
        sequence=row.sequence,
        dataset=row.dataset,
        feed=row.feed,
        instance_key=row.instance_key,
        kind=str(row.kind),
        recorded_at=row.recorded_at,
        partition=_partition(row.extra),
        chain=row.chain,
    )


def _partition(extra: str | None) -> Mapping[str, str]:
    """Return the partition values that an event's emitter named; text that is none names nothing."""
    if not extra:
        return {}
    try:
        found = parse_json(extra.encode())
    except BadJson:
        return {}
    named = found.get("partition") if isinstance(found, dict) else None
    return {str(name): str(value) for name, value in named.items()} if isinstance(named, dict) else {}


def pending(tx: Transaction, consumers: Collection[str]) -> dict[str, list[Pending]]:
    """Return the updates that wait, by the name of the consumer, in order of commit."""
    found: dict[str, list[Pending]] = {}
    for chunk in in_chunks(sorted(consumers)):
        columns = (waiting.c.consumer, waiting.c.process_key, *UPDATE_COLUMNS)
        wanted = sa.select(*columns).join_from(waiting, event, event.c.sequence == waiting.c.sequence)
        of_them = wanted.where(waiting.c.consumer.in_(chunk))
        for row in tx.execute(of_them.order_by(waiting.c.sequence, waiting.c.process_key)):
            one = Pending(update=update_of(row), process_key=row.process_key)
            found.setdefault(row.consumer, []).append(one)
    return found


def under_way(tx: Transaction, processes: Collection[str], cluster: str) -> dict[str, int]:
    """Return how many runs of each process on a cluster wait, are ready, run or are suspended."""
    found: dict[str, int] = {}
    for chunk in in_chunks(sorted(processes)):
        of_them = (run.c.entity.in_(chunk), run.c.life_cycle == LifeCycle.EXECUTION, run.c.cluster == cluster)
        counted = sa.select(run.c.entity, sa.func.count()).where(is_one_of(run.c.status, *OPEN), *of_them)
        found |= dict(tx.execute(counted.group_by(run.c.entity)).tuples().all())
    return found


@dataclass(frozen=True, kw_only=True, slots=True)
class ConsumerStep:
    """Change of a consumer by one decision.

    Attributes:
        consumer: its name.
        sequence: the last event that it has read now.
        is_waiting: see `TriggerCursor`.
        before: what waited before.
        after: what waits now.
        dropped: what is over without a run.
        digest: of the trigger; empty: it stays as it is.
    """

    consumer: str
    sequence: int
    is_waiting: bool = False
    before: Sequence[Pending] = ()
    after: Sequence[Pending] = ()
    dropped: Sequence[Dropped] = ()
    digest: str = ""


def record(tx: Transaction, steps: Sequence[ConsumerStep]) -> None:
    """Record what decisions change, of consumers whose cursors the transaction has locked."""
    _write(tx, _FORGET, [row for each in steps for row in _rows(each.consumer, _gone(each.before, each.after))])
    _write(tx, _KEEP, [row for each in steps for row in _rows(each.consumer, _gone(each.after, each.before))])
    dropped = [
        {**row, "reason": str(one.reason)}
        for each in steps
        for one in each.dropped
        for row in _rows(each.consumer, [one.pending.place])
    ]
    _write(tx, _DROP, dropped)
    _move(tx, steps)


_Place = tuple[int, str]
_FORGET = sa.delete(waiting).where(
    *(waiting.c[name] == given(waiting.c[name]) for name in ("consumer", "sequence", "process_key"))
)
_KEEP = InsertOr(waiting)
_DROP = InsertOr(trigger_dropped)


def _move(tx: Transaction, steps: Sequence[ConsumerStep]) -> None:
    """Move cursors forward: all that come to the same place by one statement for some hundreds of them."""
    at = tx.now()
    places: dict[tuple[int, bool, str], list[str]] = {}
    for each in steps:
        places.setdefault((each.sequence, each.is_waiting, each.digest), []).append(each.consumer)
    cursor = consumer_cursor.c
    for (sequence, is_waiting, digest), names in sorted(places.items()):
        for chunk in in_chunks(names):
            moved = sa.update(consumer_cursor).values(sequence=sequence, is_waiting=is_waiting, moved_at=at)
            moved = moved.values(digest=digest) if digest else moved
            tx.execute(moved.where(cursor.consumer.in_(chunk), cursor.sequence <= sequence))


def _write(tx: Transaction, statement: sa.Executable, rows: list[dict[str, object]]) -> None:
    if rows:
        tx.execute(statement, rows)


def _gone(before: Iterable[Pending], after: Iterable[Pending]) -> Iterator[_Place]:
    """Yield what is in the first and not in the second."""
    left = {each.place for each in after}
    yield from (each.place for each in before if each.place not in left)


def _rows(consumer: str, places: Iterable[_Place]) -> Iterator[dict[str, object]]:
    yield from ({"consumer": consumer, "sequence": number, "process_key": key} for number, key in places)


def record_causes(tx: Transaction, causes: Mapping[int, Iterable[int]]) -> None:
    """Record which events caused which run: numbers of events by the number of the run."""
    rows: list[dict[str, object]] = [
        {"run_id": run_id, "sequence": number} for run_id in causes for number in causes[run_id]
    ]
    _write(tx, sa.insert(trigger_cause), rows)

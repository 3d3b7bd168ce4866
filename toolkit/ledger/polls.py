"""Polls: what was seen of data that others write, and the events that announce its changes (issue 28)."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime

import sqlalchemy as sa

from toolkit.el import EPOCH
from toolkit.ledger import events
from toolkit.ledger.database import Transaction, in_chunks
from toolkit.ledger.events import UPDATES, NewEvent, update_kind
from toolkit.ledger.named_rows import listed_rows
from toolkit.ledger.statements import given
from toolkit.ledger.tables import event, poll
from toolkit.ledger.vocabulary import EventKind
from toolkit.planning.polls import Announcement, PollFingerprint, PollState


@dataclass(frozen=True, kw_only=True, slots=True)
class PolledSeries:
    """Rows of one dataset.

    Attributes:
        polled_at: the last look at the series; None: there was none.
        states: by instance key; empty: the series as such.
    """

    polled_at: datetime | None = None
    states: Mapping[str, PollState] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True, slots=True)
class PolledChange:
    """Result of one look for the ledger.

    Attributes:
        dataset: canonical URI of the series.
        feed: its feed; empty: it is none.
        cluster: of the feed.
        instance_key: of the feed; empty: the series as such.
        uri: where the data is.
        before: the state that the look was compared with; a row that differs by now stays, and nothing is announced.
        after: the state from now on.
        announcement: what is announced.
        extra: the difference.
        is_over: the row is removed, since the instance is not looked at again.
    """

    dataset: str
    feed: str = ""
    cluster: str = ""
    instance_key: str = ""
    uri: str
    before: PollState
    after: PollState
    announcement: Announcement = Announcement.NOTHING
    extra: Mapping[str, object] = field(default_factory=dict)
    is_over: bool = False


_KEY = (poll.c.dataset, poll.c.instance_key)
_STATE = ("announced", "seen", "seen_at")


def series(tx: Transaction, datasets: Collection[str]) -> dict[str, PolledSeries]:
    """Return what is known of datasets, by their URI; one that was never looked at is left out."""
    polled: dict[str, datetime] = {}
    states: dict[str, dict[str, PollState]] = {}
    for chunk in in_chunks(datasets):
        for row in tx.execute(sa.select(poll).where(poll.c.dataset.in_(chunk))).mappings():
            if not row["instance_key"]:
                polled[row["dataset"]] = row["polled_at"]
            states.setdefault(row["dataset"], {})[row["instance_key"]] = _state(row)
    return {name: PolledSeries(polled_at=polled.get(name), states=of_it) for name, of_it in states.items()}


def record(tx: Transaction, changes: Sequence[PolledChange]) -> list[NewEvent]:
    """Write the states of looks down and append the events that announce changes, in one transaction.

    Two polls may see the same change at once: the rows are locked in the order of their keys, and a change whose row
    is not as it was when the look began, or was removed meanwhile, was recorded by the other one.

    Returns:
        The events, in the order of their numbers.
    """
    now = tx.now()
    recorded: list[PolledChange] = []
    for chunk in in_chunks(sorted(changes, key=_key_of), 200):
        current = _locked(tx, chunk)
        own = [each for each in chunk if current.get(_key_of(each)) == each.before]
        _write(tx, own, now)
        recorded.extend(own)
    if any(each.announcement is not Announcement.NOTHING for each in recorded):
        events.lock_counter(tx)  # else another may announce the same after its last event was read here
    found = announcements(tx, recorded)
    events.append(tx, found)
    return found


def announcements(tx: Transaction, changes: Iterable[PolledChange]) -> list[NewEvent]:
    """Return the events that announce changes, in their order; nothing is written."""
    return list(_events(tx, changes))


def note_looks(tx: Transaction, datasets: Collection[str], at: datetime) -> None:
    """Write down when series were last looked at.

    Args:
        tx: the transaction.
        datasets: their URIs.
        at: by the database's clock.
    """
    rows: list[dict[str, object]] = [
        {"dataset": each, "instance_key": "", "polled_at": at} for each in sorted(datasets)
    ]
    if rows:
        upsert = tx.upsert(poll)
        is_newer = poll.c.polled_at <= upsert.excluded.polled_at
        moved = {"polled_at": upsert.excluded.polled_at}
        tx.execute(upsert.on_conflict_do_update(index_elements=_KEY, set_=moved, where=is_newer), rows)


def _key_of(change: PolledChange) -> tuple[str, str]:
    return change.dataset, change.instance_key


def _state(row: sa.RowMapping) -> PollState:
    announced, seen, seen_at = (row[name] for name in _STATE)
    return PollState(
        announced=PollFingerprint.from_json(announced) if isinstance(announced, str) else None,
        seen=PollFingerprint.from_json(seen) if isinstance(seen, str) else None,
        seen_at=seen_at if isinstance(seen_at, datetime) else None,
    )


def _locked(tx: Transaction, chunk: Sequence[PolledChange]) -> dict[tuple[str, str], PollState]:
    """Return the states of the rows, which no other transaction changes until the end of this one."""
    keys = [_key_of(each) for each in chunk]
    rows: list[dict[str, object]] = [
        {"dataset": dataset, "instance_key": key, "polled_at": EPOCH} for dataset, key in keys
    ]
    tx.execute(tx.upsert(poll).on_conflict_do_nothing(), rows)
    found = listed_rows(tx, tx.locked(sa.select(poll).order_by(*_KEY)), _KEY, keys)
    return {(row["dataset"], row["instance_key"]): _state(row) for row in found}


def _write(tx: Transaction, changes: Sequence[PolledChange], now: datetime) -> None:
    rows = [_row(each, now) for each in changes if not each.is_over]
    if rows:
        tx.execute(_CHANGED, rows)
    over: list[dict[str, object]] = [
        {"of_dataset": each.dataset, "of_key": each.instance_key} for each in changes if each.is_over
    ]
    if over:
        tx.execute(_REMOVED, over)


def _row(change: PolledChange, now: datetime) -> dict[str, object]:
    announced, seen = (None if each is None else each.to_json() for each in (change.after.announced, change.after.seen))
    state = {"announced": announced, "seen": seen, "seen_at": change.after.seen_at, "polled_at": now}
    return {"of_dataset": change.dataset, "of_key": change.instance_key, **state}


_IS_ROW = (poll.c.dataset == sa.bindparam("of_dataset")) & (poll.c.instance_key == sa.bindparam("of_key"))
_CHANGED = sa.update(poll).where(_IS_ROW).values({name: sa.bindparam(name) for name in (*_STATE, "polled_at")})
_REMOVED = sa.delete(poll).where(_IS_ROW)
_LAST = (
    sa.select(event.c.kind)
    .where(event.c.dataset == given(event.c.dataset), event.c.instance_key == given(event.c.instance_key))
    .order_by(event.c.sequence.desc())
    .limit(1)
)


def _events(tx: Transaction, changes: Iterable[PolledChange]) -> Iterator[NewEvent]:
    for each in changes:
        kind = _kind(tx, each)
        if kind is not None:
            yield NewEvent(
                kind=kind,
                dataset=each.dataset,
                feed=each.feed,
                cluster=each.cluster,
                instance_key=each.instance_key,
                uri=each.uri,
                extra=json.dumps({"poll": dict(each.extra)}),
            )


def _kind(tx: Transaction, change: PolledChange) -> EventKind | None:
    """Return the kind of the event, by the last one of the same data; None: there is nothing to announce."""
    if change.announcement is Announcement.NOTHING:
        return None
    last: EventKind | None = tx.execute(
        _LAST, {"dataset": change.dataset, "instance_key": change.instance_key}
    ).scalar()
    is_announced = last in UPDATES
    if change.announcement is Announcement.VANISHED:
        return EventKind.EVICTED if is_announced else None
    if is_announced and change.before.announced is None:
        return None  # its producer announced what the first look found
    return update_kind(last, change.instance_key)

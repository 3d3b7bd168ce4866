"""Queries of events: lists by what they are about, and the newest update of each dataset or instance."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import Any

import sqlalchemy as sa

from toolkit.ledger.database import Transaction
from toolkit.ledger.events import UPDATES, Event
from toolkit.ledger.tables import event
from toolkit.ledger.vocabulary import EventKind


@dataclass(frozen=True, kw_only=True, slots=True)
class EventFilter:
    """Choice of events; what is None chooses nothing away.

    Attributes:
        dataset: canonical URI of the series.
        instance_key: empty: only events of series as such.
        kinds: only these.
        run_id: only events of this run.
        since: recorded at or after it.
    """

    dataset: str | None = None
    instance_key: str | None = None
    kinds: Collection[EventKind] | None = None
    run_id: int | None = None
    since: datetime | None = None


def list_events(tx: Transaction, chosen: EventFilter, limit: int | None = None) -> list[Event]:
    """Return the newest events of a choice, in the order of their numbers.

    Args:
        tx: the transaction.
        chosen: which events.
        limit: at most so many; None: all.
    """
    where = [
        column == value
        for column, value in (
            (event.c.dataset, chosen.dataset),
            (event.c.instance_key, chosen.instance_key),
            (event.c.run_id, chosen.run_id),
        )
        if value is not None
    ]
    if chosen.kinds is not None:
        where.append(event.c.kind.in_(chosen.kinds))
    if chosen.since is not None:
        where.append(event.c.recorded_at >= chosen.since)
    newest_first = sa.select(event).where(*where).order_by(event.c.sequence.desc()).limit(limit)
    return list(tx.rows(Event, newest_first))[::-1]


def last_updates(tx: Transaction) -> dict[str, Event]:
    """Return the newest update of each dataset that has one, by canonical URI, whatever instance it was of."""
    return {each.dataset: each for each in _newest_updates(tx, sa.true(), event.c.dataset)}


def last_updates_by_key(tx: Transaction, dataset: str) -> dict[str, Event]:
    """Return the newest update of each instance of a dataset, by instance key; empty: of the series as such."""
    found = _newest_updates(tx, event.c.dataset == dataset, event.c.instance_key)
    return {each.instance_key: each for each in found}


def _newest_updates(tx: Transaction, where: sa.ColumnElement[bool], by: sa.Column[Any]) -> Iterator[Event]:
    last = sa.select(sa.func.max(event.c.sequence)).where(where, event.c.kind.in_(UPDATES)).group_by(by)
    return tx.rows(Event, sa.select(event).where(event.c.sequence.in_(last)).order_by(event.c.sequence))

"""Updates that come from outside of feedctl: emitted once for each idempotency key, and retracted (Airflow AIP-48)."""

from __future__ import annotations

from dataclasses import dataclass

import sqlalchemy as sa

from toolkit.errors import InvalidInput
from toolkit.ledger import events
from toolkit.ledger.database import Transaction
from toolkit.ledger.events import UPDATES, Event, NewEvent
from toolkit.ledger.tables import event
from toolkit.ledger.vocabulary import EventKind


@dataclass(frozen=True, kw_only=True, slots=True)
class ExternalUpdate:
    """An update from outside.

    Attributes:
        dataset: canonical URI of the series.
        feed: the feed; empty: the data is no feed.
        cluster: of the feed.
        instance_key: which instance; empty: the series as such.
        extra: JSON of its emitter.
        idempotency_key: a second update with the same is none; None: each is new.
    """

    dataset: str
    feed: str = ""
    cluster: str = ""
    instance_key: str = ""
    extra: str | None = None
    idempotency_key: str | None = None

    def event(self, kind: EventKind) -> NewEvent:
        """Return the event of the update."""
        return NewEvent(
            kind=kind,
            dataset=self.dataset,
            feed=self.feed,
            cluster=self.cluster,
            instance_key=self.instance_key,
            extra=self.extra,
            chain=0,
            idempotency_key=self.idempotency_key,
        )


@dataclass(frozen=True, kw_only=True, slots=True)
class EmittedEvent:
    """Result of an update from outside.

    Attributes:
        event: of the update.
        is_new: False: it was there already, and nothing was written.
    """

    event: Event
    is_new: bool


class IdempotencyKeyReused(InvalidInput):
    """The idempotency key of an update belongs to an update of something else.

    Args:
        key: the idempotency key.
        found: the event that has it.
    """

    code = "idempotency_key_reused"

    def __init__(self, *, key: str, found: Event) -> None:
        self.key, self.found = key, found
        what = f"the idempotency key {key!r} belongs to event {found.sequence}, {named(found)}"
        super().__init__(f"{what}; expected one key for each update: emit with another one")


class NeverAnnounced(InvalidInput):
    """Data was to be retracted that no event has announced.

    Args:
        dataset: canonical URI of the series.
        instance_key: empty: the series as such.
    """

    code = "never_announced"

    def __init__(self, *, dataset: str, instance_key: str) -> None:
        self.dataset, self.instance_key = dataset, instance_key
        of_it = f"instance {instance_key} of {dataset}" if instance_key else f"{dataset} without an instance key"
        super().__init__(
            f"nothing to retract: no event has announced {of_it}; `feedctl event list {dataset!r}` shows its events"
        )


def named(found: Event) -> str:
    """Return what an event is about: its kind, dataset and instance."""
    return f"{found.kind} of {found.dataset}" + (f" {found.instance_key}" if found.instance_key else "")


def emit(tx: Transaction, update: ExternalUpdate) -> EmittedEvent:
    """Append the event of an update from outside, unless its idempotency key has been used; called last, as `append`.

    Raises:
        IdempotencyKeyReused: it was used for something else.
    """
    events.lock_counter(tx)
    key = update.idempotency_key
    if key is not None and (earlier := _earlier(tx, key)) is not None:
        if (earlier.dataset, earlier.instance_key) != (update.dataset, update.instance_key):
            raise IdempotencyKeyReused(key=key, found=earlier)
        return EmittedEvent(event=earlier, is_new=False)
    last = events.last_of_dataset(tx, update.dataset, update.instance_key)
    kind = events.update_kind(None if last is None else last.kind, update.instance_key)
    return EmittedEvent(event=_appended(tx, update.event(kind)), is_new=True)


def retract(tx: Transaction, update: ExternalUpdate) -> EmittedEvent:
    """Append the event that data is not valid any more; called last, as `append`.

    Returns:
        The event, or the earlier one by which the data is retracted or evicted already.

    Raises:
        NeverAnnounced: no event has announced the data.
    """
    events.lock_counter(tx)
    last = events.last_of_dataset(tx, update.dataset, update.instance_key)
    if last is None:
        raise NeverAnnounced(dataset=update.dataset, instance_key=update.instance_key)
    if last.kind not in UPDATES:
        return EmittedEvent(event=last, is_new=False)
    return EmittedEvent(event=_appended(tx, update.event(EventKind.RETRACTED)), is_new=True)


def _earlier(tx: Transaction, key: str) -> Event | None:
    return tx.row(Event, sa.select(event).where(event.c.idempotency_key == key))


def _appended(tx: Transaction, new: NewEvent) -> Event:
    (number,) = events.append(tx, [new])
    found = tx.row(Event, sa.select(event).where(event.c.sequence == number))
    if found is None:
        message = f"event {number} was not written"
        raise AssertionError(message)
    return found

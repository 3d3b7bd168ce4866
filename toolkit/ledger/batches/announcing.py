"""Events of instances that batches stand for: there for the first time, or anew (DESIGN section 6, Events)."""

from __future__ import annotations

from collections.abc import Sequence

from toolkit.ledger import events
from toolkit.ledger.batches.instances import FeedInstance
from toolkit.ledger.events import NewEvent
from toolkit.ledger.transaction import Transaction
from toolkit.ledger.vocabulary import EventKind

_THERE = frozenset({EventKind.AVAILABLE, EventKind.UPDATED})


def announce(tx: Transaction, instances: Sequence[FeedInstance], run_id: int | None) -> range:
    """Append an event for each instance; to be called last in a transaction.

    Returns:
        The numbers of the events.
    """
    return events.append(tx, [_event(tx, each) for each in instances], run_id)


def _event(tx: Transaction, instance: FeedInstance) -> NewEvent:
    return NewEvent(
        kind=EventKind.UPDATED if _is_there(tx, instance) else EventKind.AVAILABLE,
        feed=instance.feed,
        cluster=instance.cluster,
        instance_key=instance.instance_key,
        uri=instance.uri,
    )


def _is_there(tx: Transaction, instance: FeedInstance) -> bool:
    """Whether the last that was heard of it is that it is there; what was evicted comes for the first time again."""
    known = events.of_instance(tx, instance.feed, instance.cluster, instance.instance_key)
    return bool(known) and known[-1].kind in _THERE

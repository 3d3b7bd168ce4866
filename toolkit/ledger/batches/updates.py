"""Updates of datasets by a job that has succeeded, as events in the transaction of its success (Airflow AIP-48)."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from toolkit.el.dataset_uri import feed_uri
from toolkit.ledger import events
from toolkit.ledger.batches.rows import FeedInstance
from toolkit.ledger.database import Transaction
from toolkit.ledger.events import UPDATES, Event, NewEvent, update_kind

_DIGEST = "fingerprint"
"""Key of `event.extra`: digest of the data that was announced."""
_POLL = "poll"
"""Key of `event.extra` of what a poll has seen."""


@dataclass(frozen=True, kw_only=True, slots=True)
class OutletUpdate:
    """A dataset that a job has updated and that is no output of its process.

    Attributes:
        dataset: canonical URI.
        instance_key: which instance; empty: the series as such.
        feed: the feed; empty: the data is no feed.
        cluster: of the feed.
    """

    dataset: str
    instance_key: str
    feed: str = ""
    cluster: str = ""


@dataclass(frozen=True, kw_only=True, slots=True)
class JobUpdates:
    """Updates of a job besides the mere names of its outputs.

    Attributes:
        outlets: what it has updated besides its outputs.
        unchanged: outputs that it says it has not updated: no event announces them.
        digests: of the data of outputs; an output with the digest that was announced last is not announced again.
        partitions: partition values of outputs, for triggers that filter by them.
        read: instances that it has read, each with the name of the input.
        is_silent: nothing is announced, as a backfill may wish.
    """

    outlets: Sequence[OutletUpdate] = ()
    unchanged: Collection[FeedInstance] = frozenset()
    digests: Mapping[FeedInstance, str] = field(default_factory=dict)
    partitions: Mapping[FeedInstance, Mapping[str, str]] = field(default_factory=dict)
    read: Collection[tuple[str, FeedInstance]] = ()
    is_silent: bool = False


def announce(
    tx: Transaction, instances: Sequence[FeedInstance], run_id: int | None, updates: JobUpdates | None = None
) -> range:
    """Append an event for each instance that is new or changed, and for each outlet; called last in a transaction.

    Args:
        tx: the transaction.
        instances: the outputs.
        run_id: of the job; None: it came from outside.
        updates: what else is known; None: nothing, so that each instance is announced.

    Returns:
        The numbers of the events.
    """
    known = JobUpdates() if updates is None else updates
    if known.is_silent:
        return range(0)
    if instances or known.outlets:
        events.lock_counter(tx)  # else another may announce the same after its last event was read here
    return events.append(tx, [*_of_outputs(tx, instances, known), *_of_outlets(tx, known)], run_id)


def _of_outputs(tx: Transaction, instances: Sequence[FeedInstance], known: JobUpdates) -> Iterator[NewEvent]:
    for each in instances:
        if each in known.unchanged:
            continue
        last = events.last_of_dataset(tx, feed_uri(each.feed, each.cluster), each.instance_key)
        digest = known.digests.get(each)
        if digest is not None and last is not None and last.kind in UPDATES and _digest_of(last) == digest:
            continue
        extra: dict[str, object] = {} if digest is None else {_DIGEST: digest}
        if partition := known.partitions.get(each):
            extra["partition"] = dict(partition)
        yield NewEvent(
            kind=update_kind(None if last is None else last.kind, each.instance_key),
            feed=each.feed,
            cluster=each.cluster,
            instance_key=each.instance_key,
            uri=each.uri,
            extra=json.dumps(extra, ensure_ascii=False) if extra else None,
        )


def _digest_of(last: Event) -> object:
    """Return the digest that a run has announced; what came from outside or was polled is not trusted with one."""
    if last.run_id is None or last.extra is None:
        return None
    extra = json.loads(last.extra)
    return extra.get(_DIGEST) if _POLL not in extra else None


def _of_outlets(tx: Transaction, known: JobUpdates) -> Iterator[NewEvent]:
    for each in known.outlets:
        last = events.last_of_dataset(tx, each.dataset, each.instance_key)
        yield NewEvent(
            kind=update_kind(None if last is None else last.kind, each.instance_key),
            dataset=each.dataset,
            feed=each.feed,
            cluster=each.cluster,
            instance_key=each.instance_key,
        )

"""Jobs for one instance (DESIGN section 6): the batches of its inputs, read before or not; none is fine."""

from __future__ import annotations

from collections.abc import Sequence

from toolkit.ledger.batches import making
from toolkit.ledger.batches.instances import FeedInstance
from toolkit.ledger.jobs import taking
from toolkit.ledger.jobs.beginning import Begun, Start, begin_again, begin_new, refuse_active
from toolkit.ledger.jobs.errors import UnreadFeed
from toolkit.ledger.jobs.refs import key_of
from toolkit.ledger.jobs.unfinished import unfinished_of
from toolkit.ledger.runs import finding
from toolkit.ledger.transaction import Transaction


def begin(tx: Transaction, start: Start, instance_key: str, inputs: Sequence[FeedInstance]) -> Begun:
    """Begin a job for an instance: the next attempt at what was not finished, else a new batch.

    Raises:
        JobIsRunning: the instance has a job already.
        InstanceSuspended: it was suspended before it began.
        InstanceKilled: it was killed before it began.
        UnreadFeed: no step reads a feed of the inputs.
    """
    key = key_of(start.process.site, instance_key)
    newest = finding.newest(tx, key)
    refuse_active([newest] if newest else [])
    _refuse_unread(tx, start, inputs)
    unfinished = unfinished_of(tx, key)
    if unfinished is None:
        begun = begin_new(tx, start, key, making.allocate(tx, start.process.process_id))
    else:
        begun = begin_again(tx, start, key, unfinished)
        taking.take_again(tx, begun.due_ids, begun.target_batch_id)
    taking.take_instances(tx, begun.due_ids, inputs, begun.target_batch_id)
    return begun


def _refuse_unread(tx: Transaction, start: Start, inputs: Sequence[FeedInstance]) -> None:
    known = taking.feeds_read(tx, start.process.process_id) if inputs else frozenset()
    unread = sorted({each.feed for each in inputs} - known)
    if unread:
        raise UnreadFeed(site=start.process.site, feeds=unread, known=known)

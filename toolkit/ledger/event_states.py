"""What happened last to the instances of a feed."""

from __future__ import annotations

import sqlalchemy as sa

from toolkit.ledger.tables import event
from toolkit.ledger.transaction import Transaction
from toolkit.ledger.vocabulary import EventKind


def last_events(tx: Transaction, feed: str, cluster: str, first_key: str, last_key: str) -> dict[str, EventKind]:
    """The kind of the last event of each instance from one key to another, both included; others are left out."""
    within = event.c.instance_key.between(first_key, last_key)
    of_feed = sa.select(event.c.instance_key, event.c.kind).where(
        event.c.feed == feed, event.c.cluster == cluster, within
    )
    return {row["instance_key"]: row["kind"] for row in tx.execute(of_feed.order_by(event.c.sequence)).mappings()}

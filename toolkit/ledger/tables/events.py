"""What happened to instances, in the order in which it became visible, and how far each consumer has read."""

from __future__ import annotations

import sqlalchemy as sa

from toolkit.ledger.columns import Number, UtcTime, choice
from toolkit.ledger.tables.schema import metadata
from toolkit.ledger.vocabulary import EventKind

event = sa.Table(
    "event",
    metadata,
    sa.Column("sequence", Number, primary_key=True, autoincrement=False, comment="in the order of commit, no gaps"),
    sa.Column("kind", choice(EventKind), nullable=False, comment="what happened"),
    sa.Column("feed", sa.String(120), nullable=False, comment="the feed"),
    sa.Column("cluster", sa.String(120), nullable=False, comment="where"),
    sa.Column("instance_key", sa.String(32), nullable=False, comment="which instance"),
    sa.Column("uri", sa.Text, comment="where the data is, or was"),
    sa.Column("run_id", Number, sa.ForeignKey("run.run_id"), comment="the run that did it; empty: from outside"),
    sa.Column("recorded_at", UtcTime, nullable=False, comment="when"),
    sa.Index("ix_event_instance", "feed", "cluster", "instance_key"),
    comment="append-only: what happened to feed instances",
)

event_counter = sa.Table(
    "event_counter",
    metadata,
    sa.Column("counter_id", sa.Integer, primary_key=True, autoincrement=False, comment="always 1"),
    sa.Column("last_sequence", Number, nullable=False, comment="of the newest event"),
    comment="its one row is locked by whoever appends, so that numbers become visible in their order",
)

consumer_cursor = sa.Table(
    "consumer_cursor",
    metadata,
    sa.Column("consumer", sa.String(255), primary_key=True, comment="who reads"),
    sa.Column("sequence", Number, nullable=False, comment="the last event that it has dealt with"),
    sa.Column("moved_at", UtcTime, nullable=False, comment="when"),
    comment="how far each consumer of events is",
)

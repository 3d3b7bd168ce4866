"""Tables of events, of datasets, and of what triggers have consumed (DESIGN section 6, Airflow AIP-48)."""

from __future__ import annotations

import sqlalchemy as sa

from toolkit.ledger.columns import Choice, Number, UtcTime, metadata, partial_index
from toolkit.ledger.vocabulary import EventKind

event = sa.Table(
    "event",
    metadata,
    sa.Column("sequence", Number, primary_key=True, autoincrement=False, comment="in the order of commit, no gaps"),
    sa.Column("kind", Choice(EventKind), nullable=False, comment="what happened"),
    sa.Column("dataset", sa.Text, nullable=False, comment="canonical URI of the series, feedctl:feed/NAME?cluster=C"),
    sa.Column("feed", sa.String(120), nullable=False, comment="the feed; empty for data that is no feed"),
    sa.Column("cluster", sa.String(120), nullable=False, comment="where; empty for data that is no feed"),
    sa.Column("instance_key", sa.String(32), nullable=False, comment="which instance; empty: none, the series as such"),
    sa.Column("uri", sa.Text, comment="where the data is, or was"),
    sa.Column("run_id", Number, sa.ForeignKey("run.run_id"), comment="that did it; empty: from outside, or pruned"),
    sa.Column("recorded_at", UtcTime, nullable=False, comment="when"),
    sa.Column("chain", sa.Integer, nullable=False, server_default="0", comment="triggered runs that led to it"),
    sa.Column("extra", sa.Text, comment="JSON: what its emitter says of it, such as the partition"),
    sa.Column("idempotency_key", sa.String(255), comment="of an event from outside: a second one of the same is none"),
    sa.Index("ix_event_instance", "feed", "cluster", "instance_key"),
    partial_index("ix_event_run_id", "run_id", where="run_id IS NOT NULL"),  # the lineage of a run, and its removal
    sa.Index("ix_event_dataset", "dataset", "instance_key", "sequence"),
    sa.Index("uq_event_idempotency", "idempotency_key", unique=True),
    comment="append-only: what happened to feed instances and other datasets",
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
    sa.Column(
        "is_waiting",
        sa.Boolean,
        nullable=False,
        server_default=sa.false(),
        comment="of a trigger: a run is due, and waits for its time, a place, or the end of an earlier run",
    ),
    sa.Column("moved_at", UtcTime, nullable=False, comment="when"),
    sa.Column("digest", sa.String(64), comment="of a trigger: of its definition at the last decision"),
    comment="how far each consumer of events is",
)

trigger_pending = sa.Table(
    "trigger_pending",
    metadata,
    sa.Column("consumer", sa.String(255), primary_key=True, comment="PROCESS@CLUSTER"),
    sa.Column("sequence", Number, sa.ForeignKey("event.sequence"), primary_key=True, comment="the event"),
    sa.Column("process_key", sa.String(32), primary_key=True, comment="the process instance; empty: the process"),
    comment="events that a consumer has read and that no run has consumed yet",
)

trigger_cause = sa.Table(
    "trigger_cause",
    metadata,
    sa.Column("run_id", Number, sa.ForeignKey("run.run_id"), primary_key=True, comment="the run that was triggered"),
    sa.Column("sequence", Number, primary_key=True, comment="the event; removed events leave their number here"),
    comment="which events caused which run",
)

trigger_dropped = sa.Table(
    "trigger_dropped",
    metadata,
    sa.Column("consumer", sa.String(255), primary_key=True, comment="PROCESS@CLUSTER"),
    sa.Column("sequence", Number, primary_key=True, comment="the event"),
    sa.Column("process_key", sa.String(32), primary_key=True, comment="the process instance; empty: the process"),
    sa.Column("reason", sa.String(32), nullable=False, comment="why it started nothing"),
    comment="events that matched a trigger and were ignored, for `feedctl explain trigger`",
)

poll = sa.Table(
    "poll",
    metadata,
    sa.Column("dataset", sa.Text, primary_key=True, comment="canonical URI of the series"),
    sa.Column("instance_key", sa.String(32), primary_key=True, comment="of a feed; empty for other datasets"),
    sa.Column("announced", sa.Text, comment="JSON: the fingerprint that was announced last; empty: none"),
    sa.Column("seen", sa.Text, comment="JSON: a fingerprint that differs, and is not announced yet"),
    sa.Column("seen_at", UtcTime, comment="when it was first seen"),
    sa.Column("polled_at", UtcTime, nullable=False, comment="the last look"),
    comment="what polling has seen of data that others write",
)

"""Tables of monitoring: instances that are expected, alerts, silences, and messages that wait to be sent (issue 32)."""

from __future__ import annotations

import sqlalchemy as sa

from toolkit.ledger.columns import Choice, Number, UtcTime, metadata
from toolkit.ledger.vocabulary import AlertKind, AlertLevel, SlaState, SlaSubject

sla_window = sa.Table(
    "sla_window",
    metadata,
    sa.Column("subject", Choice(SlaSubject), primary_key=True, comment="what kind of entity has the SLA"),
    sa.Column("entity", sa.String(255), primary_key=True, comment="its name; of a dataset its URI"),
    sa.Column("cluster", sa.String(120), primary_key=True, comment="where; empty for a dataset"),
    sa.Column("next_key", sa.String(32), nullable=False, comment="the first instance not expected yet; empty: none"),
    sa.Column("exempt", sa.Text, comment="why nothing is expected now; empty: it is"),
    sa.Column(
        "series",
        sa.Text,
        nullable=False,
        comment="its instances, holds and what tells of it, as the newest pass saw them",
    ),
    comment="how far the monitor is with each SLA; the time of the newest pass: ledger.sla.looked_at",
)

sla_instance = sa.Table(
    "sla_instance",
    metadata,
    sa.Column("subject", Choice(SlaSubject), primary_key=True, comment="what kind of entity has the SLA"),
    sa.Column("entity", sa.String(255), primary_key=True, comment="its name; of a dataset its URI"),
    sa.Column("cluster", sa.String(120), primary_key=True, comment="where; empty for a dataset"),
    sa.Column("instance_key", sa.String(32), primary_key=True, comment="which instance; empty for a dataset"),
    sa.Column("low_at", UtcTime, comment="not available by then: missed low; of a process: not started"),
    sa.Column("high_at", UtcTime, comment="not available by then: missed high; of a process: not ended"),
    sa.Column("state", Choice(SlaState), nullable=False, comment="at the last look"),
    sa.Column("since", UtcTime, nullable=False, comment="from when on its data is as it is"),
    sa.Column("evidence", sa.Text, nullable=False, comment="what the state is known from"),
    sa.Column("next_at", UtcTime, comment="when the state is decided anew, if nothing happens before; empty: never"),
    sa.Index("ix_sla_instance_next", "next_at"),
    comment="instances that are expected and not available yet; each row goes when its instance comes",
)

alert = sa.Table(
    "alert",
    metadata,
    sa.Column("alert_id", Number, primary_key=True, comment="rises with time"),
    sa.Column("kind", Choice(AlertKind, 24), nullable=False, comment="what is wrong"),
    sa.Column("entity", sa.String(255), nullable=False, comment="with which entity; empty: none"),
    sa.Column("cluster", sa.String(120), nullable=False, comment="where; empty: nowhere in particular"),
    sa.Column("instance_key", sa.String(32), nullable=False, comment="with which instance; empty: none"),
    sa.Column("level", Choice(AlertLevel), nullable=False, comment="how bad; rises, and never falls"),
    sa.Column("opened_at", UtcTime, nullable=False, comment="from when on it is wrong"),
    sa.Column("escalated_at", UtcTime, comment="from when on the level is high, if it was low before"),
    sa.Column("closed_at", UtcTime, comment="until when it was wrong; empty: it still is"),
    sa.Column("closed_because", sa.Text, comment="what ended it"),
    sa.Column("message", sa.Text, nullable=False, comment="what is wrong, for people, and what to do"),
    sa.Column("facts", sa.Text, nullable=False, comment="JSON: what the message says, for programs"),
    sa.Column("notified_at", UtcTime, comment="the time of the pass that last sent a message of it; empty: none did"),
    sa.Column("thread", sa.Text, comment="that its messages belong to; empty: none was sent"),
    sa.Column("remind_at", UtcTime, comment="when a message is due, the first one or a reminder; empty: never"),
    sa.Column("acked_by", sa.Text, comment="who takes care of it; no reminder is sent then"),
    sa.Column("acked_at", UtcTime, comment="since when"),
    sa.Column("ack_reason", sa.Text, comment="what they said"),
    sa.Column("recorded_at", UtcTime, nullable=False, comment="when the row was written"),
    sa.Index(
        "uq_alert_open",
        "kind",
        "entity",
        "cluster",
        "instance_key",
        unique=True,
        sqlite_where=sa.text("closed_at IS NULL"),
        postgresql_where=sa.text("closed_at IS NULL"),
    ),
    sa.UniqueConstraint(  # an alert that opened and closed between two passes is recorded once as well
        "entity", "cluster", "instance_key", "kind", "opened_at", name="uq_alert_opened"
    ),
    sa.Index("ix_alert_closed", "closed_at"),
    sa.Index(
        "ix_alert_remind",
        "remind_at",
        sqlite_where=sa.text("closed_at IS NULL"),
        postgresql_where=sa.text("closed_at IS NULL"),
    ),
    comment="what was wrong, from when to when; one open row for each kind, entity, cluster and instance",
)

silence = sa.Table(
    "silence",
    metadata,
    sa.Column("silence_id", Number, primary_key=True, comment="rises with time"),
    sa.Column("match", sa.Text, nullable=False, comment="JSON: which alerts, by entity, cluster, kind, owner, tag"),
    sa.Column("until", UtcTime, nullable=False, comment="alerts that it matches are not told before"),
    sa.Column("reason", sa.Text, nullable=False, comment="why, for people"),
    sa.Column("created_by", sa.Text, nullable=False, comment="who set it"),
    sa.Column("created_at", UtcTime, nullable=False, comment="when"),
    sa.Column("ended_at", UtcTime, comment="when it was ended before its time"),
    comment="alerts that are recorded and not told for a while",
)

outbox = sa.Table(
    "outbox",
    metadata,
    sa.Column("outbox_id", Number, primary_key=True, comment="in the order in which a channel sends"),
    sa.Column("message_id", sa.String(64), nullable=False, comment="receivers drop a second message with the same"),
    sa.Column("channel", sa.String(255), nullable=False, comment="what sends it"),
    sa.Column("recipient", sa.Text, nullable=False, comment="an address or topic; empty: the channel has only one"),
    sa.Column("body", sa.Text, nullable=False, comment="JSON: the message, before a channel gives it its form"),
    sa.Column("alert_id", Number, sa.ForeignKey("alert.alert_id"), comment="the alert that it is about"),
    sa.Column("run_id", Number, sa.ForeignKey("run.run_id"), comment="the run that it is about"),
    sa.Column("created_at", UtcTime, nullable=False, comment="when"),
    sa.Column("expires_at", UtcTime, nullable=False, comment="it is not sent later than this"),
    sa.Column("tries", sa.Integer, nullable=False, server_default="0", comment="that failed"),
    sa.Column("sent_at", UtcTime, comment="when the receiver had it"),
    sa.Column("dead_at", UtcTime, comment="when it was given up: expired, or refused for good"),
    sa.Column("error", sa.Text, comment="of the last try that failed"),
    sa.Index(
        "ix_outbox_run_id",
        "run_id",
        sqlite_where=sa.text("run_id IS NOT NULL"),
        postgresql_where=sa.text("run_id IS NOT NULL"),
    ),
    sa.Index("uq_outbox_message", "message_id", "channel", "recipient", unique=True),
    sa.Index(
        "ix_outbox_waiting",
        "channel",
        "outbox_id",
        sqlite_where=sa.text("sent_at IS NULL AND dead_at IS NULL"),
        postgresql_where=sa.text("sent_at IS NULL AND dead_at IS NULL"),
    ),
    comment="messages, written in the transaction that causes them, and sent afterwards",
)

outbox_channel = sa.Table(
    "outbox_channel",
    metadata,
    sa.Column("channel", sa.String(255), primary_key=True, comment="what sends"),
    sa.Column("claimed_by", sa.Text, comment="the process that sends now; one at a time, which keeps the order"),
    sa.Column("claimed_until", UtcTime, comment="another may send from then on"),
    sa.Column("failures", sa.Integer, nullable=False, server_default="0", comment="tries that failed in a row"),
    sa.Column("next_try_at", UtcTime, comment="nothing is sent before; empty: at once"),
    sa.Column("error", sa.Text, comment="of the last try that failed"),
    comment="who sends through a channel, and when again after a failure",
)

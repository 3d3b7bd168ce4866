"""Entity state that is not configuration, and the record of who changed it (DESIGN section 6)."""

from __future__ import annotations

import sqlalchemy as sa

from toolkit.ledger.columns import Number, UtcTime
from toolkit.ledger.tables.schema import metadata

entity_state = sa.Table(
    "entity_state",
    metadata,
    sa.Column("entity", sa.String(120), primary_key=True, comment="feed or process"),
    sa.Column("cluster", sa.String(120), primary_key=True, comment="empty: on every cluster"),
    sa.Column("is_suspended", sa.Boolean, nullable=False, comment="no run of it starts"),
    sa.Column("reason", sa.Text, comment="why"),
    sa.Column("changed_by", sa.Text, nullable=False, comment="who"),
    sa.Column("changed_at", UtcTime, nullable=False, comment="when"),
    sa.Column("touched_at", UtcTime, comment="when it was last touched"),
    comment="suspended entities",
)

safe_mode = sa.Table(
    "safe_mode",
    metadata,
    sa.Column("safe_mode_id", sa.Integer, primary_key=True, autoincrement=False, comment="always 1"),
    sa.Column("is_on", sa.Boolean, nullable=False, comment="nothing starts"),
    sa.Column("reason", sa.Text, comment="why"),
    sa.Column("changed_by", sa.Text, comment="who"),
    sa.Column("changed_at", UtcTime, comment="when"),
    comment="one row: whether the whole installation rests",
)

hold = sa.Table(
    "hold",
    metadata,
    sa.Column("hold_id", Number, primary_key=True, comment="never used twice"),
    sa.Column("feed", sa.String(120), nullable=False, comment="whose instances stay"),
    sa.Column("cluster", sa.String(120), comment="empty: on every cluster"),
    sa.Column("start_key", sa.String(32), comment="the first instance; empty: from the beginning"),
    sa.Column("end_key", sa.String(32), comment="the first that is free again; empty: for ever"),
    sa.Column("reason", sa.Text, nullable=False, comment="why"),
    sa.Column("owner", sa.Text, comment="whom to ask"),
    sa.Column("added_by", sa.Text, nullable=False, comment="who"),
    sa.Column("added_at", UtcTime, nullable=False, comment="when"),
    sa.Column("removed_by", sa.Text, comment="who"),
    sa.Column("removed_at", UtcTime, comment="empty: it holds"),
    sa.Index("ix_hold_feed", "feed"),
    sqlite_autoincrement=True,
    comment="instances that nothing may delete, beside those of holds.yaml",
)

command = sa.Table(
    "command",
    metadata,
    sa.Column("command_id", Number, primary_key=True, comment="in the order of asking"),
    sa.Column("command", sa.String(64), nullable=False, comment="for example entity suspend"),
    sa.Column("subject", sa.Text, nullable=False, comment="what it was about"),
    sa.Column("detail", sa.Text, comment="range, reason"),
    sa.Column("has_changed", sa.Boolean, nullable=False, comment="false: it was so already, or the state was wrong"),
    sa.Column("who", sa.Text, nullable=False, comment="who"),
    sa.Column("at", UtcTime, nullable=False, comment="when"),
    sqlite_autoincrement=True,
    comment="who did what to the state of entities and instances",
)

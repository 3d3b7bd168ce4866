"""The table that tells a ledger from all others."""

from __future__ import annotations

import sqlalchemy as sa

from toolkit.ledger.columns import UtcTime, metadata

ledger_identity = sa.Table(
    "ledger_identity",
    metadata,
    sa.Column("ledger_identity_id", sa.Integer, primary_key=True, autoincrement=False, comment="always 1"),
    sa.Column("identity", sa.String(32), nullable=False, comment="random, hexadecimal; run numbers begin at 1 in each"),
    sa.Column("made_at", UtcTime, nullable=False, comment="when the ledger got it"),
    comment="one row: what tells this ledger from all others, for example in the paths of logs",
)

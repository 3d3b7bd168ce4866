"""What tells a ledger from all others."""

from __future__ import annotations

import secrets

import sqlalchemy as sa
from alembic import op

from toolkit.ledger.migrations.elements import TIME, time_now

revision = "0009"
down_revision = "0008"


def upgrade() -> None:
    """Make the table, and give this ledger its identity."""
    op.create_table(
        "ledger_identity",
        sa.Column("ledger_identity_id", sa.Integer, autoincrement=False, nullable=False, comment="always 1"),
        sa.Column(
            "identity", sa.String(32), nullable=False, comment="random, hexadecimal; run numbers begin at 1 in each"
        ),
        sa.Column("made_at", TIME, nullable=False, comment="when the ledger got it"),
        sa.PrimaryKeyConstraint("ledger_identity_id", name="pk_ledger_identity"),
        comment="one row: what tells this ledger from all others, for example in the paths of logs",
    )
    names = ("ledger_identity_id", "identity", "made_at")
    row = (1, secrets.token_hex(16), time_now())
    op.execute(sa.insert(sa.table("ledger_identity", *map(sa.column, names))).values(row))

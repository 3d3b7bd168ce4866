"""Hold files as runs of retention met them, so that `feedctl status` knows of one that somebody forgot."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

from toolkit.ledger.migrations.elements import TIME

revision = "0004"
down_revision = "0003"


def upgrade() -> None:
    """Make the table; the next runs fill it."""
    op.create_table(
        "file_hold",
        sa.Column("feed", sa.String(120), nullable=False, comment="whose instances stay"),
        sa.Column("cluster", sa.String(120), nullable=False, comment="where"),
        sa.Column("path", sa.Text, nullable=False, comment="of the file"),
        sa.Column("reason", sa.Text, nullable=False, comment="what the file says"),
        sa.Column("first_seen_at", TIME, nullable=False, comment="since then each run has met a hold file"),
        sa.Column("last_seen_at", TIME, nullable=False, comment="by the last run"),
        sa.PrimaryKeyConstraint("feed", "cluster", name="pk_file_hold"),
        comment="files that hold a feed, as its last run of retention met them",
    )

"""Checks for late data that were made."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

from toolkit.ledger.migrations.elements import NUMBER, TIME, partial_index

revision = "0007"
down_revision = "0006"


def upgrade() -> None:
    """Make the table; nobody has checked anything before."""
    op.create_table(
        "late_check",
        sa.Column("process", sa.String(120), nullable=False, comment="the process"),
        sa.Column("cluster", sa.String(120), nullable=False, comment="where"),
        sa.Column("instance_key", sa.String(32), nullable=False, comment="which instance of the process"),
        sa.Column("due_at", TIME, nullable=False, comment="the check's time by the process's policy"),
        sa.Column("is_last", sa.Boolean, nullable=False, comment="no check of the instance follows"),
        sa.Column("verdict", sa.String(16), nullable=False, comment="what it found"),
        sa.Column("cause", sa.Text, comment="what has changed, for people"),
        sa.Column("run_id", NUMBER, comment="the attempt that late data led to"),
        sa.Column("recorded_at", TIME, nullable=False, comment="when it was made"),
        sa.ForeignKeyConstraint(["run_id"], ["run.run_id"], name="fk_late_check_run_id"),
        sa.PrimaryKeyConstraint("process", "cluster", "instance_key", "due_at", name="pk_late_check"),
        comment="checks for late data that were made",
    )
    partial_index("ix_late_check_last", "late_check", ["process", "cluster", "instance_key"], where="is_last")

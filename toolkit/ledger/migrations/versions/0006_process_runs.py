"""What runs of processes read, why they were ordered, and when they are tried again."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

from toolkit.ledger.migrations.elements import NUMBER, TIME, partial_index

revision = "0006"
down_revision = "0005"


def upgrade() -> None:
    """Of runs from before none of this is known."""
    for column in (
        sa.Column("cause", sa.Text, comment="why it was ordered when that was not a person, in the action's words"),
        sa.Column("retry", sa.Integer, comment="which retry it is, from 1; empty: none"),
        sa.Column("retry_at", TIME, comment="when the next attempt is to begin; empty: none is to, or it has begun"),
    ):
        op.add_column("run", column)
    partial_index("ix_run_retry_at", "run", ["retry_at"], where="retry_at IS NOT NULL")
    op.create_table(
        "input_fingerprint",
        sa.Column("run_id", NUMBER, nullable=False, comment="the run that read it"),
        sa.Column("input", sa.String(120), nullable=False, comment="the name of the input in the process"),
        sa.Column("instance_key", sa.String(32), nullable=False, comment="which instance of the feed"),
        sa.Column("feed", sa.String(120), nullable=False, comment="the feed"),
        sa.Column("cluster", sa.String(120), nullable=False, comment="where"),
        sa.Column("uri", sa.Text, nullable=False, comment="where the data is"),
        sa.Column("files", NUMBER, nullable=False, comment="so many; 0: there were none"),
        sa.Column("size", NUMBER, nullable=False, comment="bytes of all files"),
        sa.Column("newest_at", TIME, comment="the last change of a file; empty: there were none"),
        sa.Column("digest", sa.String(64), nullable=False, comment="of names, sizes and changes; SHA-256, hexadecimal"),
        sa.Column("listing", sa.LargeBinary, comment="names, sizes and changes, zlib of JSON; empty: too many files"),
        sa.Column("looked_at", TIME, nullable=False, comment="when the files were listed, before they were read"),
        sa.ForeignKeyConstraint(["run_id"], ["run.run_id"], name="fk_input_fingerprint_run_id"),
        sa.PrimaryKeyConstraint("run_id", "input", "instance_key", name="pk_input_fingerprint"),
        comment="what each input of a run was when it was read, so that late data shows",
    )

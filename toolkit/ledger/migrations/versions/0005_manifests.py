"""What replication has copied, file by file, and what each of its runs cost."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

from toolkit.ledger.migrations.elements import NUMBER

revision = "0005"
down_revision = "0004"


def upgrade() -> None:
    """Make the tables; what was copied before has no manifest."""
    op.create_table(
        "manifest",
        sa.Column("feed", sa.String(120), nullable=False, comment="the feed"),
        sa.Column("cluster", sa.String(120), nullable=False, comment="the target of the copy"),
        sa.Column("instance_key", sa.String(32), nullable=False, comment="which instance"),
        sa.Column("counterpart", sa.String(120), nullable=False, comment="the source of the copy"),
        sa.Column("path", sa.Text, nullable=False, comment="of the unit at the target: the instance, or a part of it"),
        sa.Column("run_id", NUMBER, nullable=False, comment="the run that published it"),
        sa.Column("files", NUMBER, nullable=False, comment="how many"),
        sa.Column("bytes", NUMBER, nullable=False, comment="in them"),
        sa.Column(
            "content",
            sa.LargeBinary,
            nullable=False,
            comment="compressed JSON, a list for each file: name below the unit, bytes, digest, source's time",
        ),
        sa.PrimaryKeyConstraint("feed", "cluster", "instance_key", "counterpart", "path", name="pk_manifest"),
        sa.ForeignKeyConstraint(["run_id"], ["run.run_id"], name="fk_manifest_run_id"),
        comment="the files of what was published last at a target, with their digests",
    )
    op.create_table(
        "run_counter",
        sa.Column("run_id", NUMBER, nullable=False, comment="the run"),
        sa.Column("name", sa.String(64), nullable=False, comment="what is counted, for example COPY"),
        sa.Column("value", NUMBER, nullable=False, comment="how much"),
        sa.PrimaryKeyConstraint("run_id", "name", name="pk_run_counter"),
        sa.ForeignKeyConstraint(["run_id"], ["run.run_id"], name="fk_run_counter_run_id"),
        comment="what a run counted of its work",
    )

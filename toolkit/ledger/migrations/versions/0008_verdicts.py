"""Verdicts on data before they are announced, and what was found."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

from toolkit.ledger.migrations.elements import CHOICE, NUMBER, TIME

revision = "0008"
down_revision = "0007"


def upgrade() -> None:
    """Make the tables; nothing was judged before."""
    op.create_table(
        "verdict",
        sa.Column("verdict_id", NUMBER, nullable=False, comment="rises with time"),
        sa.Column("run_id", NUMBER, comment="that wrote the data; empty: judged by hand"),
        sa.Column("life_cycle", CHOICE, comment="of the action that wrote the data; empty: judged by hand"),
        sa.Column("entity", sa.String(120), nullable=False, comment="the process or feed whose action wrote the data"),
        sa.Column("feed", sa.String(120), nullable=False, comment="the feed"),
        sa.Column("cluster", sa.String(120), nullable=False, comment="where"),
        sa.Column("instance_key", sa.String(32), nullable=False, comment="which instance of the feed"),
        sa.Column("unit", sa.Text, nullable=False, comment="the address that the data are announced under"),
        sa.Column("counterpart", sa.String(120), nullable=False, comment="the source of a copy, else empty"),
        sa.Column(
            "data_digest", sa.String(64), nullable=False, comment="of names, sizes and times of the files; SHA-256"
        ),
        sa.Column("layout_digest", sa.String(64), nullable=False, comment="of their names and sizes alone; SHA-256"),
        sa.Column(
            "suites_digest", sa.String(64), nullable=False, comment="of all that the data were judged by; SHA-256"
        ),
        sa.Column("suites", sa.Text, nullable=False, comment="their names, a JSON list"),
        sa.Column("state", CHOICE, nullable=False, comment="what holds of the data now"),
        sa.Column("is_by_hand", sa.Boolean, nullable=False, comment="nothing is announced because of it"),
        sa.Column("rows", NUMBER, comment="of the data; empty: nobody could tell"),
        sa.Column("files", NUMBER, nullable=False, comment="of the data"),
        sa.Column("bytes", NUMBER, nullable=False, comment="in them"),
        sa.Column("place", sa.Text, nullable=False, comment="where the data lay; several directories: a line each"),
        sa.Column("page", sa.Text, comment="the page for people; empty: none could be written"),
        sa.Column("engine", sa.Text, comment="name and version of what judged"),
        sa.Column("seconds", sa.Float, nullable=False, comment="that the judging took, without the start of Spark"),
        sa.Column("reason", sa.Text, comment="why it is blocked or unknown; empty: it is neither"),
        sa.Column("recorded_at", TIME, nullable=False, comment="when it was judged"),
        sa.Column("decided_by", sa.Text, comment="who released or rejected the data"),
        sa.Column("decided_at", TIME, comment="when"),
        sa.Column("decision", sa.Text, comment="the reason that was given for it"),
        sa.ForeignKeyConstraint(["run_id"], ["run.run_id"], name="fk_verdict_run_id"),
        sa.PrimaryKeyConstraint("verdict_id", name="pk_verdict"),
        comment="what data were judged to be before they were announced",
    )
    op.create_index("ix_verdict_instance", "verdict", ["feed", "cluster", "instance_key"])
    op.create_table(
        "verdict_finding",
        sa.Column("verdict_id", NUMBER, nullable=False, comment="the verdict"),
        sa.Column("suite", sa.String(120), nullable=False, comment="the suite"),
        sa.Column("position", sa.Integer, nullable=False, comment="of the expectation in it, from 0"),
        sa.Column("type", sa.String(120), nullable=False, comment="of the expectation"),
        sa.Column("column_name", sa.Text, nullable=False, comment="that it is about; empty: the table, or several"),
        sa.Column("severity", sa.String(16), nullable=False, comment="only what is critical blocks"),
        sa.Column("success", sa.Boolean, nullable=False, comment="it holds"),
        sa.Column("observed", sa.Text, nullable=False, comment="what was found, as short JSON; never values of pii"),
        sa.Column("rows", NUMBER, comment="that were looked at; empty: it counts none"),
        sa.Column("unexpected", NUMBER, comment="of them, so many are not as expected"),
        sa.Column("examples", sa.Text, nullable=False, comment="a few that are not, a JSON list; never of pii"),
        sa.Column("error", sa.Text, nullable=False, comment="why it could not be computed; empty: it could"),
        sa.Column("kwargs", sa.Text, nullable=False, comment="its arguments, JSON"),
        sa.ForeignKeyConstraint(["verdict_id"], ["verdict.verdict_id"], name="fk_verdict_finding_verdict_id"),
        sa.PrimaryKeyConstraint("verdict_id", "suite", "position", name="pk_verdict_finding"),
        comment="what became of each expectation of a verdict",
    )

"""Tables of validation results before data is published, and of people's decisions on them (ADR 0049)."""

from __future__ import annotations

import sqlalchemy as sa

from toolkit.ledger.columns import Choice, Number, UtcTime, metadata
from toolkit.ledger.vocabulary import LifeCycle, ValidationState

verdict = sa.Table(
    "verdict",
    metadata,
    sa.Column("verdict_id", Number, primary_key=True, comment="rises with time"),
    sa.Column("run_id", Number, sa.ForeignKey("run.run_id"), comment="that wrote the data; empty: validated by hand"),
    sa.Column("life_cycle", Choice(LifeCycle), comment="of the action that wrote the data; empty: validated by hand"),
    sa.Column("entity", sa.String(120), nullable=False, comment="the process or feed whose action wrote the data"),
    sa.Column("feed", sa.String(120), nullable=False, comment="the feed"),
    sa.Column("cluster", sa.String(120), nullable=False, comment="where"),
    sa.Column("instance_key", sa.String(32), nullable=False, comment="which instance of the feed"),
    sa.Column("unit", sa.Text, nullable=False, comment="the address that the data are announced under"),
    sa.Column("counterpart", sa.String(120), nullable=False, comment="the source of a copy, else empty"),
    sa.Column("data_digest", sa.String(64), nullable=False, comment="of names, sizes and times of the files; SHA-256"),
    sa.Column("layout_digest", sa.String(64), nullable=False, comment="of their names and sizes alone; SHA-256"),
    sa.Column("suites_digest", sa.String(64), nullable=False, comment="of suites and all else that decides; SHA-256"),
    sa.Column("suites", sa.Text, nullable=False, comment="their names, a JSON list"),
    sa.Column("state", Choice(ValidationState), nullable=False, comment="what holds of the data now"),
    sa.Column("is_by_hand", sa.Boolean, nullable=False, comment="nothing is announced because of it"),
    sa.Column("rows", Number, comment="of the data; empty: unknown"),
    sa.Column("files", Number, nullable=False, comment="of the data"),
    sa.Column("bytes", Number, nullable=False, comment="in them"),
    sa.Column("place", sa.Text, nullable=False, comment="where the data lay; several directories: a line each"),
    sa.Column("page", sa.Text, comment="the page for people; empty: none could be written"),
    sa.Column("engine", sa.Text, comment="name and version of the validator"),
    sa.Column("seconds", sa.Float, nullable=False, comment="that the validation took, without the start of Spark"),
    sa.Column("reason", sa.Text, comment="why it is blocked or unknown; empty: it is neither"),
    sa.Column("recorded_at", UtcTime, nullable=False, comment="when it was validated"),
    sa.Column("decided_by", sa.Text, comment="who released or rejected the data"),
    sa.Column("decided_at", UtcTime, comment="when"),
    sa.Column("decision", sa.Text, comment="the reason that was given for it"),
    sa.Index("ix_verdict_instance", "feed", "cluster", "instance_key"),
    sa.Index("ix_verdict_run_id", "run_id"),
    sa.Index("ix_verdict_recorded_at", "recorded_at"),
    comment="validation results of data before they are published",
)

verdict_finding = sa.Table(
    "verdict_finding",
    metadata,
    sa.Column("verdict_id", Number, sa.ForeignKey("verdict.verdict_id"), primary_key=True, comment="the result"),
    sa.Column("suite", sa.String(120), primary_key=True, comment="the suite"),
    sa.Column("position", sa.Integer, primary_key=True, comment="of the expectation in it, from 0"),
    sa.Column("type", sa.String(120), nullable=False, comment="of the expectation"),
    sa.Column("column_name", sa.Text, nullable=False, comment="that it is about; empty: the table, or several"),
    sa.Column("severity", sa.String(16), nullable=False, comment="only what is critical blocks"),
    sa.Column("success", sa.Boolean, nullable=False, comment="it holds"),
    sa.Column("observed", sa.Text, nullable=False, comment="what was found, as short JSON; never values of pii"),
    sa.Column("rows", Number, comment="that were looked at; empty: it counts none"),
    sa.Column("unexpected", Number, comment="of them, so many are not as expected"),
    sa.Column("examples", sa.Text, nullable=False, comment="a few that are not, a JSON list; never of pii"),
    sa.Column("error", sa.Text, nullable=False, comment="why it could not be computed; empty: it could"),
    sa.Column("kwargs", sa.Text, nullable=False, comment="its arguments, JSON"),
    comment="results of the expectations of a validation",
)

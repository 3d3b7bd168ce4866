"""What `feedctl ledger sync` registers: processes on clusters, their steps, properties, and who enqueues whom."""

from __future__ import annotations

import sqlalchemy as sa

from toolkit.ledger.columns import Number, UtcTime, choice
from toolkit.ledger.tables.schema import metadata
from toolkit.ledger.vocabulary import ProcessKind

process = sa.Table(
    "process",
    metadata,
    sa.Column("process_id", Number, primary_key=True, comment="never used twice"),
    sa.Column("kind", choice(ProcessKind), nullable=False, comment="a process, or a feed that no process makes"),
    sa.Column("name", sa.String(120), nullable=False, comment="of the entity"),
    sa.Column("cluster", sa.String(120), nullable=False, comment="where it runs"),
    sa.Column("domain", sa.Text, comment="business domain"),
    sa.Column("description", sa.Text, comment="for people"),
    sa.Column("is_deleted", sa.Boolean, nullable=False, comment="it is no longer in the config repo"),
    sa.Column("digest", sa.Text, nullable=False, comment="of the merged entity that was registered"),
    sa.Column("snapshot", sa.Text, nullable=False, comment="the state of the config repo that was registered"),
    sa.Column("registered_at", UtcTime, nullable=False, comment="first"),
    sa.Column("updated_at", UtcTime, nullable=False, comment="when something of it changed last"),
    sa.UniqueConstraint("name", "cluster"),
    sqlite_autoincrement=True,
    comment="a process on one cluster",
)

step = sa.Table(
    "step",
    metadata,
    sa.Column("step_id", Number, primary_key=True, comment="never used twice"),
    sa.Column("process_id", Number, sa.ForeignKey("process.process_id"), nullable=False, comment="its process"),
    sa.Column("name", sa.String(120), nullable=False, comment="within the process"),
    sa.Column("position", sa.Integer, nullable=False, comment="from 0; the order in which the steps run"),
    sa.Column("engine", sa.Text, comment="what runs it"),
    sa.Column("path", sa.Text, comment="what is run"),
    sa.Column("is_recoverable", sa.Boolean, nullable=False, comment="its success is kept by a rerun after a failure"),
    sa.Column("is_deleted", sa.Boolean, nullable=False, comment="it is no longer in the config repo"),
    sa.UniqueConstraint("process_id", "name"),
    sqlite_autoincrement=True,
    comment="a sub-process: a step of a process; steps consume batches",
)

upstream = sa.Table(
    "upstream",
    metadata,
    sa.Column("step_id", Number, sa.ForeignKey("step.step_id"), primary_key=True, comment="the consumer"),
    sa.Column("process_id", Number, sa.ForeignKey("process.process_id"), primary_key=True, comment="the enqueuer"),
    sa.Column("is_optional", sa.Boolean, nullable=False, comment="no job waits for its batches"),
    sa.Index("ix_upstream_process_id", "process_id"),
    comment="who enqueues whom",
)

step_input = sa.Table(
    "step_input",
    metadata,
    sa.Column("step_id", Number, sa.ForeignKey("step.step_id"), primary_key=True, comment="the reader"),
    sa.Column("feed", sa.String(120), primary_key=True, comment="what it reads"),
    comment="the feeds that a step reads",
)

process_property = sa.Table(
    "process_property",
    metadata,
    sa.Column("process_id", Number, sa.ForeignKey("process.process_id"), primary_key=True, comment="its process"),
    sa.Column("key", sa.String(255), primary_key=True, comment="as the entity writes it"),
    sa.Column("config_group", sa.String(255), nullable=False, comment="the key up to its first dot, else 'default'"),
    sa.Column("value", sa.Text, nullable=False, comment="as text"),
    comment="properties by config group",
)

process_log = sa.Table(
    "process_log",
    metadata,
    sa.Column("log_id", Number, primary_key=True, comment="in the order of writing"),
    sa.Column("run_id", Number, sa.ForeignKey("run.run_id"), nullable=False, comment="the run that says it"),
    sa.Column("step_id", Number, sa.ForeignKey("step.step_id"), comment="empty: the run as a whole"),
    sa.Column("category", sa.String(120), nullable=False, comment="for example import or data-quality"),
    sa.Column("message", sa.Text, nullable=False, comment="what it says"),
    sa.Column("logged_at", UtcTime, nullable=False, comment="when"),
    sa.Index("ix_process_log_run_id", "run_id"),
    sqlite_autoincrement=True,
    comment="what runs wrote down about themselves",
)

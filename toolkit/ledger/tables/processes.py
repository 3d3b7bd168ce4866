"""Tables of run metadata: processes and their steps, batches, queues and files (DESIGN section 6, after BDRE)."""

from __future__ import annotations

from typing import Any

import sqlalchemy as sa

from toolkit.ledger.columns import Choice, Number, UtcTime, metadata, partial_index, partial_unique
from toolkit.ledger.vocabulary import BatchKind, BatchState, ProcessKind, QueueState

process = sa.Table(
    "process",
    metadata,
    sa.Column("process_id", Number, primary_key=True, comment="never used twice"),
    sa.Column("kind", Choice(ProcessKind), nullable=False, comment="a process, or a feed that no process makes"),
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


batch = sa.Table(
    "batch",
    metadata,
    sa.Column("batch_id", Number, primary_key=True, comment="never used twice; 0 is the seed"),
    sa.Column("kind", Choice(BatchKind), nullable=False, comment="where it comes from"),
    sa.Column("state", Choice(BatchState), nullable=False, comment="whether it may be read"),
    sa.Column("process_id", Number, sa.ForeignKey("process.process_id"), comment="whose result it is"),
    sa.Column(
        "source_run_id", Number, sa.ForeignKey("run.run_id"), comment="the job that makes it; empty: none, or pruned"
    ),
    sa.Column("marking", sa.Text, comment="batch dates, sorted, joined with ','"),
    sa.Column("created_at", UtcTime, nullable=False, comment="by init_job, or from outside"),
    sa.Column("published_at", UtcTime, comment="by halt_job, or from outside"),
    sa.Index("ix_batch_source_run_id", "source_run_id"),
    partial_index("ix_batch_allocated", "process_id", where="state = 'allocated'"),
    sqlite_autoincrement=True,
    comment="a set of data that moves through the queue as one",
)

batch_instance = sa.Table(
    "batch_instance",
    metadata,
    sa.Column("batch_id", Number, sa.ForeignKey("batch.batch_id"), primary_key=True, comment="the batch"),
    sa.Column("feed", sa.String(120), primary_key=True, comment="the feed"),
    sa.Column("cluster", sa.String(120), primary_key=True, comment="where"),
    sa.Column("instance_key", sa.String(32), primary_key=True, comment="which instance"),
    sa.Column("uri", sa.Text, comment="where the data is"),
    sa.Index("ix_batch_instance_instance", "feed", "cluster", "instance_key"),
    comment="the feed instances that a batch stands for",
)


def _queue_columns() -> list[sa.Column[Any]]:
    """The columns that a row keeps on its way from the queue to the archive."""
    return [
        sa.Column("queue_id", Number, primary_key=True, comment="kept in the archive"),
        sa.Column("source_batch_id", Number, sa.ForeignKey("batch.batch_id"), nullable=False, comment="what to read"),
        sa.Column("step_id", Number, sa.ForeignKey("step.step_id"), nullable=False, comment="who reads it"),
        sa.Column("source_process_id", Number, sa.ForeignKey("process.process_id"), comment="who enqueued it"),
        sa.Column("target_batch_id", Number, sa.ForeignKey("batch.batch_id"), comment="empty: no job has taken it"),
        sa.Column("state", Choice(QueueState), nullable=False, comment="how far the step is with it"),
        sa.Column("marking", sa.Text, comment="batch dates, sorted, joined with ','"),
        sa.Column("inserted_at", UtcTime, nullable=False, comment="when it was enqueued"),
        sa.Column("started_at", UtcTime, comment="by init_step"),
        sa.Column("ended_at", UtcTime, comment="by halt_step or term_step"),
    ]


queue = sa.Table(
    "queue",
    metadata,
    *_queue_columns(),
    partial_unique(
        "uq_queue_unread", "step_id", "source_process_id", "source_batch_id", where="target_batch_id IS NULL"
    ),
    partial_unique(
        "uq_queue_taken", "source_batch_id", "step_id", "target_batch_id", where="target_batch_id IS NOT NULL"
    ),
    partial_index("ix_queue_taken", "target_batch_id", where="target_batch_id IS NOT NULL"),
    sqlite_autoincrement=True,
    comment="batches to consume, one row for each consuming step",
)

archive = sa.Table(
    "archive",
    metadata,
    *_queue_columns(),
    sa.Column("archived_at", UtcTime, nullable=False, comment="by halt_job"),
    sa.Index("ix_archive_source_batch_id_step_id", "source_batch_id", "step_id"),
    sa.Index("ix_archive_target_batch_id", "target_batch_id"),
    comment="what was consumed by jobs that succeeded",
)

server = sa.Table(
    "server",
    metadata,
    sa.Column("server_id", Number, primary_key=True, comment="never used twice"),
    sa.Column("name", sa.String(120), nullable=False, unique=True, comment="of a cluster or datasource"),
    sa.Column("kind", sa.String(32), nullable=False, comment="cluster, datasource or external"),
    sa.Column("endpoint", sa.Text, comment="where it answers; never with a credential"),
    sqlite_autoincrement=True,
    comment="where files are; credentials are kept elsewhere and never returned",
)

file = sa.Table(
    "file",
    metadata,
    sa.Column("file_id", Number, primary_key=True, comment="in the order of registration"),
    sa.Column("batch_id", Number, sa.ForeignKey("batch.batch_id"), nullable=False, comment="its batch"),
    sa.Column("server_id", Number, sa.ForeignKey("server.server_id"), nullable=False, comment="where it is"),
    sa.Column("path", sa.Text, nullable=False, comment="on the server"),
    sa.Column("size", Number, nullable=False, comment="bytes"),
    sa.Column("hash", sa.Text, comment="of the content, in whatever way the registrar hashes"),
    sa.Column("modified_at", UtcTime, nullable=False, comment="of the file, else when it was registered"),
    sa.UniqueConstraint("batch_id", "server_id", "path"),
    sqlite_autoincrement=True,
    comment="the files of a batch",
)

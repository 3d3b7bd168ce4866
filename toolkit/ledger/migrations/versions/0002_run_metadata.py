"""Run metadata after BDRE: batches, the queue and its archive, files and their servers; runs become jobs on it."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

from toolkit.ledger.migrations.elements import CHOICE, NUMBER, TIME, partial_index, partial_unique, time_now

revision = "0002"
down_revision = "0001"


def upgrade() -> None:
    """Give runs what jobs have, then make the tables, those first that others refer to."""
    _jobs()
    _server()
    _process_property()
    _batch()
    _process_log()
    _step_input()
    _upstream()
    _archive()
    _batch_instance()
    _file()
    _queue()
    _seed()


def _jobs() -> None:
    op.add_column("run", sa.Column("mode", CHOICE, comment="of a job"))
    op.add_column(
        "run",
        sa.Column("target_batch_id", NUMBER, comment="the batch that a job makes; kept by the rerun after a failure"),
    )
    op.add_column(
        "run", sa.Column("target_marking", sa.Text, comment="the batch dates of all batches that a job reads")
    )
    op.create_index("ix_run_job", "run", ["process_id", "mode", "run_id"])
    op.create_index("ix_run_target_batch_id", "run", ["target_batch_id"])
    partial_unique(
        "uq_run_queue_job",
        "run",
        ["process_id", "mode"],
        where="mode = 'queue' AND status IN ('running', 'suspended') AND started_at IS NOT NULL",
    )


def _server() -> None:
    op.create_table(
        "server",
        sa.Column("server_id", NUMBER, nullable=False, comment="never used twice"),
        sa.Column("name", sa.String(120), nullable=False, comment="of a cluster or datasource"),
        sa.Column("kind", sa.String(32), nullable=False, comment="cluster, datasource or external"),
        sa.Column("endpoint", sa.Text, comment="where it answers; never with a credential"),
        sa.PrimaryKeyConstraint("server_id", name="pk_server"),
        sa.UniqueConstraint("name", name="uq_server_name"),
        sqlite_autoincrement=True,
        comment="where files are; credentials are kept elsewhere and never returned",
    )


def _process_property() -> None:
    op.create_table(
        "process_property",
        sa.Column("process_id", NUMBER, nullable=False, comment="its process"),
        sa.Column("key", sa.String(255), nullable=False, comment="as the entity writes it"),
        sa.Column(
            "config_group", sa.String(255), nullable=False, comment="the key up to its first dot, else 'default'"
        ),
        sa.Column("value", sa.Text, nullable=False, comment="as text"),
        sa.PrimaryKeyConstraint("process_id", "key", name="pk_process_property"),
        sa.ForeignKeyConstraint(["process_id"], ["process.process_id"], name="fk_process_property_process_id"),
        comment="properties by config group",
    )


def _batch() -> None:
    op.create_table(
        "batch",
        sa.Column("batch_id", NUMBER, nullable=False, comment="never used twice; 0 is the seed"),
        sa.Column("kind", CHOICE, nullable=False, comment="where it comes from"),
        sa.Column("state", CHOICE, nullable=False, comment="whether it may be read"),
        sa.Column("process_id", NUMBER, comment="whose result it is"),
        sa.Column("source_run_id", NUMBER, comment="the job that makes it, its last attempt"),
        sa.Column("marking", sa.Text, comment="batch dates, sorted, joined with ','"),
        sa.Column("created_at", TIME, nullable=False, comment="by init_job, or from outside"),
        sa.Column("published_at", TIME, comment="by halt_job, or from outside"),
        sa.PrimaryKeyConstraint("batch_id", name="pk_batch"),
        sa.ForeignKeyConstraint(["process_id"], ["process.process_id"], name="fk_batch_process_id"),
        sa.ForeignKeyConstraint(["source_run_id"], ["run.run_id"], name="fk_batch_source_run_id"),
        sqlite_autoincrement=True,
        comment="a set of data that moves through the queue as one",
    )
    partial_index("ix_batch_allocated", "batch", ["process_id"], where="state = 'allocated'")
    op.create_index("ix_batch_source_run_id", "batch", ["source_run_id"])


def _process_log() -> None:
    op.create_table(
        "process_log",
        sa.Column("log_id", NUMBER, nullable=False, comment="in the order of writing"),
        sa.Column("run_id", NUMBER, nullable=False, comment="the run that says it"),
        sa.Column("step_id", NUMBER, comment="empty: the run as a whole"),
        sa.Column("category", sa.String(120), nullable=False, comment="for example import or data-quality"),
        sa.Column("message", sa.Text, nullable=False, comment="what it says"),
        sa.Column("logged_at", TIME, nullable=False, comment="when"),
        sa.PrimaryKeyConstraint("log_id", name="pk_process_log"),
        sa.ForeignKeyConstraint(["run_id"], ["run.run_id"], name="fk_process_log_run_id"),
        sa.ForeignKeyConstraint(["step_id"], ["step.step_id"], name="fk_process_log_step_id"),
        sqlite_autoincrement=True,
        comment="what runs wrote down about themselves",
    )
    op.create_index("ix_process_log_run_id", "process_log", ["run_id"])


def _step_input() -> None:
    op.create_table(
        "step_input",
        sa.Column("step_id", NUMBER, nullable=False, comment="the reader"),
        sa.Column("feed", sa.String(120), nullable=False, comment="what it reads"),
        sa.PrimaryKeyConstraint("step_id", "feed", name="pk_step_input"),
        sa.ForeignKeyConstraint(["step_id"], ["step.step_id"], name="fk_step_input_step_id"),
        comment="the feeds that a step reads",
    )


def _upstream() -> None:
    op.create_table(
        "upstream",
        sa.Column("step_id", NUMBER, nullable=False, comment="the consumer"),
        sa.Column("process_id", NUMBER, nullable=False, comment="the enqueuer"),
        sa.Column("is_optional", sa.Boolean, nullable=False, comment="no job waits for its batches"),
        sa.PrimaryKeyConstraint("step_id", "process_id", name="pk_upstream"),
        sa.ForeignKeyConstraint(["step_id"], ["step.step_id"], name="fk_upstream_step_id"),
        sa.ForeignKeyConstraint(["process_id"], ["process.process_id"], name="fk_upstream_process_id"),
        comment="who enqueues whom",
    )
    op.create_index("ix_upstream_process_id", "upstream", ["process_id"])


def _archive() -> None:
    op.create_table(
        "archive",
        sa.Column("queue_id", NUMBER, nullable=False, comment="kept in the archive"),
        sa.Column("source_batch_id", NUMBER, nullable=False, comment="what to read"),
        sa.Column("step_id", NUMBER, nullable=False, comment="who reads it"),
        sa.Column("source_process_id", NUMBER, comment="who enqueued it"),
        sa.Column("target_batch_id", NUMBER, comment="empty: nobody has taken it"),
        sa.Column("state", CHOICE, nullable=False, comment="how far the step is with it"),
        sa.Column("marking", sa.Text, comment="batch dates, sorted, joined with ','"),
        sa.Column("inserted_at", TIME, nullable=False, comment="when it was enqueued"),
        sa.Column("started_at", TIME, comment="by init_step"),
        sa.Column("ended_at", TIME, comment="by halt_step or term_step"),
        sa.Column("archived_at", TIME, nullable=False, comment="by halt_job"),
        sa.PrimaryKeyConstraint("queue_id", name="pk_archive"),
        sa.ForeignKeyConstraint(["source_batch_id"], ["batch.batch_id"], name="fk_archive_source_batch_id"),
        sa.ForeignKeyConstraint(["step_id"], ["step.step_id"], name="fk_archive_step_id"),
        sa.ForeignKeyConstraint(["source_process_id"], ["process.process_id"], name="fk_archive_source_process_id"),
        sa.ForeignKeyConstraint(["target_batch_id"], ["batch.batch_id"], name="fk_archive_target_batch_id"),
        comment="what was consumed by jobs that succeeded",
    )
    op.create_index("ix_archive_source_batch_id_step_id", "archive", ["source_batch_id", "step_id"])
    op.create_index("ix_archive_target_batch_id", "archive", ["target_batch_id"])


def _batch_instance() -> None:
    op.create_table(
        "batch_instance",
        sa.Column("batch_id", NUMBER, nullable=False, comment="the batch"),
        sa.Column("feed", sa.String(120), nullable=False, comment="the feed"),
        sa.Column("cluster", sa.String(120), nullable=False, comment="where"),
        sa.Column("instance_key", sa.String(32), nullable=False, comment="which instance"),
        sa.Column("uri", sa.Text, comment="where the data is"),
        sa.PrimaryKeyConstraint("batch_id", "feed", "cluster", "instance_key", name="pk_batch_instance"),
        sa.ForeignKeyConstraint(["batch_id"], ["batch.batch_id"], name="fk_batch_instance_batch_id"),
        comment="the feed instances that a batch stands for",
    )
    op.create_index("ix_batch_instance_instance", "batch_instance", ["feed", "cluster", "instance_key"])


def _file() -> None:
    op.create_table(
        "file",
        sa.Column("file_id", NUMBER, nullable=False, comment="in the order of registration"),
        sa.Column("batch_id", NUMBER, nullable=False, comment="its batch"),
        sa.Column("server_id", NUMBER, nullable=False, comment="where it is"),
        sa.Column("path", sa.Text, nullable=False, comment="on the server"),
        sa.Column("size", NUMBER, nullable=False, comment="bytes"),
        sa.Column("hash", sa.Text, comment="of the content, in whatever way the registrar hashes"),
        sa.Column("modified_at", TIME, nullable=False, comment="of the file, else when it was registered"),
        sa.PrimaryKeyConstraint("file_id", name="pk_file"),
        sa.ForeignKeyConstraint(["batch_id"], ["batch.batch_id"], name="fk_file_batch_id"),
        sa.ForeignKeyConstraint(["server_id"], ["server.server_id"], name="fk_file_server_id"),
        sa.UniqueConstraint("batch_id", "server_id", "path", name="uq_file_batch_id_server_id_path"),
        sqlite_autoincrement=True,
        comment="the files of a batch",
    )


def _queue() -> None:
    op.create_table(
        "queue",
        sa.Column("queue_id", NUMBER, nullable=False, comment="kept in the archive"),
        sa.Column("source_batch_id", NUMBER, nullable=False, comment="what to read"),
        sa.Column("step_id", NUMBER, nullable=False, comment="who reads it"),
        sa.Column("source_process_id", NUMBER, comment="who enqueued it"),
        sa.Column("target_batch_id", NUMBER, comment="empty: nobody has taken it"),
        sa.Column("state", CHOICE, nullable=False, comment="how far the step is with it"),
        sa.Column("marking", sa.Text, comment="batch dates, sorted, joined with ','"),
        sa.Column("inserted_at", TIME, nullable=False, comment="when it was enqueued"),
        sa.Column("started_at", TIME, comment="by init_step"),
        sa.Column("ended_at", TIME, comment="by halt_step or term_step"),
        sa.PrimaryKeyConstraint("queue_id", name="pk_queue"),
        sa.ForeignKeyConstraint(["source_batch_id"], ["batch.batch_id"], name="fk_queue_source_batch_id"),
        sa.ForeignKeyConstraint(["step_id"], ["step.step_id"], name="fk_queue_step_id"),
        sa.ForeignKeyConstraint(["source_process_id"], ["process.process_id"], name="fk_queue_source_process_id"),
        sa.ForeignKeyConstraint(["target_batch_id"], ["batch.batch_id"], name="fk_queue_target_batch_id"),
        sqlite_autoincrement=True,
        comment="batches to consume, one row for each consuming step",
    )
    partial_index("ix_queue_taken", "queue", ["target_batch_id"], where="target_batch_id IS NOT NULL")
    partial_unique(
        "uq_queue_taken",
        "queue",
        ["source_batch_id", "step_id", "target_batch_id"],
        where="target_batch_id IS NOT NULL",
    )
    partial_unique(
        "uq_queue_unread", "queue", ["step_id", "source_process_id", "source_batch_id"], where="target_batch_id IS NULL"
    )


def _seed() -> None:
    """Batch 0 stands for no data: the source of steps that have no upstream."""
    names = ("batch_id", "kind", "state", "created_at", "published_at")
    now = time_now()
    op.execute(sa.insert(sa.table("batch", *map(sa.column, names))).values((0, "seed", "published", now, now)))

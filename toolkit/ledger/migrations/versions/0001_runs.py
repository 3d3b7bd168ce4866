"""Runs, their steps, leases, items, requests, events, and the state of entities."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

from toolkit.ledger.migrations.elements import CHOICE, NUMBER, TIME, partial_index, partial_unique

revision = "0001"
down_revision = None


def upgrade() -> None:
    """Make the tables, those first that others refer to."""
    _command()
    _consumer_cursor()
    _entity_state()
    _event_counter()
    _hold()
    _process()
    _resource()
    _safe_mode()
    _run()
    _step()
    _event()
    _item()
    _lease()
    _request()
    _step_run()
    _seeds()


def _command() -> None:
    op.create_table(
        "command",
        sa.Column("command_id", NUMBER, nullable=False, comment="in the order of asking"),
        sa.Column("command", sa.String(64), nullable=False, comment="for example entity suspend"),
        sa.Column("subject", sa.Text, nullable=False, comment="what it was about"),
        sa.Column("detail", sa.Text, comment="range, reason"),
        sa.Column(
            "has_changed", sa.Boolean, nullable=False, comment="false: it was so already, or the state was wrong"
        ),
        sa.Column("who", sa.Text, nullable=False, comment="who"),
        sa.Column("at", TIME, nullable=False, comment="when"),
        sa.PrimaryKeyConstraint("command_id", name="pk_command"),
        sqlite_autoincrement=True,
        comment="who did what to the state of entities and instances",
    )


def _consumer_cursor() -> None:
    op.create_table(
        "consumer_cursor",
        sa.Column("consumer", sa.String(255), nullable=False, comment="who reads"),
        sa.Column("sequence", NUMBER, nullable=False, comment="the last event that it has dealt with"),
        sa.Column("moved_at", TIME, nullable=False, comment="when"),
        sa.PrimaryKeyConstraint("consumer", name="pk_consumer_cursor"),
        comment="how far each consumer of events is",
    )


def _entity_state() -> None:
    op.create_table(
        "entity_state",
        sa.Column("entity", sa.String(120), nullable=False, comment="feed or process"),
        sa.Column("cluster", sa.String(120), nullable=False, comment="empty: on every cluster"),
        sa.Column("is_suspended", sa.Boolean, nullable=False, comment="no run of it starts"),
        sa.Column("reason", sa.Text, comment="why"),
        sa.Column("changed_by", sa.Text, nullable=False, comment="who"),
        sa.Column("changed_at", TIME, nullable=False, comment="when"),
        sa.Column("touched_at", TIME, comment="when it was last touched"),
        sa.PrimaryKeyConstraint("entity", "cluster", name="pk_entity_state"),
        comment="suspended entities",
    )


def _event_counter() -> None:
    op.create_table(
        "event_counter",
        sa.Column("counter_id", sa.Integer, autoincrement=False, nullable=False, comment="always 1"),
        sa.Column("last_sequence", NUMBER, nullable=False, comment="of the newest event"),
        sa.PrimaryKeyConstraint("counter_id", name="pk_event_counter"),
        comment="its one row is locked by whoever appends, so that numbers become visible in their order",
    )


def _hold() -> None:
    op.create_table(
        "hold",
        sa.Column("hold_id", NUMBER, nullable=False, comment="never used twice"),
        sa.Column("feed", sa.String(120), nullable=False, comment="whose instances stay"),
        sa.Column("cluster", sa.String(120), comment="empty: on every cluster"),
        sa.Column("start_key", sa.String(32), comment="the first instance; empty: from the beginning"),
        sa.Column("end_key", sa.String(32), comment="the first that is free again; empty: for ever"),
        sa.Column("reason", sa.Text, nullable=False, comment="why"),
        sa.Column("owner", sa.Text, comment="whom to ask"),
        sa.Column("added_by", sa.Text, nullable=False, comment="who"),
        sa.Column("added_at", TIME, nullable=False, comment="when"),
        sa.Column("removed_by", sa.Text, comment="who"),
        sa.Column("removed_at", TIME, comment="empty: it holds"),
        sa.PrimaryKeyConstraint("hold_id", name="pk_hold"),
        sqlite_autoincrement=True,
        comment="instances that nothing may delete, beside those of holds.yaml",
    )
    op.create_index("ix_hold_feed", "hold", ["feed"])


def _process() -> None:
    op.create_table(
        "process",
        sa.Column("process_id", NUMBER, nullable=False, comment="never used twice"),
        sa.Column("kind", CHOICE, nullable=False, comment="a process, or a feed that no process makes"),
        sa.Column("name", sa.String(120), nullable=False, comment="of the entity"),
        sa.Column("cluster", sa.String(120), nullable=False, comment="where it runs"),
        sa.Column("domain", sa.Text, comment="business domain"),
        sa.Column("description", sa.Text, comment="for people"),
        sa.Column("is_deleted", sa.Boolean, nullable=False, comment="it is no longer in the config repo"),
        sa.Column("digest", sa.Text, nullable=False, comment="of the merged entity that was registered"),
        sa.Column("snapshot", sa.Text, nullable=False, comment="the state of the config repo that was registered"),
        sa.Column("registered_at", TIME, nullable=False, comment="first"),
        sa.Column("updated_at", TIME, nullable=False, comment="when something of it changed last"),
        sa.PrimaryKeyConstraint("process_id", name="pk_process"),
        sa.UniqueConstraint("name", "cluster", name="uq_process_name_cluster"),
        sqlite_autoincrement=True,
        comment="a process on one cluster",
    )


def _resource() -> None:
    op.create_table(
        "resource",
        sa.Column("resource", sa.String(400), nullable=False, comment="for example evict/clicks/primary"),
        sa.Column("fence", NUMBER, nullable=False, comment="rises with each lease that is given"),
        sa.PrimaryKeyConstraint("resource", name="pk_resource"),
        comment="what can be leased; its row is the lock while leases are given",
    )


def _safe_mode() -> None:
    op.create_table(
        "safe_mode",
        sa.Column("safe_mode_id", sa.Integer, autoincrement=False, nullable=False, comment="always 1"),
        sa.Column("is_on", sa.Boolean, nullable=False, comment="nothing starts"),
        sa.Column("reason", sa.Text, comment="why"),
        sa.Column("changed_by", sa.Text, comment="who"),
        sa.Column("changed_at", TIME, comment="when"),
        sa.PrimaryKeyConstraint("safe_mode_id", name="pk_safe_mode"),
        comment="one row: whether the whole installation rests",
    )


def _run() -> None:
    op.create_table(
        "run",
        sa.Column("run_id", NUMBER, nullable=False, comment="never used twice"),
        sa.Column("life_cycle", CHOICE, nullable=False, comment="what the run does"),
        sa.Column("entity", sa.String(120), nullable=False, comment="feed or process"),
        sa.Column("cluster", sa.String(120), nullable=False, comment="where"),
        sa.Column("counterpart", sa.String(120), nullable=False, comment="the other cluster of a copy, else empty"),
        sa.Column(
            "instance_key",
            sa.String(32),
            nullable=False,
            comment="instance key or nominal time, 2026-03-01T06:40Z; 'batch-N' for a job on the queue",
        ),
        sa.Column("attempt", sa.Integer, nullable=False, comment="from 1 within the run key"),
        sa.Column("status", CHOICE, nullable=False, comment="how far it is"),
        sa.Column("suspended_from", CHOICE, comment="where a resume leads back to"),
        sa.Column(
            "is_forced", sa.Boolean, nullable=False, comment="starts at the first step, whatever succeeded before"
        ),
        sa.Column("process_id", NUMBER, comment="of a job"),
        sa.Column("snapshot", sa.Text, comment="the state of the config repo that was read"),
        sa.Column("digest", sa.Text, comment="of the merged entity"),
        sa.Column("versions", sa.Text, comment="of feedctl, Python and tzdata"),
        sa.Column("who", sa.Text, nullable=False, comment="the user that the run belongs to"),
        sa.Column("host", sa.Text, comment="of the owner"),
        sa.Column("pid", NUMBER, comment="of the owner"),
        sa.Column("application_id", sa.Text, comment="of Spark or YARN"),
        sa.Column("log_location", sa.Text, comment="where the log is, as the scheduler said"),
        sa.Column("exit_code", sa.Integer, comment="of the process"),
        sa.Column("reason", sa.Text, comment="why it ended so, or why it was skipped"),
        sa.Column("created_at", TIME, nullable=False, comment="when the row was written"),
        sa.Column("started_at", TIME, comment="when somebody began"),
        sa.Column("heartbeat_at", TIME, comment="the owner's last sign of life"),
        sa.Column("ended_at", TIME, comment="when it was over"),
        sa.PrimaryKeyConstraint("run_id", name="pk_run"),
        sa.ForeignKeyConstraint(["process_id"], ["process.process_id"], name="fk_run_process_id"),
        sa.UniqueConstraint(
            "entity", "instance_key", "life_cycle", "cluster", "counterpart", "attempt", name="uq_run_run_key"
        ),
        sqlite_autoincrement=True,
        comment="one attempt of one action for one instance",
    )
    partial_index(
        "ix_run_failed",
        "run",
        ["entity", "life_cycle", "cluster", "instance_key"],
        where="status IN ('failed', 'killed', 'timed_out')",
    )
    partial_index(
        "ix_run_open", "run", ["entity", "status"], where="status IN ('waiting', 'ready', 'running', 'suspended')"
    )
    partial_index(
        "ix_run_succeeded", "run", ["entity", "life_cycle", "cluster", "ended_at"], where="status = 'succeeded'"
    )
    partial_index(
        "ix_run_succeeded_key", "run", ["entity", "life_cycle", "cluster", "instance_key"], where="status = 'succeeded'"
    )
    partial_unique(
        "uq_run_active",
        "run",
        ["entity", "life_cycle", "cluster", "counterpart", "instance_key"],
        where="status IN ('running', 'suspended')",
    )


def _step() -> None:
    op.create_table(
        "step",
        sa.Column("step_id", NUMBER, nullable=False, comment="never used twice"),
        sa.Column("process_id", NUMBER, nullable=False, comment="its process"),
        sa.Column("name", sa.String(120), nullable=False, comment="within the process"),
        sa.Column("position", sa.Integer, nullable=False, comment="from 0; the order in which the steps run"),
        sa.Column("engine", sa.Text, comment="what runs it"),
        sa.Column("path", sa.Text, comment="what is run"),
        sa.Column(
            "is_recoverable", sa.Boolean, nullable=False, comment="its success is kept by a rerun after a failure"
        ),
        sa.Column("is_deleted", sa.Boolean, nullable=False, comment="it is no longer in the config repo"),
        sa.PrimaryKeyConstraint("step_id", name="pk_step"),
        sa.ForeignKeyConstraint(["process_id"], ["process.process_id"], name="fk_step_process_id"),
        sa.UniqueConstraint("process_id", "name", name="uq_step_process_id_name"),
        sqlite_autoincrement=True,
        comment="a sub-process: a step of a process; steps consume batches",
    )


def _event() -> None:
    op.create_table(
        "event",
        sa.Column("sequence", NUMBER, autoincrement=False, nullable=False, comment="in the order of commit, no gaps"),
        sa.Column("kind", CHOICE, nullable=False, comment="what happened"),
        sa.Column("feed", sa.String(120), nullable=False, comment="the feed"),
        sa.Column("cluster", sa.String(120), nullable=False, comment="where"),
        sa.Column("instance_key", sa.String(32), nullable=False, comment="which instance"),
        sa.Column("uri", sa.Text, comment="where the data is, or was"),
        sa.Column("run_id", NUMBER, comment="the run that did it; empty: from outside"),
        sa.Column("recorded_at", TIME, nullable=False, comment="when"),
        sa.PrimaryKeyConstraint("sequence", name="pk_event"),
        sa.ForeignKeyConstraint(["run_id"], ["run.run_id"], name="fk_event_run_id"),
        comment="append-only: what happened to feed instances",
    )
    op.create_index("ix_event_instance", "event", ["feed", "cluster", "instance_key"])


def _item() -> None:
    op.create_table(
        "item",
        sa.Column("run_id", NUMBER, nullable=False, comment="the run"),
        sa.Column("position", NUMBER, nullable=False, comment="in the plan, from 0"),
        sa.Column("kind", sa.String(32), nullable=False, comment="what the item is about, in the action's words"),
        sa.Column("path", sa.Text, nullable=False, comment="what the effect is on"),
        sa.Column("instance_key", sa.String(32), nullable=False, comment="empty: the item is no instance"),
        sa.Column("state", CHOICE, nullable=False, comment="how far it is"),
        sa.Column("code", sa.String(64), comment="of a failure or a skip"),
        sa.Column("message", sa.Text, comment="of a failure"),
        sa.Column("intended_at", TIME, nullable=False, comment="before the effect"),
        sa.Column("settled_at", TIME, comment="when its outcome was known"),
        sa.PrimaryKeyConstraint("run_id", "position", name="pk_item"),
        sa.ForeignKeyConstraint(["run_id"], ["run.run_id"], name="fk_item_run_id"),
        comment="one effect of a run",
    )
    partial_index("ix_item_intended", "item", ["run_id"], where="state = 'intended'")


def _lease() -> None:
    op.create_table(
        "lease",
        sa.Column("resource", sa.String(400), nullable=False, comment="what"),
        sa.Column("run_id", NUMBER, nullable=False, comment="the holder"),
        sa.Column("mode", CHOICE, nullable=False, comment="how"),
        sa.Column("fence", NUMBER, nullable=False, comment="the resource's number when the lease was given"),
        sa.Column("acquired_at", TIME, nullable=False, comment="by the database's clock"),
        sa.Column("expires_at", TIME, nullable=False, comment="by the database's clock; a heartbeat moves it"),
        sa.PrimaryKeyConstraint("resource", "run_id", name="pk_lease"),
        sa.ForeignKeyConstraint(["resource"], ["resource.resource"], name="fk_lease_resource"),
        sa.ForeignKeyConstraint(["run_id"], ["run.run_id"], name="fk_lease_run_id"),
        comment="who holds what, until when",
    )
    op.create_index("ix_lease_run_id", "lease", ["run_id"])


def _request() -> None:
    op.create_table(
        "request",
        sa.Column("request_id", NUMBER, nullable=False, comment="in the order of asking"),
        sa.Column("run_id", NUMBER, nullable=False, comment="whose owner is asked"),
        sa.Column("kind", CHOICE, nullable=False, comment="what is asked"),
        sa.Column("requested_by", sa.Text, nullable=False, comment="who asks"),
        sa.Column("requested_at", TIME, nullable=False, comment="when"),
        sa.Column("honoured_at", TIME, comment="when the owner, or the command itself, acted on it"),
        sa.PrimaryKeyConstraint("request_id", name="pk_request"),
        sa.ForeignKeyConstraint(["run_id"], ["run.run_id"], name="fk_request_run_id"),
        sqlite_autoincrement=True,
        comment="commands to the owner of a running instance",
    )
    partial_index("ix_request_open", "request", ["run_id"], where="honoured_at IS NULL")


def _step_run() -> None:
    op.create_table(
        "step_run",
        sa.Column("step_run_id", NUMBER, nullable=False, comment="never used twice"),
        sa.Column("run_id", NUMBER, nullable=False, comment="the job"),
        sa.Column("step_id", NUMBER, nullable=False, comment="the step"),
        sa.Column("attempt", sa.Integer, nullable=False, comment="from 1 within the run"),
        sa.Column("status", CHOICE, nullable=False, comment="running, succeeded, failed or killed"),
        sa.Column("application_id", sa.Text, comment="of Spark or YARN"),
        sa.Column("log_location", sa.Text, comment="where its log is"),
        sa.Column("started_at", TIME, nullable=False, comment="by init_step"),
        sa.Column("ended_at", TIME, comment="by halt_step or term_step"),
        sa.PrimaryKeyConstraint("step_run_id", name="pk_step_run"),
        sa.ForeignKeyConstraint(["run_id"], ["run.run_id"], name="fk_step_run_run_id"),
        sa.ForeignKeyConstraint(["step_id"], ["step.step_id"], name="fk_step_run_step_id"),
        sa.UniqueConstraint("run_id", "step_id", "attempt", name="uq_step_run_run_id_step_id_attempt"),
        sqlite_autoincrement=True,
        comment="one attempt of one step within a job",
    )
    partial_unique("uq_step_run_running", "step_run", ["run_id", "step_id"], where="status = 'running'")


def _seeds() -> None:
    """Event 0 has not happened yet, and safe mode is off."""
    op.execute("INSERT INTO event_counter (counter_id, last_sequence) VALUES (1, 0)")
    op.execute(sa.text("INSERT INTO safe_mode (safe_mode_id, is_on) VALUES (1, :is_on)").bindparams(is_on=False))

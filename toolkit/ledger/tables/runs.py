"""Tables of runs: runs, their steps, leases, items and requests, and entity state (DESIGN section 6)."""

from __future__ import annotations

import sqlalchemy as sa

from toolkit.ledger.columns import Choice, Number, UtcTime, metadata, partial_index, partial_unique
from toolkit.ledger.vocabulary import ItemState, JobMode, LeaseMode, LifeCycle, RequestKind, RunStatus

_ACTIVE = "status IN ('running', 'suspended')"
_FAILED = "status IN ('failed', 'killed', 'timed_out')"
_OPEN = "status IN ('waiting', 'ready', 'running', 'suspended')"

run = sa.Table(
    "run",
    metadata,
    sa.Column("run_id", Number, primary_key=True, comment="never used twice"),
    sa.Column("life_cycle", Choice(LifeCycle), nullable=False, comment="what the run does"),
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
    sa.Column("status", Choice(RunStatus), nullable=False, comment="how far it is"),
    sa.Column("suspended_from", Choice(RunStatus), comment="where a resume leads back to"),
    sa.Column("is_forced", sa.Boolean, nullable=False, comment="starts at the first step, whatever succeeded before"),
    sa.Column("process_id", Number, sa.ForeignKey("process.process_id"), comment="of a job"),
    sa.Column("mode", Choice(JobMode), comment="of a job"),
    sa.Column("target_batch_id", Number, comment="the batch that a job makes; kept by the rerun after a failure"),
    sa.Column("target_marking", sa.Text, comment="the batch dates of all batches that a job reads"),
    sa.Column("snapshot", sa.Text, comment="the state of the config repo that was read"),
    sa.Column("digest", sa.Text, comment="of the merged entity"),
    sa.Column("versions", sa.Text, comment="of feedctl, Python and tzdata"),
    sa.Column("who", sa.Text, nullable=False, comment="the user that the run belongs to"),
    sa.Column("host", sa.Text, comment="of the owner"),
    sa.Column("pid", Number, comment="of the owner"),
    sa.Column(
        "owner_mark",
        sa.Text,
        comment="tells the owner's process from all others of its machine; empty: unknown whether it lives",
    ),
    sa.Column("application_id", sa.Text, comment="of Spark or YARN"),
    sa.Column("log_location", sa.Text, comment="where the log is, as the scheduler said"),
    sa.Column("exit_code", sa.Integer, comment="of the process"),
    sa.Column("reason", sa.Text, comment="why it ended so, or why it was skipped"),
    sa.Column("cause", sa.Text, comment="why it was ordered when that was not a person, in the action's words"),
    sa.Column("retry", sa.Integer, comment="which retry it is, from 1; empty: none"),
    sa.Column("retry_at", UtcTime, comment="when the next attempt is to begin; empty: none is to, or it has begun"),
    sa.Column("created_at", UtcTime, nullable=False, comment="when the row was written"),
    sa.Column("started_at", UtcTime, comment="when the first owner began"),
    sa.Column("heartbeat_at", UtcTime, comment="the owner's last sign of life"),
    sa.Column("ended_at", UtcTime, comment="when it was over"),
    sa.UniqueConstraint(  # in this order a range of instances is one range of the index, whatever else is asked for
        "entity", "instance_key", "life_cycle", "cluster", "counterpart", "attempt", name="uq_run_run_key"
    ),
    partial_unique("uq_run_active", "entity", "life_cycle", "cluster", "counterpart", "instance_key", where=_ACTIVE),
    partial_unique(  # with the mode, which is always the same, or SQLite takes ix_run_job and reads all jobs there were
        "uq_run_queue_job", "process_id", "mode", where=f"mode = 'queue' AND {_ACTIVE} AND started_at IS NOT NULL"
    ),
    partial_index("ix_run_open", "entity", "status", where=_OPEN),
    partial_index(  # has all that metrics count; SQLite 3.40 would read the rows for a status that is not in the index
        "ix_run_succeeded",
        *("entity", "life_cycle", "cluster", "counterpart", "ended_at", "status"),
        where="status = 'succeeded'",
    ),
    partial_index(  # counts what has succeeded without looking at a single row
        "ix_run_succeeded_key", "entity", "life_cycle", "cluster", "instance_key", where="status = 'succeeded'"
    ),
    partial_index("ix_run_failed_at", "ended_at", where=_FAILED),  # what failed of late, in a history of any length
    partial_index("ix_run_failed", "entity", "life_cycle", "cluster", "instance_key", where=_FAILED),
    partial_index(  # finds what is to be looked at again in a history of any length
        "ix_run_skipped",
        *("entity", "life_cycle", "cluster", "instance_key", "attempt", "status"),
        where="status = 'skipped'",
    ),
    partial_index("ix_run_retry_at", "retry_at", where="retry_at IS NOT NULL"),
    sa.Index("ix_run_job", "process_id", "mode", "run_id"),
    sa.Index("ix_run_target_batch_id", "target_batch_id"),
    sqlite_autoincrement=True,
    comment="one attempt of one action for one instance",
)

step_run = sa.Table(
    "step_run",
    metadata,
    sa.Column("step_run_id", Number, primary_key=True, comment="never used twice"),
    sa.Column("run_id", Number, sa.ForeignKey("run.run_id"), nullable=False, comment="the job"),
    sa.Column("step_id", Number, sa.ForeignKey("step.step_id"), nullable=False, comment="the step"),
    sa.Column("attempt", sa.Integer, nullable=False, comment="from 1 within the run"),
    sa.Column("status", Choice(RunStatus), nullable=False, comment="running, succeeded, failed or killed"),
    sa.Column("application_id", sa.Text, comment="of Spark or YARN"),
    sa.Column("log_location", sa.Text, comment="where its log is"),
    sa.Column("started_at", UtcTime, nullable=False, comment="by init_step"),
    sa.Column("ended_at", UtcTime, comment="by halt_step or term_step"),
    sa.UniqueConstraint("run_id", "step_id", "attempt"),
    partial_unique("uq_step_run_running", "run_id", "step_id", where="status = 'running'"),
    sqlite_autoincrement=True,
    comment="one attempt of one step within a job",
)

resource = sa.Table(
    "resource",
    metadata,
    sa.Column("resource", sa.String(400), primary_key=True, comment="for example evict/clicks/primary"),
    sa.Column("fence", Number, nullable=False, comment="rises with each lease that is given"),
    comment="what can be leased; its row is the lock while leases are given",
)

lease = sa.Table(
    "lease",
    metadata,
    sa.Column("resource", sa.String(400), sa.ForeignKey("resource.resource"), primary_key=True, comment="what"),
    sa.Column("run_id", Number, sa.ForeignKey("run.run_id"), primary_key=True, comment="the holder"),
    sa.Column("mode", Choice(LeaseMode), nullable=False, comment="how"),
    sa.Column("fence", Number, nullable=False, comment="the resource's number when the lease was given"),
    sa.Column("acquired_at", UtcTime, nullable=False, comment="by the database's clock"),
    sa.Column("expires_at", UtcTime, nullable=False, comment="by the database's clock; a heartbeat moves it"),
    sa.Index("ix_lease_run_id", "run_id"),
    comment="who holds what, until when",
)

item = sa.Table(
    "item",
    metadata,
    sa.Column("run_id", Number, sa.ForeignKey("run.run_id"), primary_key=True, comment="the run"),
    sa.Column("position", Number, primary_key=True, comment="in the plan, from 0"),
    sa.Column("kind", sa.String(32), nullable=False, comment="what the item is about, in the action's words"),
    sa.Column("path", sa.Text, nullable=False, comment="what the effect is on"),
    sa.Column("instance_key", sa.String(32), nullable=False, comment="empty: the item is no instance"),
    sa.Column("state", Choice(ItemState), nullable=False, comment="how far it is"),
    sa.Column("code", sa.String(64), comment="of a failure or a skip"),
    sa.Column("message", sa.Text, comment="of a failure"),
    sa.Column("intended_at", UtcTime, nullable=False, comment="before the effect"),
    sa.Column("settled_at", UtcTime, comment="when its outcome was known"),
    partial_index("ix_item_intended", "run_id", where="state = 'intended'"),
    comment="one effect of a run",
)

request = sa.Table(
    "request",
    metadata,
    sa.Column("request_id", Number, primary_key=True, comment="in the order of asking"),
    sa.Column("run_id", Number, sa.ForeignKey("run.run_id"), nullable=False, comment="whose owner is asked"),
    sa.Column("kind", Choice(RequestKind), nullable=False, comment="what is asked"),
    sa.Column("requested_by", sa.Text, nullable=False, comment="who asks"),
    sa.Column("requested_at", UtcTime, nullable=False, comment="when"),
    sa.Column("honoured_at", UtcTime, comment="when the owner, or the command itself, acted on it"),
    sa.Index("ix_request_run_id", "run_id"),
    partial_index("ix_request_open", "run_id", where="honoured_at IS NULL"),
    sqlite_autoincrement=True,
    comment="commands to the owner of a running instance",
)


entity_state = sa.Table(
    "entity_state",
    metadata,
    sa.Column("entity", sa.String(120), primary_key=True, comment="feed or process"),
    sa.Column("cluster", sa.String(120), primary_key=True, comment="empty: on every cluster"),
    sa.Column("is_suspended", sa.Boolean, nullable=False, comment="no run of it starts"),
    sa.Column("reason", sa.Text, comment="why"),
    sa.Column("changed_by", sa.Text, nullable=False, comment="who"),
    sa.Column("changed_at", UtcTime, nullable=False, comment="when"),
    sa.Column("touched_at", UtcTime, comment="when it was last touched"),
    comment="suspended entities",
)

safe_mode = sa.Table(
    "safe_mode",
    metadata,
    sa.Column("safe_mode_id", sa.Integer, primary_key=True, autoincrement=False, comment="always 1"),
    sa.Column("is_on", sa.Boolean, nullable=False, comment="nothing starts"),
    sa.Column("reason", sa.Text, comment="why"),
    sa.Column("changed_by", sa.Text, comment="who"),
    sa.Column("changed_at", UtcTime, comment="when"),
    comment="one row: whether the whole installation rests",
)

hold = sa.Table(
    "hold",
    metadata,
    sa.Column("hold_id", Number, primary_key=True, comment="never used twice"),
    sa.Column("feed", sa.String(120), nullable=False, comment="whose instances stay"),
    sa.Column("cluster", sa.String(120), comment="empty: on every cluster"),
    sa.Column("start_key", sa.String(32), comment="the first instance; empty: from the beginning"),
    sa.Column("end_key", sa.String(32), comment="the first that is free again; empty: for ever"),
    sa.Column("reason", sa.Text, nullable=False, comment="why"),
    sa.Column("owner", sa.Text, comment="whom to ask"),
    sa.Column("added_by", sa.Text, nullable=False, comment="who"),
    sa.Column("added_at", UtcTime, nullable=False, comment="when"),
    sa.Column("removed_by", sa.Text, comment="who"),
    sa.Column("removed_at", UtcTime, comment="empty: it holds"),
    sa.Index("ix_hold_feed", "feed"),
    sqlite_autoincrement=True,
    comment="instances that nothing may delete, beside those of holds.yaml",
)

file_hold = sa.Table(
    "file_hold",
    metadata,
    sa.Column("feed", sa.String(120), primary_key=True, comment="whose instances stay"),
    sa.Column("cluster", sa.String(120), primary_key=True, comment="where"),
    sa.Column("path", sa.Text, nullable=False, comment="of the file"),
    sa.Column("reason", sa.Text, nullable=False, comment="what the file says"),
    sa.Column("first_seen_at", UtcTime, nullable=False, comment="since then each run has met a hold file"),
    sa.Column("last_seen_at", UtcTime, nullable=False, comment="by the last run"),
    comment="files that hold a feed, as its last run of retention met them",
)

command = sa.Table(
    "command",
    metadata,
    sa.Column("command_id", Number, primary_key=True, comment="in the order of asking"),
    sa.Column("command", sa.String(64), nullable=False, comment="for example entity suspend"),
    sa.Column("subject", sa.Text, nullable=False, comment="what it was about"),
    sa.Column("detail", sa.Text, comment="range, reason"),
    sa.Column("has_changed", sa.Boolean, nullable=False, comment="false: it was so already, or the state was wrong"),
    sa.Column("who", sa.Text, nullable=False, comment="who"),
    sa.Column("at", UtcTime, nullable=False, comment="when"),
    sqlite_autoincrement=True,
    comment="who did what to the state of entities and instances",
)

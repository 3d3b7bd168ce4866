"""The steps of a job that runs: InitStep, HaltStep, TermStep (BDRE); and what runs write down (BDRE, PROCESS_LOG)."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from datetime import datetime
from functools import partial

import sqlalchemy as sa

from toolkit.ledger.columns import is_one_of
from toolkit.ledger.database import Transaction, in_chunks
from toolkit.ledger.jobs.current import begun_job, running_job, step_runs
from toolkit.ledger.jobs.errors import StepIsRunning, StepNotRunning
from toolkit.ledger.jobs.reference import IS_ACTIVE, PROCESS_ID, ByReference, Conditions, values_of
from toolkit.ledger.jobs.rows import JobRef, StepRun
from toolkit.ledger.registry.lookup import any_step, locked_process, unknown_step
from toolkit.ledger.registry.registration import Site, UnknownStep
from toolkit.ledger.runs.queries import get
from toolkit.ledger.statements import InsertOr, Timed, given
from toolkit.ledger.tables import process_log, queue, run, step, step_run
from toolkit.ledger.vocabulary import QueueState, RunStatus


def init_step(
    tx: Transaction,
    ref: JobRef,
    step: str,
    *,
    application_id: str | None = None,
    log_location: str | None = None,
) -> StepRun:
    """Mark the start of a step, and of reading its batches; a step that failed may start again in the same job.

    Args:
        tx: the transaction.
        ref: the job.
        step: its name.
        application_id: of Spark or YARN.
        log_location: where its log is.

    Raises:
        UnknownProcess: the process was never registered.
        UnknownStep: the config repo has no such step.
        JobNotRunning: the job was not begun, or is over.
        JobIsSuspended: it is suspended in the middle.
        StepIsRunning: the step runs already.
    """
    values = {"application_id": application_id, "log_location": log_location}
    begun = tx.execute_timed(_BEGUN(ref), {**values_of(ref), _NAME: step, **values}).mappings().first()
    if begun is None:
        raise _why_not_begun(tx, ref, step)
    tx.execute(_ACCESSED, {"of_run": begun["run_id"], "of_step": begun["step_id"], "at": begun["started_at"]})
    return StepRun(step=step, **begun)


def _why_not_begun(tx: Transaction, ref: JobRef, step: str) -> StepIsRunning:
    """Return the error that a running job prevents the start of a step; other reasons are raised."""
    owner = locked_process(tx, ref.site)
    if any_step(tx, owner, step).is_deleted:
        raise unknown_step(tx, owner, step)
    return StepIsRunning(run=running_job(tx, ref).run, steps=[step])


def halt_step(tx: Transaction, ref: JobRef, step: str) -> StepRun:
    """Mark the completion of a step: its batches are processed.

    Raises:
        UnknownProcess: the process was never registered.
        UnknownStep: it never had such a step.
        JobNotRunning: the job was not begun, or is over.
        StepNotRunning: the step was not begun, or is over.
    """
    return _end(tx, ref, step, _Ending(status=RunStatus.SUCCEEDED, state=QueueState.PROCESSED))


def term_step(tx: Transaction, ref: JobRef, step: str) -> StepRun:
    """Record that a step failed: its batches are failed, and a rerun takes them again.

    Raises:
        UnknownProcess: the process was never registered.
        UnknownStep: it never had such a step.
        JobNotRunning: the job was not begun, or is over.
        StepNotRunning: the step was not begun, or is over.
    """
    return _end(tx, ref, step, _Ending(status=RunStatus.FAILED, state=QueueState.FAILED))


def name_application(tx: Transaction, ref: JobRef, step: str, application_id: str | None) -> None:
    """Note by what number Spark or YARN knows a step that runs, as soon as that is known.

    Raises:
        UnknownProcess: the process was never registered.
        UnknownStep: it never had such a step.
        JobNotRunning: the job was not begun, or is over.
    """
    owner = locked_process(tx, ref.site)
    step_id, run_id = any_step(tx, owner, step).step_id, begun_job(tx, ref).run.run_id
    mine = (step_run.c.run_id == run_id, step_run.c.step_id == step_id, _IS_RUNNING)
    tx.execute(sa.update(step_run).where(*mine).values(application_id=application_id))


@dataclass(frozen=True, kw_only=True, slots=True)
class _Ending:
    """End of a step, and what becomes of its batches."""

    status: RunStatus
    state: QueueState


def _end(tx: Transaction, ref: JobRef, step: str, ending: _Ending) -> StepRun:
    ended = tx.execute_timed(_ENDED(ref), {**values_of(ref), _NAME: step, "to": ending.status}).mappings().first()
    if ended is None:
        raise _why_not_ended(tx, ref, step)
    of_step = {"of_run": ended["run_id"], "of_step": ended["step_id"]}
    tx.execute(_OVER, {**of_step, "at": ended["ended_at"], "batches_to": ending.state})
    return StepRun(step=step, **ended)


def _why_not_ended(tx: Transaction, ref: JobRef, step: str) -> StepNotRunning:
    """Return the error that a step does not run, and so cannot end; other reasons are raised."""
    owner = locked_process(tx, ref.site)
    any_step(tx, owner, step)
    return StepNotRunning(run=begun_job(tx, ref).run, step=step)


_NAME = "of_name"
_IS_STEP = (step.c.process_id == PROCESS_ID, step.c.name == given(step.c.name, _NAME))
_IS_RUNNING = is_one_of(step_run.c.status, RunStatus.RUNNING)


def _begun_by(is_meant: Conditions, now: sa.ColumnElement[datetime]) -> sa.Insert:
    """Writes the next attempt of a step down, when it may begin.

    The job's row is locked by it, as by all that ends the job. Of two that begin the same step, each of which does not
    see the other's row yet, the second one meets it as a conflict.
    """
    attempts = sa.select(step_run.c.attempt).where(
        step_run.c.run_id == run.c.run_id, step_run.c.step_id == step.c.step_id
    )
    newest = attempts.with_only_columns(sa.func.coalesce(sa.func.max(step_run.c.attempt), 0)).correlate(run, step)
    row = (
        sa.select(
            run.c.run_id,
            step.c.step_id,
            newest.scalar_subquery() + 1,
            sa.literal_column(f"'{RunStatus.RUNNING.value}'", step_run.c.status.type),
            given(step_run.c.application_id),
            given(step_run.c.log_location),
            now,
        )
        .select_from(sa.join(run, step, sa.true()))
        .where(
            *_IS_STEP,
            step.c.is_deleted.is_(sa.false()),
            *IS_ACTIVE,
            *is_meant,
            is_one_of(run.c.status, RunStatus.RUNNING),
            run.c.target_batch_id.is_not(None),
            ~sa.exists(attempts.where(_IS_RUNNING).correlate(run, step)),
        )
        .with_for_update(key_share=True, of=run)
    )
    columns = ["run_id", "step_id", "attempt", "status", "application_id", "log_location", "started_at"]
    return InsertOr(step_run).from_select(columns, row).returning(step_run)


_OF_JOB = sa.select(run.c.target_batch_id).where(run.c.run_id == given(run.c.run_id, "of_run")).scalar_subquery()
_READ = sa.update(queue).where(queue.c.target_batch_id == _OF_JOB, queue.c.step_id == given(queue.c.step_id, "of_step"))
"""The batches that a step of a job reads."""
_ACCESSED = _READ.values(
    state=sa.literal_column(f"'{QueueState.ACCESSED.value}'", queue.c.state.type),
    started_at=given(queue.c.started_at, "at"),
    ended_at=sa.null(),
)
_OVER = _READ.values(state=given(queue.c.state, "batches_to"), ended_at=given(queue.c.ended_at, "at"))
_BEGUN = ByReference(lambda is_meant: Timed(partial(_begun_by, is_meant)))


def _ended_by(is_meant: Conditions, now: sa.ColumnElement[datetime]) -> sa.Update:
    """Ends a step that runs."""
    of_run = sa.select(run.c.run_id).where(*IS_ACTIVE, *is_meant, run.c.target_batch_id.is_not(None)).scalar_subquery()
    of_step = sa.select(step.c.step_id).where(*_IS_STEP).scalar_subquery()
    is_it = (step_run.c.run_id == of_run, step_run.c.step_id == of_step, _IS_RUNNING)
    to = sa.bindparam("to", type_=step_run.c.status.type)
    return sa.update(step_run).where(*is_it).values(status=to, ended_at=now).returning(step_run)


_ENDED = ByReference(lambda is_meant: Timed(partial(_ended_by, is_meant)))


@dataclass(frozen=True, kw_only=True, slots=True)
class LogLine:
    """An entry.

    Attributes:
        step: None: about the run as a whole.
        category: for example ``import`` or ``data-quality``.
    """

    log_id: int
    run_id: int
    step: str | None
    category: str
    message: str
    logged_at: datetime


def write_log(tx: Transaction, run_id: int, category: str, message: str, *, step_name: str | None = None) -> LogLine:
    """Write an entry; a run that is over may still be written about.

    Args:
        tx: the transaction.
        run_id: the run that says it.
        category: for example ``import`` or ``data-quality``.
        message: what it says.
        step_name: the step that it is about; None: the run as a whole.

    Raises:
        UnknownRun: there is no such run.
        UnknownStep: the run's process never had such a step.
    """
    owner = get(tx, run_id)
    step_id = (
        None
        if step_name is None
        else _step_id(tx, owner.process_id, Site(name=owner.entity, cluster=owner.cluster), step_name)
    )
    now = tx.now()
    number = tx.insert(process_log, run_id=run_id, step_id=step_id, category=category, message=message, logged_at=now)
    return LogLine(log_id=number, run_id=run_id, step=step_name, category=category, message=message, logged_at=now)


_NEWEST_ENTRY = (
    sa.select(process_log.c.message)
    .where(*(process_log.c[each] == given(process_log.c[each]) for each in ("run_id", "step_id", "category")))
    .order_by(process_log.c.log_id.desc())
    .limit(1)
)


def newest_entry(tx: Transaction, run_id: int, step_id: int, category: str) -> str | None:
    """Return what a run wrote last about a step in one category; None: nothing."""
    values = {"run_id": run_id, "step_id": step_id, "category": category}
    found: str | None = tx.execute(_NEWEST_ENTRY, values).scalar()
    return found


def read_log(tx: Transaction, run_id: int, category: str | None = None) -> tuple[LogLine, ...]:
    """The entries of a run, in the order of writing; of one category, or all.

    Raises:
        UnknownRun: there is no such run.
    """
    get(tx, run_id)
    columns = [process_log.c[each] for each in ("log_id", "run_id", "category", "message", "logged_at")]
    wanted = (
        sa.select(*columns, step.c.name.label("step"))
        .outerjoin(step, step.c.step_id == process_log.c.step_id)
        .where(process_log.c.run_id == run_id)
        .order_by(process_log.c.log_id)
    )
    if category is not None:
        wanted = wanted.where(process_log.c.category == category)
    return tuple(tx.rows(LogLine, wanted))


def _step_id(tx: Transaction, process_id: int | None, site: Site, name: str) -> int:
    of_process = sa.select(step.c.name, step.c.step_id).where(step.c.process_id == process_id)
    known: dict[str, int] = dict(tx.execute(of_process.order_by(step.c.position)).tuples().all())
    if name not in known:
        raise UnknownStep(site=site, step=name, known=tuple(known))
    return known[name]


def steps_of(tx: Transaction, run_ids: Collection[int]) -> list[StepRun]:
    """The attempts at steps of these runs, in the order in which they began."""
    of_chunks = (step_runs().where(step_run.c.run_id.in_(chunk)) for chunk in in_chunks(run_ids))
    return [found for statement in of_chunks for found in tx.rows(StepRun, statement)]


def lines_of(tx: Transaction, run_ids: Collection[int]) -> list[LogLine]:
    """Return the log lines of runs, in the order of writing."""
    columns = [process_log.c[each] for each in ("log_id", "run_id", "category", "message", "logged_at")]
    written = (
        sa.select(*columns, step.c.name.label("step"))
        .outerjoin(step, step.c.step_id == process_log.c.step_id)
        .order_by(process_log.c.log_id)
    )
    of_chunks = (written.where(process_log.c.run_id.in_(chunk)) for chunk in in_chunks(run_ids))
    return [found for statement in of_chunks for found in tx.rows(LogLine, statement)]

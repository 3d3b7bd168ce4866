"""The steps of a job that runs: InitStep, HaltStep, TermStep (BDRE); and what runs write down (BDRE, PROCESS_LOG)."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import asdict, dataclass
from datetime import datetime

import sqlalchemy as sa

from toolkit.ledger.columns import is_one_of
from toolkit.ledger.database import Transaction, in_chunks
from toolkit.ledger.jobs.current import Job, begun_job, running_job, step_runs
from toolkit.ledger.jobs.errors import StepIsRunning, StepNotRunning
from toolkit.ledger.jobs.rows import JobRef, StepRun
from toolkit.ledger.registry.reading import RegisteredStep, any_step, locked_process, unknown_step
from toolkit.ledger.registry.registration import Site, UnknownStep
from toolkit.ledger.runs.finding import get
from toolkit.ledger.tables import process_log, queue, step, step_run
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
    owner = locked_process(tx, ref.site)
    known = any_step(tx, owner, step)
    if known.is_deleted:
        raise unknown_step(tx, owner, step)
    job = running_job(tx, owner, ref)
    last = _last(tx, job, known)
    if last is not None and last.status is RunStatus.RUNNING:
        raise StepIsRunning(run=job.run, steps=[step])
    begun = _Begun(application_id=application_id, log_location=log_location, started_at=tx.now())
    row = sa.insert(step_run).values(
        run_id=job.run.run_id,
        step_id=known.step_id,
        attempt=1 if last is None else last.attempt + 1,
        status=RunStatus.RUNNING,
        **asdict(begun),
    )
    written = tx.execute(row.returning(step_run)).mappings().one()
    _mark_batches(tx, job, known, {"state": QueueState.ACCESSED, "started_at": begun.started_at, "ended_at": None})
    return StepRun(step=step, **written)


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


@dataclass(frozen=True, kw_only=True, slots=True)
class _Begun:
    """What is said about a step that begins."""

    application_id: str | None
    log_location: str | None
    started_at: datetime


@dataclass(frozen=True, kw_only=True, slots=True)
class _Ending:
    """How a step ends, and what becomes of its batches."""

    status: RunStatus
    state: QueueState


def _end(tx: Transaction, ref: JobRef, step: str, ending: _Ending) -> StepRun:
    owner = locked_process(tx, ref.site)
    known = any_step(tx, owner, step)
    job = begun_job(tx, owner, ref)
    now = tx.now()
    ended = (
        sa.update(step_run)
        .where(*_of(job, known), is_one_of(step_run.c.status, RunStatus.RUNNING))
        .values(status=ending.status, ended_at=now)
        .returning(step_run)
    )
    written = tx.execute(ended).mappings().first()
    if written is None:
        raise StepNotRunning(run=job.run, step=step)
    _mark_batches(tx, job, known, {"state": ending.state, "ended_at": now})
    return StepRun(step=step, **written)


def _last(tx: Transaction, job: Job, step: RegisteredStep) -> StepRun | None:
    """The newest attempt of the step within the job."""
    name = sa.literal(step.name).label("step")
    newest = sa.select(*step_run.c, name).where(*_of(job, step)).order_by(step_run.c.attempt.desc()).limit(1)
    return tx.row(StepRun, newest)


def _of(job: Job, step: RegisteredStep) -> tuple[sa.ColumnElement[bool], ...]:
    return (step_run.c.run_id == job.run.run_id, step_run.c.step_id == step.step_id)


def _mark_batches(tx: Transaction, job: Job, step: RegisteredStep, values: dict[str, object]) -> None:
    mine = (queue.c.target_batch_id == job.target_batch_id, queue.c.step_id == step.step_id)
    tx.execute(sa.update(queue).where(*mine).values(values))


@dataclass(frozen=True, kw_only=True, slots=True)
class LogLine:
    """One entry.

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
    """What these runs wrote down, in the order of writing."""
    columns = [process_log.c[each] for each in ("log_id", "run_id", "category", "message", "logged_at")]
    written = (
        sa.select(*columns, step.c.name.label("step"))
        .outerjoin(step, step.c.step_id == process_log.c.step_id)
        .order_by(process_log.c.log_id)
    )
    of_chunks = (written.where(process_log.c.run_id.in_(chunk)) for chunk in in_chunks(run_ids))
    return [found for statement in of_chunks for found in tx.rows(LogLine, statement)]

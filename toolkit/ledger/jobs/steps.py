"""InitStep, HaltStep and TermStep: the steps of a job that runs (BDRE)."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from datetime import datetime

import sqlalchemy as sa

from toolkit.ledger.columns import is_one_of
from toolkit.ledger.jobs.current import Job, begun_job, running_job
from toolkit.ledger.jobs.errors import StepIsRunning, StepNotRunning
from toolkit.ledger.jobs.rows import JobRef, StepRun
from toolkit.ledger.registry.reading import RegisteredStep, any_step, locked_process, unknown_step
from toolkit.ledger.tables import queue, step_run
from toolkit.ledger.transaction import Transaction
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

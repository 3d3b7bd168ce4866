"""HaltJob and TermJob: a job is complete, and its batch goes to who reads it; or it ends otherwise (BDRE)."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

import sqlalchemy as sa

from toolkit.ledger.batches import making
from toolkit.ledger.batches.making import announce, enqueue_downstream
from toolkit.ledger.batches.rows import FeedInstance, attach, joined
from toolkit.ledger.database import Transaction
from toolkit.ledger.jobs.current import Chain, Job, begun_job, chain_of, not_done, running_job
from toolkit.ledger.jobs.errors import StepIsRunning, StepsNotDone
from toolkit.ledger.jobs.rows import HaltedJob, JobRef
from toolkit.ledger.registry.reading import live_steps, locked_process
from toolkit.ledger.runs import finding, status
from toolkit.ledger.runs.rows import Run
from toolkit.ledger.runs.status import change
from toolkit.ledger.statements import given
from toolkit.ledger.tables import archive, process, queue
from toolkit.ledger.vocabulary import JobMode, RunStatus


def halt_job(
    tx: Transaction,
    ref: JobRef,
    *,
    marking: str | None = None,
    outputs: Sequence[FeedInstance] = (),
    is_made_otherwise: bool = False,
) -> HaltedJob:
    """Mark the completion of a job, publish its batch, enqueue it downstream, and archive what the job read.

    Args:
        tx: the transaction.
        ref: which job.
        marking: of the batch; None: the target marking, or the instance that the job ran for.
        outputs: the instances that the batch stands for; an event goes out for each.
        is_made_otherwise: not the steps made it but a workflow for late data, so none of them need have succeeded.

    Raises:
        UnknownProcess: the process was never registered.
        JobNotRunning: it was not begun, or is over.
        JobIsSuspended: it is suspended in the middle.
        StepIsRunning: a step of it runs.
        StepsNotDone: a live step has not succeeded.
    """
    job = running_job(tx, locked_process(tx, ref.site), ref)
    _refuse_open_steps(tx, job, is_made_otherwise=is_made_otherwise)
    ended = status.change(tx, job.run.run_id, RunStatus.SUCCEEDED)
    now, marking = ended.ended_at or tx.now(), joined([_default(job.run) if marking is None else marking])
    downstream = enqueue_downstream(tx, job.process.process_id, job.target_batch_id, marking, now)
    archived = _archive(tx, job.target_batch_id, now)
    making.publish(tx, job.target_batch_id, marking, now)
    made = attach(tx, job.target_batch_id, outputs)
    return HaltedJob(
        run=ended,
        batch_id=job.target_batch_id,
        marking=marking,
        downstream=downstream,
        archived=archived,
        events=announce(tx, made, ended.run_id),
    )


def refuse_running_steps(job: Run, chain: Chain) -> None:
    """Return when no step of a job runs.

    Raises:
        StepIsRunning: naming all that do.
    """
    if chain.running:
        raise StepIsRunning(run=job, steps=chain.running)


def _refuse_open_steps(tx: Transaction, job: Job, *, is_made_otherwise: bool) -> None:
    chain = chain_of(tx, job.run)
    refuse_running_steps(job.run, chain)
    if is_made_otherwise:
        return
    steps = live_steps(tx, job.process.process_id)
    open_steps = not_done(steps, chain.earlier, chain.own, is_forced=job.run.is_forced)
    if open_steps:
        raise StepsNotDone(run=job.run, steps=[each.name for each in open_steps])


def _default(job: Run) -> str | None:
    return job.instance_key if job.mode is JobMode.INSTANCE else job.target_marking


def _archive(tx: Transaction, target_batch_id: int, now: datetime) -> int:
    """Move the rows that the batch was made from, with their numbers."""
    moved = tx.execute(_ARCHIVED, {"of_batch": target_batch_id, "at": now}).rowcount
    if moved:
        tx.execute(_TAKEN_OUT, {"of_batch": target_batch_id})
    return moved


_MINE = queue.c.target_batch_id == given(queue.c.target_batch_id, "of_batch")
_ARCHIVED = (
    sa.insert(archive)
    .from_select(
        [*(each.name for each in queue.c), archive.c.archived_at.name],
        sa.select(*queue.c, given(archive.c.archived_at, "at")).where(_MINE),
    )
    .execution_options(preserve_rowcount=True)
)
_TAKEN_OUT = sa.delete(queue).where(_MINE)


def term_job(tx: Transaction, ref: JobRef, *, reason: str | None = None) -> Run:
    """Record that a job failed: the batches that its steps have not processed are failed, and stay in the queue.

    Nothing is enqueued and nothing archived; the next job takes the same batches again.

    Args:
        tx: the transaction.
        ref: which job.
        reason: why, for people.

    Raises:
        UnknownProcess: the process was never registered.
        JobNotRunning: it was not begun, or is over.
        JobIsSuspended: it is suspended in the middle.
        StepIsRunning: a step of it runs; term-step comes first.
    """
    job = running_job(tx, locked_process(tx, ref.site), ref)
    refuse_running_steps(job.run, chain_of(tx, job.run))
    return change(tx, job.run.run_id, RunStatus.FAILED, reason=reason)


def abort_running(tx: Transaction, ref: JobRef, *, reason: str) -> Run:
    """As `abort_job`, for the job that a reference means.

    Raises:
        UnknownProcess: the process was never registered.
        JobNotRunning: it was not begun, or is over.
    """
    job = begun_job(tx, locked_process(tx, ref.site), ref)
    return change(tx, job.run.run_id, RunStatus.KILLED, reason=reason)


def abort_job(tx: Transaction, run_id: int, *, reason: str, status: RunStatus = RunStatus.KILLED) -> Run:
    """End a job whose workflow is dead or shall not go on, whatever its steps do; they end with it.

    Args:
        tx: the transaction.
        run_id: the job.
        reason: why, for people.
        status: KILLED, FAILED or TIMED_OUT.

    Raises:
        UnknownRun: there is no such run.
        IllegalTransition: it is over already; nothing was changed.
    """
    job = finding.get(tx, run_id)
    owner = sa.select(process.c.process_id).where(process.c.process_id == job.process_id)
    tx.execute(tx.locked(owner)).all()
    return change(tx, run_id, status, reason=reason)

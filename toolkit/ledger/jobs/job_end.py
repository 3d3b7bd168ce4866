"""HaltJob and TermJob: a job is complete, and its batch goes to who reads it; or it ends otherwise (BDRE)."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

import sqlalchemy as sa

from toolkit.ledger import lineage
from toolkit.ledger.batches import creation
from toolkit.ledger.batches.creation import enqueue_new
from toolkit.ledger.batches.rows import FeedInstance, attach, joined
from toolkit.ledger.batches.updates import JobUpdates, announce
from toolkit.ledger.database import Transaction
from toolkit.ledger.jobs.current import Chain, Job, begun_job, chain_of, not_done, running_job
from toolkit.ledger.jobs.errors import StepIsRunning, StepsNotDone
from toolkit.ledger.jobs.rows import HaltedJob, JobRef
from toolkit.ledger.registry.lookup import live_steps
from toolkit.ledger.runs import queries, status
from toolkit.ledger.runs.rows import Run
from toolkit.ledger.runs.status import change
from toolkit.ledger.statements import Timed, given
from toolkit.ledger.tables import archive, process, queue, run, step, step_run
from toolkit.ledger.vocabulary import JobMode, RunStatus


def halt_job(
    tx: Transaction,
    ref: JobRef,
    *,
    marking: str | None = None,
    outputs: Sequence[FeedInstance] = (),
    is_made_otherwise: bool = False,
    updates: JobUpdates | None = None,
) -> HaltedJob:
    """Mark the completion of a job, publish its batch, enqueue it downstream, and archive what the job read.

    Args:
        tx: the transaction.
        ref: which job.
        marking: of the batch; None: the target marking, or the instance that the job ran for.
        outputs: the instances that the batch stands for.
        is_made_otherwise: not the steps made it but a workflow for late data, so none of them need have succeeded.
        updates: which outputs changed, and what else was updated; None: an event goes out for each output alone.

    Raises:
        UnknownProcess: the process was never registered.
        JobNotRunning: it was not begun, or is over.
        JobIsSuspended: it is suspended in the middle.
        StepIsRunning: a step of it runs.
        StepsNotDone: a live step has not succeeded.
    """
    job = running_job(tx, ref)
    ended = _ended_at_once(tx, job)
    if ended is None:
        _refuse_open_steps(tx, job, is_made_otherwise=is_made_otherwise)
        ended = status.change(tx, job.run.run_id, RunStatus.SUCCEEDED)
    now, marking = ended.ended_at or tx.now(), joined([_default(job.run) if marking is None else marking])
    downstream = enqueue_new(tx, job.process_id, job.target_batch_id, marking, now)
    archived = _archive(tx, job.target_batch_id, now)
    creation.publish(tx, job.target_batch_id, marking, now)
    made = attach(tx, job.target_batch_id, outputs)
    _record_lineage(tx, ended, outputs, updates)
    return HaltedJob(
        run=ended,
        batch_id=job.target_batch_id,
        marking=marking,
        downstream=downstream,
        archived=archived,
        events=announce(tx, made, ended.run_id, updates),
    )


def _record_lineage(tx: Transaction, ended: Run, outputs: Sequence[FeedInstance], updates: JobUpdates | None) -> None:
    """Record inputs, outputs that are announced or not, and the feed instances that the job has updated besides."""
    known = JobUpdates() if updates is None else updates
    also = (
        FeedInstance(feed=each.feed, cluster=each.cluster, instance_key=each.instance_key)
        for each in known.outlets
        if each.feed and each.instance_key
    )
    lineage.record_job(tx, ended, {each: known.digests.get(each) for each in (*outputs, *also)}, known.read)


def _ended_at_once(tx: Transaction, job: Job) -> Run | None:
    """End a job each of whose live steps has succeeded in it at once, as nearly all do; None: look closer."""
    row = tx.execute_timed(_ENDED, {"of_run": job.run.run_id}).mappings().first()
    if row is None:
        return None
    ended = Run(**row)
    status.tidy(tx, ended, ended.ended_at or tx.now())
    return ended


def _ended(now: sa.ColumnElement[datetime]) -> sa.Update:
    of_job = sa.select(step_run.c.step_run_id).where(step_run.c.run_id == run.c.run_id)
    has_run = sa.exists(of_job.where(step_run.c.step_id == step.c.step_id).correlate(run, step))
    has_not_run = sa.select(step.c.step_id).where(
        step.c.process_id == run.c.process_id, step.c.is_deleted.is_(sa.false()), ~has_run
    )
    has_failed = of_job.where(step_run.c.status != RunStatus.SUCCEEDED)
    return status.changing(RunStatus.SUCCEEDED, now).where(
        ~sa.exists(has_not_run.correlate(run)), ~sa.exists(has_failed.correlate(run))
    )


_ENDED = Timed(_ended)


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
    steps = live_steps(tx, job.process_id)
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
    job = running_job(tx, ref)
    refuse_running_steps(job.run, chain_of(tx, job.run))
    return change(tx, job.run.run_id, RunStatus.FAILED, reason=reason)


def abort_running(tx: Transaction, ref: JobRef, *, reason: str) -> Run:
    """Do as `abort_job` does, for the job that a reference means.

    Raises:
        UnknownProcess: the process was never registered.
        JobNotRunning: it was not begun, or is over.
    """
    job = begun_job(tx, ref)
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
    job = queries.get(tx, run_id)
    owner = sa.select(process.c.process_id).where(process.c.process_id == job.process_id)
    tx.execute(tx.locked(owner)).all()
    return change(tx, run_id, status, reason=reason)

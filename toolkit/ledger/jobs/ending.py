"""TermJob, and the end of a job from outside (BDRE, TermJob API)."""

from __future__ import annotations

import sqlalchemy as sa

from toolkit.ledger.jobs.current import begun_job, running_job
from toolkit.ledger.jobs.halting import refuse_running_steps
from toolkit.ledger.jobs.outcomes import chain_of
from toolkit.ledger.jobs.refs import JobRef
from toolkit.ledger.registry.finding import locked_process
from toolkit.ledger.runs import finding
from toolkit.ledger.runs.rows import Run
from toolkit.ledger.runs.status import change
from toolkit.ledger.tables import process
from toolkit.ledger.transaction import Transaction
from toolkit.ledger.vocabulary import RunStatus


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

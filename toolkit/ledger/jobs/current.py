"""The job that a call means, while it runs; jobs that are not over, and batches that were begun and not finished."""

from __future__ import annotations

from dataclasses import asdict, dataclass

import sqlalchemy as sa

from toolkit.ledger.columns import is_one_of
from toolkit.ledger.jobs.errors import JobIsSuspended, JobNotRunning
from toolkit.ledger.jobs.rows import JobRef, key_of
from toolkit.ledger.registry.reading import RegisteredProcess, any_process
from toolkit.ledger.runs import finding
from toolkit.ledger.runs.rows import Run, RunKey
from toolkit.ledger.tables import batch, run
from toolkit.ledger.transaction import Transaction
from toolkit.ledger.vocabulary import BatchState, JobMode, RunStatus


@dataclass(frozen=True, kw_only=True, slots=True)
class Job:
    """A job that runs, and its process; both rows are locked until the transaction ends.

    Attributes:
        target_batch_id: the batch that it makes.
    """

    process: RegisteredProcess
    run: Run
    target_batch_id: int


def running_job(tx: Transaction, owner: RegisteredProcess, ref: JobRef) -> Job:
    """The job that a reference means; that its process left the config repo meanwhile does not matter.

    Args:
        tx: the transaction.
        owner: the process, locked.
        ref: which job.

    Raises:
        JobNotRunning: it was not begun, or is over.
        JobIsSuspended: it is suspended in the middle.
    """
    job = begun_job(tx, owner, ref)
    if job.run.status is RunStatus.SUSPENDED:
        raise JobIsSuspended(run=job.run)
    return job


def begun_job(tx: Transaction, owner: RegisteredProcess, ref: JobRef) -> Job:
    """As `running_job`, and a job that is suspended in the middle will do."""
    found = _active(tx, owner, ref)
    if found is None or found.target_batch_id is None:
        raise JobNotRunning(ref=ref, last=_newest(tx, owner, ref))
    return Job(process=owner, run=found, target_batch_id=found.target_batch_id)


def _active(tx: Transaction, owner: RegisteredProcess, ref: JobRef) -> Run | None:
    """The job that runs or is suspended in the middle, locked; of the queue, or of the instance."""
    active = (is_one_of(run.c.status, *finding.ACTIVE), run.c.started_at.is_not(None))
    return tx.row(Run, tx.locked(sa.select(run).where(*active, *_of(owner, ref))))


def newest_job(tx: Transaction, ref: JobRef) -> Run:
    """The newest attempt, whatever became of it.

    Raises:
        UnknownProcess: the process was never registered.
        JobNotRunning: there is none.
    """
    found = _newest(tx, any_process(tx, ref.site), ref)
    if found is None:
        raise JobNotRunning(ref=ref, last=None)
    return found


def _newest(tx: Transaction, owner: RegisteredProcess, ref: JobRef) -> Run | None:
    return tx.row(Run, sa.select(run).where(*_of(owner, ref)).order_by(run.c.run_id.desc()).limit(1))


def _of(owner: RegisteredProcess, ref: JobRef) -> list[sa.ColumnElement[bool]]:
    if ref.instance_key is None:
        return [run.c.process_id == owner.process_id, is_one_of(run.c.mode, JobMode.QUEUE)]
    key = key_of(ref.site, ref.instance_key)
    return [
        run.c.entity == key.entity,
        run.c.life_cycle == key.life_cycle,
        run.c.cluster == key.cluster,
        run.c.counterpart == key.counterpart,
        run.c.instance_key == key.instance_key,
    ]


def open_in_queue(tx: Transaction, process: RegisteredProcess) -> tuple[Run, ...]:
    """The jobs of a process on the queue that are not over, the oldest first: one that runs, and ordered reruns."""
    wanted = sa.select(run).where(
        run.c.entity == process.name,
        is_one_of(run.c.status, *finding.OPEN),
        run.c.cluster == process.cluster,  # not process_id: SQLite would take ix_run_job and read all jobs there were
        run.c.mode == JobMode.QUEUE,
    )
    return tuple(tx.rows(Run, wanted.order_by(run.c.run_id)))


def unfinished_in_queue(tx: Transaction, process_id: int) -> Run | None:
    """The last attempt at a batch that a job on the queue began and none has finished; the oldest batch first.

    It is the state of the batch that tells, not rows that were left in the queue, nor the order of starts.
    """
    unfinished = (
        sa.select(run)
        .join(batch, batch.c.source_run_id == run.c.run_id)
        .where(
            batch.c.process_id == process_id,
            is_one_of(batch.c.state, BatchState.ALLOCATED),
            run.c.mode == JobMode.QUEUE,
        )
    )
    return tx.row(Run, unfinished.order_by(batch.c.batch_id).limit(1))


def unfinished_of(tx: Transaction, key: RunKey) -> int | None:
    """The batch that the last attempt of a key began to make, unless it was finished."""
    newest = (
        sa.select(run.c.target_batch_id, batch.c.state)
        .join(batch, batch.c.batch_id == run.c.target_batch_id)
        .where(*(run.c[name] == value for name, value in asdict(key).items()))
        .order_by(run.c.attempt.desc())
        .limit(1)
    )
    found = tx.execute(newest).first()
    return int(found[0]) if found is not None and found[1] is BatchState.ALLOCATED else None

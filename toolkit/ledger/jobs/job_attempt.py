"""Start of a job in either mode: its row, its target batch, and the steps that it has to run."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime

from toolkit.ledger.batches import creation
from toolkit.ledger.database import Transaction
from toolkit.ledger.jobs.current import chain_of, steps_to_run
from toolkit.ledger.jobs.errors import JobIsRunning
from toolkit.ledger.jobs.rows import JobRef, queue_key
from toolkit.ledger.registry.lookup import RegisteredProcess, RegisteredStep, live_steps
from toolkit.ledger.runs import attempts, queries
from toolkit.ledger.runs.rows import JobFacts, Origin, Run, RunKey


@dataclass(frozen=True, kw_only=True, slots=True)
class Start:
    """A job that is about to begin.

    Attributes:
        process: its process, locked.
        ref: which job.
        owner: who begins it; or the run, locked, that is to be the job, as forced as it is to be.
        steps: the live ones, in their order.
    """

    process: RegisteredProcess
    ref: JobRef
    owner: Origin | Run
    steps: tuple[RegisteredStep, ...]

    @classmethod
    def of(cls, tx: Transaction, process: RegisteredProcess, ref: JobRef, owner: Origin | Run) -> Start:
        """The start of a job of this process."""
        return cls(process=process, ref=ref, owner=owner, steps=live_steps(tx, process.process_id))


@dataclass(frozen=True, kw_only=True, slots=True)
class Begun:
    """A job whose row is written; its batches are still to be taken.

    Attributes:
        process: its process, locked.
        run: the job.
        target_batch_id: the batch that it makes.
        steps: the live ones, in their order.
        due: those that have to run.
        is_rerun: an earlier attempt at the same batch did not succeed.
    """

    process: RegisteredProcess
    run: Run
    target_batch_id: int
    steps: tuple[RegisteredStep, ...]
    due: tuple[RegisteredStep, ...]
    is_rerun: bool

    @property
    def due_ids(self) -> Sequence[int]:
        """The numbers of the steps that have to run."""
        return [each.step_id for each in self.due]


def refuse_active(open_jobs: Iterable[Run]) -> None:
    """Return when none of these jobs runs; one that was suspended before it began keeps only itself from beginning.

    Raises:
        JobIsRunning: one runs, or is suspended in the middle.
    """
    for each in open_jobs:
        if each.status in queries.ACTIVE and each.started_at is not None:
            raise JobIsRunning(run=each)


def begin_new(tx: Transaction, start: Start, key: RunKey | None = None, *, is_first: bool = False) -> Begun:
    """Begin to make a new batch: every step has to run.

    Args:
        tx: the transaction.
        start: the job.
        key: None: that of a job on the queue, which has the number of the batch in it.
        is_first: the caller knows of no attempt.
    """
    target_batch_id, at = creation.allocate(tx, start.process.process_id)
    key = key or queue_key(start.process.site, target_batch_id)
    begun = _begin(tx, start, key, target_batch_id, at=at, is_first=is_first)
    return Begun(
        process=start.process,
        run=begun,
        target_batch_id=target_batch_id,
        steps=start.steps,
        due=start.steps,
        is_rerun=False,
    )


def begin_again(tx: Transaction, start: Start, key: RunKey, target_batch_id: int) -> Begun:
    """Try once more to make a batch: the steps run whose success in earlier attempts does not count."""
    begun = _begin(tx, start, key, target_batch_id)
    earlier = chain_of(tx, begun).earlier
    return Begun(
        process=start.process,
        run=begun,
        target_batch_id=target_batch_id,
        steps=start.steps,
        due=steps_to_run(start.steps, earlier, is_forced=begun.is_forced),
        is_rerun=True,
    )


def _begin(
    tx: Transaction,
    start: Start,
    key: RunKey,
    target_batch_id: int,
    *,
    at: datetime | None = None,
    is_first: bool = False,
) -> Run:
    facts = JobFacts(
        process_id=start.process.process_id,
        mode=start.ref.mode,
        target_batch_id=target_batch_id,
        target_marking=None,
    )
    if isinstance(start.owner, Run):
        begun = attempts.make_job(tx, start.owner, facts)
    else:
        begun = attempts.begin(tx, key, start.owner, job=facts, at=at, is_first=is_first)
    creation.assign(tx, target_batch_id, begun.run_id)
    return begun

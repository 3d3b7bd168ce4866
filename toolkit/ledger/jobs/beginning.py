"""The row of a job, and the batch that it makes."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from toolkit.ledger.batches import making
from toolkit.ledger.jobs.errors import JobIsRunning
from toolkit.ledger.jobs.outcomes import chain_of
from toolkit.ledger.jobs.refs import JobRef
from toolkit.ledger.jobs.resume import steps_to_run
from toolkit.ledger.registry.finding import live_steps
from toolkit.ledger.registry.rows import RegisteredProcess, RegisteredStep
from toolkit.ledger.runs import attempts, finding
from toolkit.ledger.runs.rows import JobFacts, Origin, Run, RunKey
from toolkit.ledger.transaction import Transaction


@dataclass(frozen=True, kw_only=True, slots=True)
class Start:
    """A job that is about to begin.

    Attributes:
        process: its process, locked.
        ref: which job.
        origin: who begins it.
        steps: the live ones, in their order.
    """

    process: RegisteredProcess
    ref: JobRef
    origin: Origin
    steps: tuple[RegisteredStep, ...]

    @classmethod
    def of(cls, tx: Transaction, process: RegisteredProcess, ref: JobRef, origin: Origin) -> Start:
        """The start of a job of this process."""
        return cls(process=process, ref=ref, origin=origin, steps=live_steps(tx, process.process_id))


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
        if each.status in finding.ACTIVE and each.started_at is not None:
            raise JobIsRunning(run=each)


def begin_new(tx: Transaction, start: Start, key: RunKey, target_batch_id: int) -> Begun:
    """Begin to make a new batch: every step has to run."""
    begun = _begin(tx, start, key, target_batch_id)
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


def _begin(tx: Transaction, start: Start, key: RunKey, target_batch_id: int) -> Run:
    facts = JobFacts(
        process_id=start.process.process_id,
        mode=start.ref.mode,
        target_batch_id=target_batch_id,
        target_marking=None,
    )
    begun = attempts.begin(tx, key, start.origin, job=facts)
    making.assign(tx, target_batch_id, begun.run_id)
    return begun

"""The job that a call means, while it runs; what is not over; and how its steps went, so which of them it has to run.

(BDRE, last recoverable sub-process; DESIGN section 8.)
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, fields

import sqlalchemy as sa

from toolkit.ledger import tables
from toolkit.ledger.columns import is_one_of
from toolkit.ledger.database import Transaction
from toolkit.ledger.jobs.errors import JobIsSuspended, JobNotRunning
from toolkit.ledger.jobs.reference import IS_ACTIVE, PROCESS_ID, ByReference, values_of
from toolkit.ledger.jobs.rows import JobRef
from toolkit.ledger.registry.lookup import RegisteredProcess, RegisteredStep, any_process, locked_process
from toolkit.ledger.runs import queries
from toolkit.ledger.runs.rows import Run, RunKey
from toolkit.ledger.statements import given, locking
from toolkit.ledger.tables import batch, run, step_run
from toolkit.ledger.vocabulary import BatchState, JobMode, RunStatus


@dataclass(frozen=True, kw_only=True, slots=True)
class StepOutcome:
    """Outcome of the newest attempt at a step, among the jobs that try to make one batch.

    Attributes:
        run_id: the job; a later job has a higher number.
    """

    run_id: int
    status: RunStatus


Outcomes = Mapping[int, StepOutcome]
"""By step number; a step that never began is not there."""


def steps_to_run(
    steps: Sequence[RegisteredStep], outcomes: Outcomes, *, is_forced: bool = False
) -> tuple[RegisteredStep, ...]:
    """The first step whose success does not count, and all that follow it.

    A success counts when the step is recoverable and no earlier step was run again in a later job.

    Args:
        steps: the live ones, in their order.
        outcomes: of the earlier attempts at the same batch.
        is_forced: nothing counts.
    """
    if is_forced:
        return tuple(steps)
    newest_run = 0
    for position, step in enumerate(steps):
        outcome = outcomes.get(step.step_id)
        if outcome is None or not _counts(step, outcome, newest_run):
            return tuple(steps[position:])
        newest_run = outcome.run_id
    return ()


def not_done(
    steps: Sequence[RegisteredStep], earlier: Outcomes, own: Outcomes, *, is_forced: bool = False
) -> tuple[RegisteredStep, ...]:
    """The steps that keep a job from being halted.

    Args:
        steps: the live ones, in their order.
        earlier: outcomes of the earlier attempts at the same batch.
        own: outcomes within the job.
        is_forced: nothing that succeeded earlier counts.
    """
    due = {step.step_id for step in steps_to_run(steps, earlier, is_forced=is_forced)}
    return tuple(step for step in steps if not _is_done(step.step_id, due, own))


def _counts(step: RegisteredStep, outcome: StepOutcome, newest_run: int) -> bool:
    return step.is_recoverable and outcome.status is RunStatus.SUCCEEDED and outcome.run_id >= newest_run


def _is_done(step_id: int, due: set[int], own: Outcomes) -> bool:
    if step_id in own:
        return own[step_id].status is RunStatus.SUCCEEDED
    return step_id not in due


@dataclass(frozen=True, kw_only=True, slots=True)
class Chain:
    """The attempts at one batch.

    Attributes:
        earlier: the outcomes of the attempts before.
        own: the outcomes within the newest attempt.
        running: the names of the steps that run now.
    """

    earlier: Outcomes
    own: Outcomes
    running: tuple[str, ...]


_CHAIN = (
    sa.select(step_run.c.step_id, step_run.c.run_id, step_run.c.status, tables.step.c.name)
    .join(run, run.c.run_id == step_run.c.run_id)
    .join(tables.step, tables.step.c.step_id == step_run.c.step_id)
    .where(run.c.target_batch_id == given(run.c.target_batch_id), run.c.process_id == given(run.c.process_id))
    .order_by(step_run.c.step_run_id)
)


def chain_of(tx: Transaction, job: Run) -> Chain:
    """Return the outcomes of the steps of a job and of earlier attempts at the same batch, not of an old batch."""
    earlier: dict[int, StepOutcome] = {}
    own: dict[int, StepOutcome] = {}
    running = []
    values = {"target_batch_id": job.target_batch_id, "process_id": job.process_id}
    for step_id, run_id, status, name in tx.execute(_CHAIN, values):
        (own if run_id == job.run_id else earlier)[step_id] = StepOutcome(run_id=run_id, status=status)
        running += [name] if status is RunStatus.RUNNING else []
    return Chain(earlier=earlier, own=own, running=tuple(running))


_ATTEMPTS = (
    sa.select(run.c.run_id, run.c.is_forced)
    .where(run.c.target_batch_id == given(run.c.target_batch_id))
    .order_by(run.c.run_id.desc())
)


def attempts_of(tx: Transaction, target_batch_id: int) -> frozenset[int]:
    """Return the numbers of the attempts at a batch, from the newest one on that ran all steps by order."""
    found: set[int] = set()
    for run_id, is_forced in tx.execute(_ATTEMPTS, {"target_batch_id": target_batch_id}):
        found.add(run_id)
        if is_forced:
            break
    return frozenset(found)


def was_forced_since(tx: Transaction, key: RunKey, run_id: int) -> bool:
    """Return whether an attempt after this one was to start at the first step, whatever had succeeded before."""
    of_key = [run.c[name] == value for name, value in asdict(key).items()]
    found = sa.select(run.c.run_id).where(*of_key, run.c.run_id > run_id, run.c.is_forced).limit(1)
    return tx.execute(found).first() is not None


def step_runs() -> sa.Select[tuple[object, ...]]:
    """Return all attempts at steps with the names of the steps, in the order in which they began."""
    return (
        sa.select(*step_run.c, tables.step.c.name.label("step"))
        .join(tables.step, tables.step.c.step_id == step_run.c.step_id)
        .order_by(step_run.c.step_run_id)
    )


@dataclass(frozen=True, kw_only=True, slots=True)
class Job:
    """A job that runs; its row and that of its process are locked until the transaction ends.

    Attributes:
        process_id: its process.
        target_batch_id: the batch that it makes.
    """

    process_id: int
    run: Run
    target_batch_id: int


def running_job(tx: Transaction, ref: JobRef) -> Job:
    """The job that a reference means; that its process left the config repo meanwhile does not matter.

    Raises:
        UnknownProcess: the process was never registered.
        JobNotRunning: it was not begun, or is over.
        JobIsSuspended: it is suspended in the middle.
    """
    job = begun_job(tx, ref)
    _refuse_suspended(job.run)
    return job


def begun_job(tx: Transaction, ref: JobRef) -> Job:
    """Do as `running_job` does, and a job that is suspended in the middle will do.

    The rows are locked at once, the process's first. What began only while that was waited for is not found so.
    """
    found = tx.row(Run, _OF_PROCESS(ref), values_of(ref))
    if found is None:
        locked_process(tx, ref.site)
        found = _active(tx, ref)
    if found is None or found.target_batch_id is None or found.process_id is None:
        raise JobNotRunning(ref=ref, last=_newest(tx, ref))
    return Job(process_id=found.process_id, run=found, target_batch_id=found.target_batch_id)


def active_run(tx: Transaction, ref: JobRef) -> Run:
    """Do as `running_job` does, of a run that need not be a job yet."""
    found = _active(tx, ref)
    if found is None:
        raise JobNotRunning(ref=ref, last=_newest(tx, ref))
    _refuse_suspended(found)
    return found


def _refuse_suspended(job: Run) -> None:
    if job.status is RunStatus.SUSPENDED:
        raise JobIsSuspended(run=job)


_ACTIVE = ByReference(lambda is_meant: locking(sa.select(run).where(*IS_ACTIVE, *is_meant)))
_OF_PROCESS = ByReference(
    lambda is_meant: locking(
        sa.select(run)
        .select_from(tables.process)
        .join(run, run.c.process_id == tables.process.c.process_id)
        .where(tables.process.c.process_id == PROCESS_ID, *IS_ACTIVE, *is_meant)
    )
)
_NEWEST = ByReference(lambda is_meant: sa.select(run).where(*is_meant).order_by(run.c.run_id.desc()).limit(1))


def _active(tx: Transaction, ref: JobRef) -> Run | None:
    """The job that runs or is suspended in the middle, locked; of the queue, or of the instance."""
    return tx.row(Run, _ACTIVE(ref), values_of(ref))


def _newest(tx: Transaction, ref: JobRef) -> Run | None:
    return tx.row(Run, _NEWEST(ref), values_of(ref))


def newest_job(tx: Transaction, ref: JobRef) -> Run:
    """The newest attempt, whatever became of it.

    Raises:
        UnknownProcess: the process was never registered.
        JobNotRunning: there is none.
    """
    any_process(tx, ref.site)
    found = _newest(tx, ref)
    if found is None:
        raise JobNotRunning(ref=ref, last=None)
    return found


def sites_on_queue(tx: Transaction) -> frozenset[tuple[str, str]]:
    """The processes, each with its cluster, whose newest job works off the queue rather than for an instance."""

    def newest(mode: JobMode) -> sa.ScalarSelect[int]:
        of_mode = run.c.process_id == tables.process.c.process_id, run.c.mode == mode
        return sa.select(sa.func.coalesce(sa.func.max(run.c.run_id), 0)).where(*of_mode).scalar_subquery()

    found = sa.select(tables.process.c.name, tables.process.c.cluster)
    found = found.where(newest(JobMode.QUEUE) > newest(JobMode.INSTANCE))
    return frozenset((name, cluster) for name, cluster in tx.execute(found))


_OPEN_IN_QUEUE = (
    sa.select(run)
    .where(
        run.c.entity == given(run.c.entity),
        is_one_of(run.c.status, *queries.OPEN),
        run.c.cluster == given(run.c.cluster),  # not process_id: SQLite would take ix_run_job and read all jobs
        is_one_of(run.c.mode, JobMode.QUEUE),
    )
    .order_by(run.c.run_id)
)


def open_in_queue(tx: Transaction, process: RegisteredProcess) -> tuple[Run, ...]:
    """The jobs of a process on the queue that are not over, the oldest first: one that runs, and ordered reruns."""
    return tuple(tx.rows(Run, _OPEN_IN_QUEUE, {"entity": process.name, "cluster": process.cluster}))


_UNFINISHED_IN_QUEUE = (
    sa.select(run)
    .join(batch, batch.c.source_run_id == run.c.run_id)
    .where(
        batch.c.process_id == given(batch.c.process_id),
        is_one_of(batch.c.state, BatchState.ALLOCATED),
        is_one_of(run.c.mode, JobMode.QUEUE),
    )
    .order_by(batch.c.batch_id)
    .limit(1)
)


def unfinished_in_queue(tx: Transaction, process_id: int) -> Run | None:
    """The last attempt at a batch that a job on the queue began and none has finished; the oldest batch first.

    It is the state of the batch that tells, not rows that were left in the queue, nor the order of starts.
    """
    return tx.row(Run, _UNFINISHED_IN_QUEUE, {"process_id": process_id})


_LAST_BATCH = (
    sa.select(run.c.target_batch_id, batch.c.state)
    .join(batch, batch.c.batch_id == run.c.target_batch_id)
    .where(*(run.c[each.name] == given(run.c[each.name]) for each in fields(RunKey)))
    .order_by(run.c.attempt.desc())
    .limit(1)
)


def unfinished_of(tx: Transaction, key: RunKey) -> int | None:
    """The batch that the last attempt of a key began to make, unless it was finished."""
    found = tx.execute(_LAST_BATCH, asdict(key)).first()
    return int(found[0]) if found is not None and found[1] is BatchState.ALLOCATED else None

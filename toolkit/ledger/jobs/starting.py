"""InitJob: the start of a job, in either mode (BDRE, InitJob API; DESIGN section 6).

In queue mode every upstream of every live step has something unread. In instance mode it takes the batches of the
inputs of one instance, read before or not; none is fine.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, replace

import sqlalchemy as sa

from toolkit.ledger.batches import making
from toolkit.ledger.batches.files import files_read_for
from toolkit.ledger.batches.rows import FeedInstance, joined
from toolkit.ledger.database import Transaction
from toolkit.ledger.jobs import taking
from toolkit.ledger.jobs.current import chain_of, open_in_queue, steps_to_run, unfinished_in_queue, unfinished_of
from toolkit.ledger.jobs.errors import BadMaxBatches, JobIsRunning, Missing, NothingEnqueued, UnreadFeed, WrongMode
from toolkit.ledger.jobs.rows import JobRef, SourceBatch, StartedJob, StartedStep, key_of, queue_key
from toolkit.ledger.jobs.taking import Edge
from toolkit.ledger.registry.reading import RegisteredProcess, RegisteredStep, live_steps, locked_process
from toolkit.ledger.registry.registration import Site, UnknownProcess
from toolkit.ledger.runs import attempts, finding
from toolkit.ledger.runs.rows import JobFacts, Origin, Run, RunKey
from toolkit.ledger.state import start_check
from toolkit.ledger.tables import batch, process, queue, run


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


def _refuse_active(open_jobs: Iterable[Run]) -> None:
    """Return when none of these jobs runs; one that was suspended before it began keeps only itself from beginning.

    Raises:
        JobIsRunning: one runs, or is suspended in the middle.
    """
    for each in open_jobs:
        if each.status in finding.ACTIVE and each.started_at is not None:
            raise JobIsRunning(run=each)


def _begin_new(tx: Transaction, start: Start, key: RunKey, target_batch_id: int) -> Begun:
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


def _begin_again(tx: Transaction, start: Start, key: RunKey, target_batch_id: int) -> Begun:
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


def _begin_instance(tx: Transaction, start: Start, instance_key: str, inputs: Sequence[FeedInstance]) -> Begun:
    """Begin a job for an instance: the next attempt at what was not finished, else a new batch.

    Raises:
        JobIsRunning: the instance has a job already.
        InstanceSuspended: it was suspended before it began.
        InstanceKilled: it was killed before it began.
        UnreadFeed: no step reads a feed of the inputs.
    """
    key = key_of(start.process.site, instance_key)
    newest = finding.newest(tx, key)
    _refuse_active([newest] if newest else [])
    _refuse_unread(tx, start, inputs)
    unfinished = unfinished_of(tx, key)
    if unfinished is None:
        begun = _begin_new(tx, start, key, making.allocate(tx, start.process.process_id))
    else:
        begun = _begin_again(tx, start, key, unfinished)
        taking.take_again(tx, begun.due_ids, begun.target_batch_id)
    taking.take_instances(tx, begun.due_ids, inputs, begun.target_batch_id)
    return begun


def _refuse_unread(tx: Transaction, start: Start, inputs: Sequence[FeedInstance]) -> None:
    known = taking.feeds_read(tx, start.process.process_id) if inputs else frozenset()
    unread = sorted({each.feed for each in inputs} - known)
    if unread:
        raise UnreadFeed(site=start.process.site, feeds=unread, known=known)


def _begin_in_queue(tx: Transaction, start: Start, max_batches: int | None) -> Begun:
    """Begin a job: what was begun and not finished comes first, then what somebody wants again, then what is unread.

    Raises:
        JobIsRunning: the process has a job on the queue already.
        InstanceSuspended: the next attempt was suspended before it began.
        InstanceKilled: the next attempt was killed before it began.
        NothingEnqueued: an upstream has nothing unread.
    """
    open_jobs = open_in_queue(tx, start.process)
    _refuse_active(open_jobs)
    unfinished = unfinished_in_queue(tx, start.process.process_id)
    if unfinished is not None and unfinished.target_batch_id is not None:
        return _try_again(tx, start, unfinished, unfinished.target_batch_id)
    wanted_again = _wanted_again(tx, open_jobs)
    if wanted_again is not None:
        return _make_again(tx, start, *wanted_again)
    return _begin_fresh(tx, start, max_batches)


def _try_again(tx: Transaction, start: Start, last: Run, target_batch_id: int) -> Begun:
    begun = _begin_again(tx, start, last.key, target_batch_id)
    taking.take_again(tx, begun.due_ids, target_batch_id)
    return begun


def _make_again(tx: Transaction, start: Start, ordered: Run, made_batch_id: int) -> Begun:
    """A rerun of a job that had succeeded reads the same batches and makes a new one."""
    begun = _begin_new(tx, start, ordered.key, making.allocate(tx, start.process.process_id))
    taking.take_archived(tx, made_batch_id, begun.target_batch_id)
    return begun


def _begin_fresh(tx: Transaction, start: Start, max_batches: int | None) -> Begun:
    """Everything that is missing is named at once; what no job waits for is taken when it is there."""
    site, edges = start.process.site, taking.edges(tx, start.process.process_id)
    lacking = [each for each in edges if not each.has_unread]
    if any(not each.is_optional for each in lacking) or (edges and len(lacking) == len(edges)):
        raise NothingEnqueued(site=site, missing=_missing(lacking))
    target = making.allocate(tx, start.process.process_id)
    begun = _begin_new(tx, start, queue_key(site, target), target)
    if edges:
        taking.take_unread(tx, [each for each in edges if each.has_unread], target, max_batches)
    else:
        taking.take_seed(tx, begun.due_ids, target)
    return begun


def _missing(lacking: Sequence[Edge]) -> list[Missing]:
    """What a job waits for; what is optional, where all of it is."""
    compulsory = [each for each in lacking if not each.is_optional]
    return [Missing(step=each.step, upstream=each.upstream) for each in compulsory or lacking]


def _wanted_again(tx: Transaction, ordered: Sequence[Run]) -> tuple[Run, int] | None:
    """The oldest order to run once more what had succeeded, and the batch that was made then."""
    for each in ordered:
        made = None if each.status in finding.ACTIVE else _made_by(tx, each)
        if made is not None:
            return each, made
    return None


def _made_by(tx: Transaction, ordered: Run) -> int | None:
    """The batch that the last attempt before an order made; what nobody finished was taken up before."""
    mine = (run.c[name] == value for name, value in asdict(ordered.key).items())
    made = sa.select(run.c.target_batch_id).where(*mine, run.c.target_batch_id.is_not(None))
    return tx.execute(made.order_by(run.c.attempt.desc()).limit(1)).scalar()


def init_job(
    tx: Transaction,
    ref: JobRef,
    origin: Origin,
    *,
    max_batches: int | None = None,
    inputs: Sequence[FeedInstance] = (),
) -> StartedJob:
    """Mark the start of a job, and say what it reads and where it goes on.

    Args:
        tx: the transaction.
        ref: which job; without an instance, the one that works off the queue.
        origin: who starts it; a snapshot or digest that it leaves out is that of the registered process.
        max_batches: without an instance: at most so many from each upstream for each step, the oldest first; None: all.
        inputs: for an instance: the instances that it reads.

    Raises:
        UnknownProcess: no such process is in the config repo.
        SafeModeIsOn: nothing starts at present.
        EntityIsSuspended: nothing of the process starts here.
        JobIsRunning: the queue, or the instance, has a job already.
        InstanceSuspended: it was suspended before it began.
        InstanceKilled: it was killed before it began.
        NothingEnqueued: an upstream of a step has nothing unread.
        InvalidInput: an argument of the other mode, a feed that no step reads, fewer than one batch.
    """
    _check(ref, max_batches, inputs)
    owner = _live_process(tx, ref.site)
    start_check.check(tx, owner.name, owner.cluster)
    start = Start.of(tx, owner, ref, _completed(origin, owner))
    if ref.instance_key is None:
        begun = _begin_in_queue(tx, start, max_batches)
    else:
        begun = _begin_instance(tx, start, ref.instance_key, inputs)
    return _told(tx, begun)


def _check(ref: JobRef, max_batches: int | None, inputs: Sequence[FeedInstance]) -> None:
    if ref.instance_key is None and inputs:
        raise WrongMode(argument="inputs", ref=ref)
    if ref.instance_key is not None and max_batches is not None:
        raise WrongMode(argument="max_batches", ref=ref)
    if max_batches is not None and max_batches < 1:
        raise BadMaxBatches(found=max_batches)


def _live_process(tx: Transaction, site: Site) -> RegisteredProcess:
    owner = locked_process(tx, site)
    if owner.is_deleted:
        raise UnknownProcess(site=site, found="is no longer in the config repo")
    return owner


def _completed(origin: Origin, owner: RegisteredProcess) -> Origin:
    snapshot, digest = origin.snapshot or owner.snapshot, origin.digest or owner.digest
    return replace(origin, snapshot=snapshot, digest=digest)


def _told(tx: Transaction, begun: Begun) -> StartedJob:
    """What the job reads, as the queue has it now."""
    sources = _sources(tx, begun.target_batch_id)
    read = [each for of_step in sources.values() for each in of_step]
    due = set(begun.due_ids)
    marking = joined(each.marking for each in read)
    return StartedJob(
        run=_completed_run(tx, begun, marking),
        target_batch_id=begun.target_batch_id,
        target_marking=marking,
        is_rerun=begun.is_rerun,
        steps=tuple(
            StartedStep(
                step_id=each.step_id,
                name=each.name,
                is_due=each.step_id in due,
                batches=tuple(sources.get(each.step_id, ())),
            )
            for each in begun.steps
        ),
        files=files_read_for(tx, begun.target_batch_id),
    )


def _sources(tx: Transaction, target_batch_id: int) -> dict[int, list[SourceBatch]]:
    wanted = (
        sa.select(
            queue.c.step_id,
            queue.c.source_batch_id.label("batch_id"),
            queue.c.state,
            queue.c.marking,
            process.c.name.label("producer"),
            batch.c.source_run_id.label("producer_run_id"),
        )
        .join(batch, batch.c.batch_id == queue.c.source_batch_id)
        .outerjoin(process, process.c.process_id == queue.c.source_process_id)
        .where(queue.c.target_batch_id == target_batch_id)
        .order_by(queue.c.source_batch_id)
    )
    found: dict[int, list[SourceBatch]] = {}
    for step_id, *values in tx.execute(wanted):
        found.setdefault(step_id, []).append(SourceBatch(**dict(zip(_SOURCE, values, strict=True))))
    return found


_SOURCE = ("batch_id", "state", "marking", "producer", "producer_run_id")


def _completed_run(tx: Transaction, begun: Begun, marking: str | None) -> Run:
    values = {"target_batch_id": begun.target_batch_id, "target_marking": marking}
    update = sa.update(run).where(run.c.run_id == begun.run.run_id).values(values)
    return Run(**tx.execute(update.returning(run)).mappings().one())

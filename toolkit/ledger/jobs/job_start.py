"""InitJob: the start of a job, in either mode (BDRE, InitJob API; DESIGN section 6).

In queue mode every upstream of every live step has something unread. In instance mode it takes the batches of the
inputs of one instance, read before or not; none is fine.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import sqlalchemy as sa

from toolkit.ledger.batches.files import files_read_for
from toolkit.ledger.batches.rows import FeedInstance, joined
from toolkit.ledger.database import Transaction
from toolkit.ledger.jobs import batch_inputs
from toolkit.ledger.jobs.current import active_run, unfinished_of
from toolkit.ledger.jobs.errors import BadMaxBatches, UnreadFeed, WrongMode
from toolkit.ledger.jobs.job_attempt import Begun, Start, begin_again, begin_new, refuse_active
from toolkit.ledger.jobs.queue_start import begin_in_queue
from toolkit.ledger.jobs.rows import JobRef, SourceBatch, StartedJob, StartedStep, key_of
from toolkit.ledger.registry.lookup import RegisteredProcess, locked_process
from toolkit.ledger.registry.registration import Site, UnknownProcess
from toolkit.ledger.runs import queries
from toolkit.ledger.runs.rows import Origin, Run, RunKey
from toolkit.ledger.state import start_check
from toolkit.ledger.statements import given
from toolkit.ledger.tables import batch, file, process, queue, run


def _begin_instance(tx: Transaction, start: Start, instance_key: str, inputs: Sequence[FeedInstance]) -> Begun:
    """Begin a job for an instance: the next attempt at what was not finished, else a new batch.

    Raises:
        JobIsRunning: the instance has a job already.
        InstanceSuspended: it was suspended before it began.
        InstanceKilled: it was killed before it began.
        UnreadFeed: no step reads a feed of the inputs.
    """
    key = key_of(start.process.site, instance_key)
    newest = queries.newest(tx, key)
    refuse_active([newest] if newest else [])
    return _begin_at_key(tx, start, key, inputs, is_first=newest is None)


def _begin_at_key(
    tx: Transaction, start: Start, key: RunKey, inputs: Sequence[FeedInstance], *, is_first: bool
) -> Begun:
    """Begin, and take what the inputs stand for."""
    _refuse_unread(tx, start, inputs)
    unfinished = None if is_first else unfinished_of(tx, key)
    if unfinished is None:
        begun = begin_new(tx, start, key, is_first=is_first)
    else:
        begun = begin_again(tx, start, key, unfinished)
        batch_inputs.take_again(tx, begun.due_ids, begun.target_batch_id)
    batch_inputs.take_instances(tx, begun.due_ids, inputs, begun.target_batch_id)
    return begun


def _refuse_unread(tx: Transaction, start: Start, inputs: Sequence[FeedInstance]) -> None:
    known = batch_inputs.feeds_read(tx, start.process.process_id) if inputs else frozenset()
    unread = sorted({each.feed for each in inputs} - known)
    if unread:
        raise UnreadFeed(site=start.process.site, feeds=unread, known=known)


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
    origin = _completed(origin, owner)
    if ref.instance_key is None:
        return _started(tx, begin_in_queue(tx, owner, ref, origin, max_batches))
    start_check.check(tx, owner.name, owner.cluster)
    return _started(tx, _begin_instance(tx, Start.of(tx, owner, ref, origin), ref.instance_key, inputs))


def adopt(tx: Transaction, run_id: int, inputs: Sequence[FeedInstance] = (), *, is_forced: bool = False) -> StartedJob:
    """Make a run that is there a job for its instance, as `init_job` would have begun it.

    For an owner whose run was started with its leases: what stands against a start was looked at then. The calls of the
    job mean exactly this run when their reference has its number.

    Args:
        tx: the transaction.
        run_id: the run of an instance of a process; once.
        inputs: the instances that it reads.
        is_forced: it starts at the first step, whatever succeeded before; also when the order of the run says so.

    Raises:
        UnknownRun: there is no such run.
        UnknownProcess: no such process is registered, or it is no longer in the config repo.
        JobNotRunning: the run is over, or does something else than to run a process.
        JobIsSuspended: it is suspended.
        InvalidInput: a feed that no step reads.
    """
    found = queries.get(tx, run_id)
    owner = _live_process(tx, Site(name=found.entity, cluster=found.cluster))
    ref = JobRef(process=found.entity, cluster=found.cluster, instance_key=found.instance_key, run_id=run_id)
    adopted = active_run(tx, ref)
    start = Start.of(tx, owner, ref, replace(adopted, is_forced=adopted.is_forced or is_forced))
    return _started(tx, _begin_at_key(tx, start, adopted.key, inputs, is_first=adopted.attempt == 1))


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


def _started(tx: Transaction, begun: Begun) -> StartedJob:
    """Return the job with its batches, as the queue has them now."""
    sources, have_files = _sources(tx, begun.target_batch_id)
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
        files=files_read_for(tx, begun.target_batch_id) if have_files else (),
    )


def _sources(tx: Transaction, target_batch_id: int) -> tuple[dict[int, list[SourceBatch]], bool]:
    """The batches of each step, and whether there are files in any."""
    found: dict[int, list[SourceBatch]] = {}
    have_files = False
    for step_id, has_files, *values in tx.execute(_SOURCES, {"target_batch_id": target_batch_id}):
        found.setdefault(step_id, []).append(SourceBatch(**dict(zip(_SOURCE, values, strict=True))))
        have_files = have_files or has_files
    return found, have_files


_SOURCES = (
    sa.select(
        queue.c.step_id,
        sa.exists(sa.select(file.c.file_id).where(file.c.batch_id == queue.c.source_batch_id)),
        queue.c.source_batch_id.label("batch_id"),
        queue.c.state,
        queue.c.marking,
        process.c.name.label("producer"),
        batch.c.source_run_id.label("producer_run_id"),
    )
    .join(batch, batch.c.batch_id == queue.c.source_batch_id)
    .outerjoin(process, process.c.process_id == queue.c.source_process_id)
    .where(queue.c.target_batch_id == given(queue.c.target_batch_id))
    .order_by(queue.c.source_batch_id)
)
_SOURCE = ("batch_id", "state", "marking", "producer", "producer_run_id")


def _completed_run(tx: Transaction, begun: Begun, marking: str | None) -> Run:
    values = {"target_batch_id": begun.target_batch_id, "target_marking": marking}
    if (begun.run.target_batch_id, begun.run.target_marking) == tuple(values.values()):
        return begun.run
    return Run(**tx.execute(_COMPLETED, {"of_run": begun.run.run_id, **values}).mappings().one())


_COMPLETED = sa.update(run).where(run.c.run_id == given(run.c.run_id, "of_run")).returning(run)

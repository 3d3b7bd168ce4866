"""InitJob: the start of a job (BDRE, InitJob API; DESIGN section 6)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import sqlalchemy as sa

from toolkit.ledger.batches.files import files_read_for
from toolkit.ledger.batches.instances import FeedInstance
from toolkit.ledger.batches.marking import joined
from toolkit.ledger.jobs import instance_mode, queue_mode
from toolkit.ledger.jobs.beginning import Begun, Start
from toolkit.ledger.jobs.errors import BadMaxBatches, WrongMode
from toolkit.ledger.jobs.refs import JobRef
from toolkit.ledger.jobs.rows import SourceBatch, StartedJob, StartedStep
from toolkit.ledger.registry.errors import UnknownProcess
from toolkit.ledger.registry.finding import locked_process
from toolkit.ledger.registry.registration import Site
from toolkit.ledger.registry.rows import RegisteredProcess
from toolkit.ledger.runs.rows import Origin, Run
from toolkit.ledger.state import gate
from toolkit.ledger.tables import batch, process, queue, run
from toolkit.ledger.transaction import Transaction


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
    gate.check(tx, owner.name, owner.cluster)
    start = Start.of(tx, owner, ref, _completed(origin, owner))
    if ref.instance_key is None:
        begun = queue_mode.begin(tx, start, max_batches)
    else:
        begun = instance_mode.begin(tx, start, ref.instance_key, inputs)
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

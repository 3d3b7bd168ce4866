"""The job that works off the queue: which batches it takes next (BDRE, InitJob; DESIGN section 6)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, fields

import sqlalchemy as sa

from toolkit.ledger.database import Transaction
from toolkit.ledger.jobs import batch_inputs
from toolkit.ledger.jobs.batch_inputs import Edge
from toolkit.ledger.jobs.current import open_in_queue, unfinished_in_queue
from toolkit.ledger.jobs.errors import Missing, NothingEnqueued
from toolkit.ledger.jobs.job_attempt import Begun, Start, begin_again, begin_new, refuse_active
from toolkit.ledger.jobs.rows import JobRef
from toolkit.ledger.registry.lookup import STEP_COLUMNS, RegisteredProcess, RegisteredStep
from toolkit.ledger.runs import queries
from toolkit.ledger.runs.rows import Origin, Run, RunKey
from toolkit.ledger.state import start_check
from toolkit.ledger.statements import given
from toolkit.ledger.tables import process, run, step, upstream


def begin_in_queue(
    tx: Transaction, process: RegisteredProcess, ref: JobRef, owner: Origin, max_batches: int | None
) -> Begun:
    """Begin a job: what was begun and not finished comes first, then what was ordered again, then what is unread.

    Args:
        tx: the transaction.
        process: locked.
        ref: which job.
        owner: who begins it.
        max_batches: at most so many from each upstream for each step; None: all.

    Raises:
        SafeModeIsOn: nothing starts at present.
        EntityIsSuspended: nothing of the process starts here.
        JobIsRunning: the process has a job on the queue already.
        InstanceSuspended: the next attempt was suspended before it began.
        InstanceKilled: the next attempt was killed before it began.
        NothingEnqueued: an upstream has nothing unread.
    """
    steps, edges = _reads(tx, process.process_id)
    start = Start(process=process, ref=ref, owner=owner, steps=steps)
    return _begin_what_comes_first(tx, start) or _begin_fresh(tx, start, edges, max_batches)


def _begin_what_comes_first(tx: Transaction, start: Start) -> Begun | None:
    start_check.check(tx, start.process.name, start.process.cluster)
    open_jobs = open_in_queue(tx, start.process)
    refuse_active(open_jobs)
    unfinished = unfinished_in_queue(tx, start.process.process_id)
    if unfinished is not None and unfinished.target_batch_id is not None:
        return _try_again(tx, start, unfinished, unfinished.target_batch_id)
    wanted_again = _wanted_again(tx, open_jobs)
    return None if wanted_again is None else _make_again(tx, start, *wanted_again)


def _reads(tx: Transaction, process_id: int) -> tuple[tuple[RegisteredStep, ...], tuple[Edge, ...]]:
    """Return the live steps of a process, in their order, and from whom they read."""
    steps, edges = {}, []
    for row in tx.execute(_READS, {"process_id": process_id}):
        *registered, upstream_id, upstream, is_optional, oldest = row
        found = RegisteredStep(**dict(zip(_STEP_FIELDS, registered, strict=True)))
        steps[found.step_id] = found
        if upstream_id is not None:
            edge = Edge(
                step_id=found.step_id,
                upstream_id=upstream_id,
                step=found.name,
                upstream=upstream,
                is_optional=is_optional,
                oldest=oldest,
            )
            edges.append(edge)
    return tuple(steps.values()), tuple(edges)


_STEP_FIELDS = [each.name for each in STEP_COLUMNS]
_READS = (
    sa.select(
        *STEP_COLUMNS,
        upstream.c.process_id.label("upstream_id"),
        process.c.name.label("upstream"),
        upstream.c.is_optional,
        batch_inputs.oldest_unread(upstream.c.step_id, upstream.c.process_id, 1).correlate(upstream).scalar_subquery(),
    )
    .select_from(step)
    .outerjoin(upstream, upstream.c.step_id == step.c.step_id)
    .outerjoin(process, process.c.process_id == upstream.c.process_id)
    .where(step.c.process_id == given(step.c.process_id), step.c.is_deleted.is_(sa.false()))
    .order_by(step.c.position, step.c.step_id, process.c.name)
)
"""A row for each live step and each of its upstreams."""


def _try_again(tx: Transaction, start: Start, last: Run, target_batch_id: int) -> Begun:
    begun = begin_again(tx, start, last.key, target_batch_id)
    batch_inputs.take_again(tx, begun.due_ids, target_batch_id)
    return begun


def _make_again(tx: Transaction, start: Start, ordered: Run, made_batch_id: int) -> Begun:
    """A rerun of a job that had succeeded reads the same batches and makes a new one."""
    begun = begin_new(tx, start, ordered.key)
    batch_inputs.take_archived(tx, made_batch_id, begun.target_batch_id)
    return begun


def _begin_fresh(tx: Transaction, start: Start, edges: Sequence[Edge], max_batches: int | None) -> Begun:
    """Everything that is missing is named at once; what no job waits for is taken when it is there."""
    lacking = [each for each in edges if each.oldest is None]
    if any(not each.is_optional for each in lacking) or (edges and len(lacking) == len(edges)):
        raise NothingEnqueued(site=start.process.site, missing=_missing(lacking))
    begun = begin_new(tx, start, is_first=True)
    if edges:
        batch_inputs.take_unread(tx, edges, begun.target_batch_id, max_batches)
    else:
        batch_inputs.take_seed(tx, begun.due_ids, begun.target_batch_id)
    return begun


def _missing(lacking: Sequence[Edge]) -> list[Missing]:
    """Return the inputs that a job waits for; optional ones only if all its inputs are."""
    compulsory = [each for each in lacking if not each.is_optional]
    return [Missing(step=each.step, upstream=each.upstream) for each in compulsory or lacking]


def _wanted_again(tx: Transaction, ordered: Sequence[Run]) -> tuple[Run, int] | None:
    """The oldest order to run once more what had succeeded, and the batch that was made then."""
    for each in ordered:
        made = None if each.status in queries.ACTIVE else _made_by(tx, each)
        if made is not None:
            return each, made
    return None


_LAST_MADE = (
    sa.select(run.c.target_batch_id)
    .where(
        *(run.c[each.name] == given(run.c[each.name]) for each in fields(RunKey)), run.c.target_batch_id.is_not(None)
    )
    .order_by(run.c.attempt.desc())
    .limit(1)
)


def _made_by(tx: Transaction, ordered: Run) -> int | None:
    """The batch that the last attempt before an order made; unfinished work was taken up before."""
    return tx.execute(_LAST_MADE, asdict(ordered.key)).scalar()

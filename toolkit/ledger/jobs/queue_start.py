"""The job that works off the queue: which batches it takes next (BDRE, InitJob; DESIGN section 6)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, fields

import sqlalchemy as sa

from toolkit.ledger.database import Transaction
from toolkit.ledger.jobs import taking
from toolkit.ledger.jobs.beginning import Begun, Start, begin_again, begin_new, refuse_active
from toolkit.ledger.jobs.current import open_in_queue, unfinished_in_queue
from toolkit.ledger.jobs.errors import Missing, NothingEnqueued
from toolkit.ledger.jobs.taking import Edge
from toolkit.ledger.runs import finding
from toolkit.ledger.runs.rows import Run, RunKey
from toolkit.ledger.statements import given
from toolkit.ledger.tables import run


def begin_in_queue(tx: Transaction, start: Start, max_batches: int | None) -> Begun:
    """Begin a job: what was begun and not finished comes first, then what somebody wants again, then what is unread.

    Raises:
        JobIsRunning: the process has a job on the queue already.
        InstanceSuspended: the next attempt was suspended before it began.
        InstanceKilled: the next attempt was killed before it began.
        NothingEnqueued: an upstream has nothing unread.
    """
    open_jobs = open_in_queue(tx, start.process)
    refuse_active(open_jobs)
    unfinished = unfinished_in_queue(tx, start.process.process_id)
    if unfinished is not None and unfinished.target_batch_id is not None:
        return _try_again(tx, start, unfinished, unfinished.target_batch_id)
    wanted_again = _wanted_again(tx, open_jobs)
    if wanted_again is not None:
        return _make_again(tx, start, *wanted_again)
    return _begin_fresh(tx, start, max_batches)


def _try_again(tx: Transaction, start: Start, last: Run, target_batch_id: int) -> Begun:
    begun = begin_again(tx, start, last.key, target_batch_id)
    taking.take_again(tx, begun.due_ids, target_batch_id)
    return begun


def _make_again(tx: Transaction, start: Start, ordered: Run, made_batch_id: int) -> Begun:
    """A rerun of a job that had succeeded reads the same batches and makes a new one."""
    begun = begin_new(tx, start, ordered.key)
    taking.take_archived(tx, made_batch_id, begun.target_batch_id)
    return begun


def _begin_fresh(tx: Transaction, start: Start, max_batches: int | None) -> Begun:
    """Everything that is missing is named at once; what no job waits for is taken when it is there."""
    site, edges = start.process.site, taking.edges(tx, start.process.process_id)
    lacking = [each for each in edges if not each.has_unread]
    if any(not each.is_optional for each in lacking) or (edges and len(lacking) == len(edges)):
        raise NothingEnqueued(site=site, missing=_missing(lacking))
    begun = begin_new(tx, start, is_first=True)
    if edges:
        taking.take_unread(tx, [each for each in edges if each.has_unread], begun.target_batch_id, max_batches)
    else:
        taking.take_seed(tx, begun.due_ids, begun.target_batch_id)
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


_LAST_MADE = (
    sa.select(run.c.target_batch_id)
    .where(
        *(run.c[each.name] == given(run.c[each.name]) for each in fields(RunKey)), run.c.target_batch_id.is_not(None)
    )
    .order_by(run.c.attempt.desc())
    .limit(1)
)


def _made_by(tx: Transaction, ordered: Run) -> int | None:
    """The batch that the last attempt before an order made; what nobody finished was taken up before."""
    return tx.execute(_LAST_MADE, asdict(ordered.key)).scalar()

"""Beginning to run: the attempt that waits for it, or a new one."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from datetime import datetime

import sqlalchemy as sa

from toolkit.ledger.columns import is_one_of
from toolkit.ledger.runs import finding, numbering, status
from toolkit.ledger.runs.errors import InstanceKilled, InstanceSuspended, RunIsActive
from toolkit.ledger.runs.rows import JobFacts, Origin, Run, RunKey
from toolkit.ledger.tables import run
from toolkit.ledger.transaction import Transaction
from toolkit.ledger.vocabulary import JobMode, RunStatus


def begin(
    tx: Transaction,
    key: RunKey,
    origin: Origin,
    *,
    job: JobFacts | None = None,
    is_forced: bool = False,
    at: datetime | None = None,
) -> Run:
    """Begin to run: the newest attempt when it waits or is ready, else a new one.

    An attempt that was there keeps its `is_forced`, `process_id`, `mode` and `target_batch_id`.

    Args:
        tx: the transaction.
        key: what is run.
        origin: who runs it.
        job: what makes it a job of a process.
        is_forced: it starts at the first step, whatever succeeded before.
        at: the present instant, when the caller has just read the database's clock.

    Raises:
        RunIsActive: it runs already, or is suspended in the middle; or another job of the process works on the queue.
        InstanceSuspended: it was suspended before it began.
        InstanceKilled: it was killed before it began, and nobody has ordered a rerun.
    """
    beginning = _Beginning(key=key, origin=origin, job=job, is_forced=is_forced, at=at or tx.now())
    while True:
        newest = finding.newest(tx, key)
        if newest is None or newest.status.is_terminal:
            _refuse_killed_ahead(newest)
            begun = _begin_new(tx, beginning, newest)
        elif newest.status in finding.ACTIVE:
            raise _refusal(newest)
        else:
            begun = _take_up(tx, beginning, newest)
        if begun is not None:
            return begun


@dataclass(frozen=True, kw_only=True, slots=True)
class _Beginning:
    key: RunKey
    origin: Origin
    job: JobFacts | None
    is_forced: bool
    at: datetime


def _refusal(active: Run) -> RunIsActive | InstanceSuspended:
    has_begun = active.status is not RunStatus.SUSPENDED or active.started_at is not None
    return RunIsActive(run=active) if has_begun else InstanceSuspended(run=active)


def _refuse_killed_ahead(newest: Run | None) -> None:
    """What was killed in the middle may be tried again; what was killed before it began must not begin by itself."""
    if newest is not None and newest.status is RunStatus.KILLED and newest.started_at is None:
        raise InstanceKilled(run=newest)


def _begin_new(tx: Transaction, beginning: _Beginning, newest: Run | None) -> Run | None:
    """Begin with a new attempt; None when somebody else has added one."""
    times = dict.fromkeys(("created_at", "started_at", "heartbeat_at"), beginning.at)
    job = asdict(beginning.job) if beginning.job else {}
    values = {"status": RunStatus.RUNNING, "is_forced": beginning.is_forced, **times, **job}
    begun = numbering.add(tx, beginning.key, newest, beginning.origin, values)
    if begun is None:
        _refuse_other_job(tx, beginning)
    return begun


def _refuse_other_job(tx: Transaction, beginning: _Beginning) -> None:
    """What was in the way may be another key: of a process, one job at a time works on the queue."""
    if beginning.job is None or beginning.job.mode is not JobMode.QUEUE:
        return
    of_process = (run.c.process_id == beginning.job.process_id) & (run.c.mode == JobMode.QUEUE)
    is_at_work = is_one_of(run.c.status, *finding.ACTIVE) & run.c.started_at.is_not(None)
    active = tx.row(Run, sa.select(run).where(of_process, is_at_work))
    if active is not None and active.key != beginning.key:
        raise RunIsActive(run=active)


def _take_up(tx: Transaction, beginning: _Beginning, found: Run) -> Run | None:
    """Begin an attempt that is there; None when it is not to be begun any more."""
    if not numbering.is_still_not_begun(tx, found):
        return None
    begun = status.change(tx, found.run_id, RunStatus.RUNNING)
    is_forced = found.is_forced or beginning.is_forced
    values = {"is_forced": is_forced, "heartbeat_at": begun.started_at, **_job_facts(beginning, found)}
    return numbering.update(tx, begun, {**asdict(beginning.origin), **values})


def _job_facts(beginning: _Beginning, found: Run) -> dict[str, object]:
    if beginning.job is None:
        return {}
    kept = {name: value for name, value in numbering.job_of(found).items() if value is not None}
    return {**asdict(beginning.job), **kept}

"""Attempts of a run key: begin one, order another, skip one, or suspend before it begins.

Attempts are numbered without gaps and only the newest can be open. So the loser of a race for the next number looks at
the newest attempt again and finds another one.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from datetime import datetime

import sqlalchemy as sa

from toolkit.ledger.columns import is_one_of
from toolkit.ledger.database import Transaction
from toolkit.ledger.errors import IllegalTransition
from toolkit.ledger.runs import queries, status
from toolkit.ledger.runs.errors import (
    InstanceKilled,
    InstanceSuspended,
    NotTerminal,
    RunIsActive,
    RunIsOrdered,
    RunMeanwhile,
)
from toolkit.ledger.runs.rows import JobFacts, Origin, Run, RunKey
from toolkit.ledger.statements import given, if_new
from toolkit.ledger.tables import run
from toolkit.ledger.vocabulary import JobMode, RunStatus

_NOT_BEGUN = (RunStatus.WAITING, RunStatus.READY)


def _add(tx: Transaction, key: RunKey, newest: Run | None, origin: Origin, values: Mapping[str, object]) -> Run | None:
    """Insert the attempt after the newest; None when another one is in its way, which has been added meanwhile.

    No index is named: of two that insert at once, the loser may meet the other in whichever index comes first.
    """
    row = {**asdict(key), **asdict(origin), "attempt": newest.attempt + 1 if newest else 1, **values}
    added = tx.insert_if_new(run, row)
    if added is None:
        return None
    undo_retries(tx, [newest] if newest else [])
    return Run(**added)


def undo_retries(tx: Transaction, followed: Iterable[Run]) -> None:
    """Forget the planned retries of attempts: they have come, or something else has come before them."""
    waiting = [each.run_id for each in followed if each.retry_at is not None]
    if waiting:
        tx.execute(sa.update(run).where(run.c.run_id.in_(waiting)).values(retry_at=None))


_UPDATED = sa.update(run).where(run.c.run_id == given(run.c.run_id, "of_run")).returning(run)


def _update(tx: Transaction, found: Run, values: Mapping[str, object]) -> Run:
    """Change other columns of an attempt than its status."""
    return Run(**tx.execute(_UPDATED, {"of_run": found.run_id, **values}).mappings().one())


def _is_still_not_begun(tx: Transaction, found: Run) -> bool:
    """Return whether an attempt is waiting or ready; then its row is locked.

    To be asked before its status changes: from a status that it has got since, the change may be legal and yet not what
    is meant.
    """
    row = sa.select(run.c.run_id).where(run.c.run_id == found.run_id, run.c.status.in_(_NOT_BEGUN))
    return tx.execute(tx.locked(row)).first() is not None


def job_of(newest: Run | None) -> dict[str, object]:
    """Return the columns that make the next attempt a job of the process, with the target batch if it is not made."""
    if newest is None:
        return {}
    target = None if newest.status is RunStatus.SUCCEEDED else newest.target_batch_id
    return {"process_id": newest.process_id, "mode": newest.mode, "target_batch_id": target}


def begin(
    tx: Transaction,
    key: RunKey,
    origin: Origin,
    *,
    job: JobFacts | None = None,
    is_forced: bool = False,
    at: datetime | None = None,
    seen: int | None = None,
    retry: int | None = None,
    cause: str | None = None,
    is_first: bool = False,
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
        seen: see `StartTerms.seen`.
        retry: which retry of a failure a new attempt is, from 1; None: none.
        cause: see `StartTerms.cause`.
        is_first: the caller knows of no attempt, so that none is looked for unless there is one after all.

    Raises:
        RunIsActive: it runs already, or is suspended in the middle; or another job of the process works on the queue.
        RunMeanwhile: an attempt that the caller had not seen is over.
        RunIsOrdered: it is not over, a person has ordered it, and this start has another cause.
        InstanceSuspended: it was suspended before it began.
        InstanceKilled: it was killed before it began, and no rerun was ordered.
    """
    new = _NewAttempt(key=key, origin=origin, job=job, is_forced=is_forced, retry=retry, cause=cause, at=at or tx.now())
    while True:
        newest = None if is_first and seen is None else queries.newest(tx, key)
        is_first = False
        if newest is None or newest.status.is_terminal:
            _refuse_killed_ahead(newest)
            _refuse_unseen(newest, seen)
            begun = _begin_new(tx, new, newest)
        else:
            begun = _take_up(tx, new, newest)
        if begun is not None:
            return begun


@dataclass(frozen=True, kw_only=True, slots=True)
class _NewAttempt:
    key: RunKey
    origin: Origin
    job: JobFacts | None
    is_forced: bool
    retry: int | None
    cause: str | None
    at: datetime


def _refusal(active: Run) -> RunIsActive | InstanceSuspended:
    has_begun = active.status is not RunStatus.SUSPENDED or active.started_at is not None
    return RunIsActive(run=active) if has_begun else InstanceSuspended(run=active)


def _refuse_killed_ahead(newest: Run | None) -> None:
    """Refuse an instance that was killed before it began: it must not begin by itself."""
    if newest is not None and newest.status is RunStatus.KILLED and newest.started_at is None:
        raise InstanceKilled(run=newest)


def _refuse_unseen(newest: Run | None, seen: int | None) -> None:
    """Refuse when a newer attempt has begun; one that never began does not count."""
    if newest is None or seen is None or newest.status is RunStatus.SKIPPED:
        return
    if newest.run_id > seen:
        raise RunMeanwhile(run=newest)


def _begin_new(tx: Transaction, new: _NewAttempt, newest: Run | None) -> Run | None:
    """Begin with a new attempt; None when another run has added one."""
    times = dict.fromkeys(("created_at", "started_at", "heartbeat_at"), new.at)
    job = asdict(new.job) if new.job else {}
    facts = {"is_forced": new.is_forced, "retry": new.retry, "cause": new.cause}
    values = {"status": RunStatus.RUNNING, **facts, **times, **job}
    begun = _add(tx, new.key, newest, new.origin, values)
    if begun is None:
        _refuse_other_job(tx, new)
    return begun


def _refuse_other_job(tx: Transaction, new: _NewAttempt) -> None:
    """Refuse when a job with another key is active: of a process, one job at a time works on the queue."""
    if new.job is None or new.job.mode is not JobMode.QUEUE:
        return
    of_process = (run.c.process_id == new.job.process_id) & (run.c.mode == JobMode.QUEUE)
    is_at_work = is_one_of(run.c.status, *queries.ACTIVE) & run.c.started_at.is_not(None)
    active = tx.row(Run, sa.select(run).where(of_process, is_at_work))
    if active is not None and active.key != new.key:
        raise RunIsActive(run=active)


def _take_up(tx: Transaction, new: _NewAttempt, found: Run) -> Run | None:
    """Begin an attempt that is there; None when it is not to be begun any more."""
    if found.status in queries.ACTIVE:
        raise _refusal(found)
    if new.cause is not None and found.cause is None:
        raise RunIsOrdered(run=found)
    if not _is_still_not_begun(tx, found):
        return None
    begun = status.change(tx, found.run_id, RunStatus.RUNNING)
    is_forced = found.is_forced or new.is_forced
    values = {"is_forced": is_forced, "heartbeat_at": begun.started_at, **_job_facts(new, found)}
    return _update(tx, begun, {**asdict(new.origin), **values})


def _job_facts(new: _NewAttempt, found: Run) -> dict[str, object]:
    if new.job is None:
        return {}
    kept = {name: value for name, value in job_of(found).items() if value is not None}
    return {**asdict(new.job), **kept}


def make_job(tx: Transaction, found: Run, job: JobFacts) -> Run:
    """Let a run that has begun, whose row is locked, be a job from now on; it keeps its `is_forced`."""
    return _update(tx, found, {**asdict(job), "is_forced": found.is_forced})


def begin_new(tx: Transaction, origins: Mapping[RunKey, Origin], at: datetime) -> dict[RunKey, Run]:
    """Begin new attempts of many keys at once, as `begin` does for one.

    Args:
        tx: the transaction.
        origins: who runs each.
        at: the present instant by the database's clock.

    Returns:
        The runs that began. A key is left out when its newest attempt is not over, was killed before it began, or has
        been added by another meanwhile: `begin` says what is to be done.
    """
    known = queries.newest_of(tx, origins)
    times = dict.fromkeys(("created_at", "started_at", "heartbeat_at"), at)
    rows = [
        {
            **asdict(key),
            **asdict(origin),
            **times,
            "attempt": known[key].attempt + 1 if key in known else 1,
            "status": RunStatus.RUNNING,
            "is_forced": False,
        }
        for key, origin in origins.items()
        if key not in known or may_follow(known[key])
    ]
    if not rows:
        return {}
    begun = [Run(**row) for row in tx.execute(if_new(run), rows).mappings()]
    undo_retries(tx, (known[each.key] for each in begun if each.key in known))
    return {each.key: each for each in begun}


def may_follow(newest: Run) -> bool:
    """Return whether another attempt may follow: it is over, and was not killed before it began."""
    is_killed_ahead = newest.status is RunStatus.KILLED and newest.started_at is None
    return newest.status.is_terminal and not is_killed_ahead


def queue_again(tx: Transaction, key: RunKey, origin: Origin, *, is_forced: bool, cause: str | None = None) -> Run:
    """Order another attempt of what is over: a READY row, which the next `begin` takes.

    It stays a job of the same process, and of the same target batch unless that was made with success.

    Args:
        tx: the transaction.
        key: what is to run again.
        origin: who orders it.
        is_forced: it starts at the first step, whatever succeeded before.
        cause: why, in the action's words, when it is not a person who orders it.

    Raises:
        NotTerminal: the newest attempt is not over, or there is none; nothing was changed.
    """
    while True:
        newest = queries.newest(tx, key)
        if newest is None or not newest.status.is_terminal:
            raise NotTerminal(key=key, run=newest)
        ordered = {"status": RunStatus.READY, "is_forced": is_forced, "cause": cause, "created_at": tx.now()}
        added = _add(tx, key, newest, origin, {**job_of(newest), **ordered})
        if added is not None:
            return added


def skip(tx: Transaction, key: RunKey, origin: Origin, reason: str) -> Run:
    """Record that a start was skipped, unless the key has a story already.

    Returns:
        An attempt with the status SKIPPED: a new one, or the newest with the new reason when that was skipped too, so
        that a scheduler which asks every minute does not fill the ledger. Any other attempt stays as it is and is
        returned: if it is open, its story goes on; if it is over, its outcome is what the newest attempt has to tell.
    """
    while True:
        newest = queries.newest(tx, key)
        if newest is not None and newest.status is not RunStatus.SKIPPED:
            return newest
        now = tx.now()
        skipped: dict[str, object] = {"reason": reason, "ended_at": now}
        if newest is not None:
            return _update(tx, newest, {**asdict(origin), **skipped})
        row = {**skipped, "status": RunStatus.SKIPPED, "is_forced": False, "created_at": now}
        added = _add(tx, key, newest, origin, row)
        if added is not None:
            return added


def suspend_ahead(tx: Transaction, key: RunKey, origin: Origin, reason: str | None = None) -> Run:
    """Suspend what has not begun: a SUSPENDED row for an instance that has none, or whose newest waits or is ready.

    Returns:
        The suspended attempt; one that was suspended already stays as it is.

    Raises:
        RunIsActive: it runs; nothing was changed.
        IllegalTransition: it is over; nothing was changed.
    """
    while True:
        newest = queries.newest(tx, key)
        if newest is None:
            suspended = _add_suspended(tx, key, origin, reason)
        elif newest.status is RunStatus.SUSPENDED:
            return newest
        else:
            suspended = _suspend_before_begin(tx, newest, reason)
        if suspended is not None:
            return suspended


def _add_suspended(tx: Transaction, key: RunKey, origin: Origin, reason: str | None) -> Run | None:
    """An instance without a row waits, so that is where a resume leads back to."""
    status_of = {"status": RunStatus.SUSPENDED, "suspended_from": RunStatus.WAITING}
    values = {**status_of, "is_forced": False, "reason": reason, "created_at": tx.now()}
    return _add(tx, key, None, origin, values)


def _suspend_before_begin(tx: Transaction, found: Run, reason: str | None) -> Run | None:
    if found.status is RunStatus.RUNNING:
        raise RunIsActive(run=found)
    if found.status.is_terminal:
        raise IllegalTransition(subject=str(found), old=found.status, new=RunStatus.SUSPENDED)
    if not _is_still_not_begun(tx, found):
        return None
    return status.change(tx, found.run_id, RunStatus.SUSPENDED, reason=reason)

"""The one place where the status of a run changes (DESIGN section 6; `TRANSITIONS` says what may follow what).

With it: what a run lets go of when it ends, what happens to one whose owner is found dead, runs that are locked for a
command, and requests of commands, which the owner of a running instance honours at its next heartbeat.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import dataclass
from datetime import datetime
from functools import partial

import sqlalchemy as sa

from toolkit.ledger.database import Transaction, in_chunks
from toolkit.ledger.errors import IllegalTransition, moment
from toolkit.ledger.runs.errors import RunIsOver
from toolkit.ledger.runs.queries import ACTIVE, get, is_of, locked
from toolkit.ledger.runs.rows import Run, RunKey
from toolkit.ledger.statements import Timed, given
from toolkit.ledger.tables import lease, process, queue, request, run, step_run
from toolkit.ledger.vocabulary import TRANSITIONS, QueueState, RequestKind, RunStatus

_NOT_BEGUN = (RunStatus.WAITING, RunStatus.READY, RunStatus.SKIPPED)


def change(
    tx: Transaction, run_id: int, to: RunStatus, *, reason: str | None = None, exit_code: int | None = None
) -> Run:
    """Give a run another status; the row stays locked until the transaction ends.

    Leases are for who runs, or is suspended: a run that ends or waits again gives them back. When it ends, its open
    requests count as honoured, and a job's steps end with it.

    Args:
        tx: the transaction.
        run_id: which run.
        to: the new status.
        reason: why; stays until the next change.
        exit_code: of the process, when it is over.

    Raises:
        UnknownRun: there is no such run.
        IllegalTransition: its status does not allow it; nothing was changed.
    """
    values = {"of_run": run_id, "reason": reason, "exit_code": exit_code}
    row = tx.execute_timed(_CHANGED[to], values).mappings().first()
    if row is None:
        found = get(tx, run_id)
        raise IllegalTransition(subject=str(found), old=found.status, new=to)
    changed = Run(**row)
    if to not in ACTIVE:
        tidy(tx, changed, changed.ended_at or tx.now())
    return changed


def resume(tx: Transaction, run_id: int) -> Run:
    """Lead a suspended run back to where it was suspended: waiting, ready or running.

    Raises:
        UnknownRun: there is no such run.
        IllegalTransition: it is not suspended; nothing was changed.
    """
    found = locked(tx, run_id)
    if found.suspended_from is None:
        raise IllegalTransition(subject=str(found), old=found.status, new=RunStatus.RUNNING)
    return change(tx, run_id, found.suspended_from)


def changing(to: RunStatus, now: sa.ColumnElement[datetime]) -> sa.Update:
    """The change of one run to another status, where its status allows that; `tidy` is to follow."""
    legal = [old for old, followers in TRANSITIONS.items() if to in followers]
    is_legal = (run.c.run_id == given(run.c.run_id, "of_run"), run.c.status.in_(legal))
    return sa.update(run).where(*is_legal).values(status=to, **_consequences(to, now)).returning(run)


def _consequences(to: RunStatus, now: sa.ColumnElement[datetime]) -> dict[str, object]:
    """Return the columns that change with the status."""
    values: dict[str, object] = {"suspended_from": run.c.status if to is RunStatus.SUSPENDED else None}
    if to is RunStatus.RUNNING:
        values["started_at"] = sa.func.coalesce(run.c.started_at, now)
    if to in _NOT_BEGUN:  # its conditions were checked
        values["started_at"] = None
    if to.is_terminal:
        values["ended_at"] = now
    return values


_CHANGED = {to: Timed(partial(changing, to)) for to in RunStatus}


def tidy(tx: Transaction, left: Run, now: datetime) -> None:
    """Give back the leases of a run without an active owner; close its requests when it is over.

    Args:
        tx: the transaction, which has the run's row locked.
        left: the run as it is now.
        now: by the database's clock.
    """
    has_leases, has_requests = tx.execute(_LEFT, {"of_run": left.run_id}).one()
    if has_leases:
        tx.execute(_LET_GO, {"of_run": left.run_id})
    if not left.status.is_terminal:
        return
    if has_requests:
        tx.execute(_CLOSED, {"of_run": left.run_id, "honoured_at": now})
    if left.mode is not None and left.status is not RunStatus.SUCCEEDED:
        _let_go(tx, left, now)


_ITS_LEASES = lease.c.run_id == given(lease.c.run_id, "of_run")
_ITS_REQUESTS = (request.c.run_id == given(request.c.run_id, "of_run")) & request.c.honoured_at.is_(None)
_LEFT = sa.select(
    sa.exists(sa.select(lease.c.run_id).where(_ITS_LEASES)),
    sa.exists(sa.select(request.c.run_id).where(_ITS_REQUESTS)),
)
"""Most jobs have neither, and one look is less than two writes."""
_LET_GO = sa.delete(lease).where(_ITS_LEASES)
_CLOSED = sa.update(request).where(_ITS_REQUESTS)


def _let_go(tx: Transaction, job: Run, now: datetime) -> None:
    """No step may look as if it ran for ever because its job was ended from outside, and its batches can be taken."""
    is_running = (step_run.c.run_id == job.run_id) & (step_run.c.status == RunStatus.RUNNING)
    tx.execute(sa.update(step_run).where(is_running).values(status=RunStatus.KILLED, ended_at=now))
    is_taken = (queue.c.target_batch_id == job.target_batch_id) & (queue.c.state == QueueState.ACCESSED)
    tx.execute(sa.update(queue).where(is_taken).values(state=QueueState.FAILED, ended_at=now))


IsGone = Callable[[Run], bool]
"""Function that returns whether the process that owns a run has ended for certain."""


def never_known(run: Run) -> bool:
    """`IsGone` where it is unknown: a lease is waited for until it expires."""
    del run
    return False


def put_away(
    tx: Transaction,
    run_ids: Collection[int],
    at: datetime,
    starting: RunKey | None = None,
    is_gone: IsGone = never_known,
) -> tuple[Run, ...]:
    """Take all leases from those of the runs that have an expired one, or whose owner is gone.

    A run that was RUNNING is KILLED.

    One that is suspended stays so, without an owner: the suspension was ordered.

    Args:
        tx: the transaction, which has locked the resources.
        run_ids: runs that seem to have an expired lease, or no owner.
        at: the present instant by the database's clock.
        starting: the key of a run that is to begin in this transaction; an attempt that waits for that is locked too.
        is_gone: asked about the owner of a run whose lease has not expired.

    Returns:
        The runs that were killed.
    """
    owners = _locked(tx, run_ids, starting)
    # Only now is it certain: a heartbeat, and who lets others work for the run, lock its row too.
    reasons = {run_id: _expiry(expired_at) for run_id, expired_at in _expired(tx, run_ids, at).items()}
    alone = (each for each in owners if each.run_id in run_ids and each.run_id not in reasons and is_gone(each))
    reasons |= {each.run_id: f"its process {each.pid} on {each.host} is gone" for each in alone}
    tx.execute(sa.delete(lease).where(lease.c.run_id.in_(reasons)))
    dead = (each for each in owners if each.run_id in reasons and each.status is RunStatus.RUNNING)
    return tuple(change(tx, each.run_id, RunStatus.KILLED, reason=reasons[each.run_id]) for each in dead)


def forget_owner_mark(tx: Transaction, run_id: int) -> None:
    """From now on the end of its process is not the end of a run's effects: others work for it."""
    tx.execute(sa.update(run).where(run.c.run_id == run_id).values(owner_mark=None))


def _expired(tx: Transaction, run_ids: Collection[int], at: datetime) -> dict[int, datetime]:
    """When the first lease of each run expired, if one has."""
    first = sa.func.min(lease.c.expires_at)
    statement = sa.select(lease.c.run_id, first).where(lease.c.run_id.in_(run_ids)).group_by(lease.c.run_id)
    rows = tx.execute(statement.having(first <= at)).tuples()
    return {run_id: expired_at for run_id, expired_at in rows}  # noqa: C416 - dict() takes a result for a mapping


LEASE_LOST = ("its lease ", "its process ")
"""Beginnings of the reasons for which runs end that lost their leases, of `runs.errors.LeaseExpired` as well."""


def _expiry(expired_at: datetime) -> str:
    return f"its lease expired at {moment(expired_at)}: its owner died or was cut off"


def _locked(tx: Transaction, run_ids: Collection[int], starting: RunKey | None) -> list[Run]:
    """Return all rows that this transaction will change; every transaction locks runs in the order of their numbers."""
    in_question: list[sa.ColumnElement[bool]] = [run.c.run_id.in_(run_ids)]
    if starting is not None:
        in_question.append(is_of(starting) & run.c.status.in_([RunStatus.WAITING, RunStatus.READY]))
    rows = sa.select(run).where(sa.or_(*in_question)).order_by(run.c.run_id)
    return list(tx.rows(Run, tx.locked(rows)))


def lock(tx: Transaction, runs: Collection[Run]) -> None:
    """Lock the rows of these runs until the transaction ends: first the processes that jobs belong to, then the runs.

    Each in the order of the numbers, as all that works on jobs does. What was read before may be out of date by then:
    read it again.
    """
    _lock(tx, process.c.process_id, {each.process_id for each in runs if each.process_id is not None})
    _lock(tx, run.c.run_id, {each.run_id for each in runs})


def _lock(tx: Transaction, column: sa.Column[int], numbers: Collection[int]) -> None:
    for chunk in in_chunks(sorted(numbers)):
        tx.execute(tx.locked(sa.select(column).where(column.in_(chunk)).order_by(column))).all()


_IS_OPEN = request.c.honoured_at.is_(None)


@dataclass(frozen=True, kw_only=True, slots=True)
class Request:
    """A request; the fields are the columns of the table `request`, where each is explained."""

    request_id: int
    run_id: int
    kind: RequestKind
    requested_by: str
    requested_at: datetime
    honoured_at: datetime | None


def ask_owner(tx: Transaction, run_id: int, kind: RequestKind, who: str) -> Request:
    """Ask the owner of a run for something; of a run, one request is open at most, the newest.

    Returns:
        The new request; or the open one when it asks the same, or asks to kill, which nothing undoes.

    Raises:
        UnknownRun: there is no such run.
        RunIsOver: no process is left to honour it; nothing was changed.
    """
    current = locked(tx, run_id)
    if current.status.is_terminal:
        raise RunIsOver(run=current, kind=kind)
    already = open_requests(tx, [run_id])
    present = next((each for each in already if each.kind in (kind, RequestKind.KILL)), None)
    if present is not None:
        return present
    honour_requests(tx, [each.request_id for each in already])
    new = {"run_id": run_id, "kind": kind, "requested_by": who, "requested_at": tx.now()}
    return Request(**tx.execute(sa.insert(request).values(**new).returning(request)).mappings().one())


def open_requests(tx: Transaction, run_ids: Collection[int]) -> list[Request]:
    """Return the open requests to these runs, oldest first."""
    found: list[Request] = []
    for chunk in in_chunks(run_ids):
        found += tx.rows(Request, sa.select(request).where(_IS_OPEN, request.c.run_id.in_(chunk)))
    return sorted(found, key=lambda each: each.request_id)


def honour_requests(tx: Transaction, request_ids: Collection[int]) -> None:
    """Note that these requests were acted on; one that was honoured before keeps its time."""
    for chunk in in_chunks(sorted(request_ids)):
        named = request.c.request_id.in_(chunk)
        tx.execute(sa.update(request).where(_IS_OPEN, named).values(honoured_at=tx.now()))

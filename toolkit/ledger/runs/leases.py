"""Leases on resources: exclusive or shared, until they expire by the database's clock (DESIGN section 6, Lease)."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, fields
from datetime import datetime, timedelta
from itertools import chain

import sqlalchemy as sa

from toolkit.ledger.database import Transaction, in_chunks
from toolkit.ledger.runs import status
from toolkit.ledger.runs.errors import LeaseHeld, LeaseLost
from toolkit.ledger.runs.queries import get, locked
from toolkit.ledger.runs.rows import Run, RunKey
from toolkit.ledger.runs.status import IsGone, never_known
from toolkit.ledger.statements import InsertOr
from toolkit.ledger.tables import lease, resource, run
from toolkit.ledger.vocabulary import LeaseMode, RunStatus


@dataclass(frozen=True, kw_only=True, slots=True)
class Wanted:
    """A lease that a run needs.

    Attributes:
        resource: for example ``evict/clicks/primary``.
        mode: alone, or beside others that only read.
    """

    resource: str
    mode: LeaseMode = LeaseMode.EXCLUSIVE


@dataclass(frozen=True, kw_only=True, slots=True)
class Lease:
    """A lease; the fields are columns of the table `lease`, where each is explained."""

    resource: str
    run_id: int
    mode: LeaseMode
    acquired_at: datetime
    expires_at: datetime


@dataclass(frozen=True, kw_only=True, slots=True)
class Cleared:
    """Resources that are locked for this transaction and that no other run holds against what is wanted.

    Attributes:
        wanted: the mode for each resource.
        fences: their numbers for the leases to come.
        at: the present instant by the database's clock, read after they were locked.
        own: those that the run holds already.
        killed: runs that were RUNNING under an expired lease, or whose owner is gone; they are KILLED now.
    """

    wanted: Mapping[str, LeaseMode]
    fences: Mapping[str, int]
    at: datetime
    own: frozenset[str]
    killed: tuple[Run, ...]


def clear(
    tx: Transaction,
    wanted: Sequence[Wanted],
    *,
    run_id: int | None = None,
    starting: RunKey | None = None,
    is_gone: IsGone = never_known,
) -> Cleared:
    """Lock the resources and put away leases on them that have expired, or whose owner is gone.

    Args:
        tx: the transaction.
        wanted: what a run needs.
        run_id: the run, when it has a row already; what it holds itself is not in its way.
        starting: the key of a run that is to begin in this transaction.
        is_gone: asked about the owner of a lease that is in the way and has not expired.

    Raises:
        LeaseHeld: another run holds one of them.
    """
    modes = _modes(wanted)
    fences = lock(tx, sorted(modes))
    at = tx.now()
    held = _held(tx, modes)
    dead = {each.run_id for each in held if each.expires_at <= at} - {run_id}
    rivals = {each.run_id for each in _rivals(modes, held)} - {run_id} - dead
    dead |= {each for each in rivals if is_gone(get(tx, each))}
    killed = status.put_away(tx, dead, at, starting, is_gone) if dead else ()
    if dead:
        held = _held(tx, modes)
    _refuse_held(tx, _rivals(modes, [each for each in held if each.run_id != run_id]))
    own = frozenset(each.resource for each in held if each.run_id == run_id)
    return Cleared(wanted=modes, fences=fences, at=at, own=own, killed=killed)


def clear_many(tx: Transaction, wanted: Sequence[Sequence[Wanted]]) -> list[Cleared | None]:
    """Lock the resources of many runs that have no row yet.

    Returns:
        For each of them what `clear` says; None when a lease on one of its resources is in its way or has expired, or
        an earlier one of these runs wants it too and both cannot have it: then it has to be cleared by itself.
    """
    modes = [_modes(each) for each in wanted]
    resources = {resource for each in modes for resource in each}
    fences = lock(tx, sorted(resources))
    at = tx.now()
    held: dict[str, list[Lease]] = {}
    for each in _held(tx, resources):
        held.setdefault(each.resource, []).append(each)
    seen: dict[str, LeaseMode] = {}
    cleared: list[Cleared | None] = []
    for mine in modes:
        is_free = all(_is_free(held.get(resource, ()), mode, at) for resource, mode in mine.items())
        is_alone = all(LeaseMode.EXCLUSIVE not in (mode, seen[each]) for each, mode in mine.items() if each in seen)
        own = Cleared(wanted=mine, fences=fences, at=at, own=frozenset(), killed=())
        cleared.append(own if is_free and is_alone else None)
        seen |= {each: mode for each, mode in mine.items() if seen.get(each) is not LeaseMode.EXCLUSIVE}
    return cleared


def _is_free(held: Sequence[Lease], mode: LeaseMode, at: datetime) -> bool:
    return all(LeaseMode.EXCLUSIVE not in (mode, each.mode) and each.expires_at > at for each in held)


def _modes(wanted: Sequence[Wanted]) -> dict[str, LeaseMode]:
    """The mode for each resource; exclusive when it is wanted both ways."""
    shared = {each.resource: each.mode for each in wanted if each.mode is LeaseMode.SHARED}
    return shared | {each.resource: each.mode for each in wanted if each.mode is LeaseMode.EXCLUSIVE}


_LOCK = InsertOr(resource, "(resource) DO UPDATE SET fence = resource.fence + 1").returning(
    resource.c.resource, resource.c.fence
)
_HELD = (
    sa.select(*(lease.c[field.name] for field in fields(Lease)))
    .where(lease.c.resource.in_(sa.bindparam("resources", type_=lease.c.resource.type, expanding=True)))
    .order_by(lease.c.resource, lease.c.run_id)
)
_GIVEN = sa.insert(lease)


def lock(tx: Transaction, resources: Sequence[str]) -> dict[str, int]:
    """Lock the rows of the resources, in the order given, until the transaction ends; returns their new fences."""
    if not resources:
        return {}
    rows: list[dict[str, object]] = [{"resource": each, "fence": 1} for each in resources]
    found = tx.execute(_LOCK, rows)
    return {row.resource: row.fence for row in found}


def _held(tx: Transaction, resources: Collection[str]) -> list[Lease]:
    """The leases on the resources, in the resources' order."""
    return [each for chunk in in_chunks(sorted(resources)) for each in tx.rows(Lease, _HELD, {"resources": chunk})]


def _rivals(modes: Mapping[str, LeaseMode], held: Sequence[Lease]) -> list[Lease]:
    """Return the held leases that exclude the wanted ones."""
    return [each for each in held if LeaseMode.EXCLUSIVE in (each.mode, modes[each.resource])]


def _refuse_held(tx: Transaction, rivals: Sequence[Lease]) -> None:
    for each in rivals:
        holder = get(tx, each.run_id)
        raise LeaseHeld(resource=each.resource, holder=holder, since=each.acquired_at, until=each.expires_at)


def free(tx: Transaction, wanted: Sequence[Wanted], starting: RunKey | None = None) -> tuple[Run, ...]:
    """Lock the resources and put away leases on them that have expired.

    To be called before `attempts.begin`, since the run of a dead owner may stand in the way of the new one.

    Args:
        tx: the transaction.
        wanted: what the new run needs.
        starting: the key of the new run.

    Returns:
        The runs that were RUNNING under an expired lease; they are KILLED now.

    Raises:
        LeaseHeld: another run holds one of them; nothing was changed once the transaction is rolled back.
    """
    return clear(tx, wanted, starting=starting).killed


def take(tx: Transaction, run_id: int, wanted: Sequence[Wanted], seconds: float) -> datetime:
    """Lease all of the resources to the run, or none.

    What the run holds already is extended, and becomes exclusive when that is wanted now.

    Args:
        tx: the transaction.
        run_id: the holder.
        wanted: what it needs.
        seconds: from now until they expire.

    Returns:
        When they expire, by the database's clock.

    Raises:
        UnknownRun: there is no such run.
        LeaseHeld: another run holds one of them.
        LeaseLost: the run is not running, or a lease that it has had has expired.
    """
    cleared = clear(tx, wanted, run_id=run_id)
    holder = locked(tx, run_id)
    expires_at = _first_expiry(tx, run_id)
    has_expired = expires_at is not None and expires_at <= cleared.at
    if holder.status is not RunStatus.RUNNING or has_expired:
        raise LeaseLost(run=holder, expired_at=expires_at)
    return give(tx, run_id, cleared, seconds)


def give(tx: Transaction, run_id: int, cleared: Cleared, seconds: float) -> datetime:
    """Lease to a run, whose row is locked, what was cleared for it in this transaction; see `take`."""
    until = cleared.at + timedelta(seconds=seconds)
    give_many(tx, [(run_id, cleared, seconds)])
    if cleared.own:
        _extend(tx, run_id, cleared, until)
    return until


def give_many(tx: Transaction, runs: Iterable[tuple[int, Cleared, float]]) -> None:
    """Lease to new runs what was cleared for each, for so many seconds; in one statement."""
    rows: list[dict[str, object]] = []
    for run_id, cleared, seconds in runs:
        until = cleared.at + timedelta(seconds=seconds)
        always = {"run_id": run_id, "acquired_at": cleared.at, "expires_at": until}
        new = [each for each in cleared.wanted if each not in cleared.own]
        rows += [{**always, "resource": one, "mode": cleared.wanted[one], "fence": cleared.fences[one]} for one in new]
    if rows:
        tx.execute(_GIVEN, rows)


def renew(tx: Transaction, run_id: int, seconds: float) -> datetime:
    """Give a sign of life: all leases of the run expire so many seconds from now.

    Returns:
        When they expire, by the database's clock.

    Raises:
        UnknownRun: there is no such run.
        LeaseLost: it holds none, or one has expired by the database's clock, even if no other run took it.
    """
    until, lost = renew_many(tx, [run_id], seconds)
    for error in lost.values():
        raise error
    return until


def renew_many(tx: Transaction, run_ids: Collection[int], seconds: float) -> tuple[datetime, dict[int, LeaseLost]]:
    """Give a sign of life for many runs: a few statements for all of them, whose number is that of the chunks.

    Returns:
        When their leases expire, by the database's clock; and why those have none any more that `renew` refuses.

    Raises:
        UnknownRun: there is no such run.
    """
    for chunk in in_chunks(sorted(run_ids)):  # everybody locks runs in the order of their numbers
        tx.execute(tx.locked(sa.select(run.c.run_id).where(run.c.run_id.in_(chunk)).order_by(run.c.run_id))).all()
    at = tx.now()
    until = at + timedelta(seconds=seconds)
    renewed: set[int] = set()
    for chunk in in_chunks(sorted(run_ids)):
        expired = sa.select(lease.c.run_id).where(lease.c.run_id.in_(chunk), lease.c.expires_at <= at)
        living = lease.c.run_id.in_(chunk) & lease.c.run_id.not_in(expired)
        extended = sa.update(lease).where(living).values(expires_at=until).returning(lease.c.run_id)
        of_chunk = set(tx.execute(extended).scalars())
        tx.execute(sa.update(run).where(run.c.run_id.in_(of_chunk)).values(heartbeat_at=at))
        renewed |= of_chunk
    left = sorted(set(run_ids) - renewed)
    return until, {each: LeaseLost(run=get(tx, each), expired_at=_first_expiry(tx, each)) for each in left}


def release(tx: Transaction, run_id: int) -> None:
    """Give back all leases of the run; a run that ends does so by itself.

    Raises:
        UnknownRun: there is no such run.
    """
    locked(tx, run_id)
    tx.execute(sa.delete(lease).where(lease.c.run_id == run_id))


def is_owned(tx: Transaction, run_id: int) -> bool:
    """Return whether a live process owns the run: it holds a lease that has not expired."""
    return bool(owned(tx, [run_id]))


def owned(tx: Transaction, run_ids: Collection[int]) -> frozenset[int]:
    """Return the runs that hold a lease that has not expired."""
    lives = lease.c.expires_at > tx.now()
    living = sa.select(lease.c.run_id).where(lives)
    found = (tx.execute(living.where(lease.c.run_id.in_(chunk))).scalars() for chunk in in_chunks(run_ids))
    return frozenset(chain.from_iterable(found))


def _extend(tx: Transaction, run_id: int, cleared: Cleared, until: datetime) -> None:
    """Extend the leases that the run holds; shared becomes exclusive where wanted, never the other way round."""
    own = (lease.c.run_id == run_id) & lease.c.resource.in_(cleared.own)
    tx.execute(sa.update(lease).where(own).values(expires_at=until))
    stronger = [each for each in cleared.own if cleared.wanted[each] is LeaseMode.EXCLUSIVE]
    if stronger:
        tx.execute(sa.update(lease).where(own, lease.c.resource.in_(stronger)).values(mode=LeaseMode.EXCLUSIVE))


def _first_expiry(tx: Transaction, run_id: int) -> datetime | None:
    """When the first of the run's leases expires or has; None: it has none."""
    first = sa.select(sa.func.min(lease.c.expires_at)).where(lease.c.run_id == run_id)
    found: datetime | None = tx.execute(first).scalar_one()
    return found

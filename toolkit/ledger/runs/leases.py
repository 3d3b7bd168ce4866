"""Leases on resources: exclusive or shared, until they expire by the database's clock (DESIGN section 6, Lease)."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from datetime import datetime, timedelta
from itertools import chain

import sqlalchemy as sa

from toolkit.ledger.parts import in_parts
from toolkit.ledger.runs.clearing import Cleared, Wanted, clear
from toolkit.ledger.runs.errors import LeaseLost
from toolkit.ledger.runs.finding import get
from toolkit.ledger.runs.rows import Run, RunKey
from toolkit.ledger.tables import lease, run
from toolkit.ledger.transaction import Transaction
from toolkit.ledger.vocabulary import LeaseMode, RunStatus

__all__ = ["Wanted", "free", "give", "is_owned", "owned", "release", "renew", "take"]


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
    holder = _locked(tx, run_id)
    expires_at = _first_expiry(tx, run_id)
    has_expired = expires_at is not None and expires_at <= cleared.at
    if holder.status is not RunStatus.RUNNING or has_expired:
        raise LeaseLost(run=holder, expired_at=expires_at)
    return give(tx, run_id, cleared, seconds)


def give(tx: Transaction, run_id: int, cleared: Cleared, seconds: float) -> datetime:
    """Lease to a run, whose row is locked, what was cleared for it in this transaction; see `take`."""
    until = cleared.at + timedelta(seconds=seconds)
    always = {"run_id": run_id, "acquired_at": cleared.at, "expires_at": until}
    new = [each for each in cleared.wanted if each not in cleared.own]
    rows = [{**always, "resource": each, "mode": cleared.wanted[each], "fence": cleared.fences[each]} for each in new]
    if rows:
        tx.execute(sa.insert(lease), rows)
    if cleared.own:
        _extend(tx, run_id, cleared, until)
    return until


def renew(tx: Transaction, run_id: int, seconds: float) -> datetime:
    """Give a sign of life: all leases of the run expire so many seconds from now.

    Returns:
        When they expire, by the database's clock.

    Raises:
        UnknownRun: there is no such run.
        LeaseLost: it holds none, or one has expired by the database's clock, even if nobody took it.
    """
    holder = _locked(tx, run_id)
    at = tx.now()
    until = at + timedelta(seconds=seconds)
    other = lease.alias("other")
    has_expired = sa.exists().where(other.c.run_id == run_id, other.c.expires_at <= at)
    renewed = sa.update(lease).where(lease.c.run_id == run_id, ~has_expired).values(expires_at=until)
    if not tx.execute(renewed).rowcount:
        raise LeaseLost(run=holder, expired_at=_first_expiry(tx, run_id))
    tx.execute(sa.update(run).where(run.c.run_id == run_id).values(heartbeat_at=at))
    return until


def release(tx: Transaction, run_id: int) -> None:
    """Give back all leases of the run; a run that ends does so by itself.

    Raises:
        UnknownRun: there is no such run.
    """
    _locked(tx, run_id)
    tx.execute(sa.delete(lease).where(lease.c.run_id == run_id))


def is_owned(tx: Transaction, run_id: int) -> bool:
    """Whether somebody lives who works on the run: it holds a lease that has not expired."""
    return bool(owned(tx, [run_id]))


def owned(tx: Transaction, run_ids: Collection[int]) -> frozenset[int]:
    """Those of the runs that hold a lease that has not expired."""
    lives = lease.c.expires_at > tx.now()
    parts = in_parts(run_ids)
    found = (tx.execute(sa.select(lease.c.run_id).where(lives, lease.c.run_id.in_(part))).scalars() for part in parts)
    return frozenset(chain.from_iterable(found))


def _locked(tx: Transaction, run_id: int) -> Run:
    """The run; whoever changes its leases or its status has its row locked."""
    return tx.row(Run, tx.locked(sa.select(run).where(run.c.run_id == run_id))) or get(tx, run_id)


def _extend(tx: Transaction, run_id: int, cleared: Cleared, until: datetime) -> None:
    """What the run holds already; shared becomes exclusive where that is wanted, never the other way round."""
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

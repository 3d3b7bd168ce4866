"""Making sure that resources are free for a run: the locks, the expired leases, and whoever is in the way."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from datetime import datetime

import sqlalchemy as sa

from toolkit.ledger.parts import in_parts
from toolkit.ledger.runs import expiry
from toolkit.ledger.runs.errors import LeaseHeld
from toolkit.ledger.runs.finding import get
from toolkit.ledger.runs.rows import Run, RunKey
from toolkit.ledger.tables import lease, resource
from toolkit.ledger.transaction import Transaction
from toolkit.ledger.vocabulary import LeaseMode


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
        killed: runs that were RUNNING under an expired lease; they are KILLED now.
    """

    wanted: Mapping[str, LeaseMode]
    fences: Mapping[str, int]
    at: datetime
    own: frozenset[str]
    killed: tuple[Run, ...]


def clear(
    tx: Transaction, wanted: Sequence[Wanted], *, run_id: int | None = None, starting: RunKey | None = None
) -> Cleared:
    """Lock the resources and put away leases on them that have expired.

    Args:
        tx: the transaction.
        wanted: what a run needs.
        run_id: the run, when it has a row already; what it holds itself is not in its way.
        starting: the key of a run that is to begin in this transaction.

    Raises:
        LeaseHeld: another run holds one of them.
    """
    modes = _modes(wanted)
    fences = _lock(tx, sorted(modes))
    at = tx.now()
    held = _held(tx, modes)
    expired = {each.run_id for each in held if each.expires_at <= at} - {run_id}
    killed = expiry.put_away(tx, expired, at, starting) if expired else ()
    if expired:
        held = _held(tx, modes)
    _refuse_held(tx, modes, [each for each in held if each.run_id != run_id])
    own = frozenset(each.resource for each in held if each.run_id == run_id)
    return Cleared(wanted=modes, fences=fences, at=at, own=own, killed=killed)


def _modes(wanted: Sequence[Wanted]) -> dict[str, LeaseMode]:
    """The mode for each resource; exclusive when it is wanted both ways."""
    shared = {each.resource: each.mode for each in wanted if each.mode is LeaseMode.SHARED}
    return shared | {each.resource: each.mode for each in wanted if each.mode is LeaseMode.EXCLUSIVE}


def _lock(tx: Transaction, resources: Sequence[str]) -> dict[str, int]:
    """Lock the rows of the resources, in the order given, until the transaction ends; returns their new fences."""
    if not resources:
        return {}
    insert = tx.upsert(resource).on_conflict_do_update(
        index_elements=["resource"], set_={"fence": resource.c.fence + 1}
    )
    rows: list[dict[str, object]] = [{"resource": each, "fence": 1} for each in resources]
    found = tx.execute(insert.returning(resource.c.resource, resource.c.fence), rows)
    return {row.resource: row.fence for row in found}


def _held(tx: Transaction, modes: Mapping[str, LeaseMode]) -> list[Lease]:
    """The leases on the resources, in the resources' order."""
    columns = [lease.c[field.name] for field in fields(Lease)]
    held: list[Lease] = []
    for part in in_parts(sorted(modes)):
        statement = sa.select(*columns).where(lease.c.resource.in_(part))
        held += tx.rows(Lease, statement.order_by(lease.c.resource, lease.c.run_id))
    return held


def _refuse_held(tx: Transaction, modes: Mapping[str, LeaseMode], rivals: Sequence[Lease]) -> None:
    for each in rivals:
        if LeaseMode.EXCLUSIVE in (each.mode, modes[each.resource]):
            holder = get(tx, each.run_id)
            raise LeaseHeld(resource=each.resource, holder=holder, since=each.acquired_at, until=each.expires_at)

"""Feed instances that a run writes, and items that an eviction is about to remove: how each finds out about the other.

A writer holds a lease on each instance that it writes, and then reads the open items of evictions. An eviction writes
its items down, and then reads the leases. So the second writer sees the first, also when both come at once.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass
from datetime import datetime
from functools import partial

import sqlalchemy as sa

from toolkit.ledger.columns import is_one_of
from toolkit.ledger.database import Transaction
from toolkit.ledger.runs.errors import LeaseHeld
from toolkit.ledger.runs.queries import get
from toolkit.ledger.runs.rows import Run
from toolkit.ledger.statements import Timed
from toolkit.ledger.tables import item, lease, run
from toolkit.ledger.vocabulary import ItemState, LeaseMode, LifeCycle

_PREFIX = "instance"


def output_resource(feed: str, cluster: str, instance_key: str) -> str:
    """The resource that a run leases which writes a feed instance."""
    return f"{_PREFIX}/{feed}/{cluster}/{instance_key}"


@dataclass(frozen=True, kw_only=True, slots=True)
class HeldOutput:
    """A lease on data that a run writes.

    Attributes:
        feed: of the instance; empty: the lease is on another resource that was asked for.
        cluster: of the instance.
        instance_key: of the instance.
        held: the holder, and how the lease can end, in words.
        mode: whether others may write the instance beside the holder.
    """

    feed: str = ""
    cluster: str = ""
    instance_key: str = ""
    held: LeaseHeld
    mode: LeaseMode = LeaseMode.EXCLUSIVE


@dataclass(frozen=True, kw_only=True, slots=True)
class OpenEviction:
    """An item that a living eviction, or an earlier one of its feed, has written down and not settled.

    It may be removed at any moment.

    Attributes:
        path: as the item has it.
        run: the living eviction.
    """

    path: str
    run: Run


def held_outputs(
    tx: Transaction, places: Collection[tuple[str, str]], also: Collection[str] = (), *, instance_key: str = ""
) -> Iterator[HeldOutput]:
    """Return the leases on instances of these feeds that have not expired: one statement, plus one for each holder.

    Args:
        tx: the transaction.
        places: feeds, each with its cluster.
        also: other resources, by their full names; only exclusive leases on them are returned.
        instance_key: only leases on this instance; empty: on all.
    """
    holders: dict[int, Run] = {}
    wanted = frozenset(places)
    statement = _HELD_OF_INSTANCE if instance_key else _HELD
    of_instance = {"resources": [output_resource(*place, instance_key) for place in wanted]} if instance_key else {}
    for row in tx.execute_timed(statement, of_instance).all():
        feed, cluster, key = _instance_of(row.resource)
        if row.resource not in also and (feed, cluster) not in wanted:
            continue
        if row.run_id not in holders:
            holders[row.run_id] = get(tx, row.run_id)
        since, until = row.acquired_at, row.expires_at
        held = LeaseHeld(resource=row.resource, holder=holders[row.run_id], since=since, until=until)
        if row.resource in also:
            yield HeldOutput(held=held)
        else:
            yield HeldOutput(feed=feed, cluster=cluster, instance_key=key, held=held, mode=row.mode)


_IS_ANY = lease.c.resource.startswith(f"{_PREFIX}/") | (lease.c.mode == LeaseMode.EXCLUSIVE)
_IS_OF_INSTANCE = lease.c.resource.in_(sa.bindparam("resources", type_=lease.c.resource.type, expanding=True))


def _held(is_wanted: sa.ColumnElement[bool], now: sa.ColumnElement[datetime]) -> sa.Select[tuple[object, ...]]:
    return (
        sa.select(lease.c.resource, lease.c.run_id, lease.c.mode, lease.c.acquired_at, lease.c.expires_at)
        .where(is_wanted, lease.c.expires_at > now)
        .order_by(lease.c.resource, lease.c.run_id)
    )


_HELD, _HELD_OF_INSTANCE = Timed(partial(_held, _IS_ANY)), Timed(partial(_held, _IS_OF_INSTANCE))


def _instance_of(resource: str) -> tuple[str, str, str]:
    """Return feed, cluster and key of the instance that a lease is on; of another lease empty texts."""
    above, _, key = resource.rpartition("/")
    prefix, _, pair = above.partition("/")
    feed, _, cluster = pair.partition("/")
    return (feed, cluster, key) if prefix == _PREFIX else ("", "", "")


def open_evictions(tx: Transaction) -> list[OpenEviction]:
    """Return the items that living evictions may be removing now: one statement, and two while there are evictions.

    A living eviction also brings to an end what earlier ones of its feed have left open.
    """
    living = (Run(**row) for row in tx.execute_timed(_EVICTING, {}).mappings())
    runs = {(each.entity, each.cluster): each for each in living}
    if not runs:
        return []
    statement = (
        sa.select(run.c.entity, run.c.cluster, item.c.path)
        .join_from(item, run, item.c.run_id == run.c.run_id)
        .where(is_one_of(item.c.state, ItemState.INTENDED), run.c.life_cycle == LifeCycle.EVICTION)
        .where(run.c.entity.in_(sorted({entity for entity, _ in runs})))
        .order_by(item.c.run_id, item.c.position)
    )
    found = ((row.path, runs.get((row.entity, row.cluster))) for row in tx.execute(statement).all())
    return [OpenEviction(path=path, run=eviction) for path, eviction in found if eviction is not None]


def _evicting(now: sa.ColumnElement[datetime]) -> sa.Select[tuple[object, ...]]:
    living = sa.select(lease.c.run_id).where(lease.c.expires_at > now)
    return sa.select(run).where(run.c.run_id.in_(living), run.c.life_cycle == LifeCycle.EVICTION)


_EVICTING = Timed(_evicting)

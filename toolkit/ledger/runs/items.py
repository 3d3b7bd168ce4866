"""Items: what a run is about to do, written before, and what became of it, written after (DESIGN section 6)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import datetime
from operator import attrgetter

import sqlalchemy as sa

from toolkit.ledger.columns import is_one_of
from toolkit.ledger.database import Transaction, in_chunks
from toolkit.ledger.runs.errors import ItemNotIntended, LeaseLost
from toolkit.ledger.runs.queries import OVER, locked
from toolkit.ledger.statements import Timed, given
from toolkit.ledger.tables import item, lease, run
from toolkit.ledger.vocabulary import ItemState, LifeCycle, RunStatus


@dataclass(frozen=True, kw_only=True, slots=True)
class NewItem:
    """An effect that a run is about to have.

    Attributes:
        position: in the plan, from 0; once in a run.
        kind: what it is about, in the action's words.
        path: what the effect is on.
        instance_key: empty: the item is no instance.
    """

    position: int
    kind: str
    path: str
    instance_key: str


@dataclass(frozen=True, kw_only=True, slots=True)
class SettledItem:
    """Outcome of an item.

    Attributes:
        position: of the item.
        state: done, failed or skipped.
        code: of a failure or a skip.
        message: of a failure.
    """

    position: int
    state: ItemState
    code: str | None = None
    message: str | None = None

    def __post_init__(self) -> None:
        if self.state is ItemState.INTENDED:
            message = "an item is settled as done, failed or skipped"
            raise ValueError(message)


@dataclass(frozen=True, kw_only=True, slots=True)
class Item:
    """An item; the fields are the columns of the table `item`, where each is explained."""

    run_id: int
    position: int
    kind: str
    path: str
    instance_key: str
    state: ItemState
    code: str | None
    message: str | None
    intended_at: datetime
    settled_at: datetime | None


def intend(tx: Transaction, run_id: int, items: Sequence[NewItem]) -> None:
    """Write down effects before they begin.

    Raises:
        UnknownRun: there is no such run.
        LeaseLost: the run is over, so it was taken for dead; the effects must not begin.
    """
    owner = locked(tx, run_id)
    if owner.status.is_terminal:
        raise LeaseLost(run=owner)
    if items:
        always = {"run_id": run_id, "state": ItemState.INTENDED}
        tx.execute_timed(_INTENDED, [{**_columns(each), **always} for each in items])


_INTENDED = Timed(lambda now: sa.insert(item).values(intended_at=now))
_SETTLED = (
    sa.update(item)
    .where(item.c.run_id == given(item.c.run_id, "of_run"), item.c.position == given(item.c.position, "of_position"))
    .where(item.c.state == ItemState.INTENDED)
)


def settle(tx: Transaction, run_id: int, items: Sequence[SettledItem]) -> None:
    """Write down what became of effects, also when the run is over by now: what happened has happened.

    In the order of their positions, whatever the order they are given in: two that settle the same items, the late
    owner and who took over from it, would block each other for good.

    Raises:
        ItemNotIntended: one of them is not open; nothing was changed once the transaction is rolled back.
    """
    if not items:
        return
    now = tx.now()
    rows: list[dict[str, object]] = [
        {
            "of_run": run_id,
            "of_position": each.position,
            "state": each.state,
            "code": each.code,
            "message": each.message,
            "settled_at": now,
        }
        for each in sorted(items, key=attrgetter("position"))
    ]
    if tx.execute(_SETTLED, rows).rowcount != len(rows):
        raise ItemNotIntended(run_id=run_id, positions=_not_settled(tx, run_id, items, now))


def states_of(tx: Transaction, run_id: int, positions: Collection[int]) -> dict[int, ItemState]:
    """Return the states of items of a run by their positions; items that it does not have are left out."""
    found: dict[int, ItemState] = {}
    wanted = sa.select(item.c.position, item.c.state).where(item.c.run_id == run_id)
    for chunk in in_chunks(positions):
        found |= dict(tx.execute(wanted.where(item.c.position.in_(chunk))).tuples().all())
    return found


def unsettled(tx: Transaction, life_cycle: LifeCycle, entity: str, cluster: str, counterpart: str = "") -> list[Item]:
    """Effects that may or may not have happened: still INTENDED, of runs without an owner, the oldest first.

    A run that is over has none, and one whose owner died while it was suspended.
    """
    of_entity = {"life_cycle": life_cycle, "entity": entity, "cluster": cluster, "counterpart": counterpart}
    found = (Item(**row) for row in tx.execute_timed(_UNSETTLED, of_entity).mappings())
    return sorted(found, key=attrgetter("run_id", "position"))


def _unsettled(now: sa.ColumnElement[datetime]) -> sa.Select[tuple[object, ...]]:
    """Few items are open. As a join, or sorted there, SQLite would rather read all runs of the entity, or all items."""
    of_entity = (run.c[name] == given(run.c[name]) for name in ("life_cycle", "entity", "cluster", "counterpart"))
    is_owned = sa.exists().where(lease.c.run_id == run.c.run_id, lease.c.expires_at > now).correlate(run)
    is_forsaken = is_one_of(run.c.status, *OVER) | (is_one_of(run.c.status, RunStatus.SUSPENDED) & ~is_owned)
    its_run_is_forsaken = sa.exists().where(run.c.run_id == item.c.run_id, *of_entity, is_forsaken)
    return sa.select(item).where(is_one_of(item.c.state, ItemState.INTENDED), its_run_is_forsaken)


_UNSETTLED = Timed(_unsettled)


def of_run(tx: Transaction, run_id: int) -> list[Item]:
    """Return all items of a run, in the order of the plan."""
    return list(tx.rows(Item, sa.select(item).where(item.c.run_id == run_id).order_by(item.c.position)))


def counts(tx: Transaction, run_ids: Collection[int]) -> dict[int, dict[ItemState, int]]:
    """Return how many items of each run are in which state; a run without items is left out."""
    found: dict[int, dict[ItemState, int]] = {}
    for chunk in in_chunks(run_ids):
        counted = sa.select(item.c.run_id, item.c.state, sa.func.count()).where(item.c.run_id.in_(chunk))
        for run_id, state, count in tx.execute(counted.group_by(item.c.run_id, item.c.state)).tuples():
            found.setdefault(run_id, {})[state] = count
    return found


def _columns(new: NewItem) -> dict[str, object]:
    """Return the columns of an item; `asdict` takes ten times as long, for each of a run's many items."""
    return {"position": new.position, "kind": new.kind, "path": new.path, "instance_key": new.instance_key}


def _not_settled(tx: Transaction, run_id: int, items: Sequence[SettledItem], now: datetime) -> list[int]:
    """The positions that the statement did not find open; one that was given twice is not open the second time."""
    settled = sa.select(item.c.position).where(item.c.run_id == run_id, item.c.settled_at == now)
    left = Counter(each.position for each in items)
    left.subtract(tx.execute(settled).scalars())
    return sorted(position for position, times in left.items() if times > 0)

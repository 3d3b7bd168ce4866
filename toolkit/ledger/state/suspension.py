"""Suspended entities, on one cluster or on all (Falcon overview, Entity Management: suspend, resume, touch)."""

from __future__ import annotations

from dataclasses import dataclass, fields
from datetime import datetime

import sqlalchemy as sa

from toolkit.ledger.tables import entity_state
from toolkit.ledger.transaction import Transaction

EVERYWHERE = ""
"""Stands for every cluster in the column `cluster`; it sorts before all names."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Suspension:
    """Nothing of an entity starts.

    Attributes:
        entity: feed or process.
        cluster: where; empty: on every cluster.
        reason: why, if somebody said so.
        changed_by: who suspended it.
        changed_at: when.
    """

    entity: str
    cluster: str
    reason: str | None
    changed_by: str
    changed_at: datetime


def suspend(tx: Transaction, entity: str, cluster: str | None, who: str, reason: str | None) -> bool:
    """Suspend an entity on a cluster, or on every cluster when that is None.

    Returns:
        Whether that changed anything; who was suspended so already keeps reason, person and time.
    """
    values = {"is_suspended": True, "reason": reason, "changed_by": who, "changed_at": tx.now()}
    insert = tx.upsert(entity_state).values(entity=entity, cluster=cluster or EVERYWHERE, **values)
    upsert = insert.on_conflict_do_update(
        index_elements=["entity", "cluster"], set_=values, where=~entity_state.c.is_suspended
    )
    return tx.execute(upsert.returning(entity_state.c.entity)).first() is not None


def resume(tx: Transaction, entity: str, cluster: str | None, who: str, reason: str | None = None) -> bool:
    """Let an entity run again on a cluster; None: everywhere, however it was suspended.

    What is suspended on every cluster stays so when it is resumed on one.

    Returns:
        Whether that changed anything.
    """
    where = [entity_state.c.entity == entity, entity_state.c.is_suspended]
    if cluster is not None:
        where.append(entity_state.c.cluster == cluster)
    values = {"is_suspended": False, "reason": reason, "changed_by": who, "changed_at": tx.now()}
    return bool(tx.execute(sa.update(entity_state).where(*where).values(**values)).rowcount)


def suspension_of(tx: Transaction, entity: str, cluster: str) -> Suspension | None:
    """What keeps an entity from running on a cluster; None: it may run."""
    return next(tx.rows(Suspension, _SUSPENDED.where(is_about(entity, cluster))), None)


def all_of(tx: Transaction) -> list[Suspension]:
    """All suspensions, by entity and cluster."""
    return list(tx.rows(Suspension, _SUSPENDED))


def touch(tx: Transaction, entity: str, who: str) -> datetime:
    """Note that somebody touched the entity: its configuration counts as new from now on.

    Returns:
        When, by the database's clock.
    """
    now = tx.now()
    row = {"entity": entity, "cluster": EVERYWHERE, "is_suspended": False, "changed_by": who, "changed_at": now}
    insert = tx.upsert(entity_state).values(**row, touched_at=now)
    tx.execute(insert.on_conflict_do_update(index_elements=["entity", "cluster"], set_={"touched_at": now}))
    return now


def touched_at(tx: Transaction, entity: str) -> datetime | None:
    """When the entity was last touched; None: never."""
    is_it = (entity_state.c.entity == entity) & (entity_state.c.cluster == EVERYWHERE)
    found: datetime | None = tx.execute(sa.select(entity_state.c.touched_at).where(is_it)).scalar_one_or_none()
    return found


def is_about(entity: str, cluster: str) -> sa.ColumnElement[bool]:
    """Whether a row of `entity_state` counts for an entity on a cluster."""
    return (entity_state.c.entity == entity) & entity_state.c.cluster.in_([EVERYWHERE, cluster])


_SUSPENDED = (
    sa.select(*(entity_state.c[field.name] for field in fields(Suspension)))
    .where(entity_state.c.is_suspended)
    .order_by(entity_state.c.entity, entity_state.c.cluster)
)

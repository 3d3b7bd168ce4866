"""Start conditions of an entity: safe mode, suspensions, and the time of the last touch or resume.

Safe mode stops the whole installation, a suspension one entity, on one cluster or on all (Falcon overview, Safe Mode
and Entity Management: suspend, resume, touch). It is the first question of every start (DESIGN section 1, layer runs).
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, fields
from datetime import datetime

import sqlalchemy as sa

from toolkit.errors import Skipped
from toolkit.ledger.database import Transaction
from toolkit.ledger.errors import moment
from toolkit.ledger.statements import given
from toolkit.ledger.tables import entity_state, safe_mode


class SafeModeIsOn(Skipped):
    """The whole installation rests (Falcon overview, Safe Mode).

    Args:
        reason: why, if given.
        changed_by: who switched it on.
        changed_at: when.
    """

    code = "safe_mode"

    def __init__(self, *, reason: str | None, changed_by: str | None, changed_at: datetime | None) -> None:
        self.reason, self.changed_by, self.changed_at = reason, changed_by, changed_at
        why = f": {reason}" if reason else ""
        who = f"switched on by {changed_by or '?'} at {moment(changed_at)}"
        super().__init__(f"safe mode is on, {who}{why}; `feedctl admin safe-mode off` ends it")


class EntityIsSuspended(Skipped):
    """The entity was suspended, so no run of it starts.

    Args:
        entity: feed or process.
        cluster: where; empty: on every cluster.
        reason: why, if given.
        changed_by: who.
        changed_at: when.
    """

    code = "entity_suspended"

    def __init__(self, *, entity: str, cluster: str, reason: str | None, changed_by: str, changed_at: datetime) -> None:
        self.entity, self.cluster, self.reason = entity, cluster, reason
        self.changed_by, self.changed_at = changed_by, changed_at
        where = f"on {cluster}" if cluster else "on every cluster"
        why = f": {reason}" if reason else ""
        who = f"is suspended {where} by {changed_by} since {moment(changed_at)}"
        super().__init__(f"{entity} {who}{why}; `feedctl entity resume {entity}` lets it run")


@dataclass(frozen=True, kw_only=True, slots=True)
class SafeMode:
    """State of safe mode.

    Attributes:
        is_on: nothing starts.
        reason: why, if given.
        changed_by: who switched it last; None: never switched.
        changed_at: when.
    """

    is_on: bool
    reason: str | None
    changed_by: str | None
    changed_at: datetime | None


def switch_safe_mode(tx: Transaction, *, on: bool, who: str, reason: str | None) -> bool:
    """Switch safe mode on or off.

    Returns:
        Whether that changed anything; otherwise reason, person and time stay.
    """
    values = {"is_on": on, "reason": reason, "changed_by": who, "changed_at": tx.now()}
    return bool(tx.execute(sa.update(safe_mode).where(safe_mode.c.is_on.is_not(on)).values(**values)).rowcount)


def current_safe_mode(tx: Transaction) -> SafeMode:
    """Return the state of safe mode, and since when it is on."""
    return next(tx.rows(SafeMode, sa.select(*(safe_mode.c[field.name] for field in fields(SafeMode)))))


def refuse_in_safe_mode(tx: Transaction) -> None:
    """Return when safe mode is off: for what it does not allow.

    Raises:
        SafeModeIsOn: the whole installation rests.
    """
    state = current_safe_mode(tx)
    if state.is_on:
        raise SafeModeIsOn(reason=state.reason, changed_by=state.changed_by, changed_at=state.changed_at)


EVERYWHERE = ""
"""Stands for every cluster in the column `cluster`; it sorts before all names."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Suspension:
    """Nothing of an entity starts.

    Attributes:
        entity: feed or process.
        cluster: where; empty: on every cluster.
        reason: why, if given.
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
    """Return the suspension of an entity on a cluster; None: it may run."""
    return next(tx.rows(Suspension, _SUSPENDED.where(is_about(entity, cluster))), None)


def suspensions(tx: Transaction) -> list[Suspension]:
    """Return all suspensions, by entity and cluster."""
    return list(tx.rows(Suspension, _SUSPENDED))


def touch(tx: Transaction, entity: str, who: str) -> datetime:
    """Note a touch of the entity: its configuration counts as new from now on.

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
    """Return whether a row of `entity_state` counts for an entity on a cluster."""
    return (entity_state.c.entity == entity) & entity_state.c.cluster.in_([EVERYWHERE, cluster])


_SUSPENDED = (
    sa.select(*(entity_state.c[field.name] for field in fields(Suspension)))
    .where(entity_state.c.is_suspended)
    .order_by(entity_state.c.entity, entity_state.c.cluster)
)


def renewals(tx: Transaction) -> dict[tuple[str, str], datetime]:
    """The last such moment by entity and cluster; an empty cluster stands for all of them."""
    row = entity_state.c
    found = sa.select(row.entity, row.cluster, row.is_suspended, row.changed_at, row.touched_at)
    moments = {}
    for each in tx.execute(found).mappings():
        resumed = None if each["is_suspended"] else each["changed_at"]
        known = [moment for moment in (resumed, each["touched_at"]) if moment is not None]
        if known:
            moments[each["entity"], each["cluster"]] = max(known)
    return moments


def startable(tx: Transaction, places: Collection[tuple[str, str]]) -> frozenset[tuple[str, str]]:
    """Return the entities, each with its cluster, that `check` lets start."""
    if current_safe_mode(tx).is_on:
        return frozenset()
    suspended = {(each.entity, each.cluster) for each in suspensions(tx)}
    return frozenset(each for each in places if not suspended & {each, (each[0], EVERYWHERE)})


def check(tx: Transaction, entity: str, cluster: str) -> None:
    """Return when the entity may run on the cluster.

    Raises:
        SafeModeIsOn: nothing starts at present.
        EntityIsSuspended: nothing of this entity starts, here or everywhere.
    """
    row = tx.execute(_BOTH, {"entity": entity, "cluster": cluster}).one()
    if row.is_on:
        raise SafeModeIsOn(reason=row.reason, changed_by=row.changed_by, changed_at=row.changed_at)
    if row.entity is not None:
        raise EntityIsSuspended(
            entity=row.entity,
            cluster=row.cluster,
            reason=row.why_suspended,
            changed_by=row.suspended_by,
            changed_at=row.suspended_at,
        )


_COLUMNS = (
    safe_mode.c.is_on,
    safe_mode.c.reason,
    safe_mode.c.changed_by,
    safe_mode.c.changed_at,
    entity_state.c.entity,
    entity_state.c.cluster,
    entity_state.c.reason.label("why_suspended"),
    entity_state.c.changed_by.label("suspended_by"),
    entity_state.c.changed_at.label("suspended_at"),
)
_HERE = entity_state.c.cluster.in_([sa.literal(EVERYWHERE), given(entity_state.c.cluster)])
_IS_SUSPENDED = (entity_state.c.entity == given(entity_state.c.entity)) & _HERE & entity_state.c.is_suspended
_BOTH = (
    sa.select(*_COLUMNS)
    .outerjoin_from(safe_mode, entity_state, _IS_SUSPENDED)
    .order_by(entity_state.c.cluster)
    .limit(1)
)
"""One query for both, since every start asks."""

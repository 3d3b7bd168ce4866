"""Whether anything of an entity may start at all: safe mode, then suspension (DESIGN section 1, layer runs)."""

from __future__ import annotations

import sqlalchemy as sa

from toolkit.ledger.state.errors import EntityIsSuspended, SafeModeIsOn
from toolkit.ledger.state.suspension import is_about
from toolkit.ledger.tables import entity_state, safe_mode
from toolkit.ledger.transaction import Transaction


def check(tx: Transaction, entity: str, cluster: str) -> None:
    """Return when the entity may run on the cluster.

    Raises:
        SafeModeIsOn: nothing starts at present.
        EntityIsSuspended: nothing of this entity starts, here or everywhere.
    """
    suspended = is_about(entity, cluster) & entity_state.c.is_suspended
    both = sa.select(*_COLUMNS).outerjoin_from(safe_mode, entity_state, suspended)
    row = tx.execute(both.order_by(entity_state.c.cluster).limit(1)).one()
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
"""One query for both, since every start asks."""

"""When entities were last resumed or touched: from then on they count as scheduled anew."""

from __future__ import annotations

from datetime import datetime

import sqlalchemy as sa

from toolkit.ledger.tables import entity_state
from toolkit.ledger.transaction import Transaction


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

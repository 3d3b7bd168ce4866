"""Alerts that are open now, the worst first; `toolkit.ledger.metrics` counts them."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, fields
from datetime import datetime

import sqlalchemy as sa

from toolkit.ledger.database import Transaction, in_chunks
from toolkit.ledger.tables import alert
from toolkit.ledger.vocabulary import AlertKind, AlertLevel


@dataclass(frozen=True, kw_only=True, slots=True)
class OpenAlert:
    """Open alert; the fields are the columns of the table `alert`, where each is explained."""

    alert_id: int
    kind: AlertKind
    entity: str
    cluster: str
    instance_key: str
    level: AlertLevel
    opened_at: datetime
    escalated_at: datetime | None
    message: str
    acked_by: str | None


_OPEN = alert.c.closed_at.is_(None)
_COLUMNS = [alert.c[each.name] for each in fields(OpenAlert)]
_IS_LOW = sa.case((alert.c.level == AlertLevel.HIGH, 0), else_=1)


def open_alerts(tx: Transaction, limit: int | None = None, entities: Collection[str] | None = None) -> list[OpenAlert]:
    """Return open alerts, high ones first, the oldest of each level first.

    Args:
        tx: the transaction.
        limit: at most so many; None: all.
        entities: only of these; None: of all.
    """
    order = (_IS_LOW, alert.c.opened_at, alert.c.alert_id)
    wanted = sa.select(*_COLUMNS).where(_OPEN).order_by(*order).limit(limit)
    if entities is None:
        return list(tx.rows(OpenAlert, wanted))
    of_names = (wanted.where(alert.c.entity.in_(names)) for names in in_chunks(entities))
    found = [each for statement in of_names for each in tx.rows(OpenAlert, statement)]
    return sorted(found, key=lambda each: (each.level is AlertLevel.LOW, each.opened_at, each.alert_id))[:limit]

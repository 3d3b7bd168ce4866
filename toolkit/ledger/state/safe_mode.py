"""Safe mode: the whole installation rests (Falcon overview, Safe Mode)."""

from __future__ import annotations

from dataclasses import dataclass, fields
from datetime import datetime

import sqlalchemy as sa

from toolkit.ledger.state.errors import SafeModeIsOn
from toolkit.ledger.tables import safe_mode
from toolkit.ledger.transaction import Transaction


@dataclass(frozen=True, kw_only=True, slots=True)
class SafeMode:
    """Whether the installation rests.

    Attributes:
        is_on: nothing starts.
        reason: why, if somebody said so.
        changed_by: who switched it last; None: nobody ever did.
        changed_at: when.
    """

    is_on: bool
    reason: str | None
    changed_by: str | None
    changed_at: datetime | None


def switch(tx: Transaction, *, on: bool, who: str, reason: str | None) -> bool:
    """Switch safe mode on or off.

    Returns:
        Whether that changed anything; otherwise reason, person and time stay.
    """
    values = {"is_on": on, "reason": reason, "changed_by": who, "changed_at": tx.now()}
    return bool(tx.execute(sa.update(safe_mode).where(safe_mode.c.is_on.is_not(on)).values(**values)).rowcount)


def current(tx: Transaction) -> SafeMode:
    """Whether safe mode is on, and since when."""
    return next(tx.rows(SafeMode, sa.select(*(safe_mode.c[field.name] for field in fields(SafeMode)))))


def refuse(tx: Transaction) -> None:
    """Return when safe mode is off: for what it does not allow.

    Raises:
        SafeModeIsOn: the whole installation rests.
    """
    state = current(tx)
    if state.is_on:
        raise SafeModeIsOn(reason=state.reason, changed_by=state.changed_by, changed_at=state.changed_at)

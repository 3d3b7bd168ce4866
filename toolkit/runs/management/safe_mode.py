"""Safe mode, and who may switch it (Falcon overview, Safe Mode)."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

from toolkit.ledger.database import Ledger
from toolkit.ledger.state import start_check
from toolkit.ledger.state.commands import record
from toolkit.ledger.state.start_check import SafeMode, current_safe_mode
from toolkit.ledger.transaction import Transaction
from toolkit.runs.management.errors import AdminsOnly


@dataclass(frozen=True, kw_only=True, slots=True)
class Switched:
    """Safe mode as it is after a command, and whether the command changed it."""

    state: SafeMode
    is_changed: bool


def switch_safe_mode(ledger: Ledger, *, on: bool, who: str, reason: str | None, admins: Collection[str]) -> Switched:
    """Switch safe mode on or off.

    Args:
        ledger: that it is for.
        on: off otherwise.
        who: switches it.
        reason: why, if they say so.
        admins: who may; empty: whoever may write the ledger.

    Raises:
        AdminsOnly: `who` may not; that is recorded too.
        LedgerUnavailable: the ledger cannot be used now.
    """
    command, is_admin = f"admin safe-mode {'on' if on else 'off'}", not admins or who in admins

    def act(tx: Transaction) -> Switched:
        changed = is_admin and start_check.switch_safe_mode(tx, on=on, who=who, reason=reason)
        record(tx, command, "safe mode", who, changed=changed, detail=reason if is_admin else "refused: not an admin")
        return Switched(state=current_safe_mode(tx), is_changed=changed)

    switched = ledger.write(act)
    if not is_admin:
        raise AdminsOnly(who=who, admins=sorted(admins))
    return switched


def safe_mode_state(ledger: Ledger) -> SafeMode:
    """Whether safe mode is on.

    Raises:
        LedgerUnavailable: the ledger cannot be read now.
    """
    return ledger.read(current_safe_mode)

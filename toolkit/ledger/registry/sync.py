"""Brings the registry to the state of a config repo (DESIGN section 6; `feedctl ledger sync`)."""

from __future__ import annotations

from dataclasses import dataclass

from toolkit.ledger.registry.comparison import compare
from toolkit.ledger.registry.registered import registered
from toolkit.ledger.registry.registration import Registration, Site
from toolkit.ledger.registry.writing import write, write_servers
from toolkit.ledger.state import commands, safe_mode
from toolkit.ledger.tables import resource
from toolkit.ledger.transaction import Transaction

COMMAND = "ledger sync"
"""What the record of commands calls it."""

_TURN = "ledger/sync"


@dataclass(frozen=True, kw_only=True, slots=True)
class SyncReport:
    """What a sync did.

    Attributes:
        added: registered for the first time.
        changed: registered anew, also when it had been gone.
        removed: no longer in the config repo; flagged, never deleted.
        unchanged: registered so already.
    """

    added: tuple[Site, ...]
    changed: tuple[Site, ...]
    removed: tuple[Site, ...]
    unchanged: tuple[Site, ...]

    @property
    def has_changed(self) -> bool:
        """Whether anything was written."""
        return bool(self.added or self.changed or self.removed)


def sync(tx: Transaction, registration: Registration, who: str) -> SyncReport:
    """Register what a config repo has; the same registration again changes nothing.

    Args:
        tx: the transaction.
        registration: of `registration_of`.
        who: asks for it.

    Raises:
        SafeModeIsOn: the whole installation rests.
    """
    safe_mode.refuse(tx)
    _take_turn(tx)
    changes = compare(registered(tx), registration)
    write(tx, changes, registration.snapshot)
    write_servers(tx, registration.servers)
    report = SyncReport(
        added=tuple(sorted(each.site for each in changes.added)),
        changed=tuple(sorted(each.site for each in changes.changed.values())),
        removed=tuple(sorted(changes.removed.values())),
        unchanged=changes.unchanged,
    )
    commands.record(tx, COMMAND, registration.snapshot, who, changed=report.has_changed, detail=_detail(report))
    return report


def _take_turn(tx: Transaction) -> None:
    """Two syncs at once would both insert what is new; nobody holds this row and then wants another lock."""
    insert = tx.upsert(resource).values(resource=_TURN, fence=1)
    tx.execute(insert.on_conflict_do_update(index_elements=["resource"], set_={"fence": resource.c.fence + 1}))


def _detail(report: SyncReport) -> str:
    return f"{len(report.added)} added, {len(report.changed)} changed, {len(report.removed)} removed"

"""Holds of the ledger, beside those of `holds.yaml`; retention honours the union (DESIGN section 7)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import datetime

from toolkit.el import format_instant, parse_instant
from toolkit.entities import Hold
from toolkit.ledger.database import Ledger, Transaction
from toolkit.ledger.state import start_check
from toolkit.ledger.state.commands import record
from toolkit.ledger.state.holds import FileHold, LedgerHold, NewHold, active, add, as_entity_hold, remove, seen_files
from toolkit.management.errors import EmptyRange


@dataclass(frozen=True, kw_only=True, slots=True)
class KnownHold:
    """A hold, wherever it stands.

    Attributes:
        hold: what it keeps, and why.
        recorded: its row in the ledger; None: no command set it.
        file: in the feed's base, as a run met it; None as well: it stands in `holds.yaml`.
    """

    hold: Hold
    recorded: LedgerHold | None = None
    file: FileHold | None = None

    @property
    def since(self) -> datetime | None:
        """When it was set, or first met; None: unknown."""
        if self.recorded is not None:
            return self.recorded.added_at
        return self.hold.since if self.file is None else self.file.first_seen_at


@dataclass(frozen=True, kw_only=True, slots=True)
class Held:
    """A hold, and whether a command changed it."""

    hold: LedgerHold
    is_changed: bool


def hold_range(start: str | None, end: str | None) -> tuple[datetime | None, datetime | None]:
    """Return the range of a hold, from the texts of both ends; each may be missing.

    Raises:
        ElError: a text is no instant.
        EmptyRange: the end is not after the start, so that it would hold nothing.
    """
    first = None if start is None else parse_instant(start)
    until = None if end is None else parse_instant(end)
    if first is not None and until is not None and until <= first:
        raise EmptyRange(start=format_instant(first), end=format_instant(until))
    return first, until


def new_hold(hold: Hold) -> NewHold:
    """A hold as the ledger takes it."""
    return NewHold(
        feed=hold.feed,
        cluster=hold.cluster,
        start_key=None if hold.start is None else format_instant(hold.start),
        end_key=None if hold.end is None else format_instant(hold.end),
        reason=hold.reason,
        owner=hold.owner,
    )


def add_hold(ledger: Ledger, hold: Hold, who: str) -> Held:
    """Hold instances; safe mode allows it. The same hold is not added twice.

    Raises:
        LedgerUnavailable: the ledger cannot be used now.
    """

    def work(tx: Transaction) -> Held:
        added, is_new = add(tx, new_hold(hold), who)
        record(tx, "hold add", f"hold {added.hold_id} on {hold.feed}", who, changed=is_new, detail=hold.reason)
        return Held(hold=added, is_changed=is_new)

    return ledger.write(work)


def remove_hold(ledger: Ledger, hold_id: int, who: str) -> bool:
    """Let instances go again; returns whether that changed anything.

    Raises:
        UnknownHold: the ledger has no hold of this number.
        SafeModeIsOn: not now.
        LedgerUnavailable: the ledger cannot be used now.
    """

    def work(tx: Transaction) -> bool:
        start_check.refuse_in_safe_mode(tx)
        changed = remove(tx, hold_id, who)
        record(tx, "hold remove", f"hold {hold_id}", who, changed=changed)
        return changed

    return ledger.write(work)


def known_holds(ledger: Ledger, from_file: Iterable[Hold], feed: str | None = None) -> tuple[KnownHold, ...]:
    """Return all holds in force: those of `holds.yaml`, of the ledger, and the files that the last runs met.

    Args:
        ledger: has some.
        from_file: the others.
        feed: only on this one.

    Raises:
        LedgerUnavailable: the ledger cannot be read now.
    """
    return ledger.read(lambda tx: tuple(holds_in(tx, from_file, feed)))


def holds_in(tx: Transaction, from_file: Iterable[Hold], feed: str | None = None) -> Iterator[KnownHold]:
    """Yield all holds in force, within a transaction; see `known_holds`."""
    yield from (KnownHold(hold=each) for each in from_file if feed in {None, each.feed})
    yield from (KnownHold(hold=as_entity_hold(each), recorded=each) for each in active(tx, feed))
    for file in seen_files(tx):
        if feed in {None, file.feed}:
            yield KnownHold(hold=Hold(feed=file.feed, cluster=file.cluster, reason=file.reason), file=file)

"""Holds that commands set, beside those of `holds.yaml`; retention honours the union (DESIGN section 7).

Hold files are known as the last run of retention met them.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from datetime import datetime

import sqlalchemy as sa

from toolkit.el import parse_instant
from toolkit.entities import Hold
from toolkit.errors import InvalidInput
from toolkit.ledger.database import Transaction
from toolkit.ledger.tables import file_hold, hold


@dataclass(frozen=True, kw_only=True, slots=True)
class NewHold:
    """Keeps a feed's instances with start <= instance < end.

    Attributes:
        feed: whose instances stay.
        cluster: None: on every cluster.
        start_key: the first instance; None: from the beginning.
        end_key: the first that is free again; None: for ever.
        reason: why; shown for every instance that it keeps.
        owner: whom to ask.
    """

    feed: str
    cluster: str | None = None
    start_key: str | None = None
    end_key: str | None = None
    reason: str
    owner: str | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class LedgerHold:
    """A hold; the fields are the columns of the table `hold`, where each is explained."""

    hold_id: int
    feed: str
    cluster: str | None
    start_key: str | None
    end_key: str | None
    reason: str
    owner: str | None
    added_by: str
    added_at: datetime
    removed_by: str | None
    removed_at: datetime | None


class UnknownHold(InvalidInput):
    """The ledger has no hold of this number.

    Args:
        hold_id: as given.
    """

    code = "unknown_hold"

    def __init__(self, *, hold_id: int) -> None:
        self.hold_id = hold_id
        super().__init__(f"the ledger has no hold {hold_id}; `feedctl hold list` shows the holds and their numbers")


def add(tx: Transaction, new: NewHold, who: str) -> tuple[LedgerHold, bool]:
    """Add a hold.

    Returns:
        The hold, and whether it is new: one that says the same and still holds is not added again.
    """
    _one_at_a_time(tx)
    same = [hold.c[name].is_not_distinct_from(value) for name, value in asdict(new).items()]
    found = tx.row(LedgerHold, sa.select(hold).where(_HOLDS, *same))
    if found is not None:
        return found, False
    insert = sa.insert(hold).values(**asdict(new), added_by=who, added_at=tx.now())
    return LedgerHold(**tx.execute(insert.returning(hold)).mappings().one()), True


def remove(tx: Transaction, hold_id: int, who: str) -> bool:
    """Let the instances of a hold go again.

    Returns:
        Whether that changed anything: False when it was removed before.

    Raises:
        UnknownHold: there is no hold of this number.
    """
    named = hold.c.hold_id == hold_id
    removed = sa.update(hold).where(_HOLDS, named).values(removed_by=who, removed_at=tx.now())
    if tx.execute(removed).rowcount:
        return True
    if tx.execute(sa.select(hold.c.hold_id).where(named)).first() is None:
        raise UnknownHold(hold_id=hold_id)
    return False


def active(tx: Transaction, feed: str | None = None) -> list[LedgerHold]:
    """The holds that hold, of one feed or of all, in the order of adding."""
    where = [_HOLDS] if feed is None else [_HOLDS, hold.c.feed == feed]
    return list(tx.rows(LedgerHold, sa.select(hold).where(*where).order_by(hold.c.hold_id)))


@dataclass(frozen=True, kw_only=True, slots=True)
class FileHold:
    """A file that holds a feed; the fields are the columns of the table `file_hold`, where each is explained."""

    feed: str
    cluster: str
    path: str
    reason: str
    first_seen_at: datetime
    last_seen_at: datetime


def see_file(tx: Transaction, feed: str, cluster: str, *, path: str, reason: str) -> None:
    """A run met a hold file; since when one is there stays as it was."""
    now = tx.now()
    seen = {"path": path, "reason": reason, "last_seen_at": now}
    insert = tx.upsert(file_hold).values(feed=feed, cluster=cluster, first_seen_at=now, **seen)
    tx.execute(insert.on_conflict_do_update(index_elements=["feed", "cluster"], set_=seen))


def miss_file(tx: Transaction, feed: str, cluster: str) -> None:
    """A run met none."""
    tx.execute(sa.delete(file_hold).where(file_hold.c.feed == feed, file_hold.c.cluster == cluster))


def seen_files(tx: Transaction) -> list[FileHold]:
    """The hold files that the last runs met, by feed and cluster."""
    return list(tx.rows(FileHold, sa.select(file_hold).order_by(file_hold.c.feed, file_hold.c.cluster)))


def as_entity_hold(found: LedgerHold) -> Hold:
    """The hold as retention takes it, beside those of `holds.yaml`."""
    return Hold(
        feed=found.feed,
        cluster=found.cluster,
        start=parse_instant(found.start_key) if found.start_key else None,
        end=parse_instant(found.end_key) if found.end_key else None,
        reason=found.reason,
        owner=found.owner,
    )


_HOLDS = hold.c.removed_at.is_(None)


def _one_at_a_time(tx: Transaction) -> None:
    """Lock, so that two who add the same hold at once get the same one; SQLite has one writer anyway."""
    if tx.connection.dialect.name == "postgresql":
        tx.execute(sa.text("LOCK TABLE hold IN SHARE ROW EXCLUSIVE MODE"))

"""The identity of a ledger: run numbers begin at 1 in each, so names outside of it need more than a run number."""

from __future__ import annotations

import re
import secrets
from typing import TYPE_CHECKING

import sqlalchemy as sa

from toolkit.ledger.errors import UnusableLedger
from toolkit.ledger.tables import ledger_identity

if TYPE_CHECKING:
    from datetime import datetime

    from toolkit.ledger.database import Ledger

_IDENTITY = re.compile(r"[0-9a-f]{32}")
_ONLY_ID = 1


def insert_identity(connection: sa.Connection, now: datetime) -> None:
    """Give a ledger without an identity a new one."""
    values = {"ledger_identity_id": _ONLY_ID, "identity": secrets.token_hex(16), "made_at": now}
    connection.execute(sa.insert(ledger_identity).values(values))


def identity_of(ledger: Ledger) -> str:
    """Return the identity of a ledger: 32 hexadecimal digits, and nothing else, since paths are made of it.

    Raises:
        UnusableLedger: it has none, or another text was written there.
        LedgerUnavailable: the ledger cannot be read now.
    """
    found = ledger.read(lambda tx: tx.execute(sa.select(ledger_identity.c.identity)).scalars().all())
    if len(found) != 1 or _IDENTITY.fullmatch(found[0]) is None:
        todo = "restore the row of the table ledger_identity, or write 32 random digits there"
        raise UnusableLedger(place=ledger.place, found="has no identity of 32 hexadecimal digits", todo=todo)
    return str(found[0])

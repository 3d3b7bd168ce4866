"""Commands on entities and instances: who gave them, and whether they changed anything."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

import sqlalchemy as sa

from toolkit.ledger.database import Transaction
from toolkit.ledger.tables import command as table


@dataclass(frozen=True, kw_only=True, slots=True)
class Command:
    """A command of a user; the fields are the columns of the table `command`."""

    command_id: int
    command: str
    subject: str
    detail: str | None
    has_changed: bool
    who: str
    at: datetime


def record(tx: Transaction, command: str, subject: str, who: str, *, changed: bool, detail: str | None = None) -> None:
    """Write down a command, in the transaction that carries it out.

    Args:
        tx: the transaction.
        command: for example ``entity suspend``.
        subject: what it was about.
        who: who gave it.
        changed: False: it was so already, or the state was wrong.
        detail: range, reason.
    """
    row = {"command": command, "subject": subject, "detail": detail, "has_changed": changed, "who": who}
    tx.execute(sa.insert(table).values(**row, at=tx.now()))


def first(tx: Transaction, command: str, subject: str) -> Command | None:
    """Return the first command of this name about a subject; None: there was none."""
    named = sa.select(table).where(table.c.command == command, table.c.subject == subject)
    return tx.row(Command, named.order_by(table.c.command_id).limit(1))


def recent(tx: Transaction, limit: int) -> list[Command]:
    """The last commands, the newest first."""
    return list(tx.rows(Command, sa.select(table).order_by(table.c.command_id.desc()).limit(limit)))

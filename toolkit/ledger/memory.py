"""Ledger of a process that has none: the outbox alone, in memory, so that messages are sent the same way."""

from __future__ import annotations

import sqlalchemy as sa

from toolkit.ledger.database import Ledger
from toolkit.ledger.tables import metadata, outbox, outbox_channel


def outbox_in_memory() -> Ledger:
    """Return a ledger that has an outbox and nothing else, and ends with this process."""
    engine = sa.create_engine("sqlite://", poolclass=sa.StaticPool, connect_args={"check_same_thread": False})
    metadata.create_all(engine, tables=[outbox, outbox_channel])
    return Ledger(engine=engine, place="memory")

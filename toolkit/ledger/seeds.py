"""The rows that every ledger has from its first day on."""

from __future__ import annotations

import sqlalchemy as sa

from toolkit.ledger.tables import batch, event_counter, safe_mode
from toolkit.ledger.transaction import database_now
from toolkit.ledger.vocabulary import BatchKind, BatchState

SEED_BATCH_ID = 0
"""The batch that stands for no data (BDRE, InitJob: steps without an enqueuing process)."""
COUNTER_ID = 1
"""Of the one row of `event_counter`."""
SAFE_MODE_ID = 1
"""Of the one row of `safe_mode`."""


def seed(connection: sa.Connection) -> None:
    """Insert batch 0, the counter of events and the state of safe mode, which is off; the tables must be empty."""
    now = database_now(connection)
    connection.execute(
        sa.insert(batch).values(
            batch_id=SEED_BATCH_ID,
            kind=BatchKind.SEED,
            state=BatchState.PUBLISHED,
            created_at=now,
            published_at=now,
        )
    )
    connection.execute(sa.insert(event_counter).values(counter_id=COUNTER_ID, last_sequence=0))
    connection.execute(sa.insert(safe_mode).values(safe_mode_id=SAFE_MODE_ID, is_on=False))

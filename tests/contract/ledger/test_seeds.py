"""The rows that every ledger starts with."""

from __future__ import annotations

import sqlalchemy as sa

from toolkit.ledger.database import Ledger, Transaction
from toolkit.ledger.tables import batch, event_counter, safe_mode
from toolkit.ledger.vocabulary import BatchKind, BatchState


def test_a_new_ledger_has_the_seed_batch_no_events_and_is_not_in_safe_mode(ledger: Ledger) -> None:
    def look(tx: Transaction) -> tuple[object, ...]:
        seed = tx.execute(sa.select(batch.c.batch_id, batch.c.kind, batch.c.state)).one()
        last = tx.execute(sa.select(event_counter.c.last_sequence)).scalar_one()
        return (*seed, last, tx.execute(sa.select(safe_mode.c.is_on)).scalar_one())

    assert ledger.read(look) == (0, BatchKind.SEED, BatchState.PUBLISHED, 0, False)

"""The rows that every ledger starts with."""

from __future__ import annotations

import re

import pytest
import sqlalchemy as sa

from toolkit.ledger.database import Ledger, Transaction
from toolkit.ledger.errors import UnusableLedger
from toolkit.ledger.identity import identity_of
from toolkit.ledger.tables import batch, event_counter, ledger_identity, safe_mode
from toolkit.ledger.vocabulary import BatchKind, BatchState

pytestmark = pytest.mark.both_databases


def test_a_new_ledger_has_the_seed_batch_no_events_and_is_not_in_safe_mode(ledger: Ledger) -> None:
    def look(tx: Transaction) -> tuple[object, ...]:
        seed = tx.execute(sa.select(batch.c.batch_id, batch.c.kind, batch.c.state)).one()
        last = tx.execute(sa.select(event_counter.c.last_sequence)).scalar_one()
        return (*seed, last, tx.execute(sa.select(safe_mode.c.is_on)).scalar_one())

    assert re.fullmatch("[0-9a-f]{32}", identity_of(ledger))
    assert ledger.read(look) == (0, BatchKind.SEED, BatchState.PUBLISHED, 0, False)


def test_an_identity_that_somebody_has_written_over_is_no_part_of_a_path(ledger: Ledger) -> None:
    ledger.write(lambda tx: tx.execute(sa.update(ledger_identity).values(identity="../../home")))
    with pytest.raises(UnusableLedger, match="no identity of 32 hexadecimal digits"):
        identity_of(ledger)

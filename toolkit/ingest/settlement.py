"""Results of transactions that a look at the table, or a commit, has found to be committed."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeAlias

from toolkit.ingest.port import Partition, TableState
from toolkit.ledger import events as ledger_events
from toolkit.ledger import ingest
from toolkit.ledger.database import Transaction
from toolkit.ledger.events import NewEvent
from toolkit.ledger.ingest import IntendedTransaction
from toolkit.ledger.vocabulary import IngestTransactionState

IngestEvents: TypeAlias = Callable[[Sequence[Partition], TableState], Sequence[NewEvent]]
"""Returns the events of a commit that touched partitions; called when its result is written to the ledger."""


def write_committed(
    tx: Transaction, committed: Sequence[IntendedTransaction], state: TableState, events: IngestEvents | None
) -> None:
    """Write down that transactions are committed, with the events of those that had no result before.

    Args:
        tx: of the ledger.
        committed: the transactions.
        state: of the table before, or after, their commit.
        events: of a commit; None: it has none.
    """
    changed = ingest.settle(tx, [each.transaction_id for each in committed], IngestTransactionState.COMMITTED)
    touched = {each for one in committed if one.transaction_id in changed for each in one.partitions}
    if events is not None and touched and (made := events(sorted(touched), state)):
        ledger_events.append(tx, made)

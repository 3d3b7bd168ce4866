"""Commits to a table besides those of its writers, each in a slot of its own: maintenance of the table."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from toolkit.errors import Unavailable
from toolkit.ingest.errors import CommitConflict
from toolkit.ingest.port import TableState
from toolkit.ingest.settlement import IngestEvents, write_committed
from toolkit.ingest.slot import SLOT_PROPERTY, CommitSlots, until
from toolkit.ledger.database import Transaction
from toolkit.ledger.ingest import IntendedTransaction

_PAUSE_SECONDS = 0.5

Change: TypeAlias = Callable[[TableState, Mapping[str, str]], None]
"""Commits a change of the table on top of a state, together with table properties; called again after a conflict."""


@dataclass(kw_only=True)
class ExclusiveCommits:
    """Commits of one process to a table while no writer commits; used by one thread.

    Attributes:
        slots: of the table.
        events: of the commits that killed writers left undecided.
        seconds: so long a commit waits for its slot, the catalog and the ledger.
    """

    slots: CommitSlots
    events: IngestEvents | None = None
    seconds: float = 60.0

    def commit(self, change: Change, is_done: Callable[[], bool]) -> None:
        """Take the slot, settle what killed writers left, and commit a change.

        Args:
            change: the change.
            is_done: looks whether the change is in the table, when no answer came.

        Raises:
            SlotLost: the slot did not come in time.
            LedgerIsBehind: see `CommitSlots.first_state`.
            Unavailable: the catalog or the ledger is away for too long.
            FeedctlError: of the change.
        """
        deadline = time.monotonic() + self.seconds
        fence, left = self.slots.acquire(deadline)
        try:
            if left:
                self.slots.resolve(left, fence, self._settled, deadline)
            base = until(deadline, lambda: self.slots.first_state(fence))
            while not self._attempt(change, is_done, base, fence, deadline):
                base = until(deadline, lambda: self.slots.checked_state(fence))
        finally:
            self.slots.release(fence)

    def _attempt(
        self, change: Change, is_done: Callable[[], bool], base: TableState, fence: int, deadline: float
    ) -> bool:
        try:
            change(base, {SLOT_PROPERTY: str(fence)})
        except CommitConflict:  # with another engine
            if time.monotonic() > deadline:
                raise
            return False
        except Unavailable:
            self.slots.fence_off(fence, deadline)
            if until(deadline, is_done):
                return True
            if time.monotonic() > deadline:  # what the change looks at is away, and the catalog is not
                raise
            time.sleep(_PAUSE_SECONDS)
            return False
        return True

    def _settled(self, tx: Transaction, committed: Sequence[IntendedTransaction], state: TableState) -> None:
        write_committed(tx, committed, state, self.events)

"""The slot to commit to a table: one process at a time, each with a higher fence than the one before.

A process may stall for longer than its slot lasts, and go on with its commit after another took the slot. So the other
commits its fence to the table before it looks which transactions are there: a commit on the state before conflicts
from then on, and the stalled process finds the higher fence and gives up.
"""

from __future__ import annotations

import json
import os
import random
import socket
import time
import uuid
from collections.abc import Callable, Collection, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import TypeVar

from toolkit.errors import Failed, Unavailable
from toolkit.ingest.errors import CommitConflict, CommitUnknown, TableLocked
from toolkit.ingest.port import IngestTable, TableCommit, TableState
from toolkit.ledger import ingest
from toolkit.ledger.database import Ledger, Transaction
from toolkit.ledger.ingest import CommitSlot, IntendedTransaction, SlotView
from toolkit.ledger.vocabulary import IngestTransactionState
from toolkit.runs.owner import ProcessTable

SLOT_PROPERTY = "feedctl.slot"
"""Table property: the fence of the slot that committed last."""
_POLL_SECONDS, _NEXT_POLL_SECONDS = 0.04, 0.01
"""A process looks again after so long; the one that takes the slot next does so more often."""

T = TypeVar("T")
Settled = Callable[[Transaction, Sequence[IntendedTransaction], TableState], None]


class SlotLost(Unavailable):
    """Another process took the slot, or it did not come in time; nothing was committed."""

    code = "slot_lost"
    retriable = True

    def __init__(self, *, table: str) -> None:
        self.table = table
        super().__init__(f"another process commits to {table} for too long; nothing was committed; try again")


class LedgerIsBehind(Failed):
    """The table has commits that the ledger does not know: it was restored or replaced, or it is not the only one.

    Args:
        table: the table.
        found: fence of the table's last commit.
        fence: that the ledger gave to this process.
    """

    code = "ledger_is_behind"

    def __init__(self, *, table: str, found: int, fence: int) -> None:
        self.table, self.found, self.fence = table, found, fence
        super().__init__(
            f"{table} was last committed to with slot {found}, and the ledger has just given slot {fence}: the ledger "
            f"was restored or replaced, the table is written with another ledger too, or this process stalled for over "
            f"30 s; run it again, and if it says so again, use the ledger that the table was written with"
        )


class TableIsBehind(Failed):
    """Error for a table that lacks commits that the ledger knows: its catalog was restored, or it was made anew.

    Args:
        table: the table.
        found: fence of its last commit.
        expected: of the last commit that the ledger knows.
    """

    code = "table_is_behind"

    def __init__(self, *, table: str, found: int, expected: int) -> None:
        self.table, self.found, self.expected = table, found, expected
        super().__init__(
            f"{table} was last committed to with slot {found}, and the ledger knows a commit with slot {expected}: the "
            f"catalog was restored, or the table was dropped; nothing is ingested, closed, merged, evicted or removed "
            f"now: put the lost metadata back, or put the files that were ingested since into the source again; then "
            f"run ingest.py with --accept-table once"
        )


@dataclass(kw_only=True)
class CommitSlots:
    """Slots of one process at one table; used by one thread.

    Attributes:
        table: the table.
        ledger: which has the slots.
        processes: of this machine.
        identity: tells this user of the table from all others.
    """

    table: IngestTable
    ledger: Ledger
    processes: ProcessTable = field(default_factory=ProcessTable)
    identity: str = ""

    def __post_init__(self) -> None:
        if not self.identity:
            mark = self.processes.own_mark()
            facts = {"id": uuid.uuid4().hex, "host": socket.gethostname(), "pid": os.getpid(), "mark": mark}
            self.identity = json.dumps(facts)

    def acquire(self, deadline: float) -> tuple[int, Sequence[IntendedTransaction]]:
        """Wait for the slot, and return its fence and the transactions that earlier slots left undecided.

        Args:
            deadline: of `time.monotonic`.

        Raises:
            SlotLost: it did not come in time.
        """
        gone: set[str] = set()
        while True:
            slot, left = until(deadline, lambda: self.ledger.write(lambda tx: self._acquire(tx, gone)))
            if slot.fence is not None:
                return slot.fence, left
            if time.monotonic() > deadline:
                raise SlotLost(table=self.table.name)
            self._wait(gone, deadline)

    def _wait(self, gone: set[str], deadline: float) -> None:
        """Wait until it is worth asking for the slot; a holder that has ended for certain is added to those gone."""
        while time.monotonic() <= deadline:
            view = until(deadline, lambda: self.ledger.read(lambda tx: self._view(tx, gone)))
            if view.is_worth_asking:
                return
            if self.is_gone(view.holder):
                gone.add(view.holder)
                return
            seconds = _NEXT_POLL_SECONDS if view.is_next else _POLL_SECONDS
            time.sleep(seconds * (0.5 + random.random()))  # noqa: S311 - jitter

    def _view(self, tx: Transaction, gone: Collection[str]) -> SlotView:
        return ingest.view_slot(tx, self.table.name, self.identity, gone)

    def _acquire(self, tx: Transaction, gone: Collection[str]) -> tuple[CommitSlot, Sequence[IntendedTransaction]]:
        slot = ingest.acquire_slot(tx, self.table.name, self.identity, gone)
        return slot, () if slot.fence is None else ingest.undecided(tx, self.table.name)

    def release(self, fence: int) -> None:
        """Give the slot back; without an answer it expires."""
        with suppress(Unavailable):
            self.ledger.write(lambda tx: ingest.release_slot(tx, self.table.name, self.identity, fence))

    def is_gone(self, holder: str) -> bool:
        """Return whether the process has ended for certain."""
        if not holder:
            return False
        facts = json.loads(holder)
        return self.processes.has_ended(host=facts["host"], pid=facts["pid"], mark=facts["mark"])

    def checked_state(self, fence: int) -> TableState:
        """Look at the table; raises SlotLost when it has a higher fence."""
        state = self.table.state()
        if int(state.properties.get(SLOT_PROPERTY, "0")) > fence:
            raise SlotLost(table=self.table.name)
        return state

    def first_state(self, fence: int) -> TableState:
        """Look at the table for the first time in a slot.

        Raises:
            LedgerIsBehind: it has a higher fence than the ledger has given out.
        """
        state = self.table.state()
        if (found := int(state.properties.get(SLOT_PROPERTY, "0"))) > fence:
            raise LedgerIsBehind(table=self.table.name, found=found, fence=fence)
        return state

    def fence_off(self, fence: int, deadline: float) -> None:
        """Commit the fence to the table: a commit on an earlier state conflicts from then on."""

        def commit() -> bool:
            base = self.checked_state(fence)
            try:
                self.table.commit(TableCommit(properties={SLOT_PROPERTY: str(fence)}), base)
            except (CommitConflict, CommitUnknown) as error:
                if isinstance(error, TableLocked) and time.monotonic() > deadline:
                    raise
                return False
            return True

        while not until(deadline, commit):
            if time.monotonic() > deadline:
                raise SlotLost(table=self.table.name)
            time.sleep(_NEXT_POLL_SECONDS * (0.5 + random.random()))  # noqa: S311 - jitter

    def resolve(
        self, left: Sequence[IntendedTransaction], fence: int, settled: Settled, deadline: float
    ) -> frozenset[int]:
        """Look which of the undecided transactions are in the table, write it down, and return those."""
        self.fence_off(fence, deadline)
        found = until(deadline, lambda: self.table.committed([each.transaction_id for each in left]))
        state = until(deadline, self.table.state)
        until(deadline, lambda: self.ledger.write(lambda tx: self._settle(tx, left, found, settled, state)))
        return found

    def _settle(
        self,
        tx: Transaction,
        left: Sequence[IntendedTransaction],
        found: frozenset[int],
        settled: Settled,
        state: TableState,
    ) -> None:
        others = [each.transaction_id for each in left if each.transaction_id not in found]
        ingest.settle(tx, others, IngestTransactionState.ABORTED)
        settled(tx, [each for each in left if each.transaction_id in found], state)


def last_fence(ledger: Ledger | None, table: str) -> int:
    """Return the fence of the last commit to a table that the ledger knows; 0: there was none, or there is no ledger.

    Ask before a look at the table: a commit in between is then ahead, and not behind.
    """
    return 0 if ledger is None else ledger.read(lambda tx: ingest.last_committed_fence(tx, table))


def require_not_behind(table: str, state: TableState | None, last_fence: int) -> None:
    """Check that a table has the last commit that the ledger knows.

    Args:
        table: its name in the ledger.
        state: of the table; None: it is not there.
        last_fence: of that commit; 0: there was none.

    Raises:
        TableIsBehind: it has not.
    """
    found = 0 if state is None else int(state.properties.get(SLOT_PROPERTY, "0"))
    if found < last_fence:
        raise TableIsBehind(table=table, found=found, expected=last_fence)


def until(deadline: float, work: Callable[[], T]) -> T:
    """Repeat work, which changes nothing when it is done twice, while the ledger or the catalog is away."""
    seconds = 0.05
    while True:
        try:
            return work()
        except SlotLost:
            raise
        except Unavailable:
            if time.monotonic() + seconds > deadline:
                raise
        time.sleep(seconds * (0.5 + random.random()))  # noqa: S311 - jitter
        seconds = min(seconds * 2, 2.0)

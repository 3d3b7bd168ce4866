"""Writers and evictions of data at this moment, from the ledger, for runs in the middle of their work."""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, TypeVar

from toolkit.ledger.errors import LedgerConflict, LedgerUnavailable
from toolkit.ledger.runs import outputs
from toolkit.runs.errors import LedgerLost
from toolkit.threads import JoinedCalls

if TYPE_CHECKING:
    from toolkit.ledger.database import Ledger, Transaction
    from toolkit.ledger.runs.outputs import HeldOutput, OpenEviction

T = TypeVar("T")


@dataclass(frozen=True, kw_only=True)
class OutputUse:
    """Reads the output leases and the open evictions of other runs.

    Attributes:
        ledger: has them; None: without a ledger nothing is known of other runs.
    """

    ledger: Ledger | None = None

    def held(
        self, places: Collection[tuple[str, str]], also: Collection[str] = (), *, instance_key: str = ""
    ) -> list[HeldOutput]:
        """Return the leases on instances of these feeds, each with its cluster; see `outputs.held_outputs`.

        Raises:
            LedgerLost: the ledger cannot be read.
        """
        return self._read(lambda tx: list(outputs.held_outputs(tx, places, also, instance_key=instance_key)))

    def evictions(self) -> list[OpenEviction]:
        """Return what evictions may be removing now; runs that ask at the same time share the answer.

        Raises:
            LedgerLost: the ledger cannot be read.
        """
        return self._evictions()

    @cached_property
    def _evictions(self) -> JoinedCalls[list[OpenEviction]]:
        return JoinedCalls(lambda: self._read(outputs.open_evictions))

    def _read(self, work: Callable[[Transaction], list[T]]) -> list[T]:
        if self.ledger is None:
            return []
        try:
            return self.ledger.read(work)
        except (LedgerUnavailable, LedgerConflict) as error:
            raise LedgerLost(why=str(error)) from error

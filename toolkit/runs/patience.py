"""Waiting for a ledger that is away, as long as the lease of a run lasts (DESIGN section 6)."""

from __future__ import annotations

import logging
import math
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol, TypeVar

from typing_extensions import override

from toolkit.ledger.errors import LedgerConflict, LedgerUnavailable
from toolkit.runs.errors import LedgerLost, Stopped
from toolkit.runs.lease import Deadline

_LOG = logging.getLogger(__name__)

T = TypeVar("T")

PAUSE_SECONDS = 0.5
"""Between two tries."""
LAST_SECONDS = 1.0
"""An outage is given so long to pass before the outcome of a run is lost, also when its lease is over."""


class Patience(Protocol):
    """Calls something that needs the ledger until the ledger answers."""

    def __call__(self, work: Callable[[bool], T], /) -> T:
        """Return what the work returns.

        Args:
            work: asked whether it is repeated: then an earlier call may have been committed, and its answer lost.

        Raises:
            Stopped: what the work raises, when the ledger is not waited for any more.
        """
        ...


def impatient(work: Callable[[bool], T], /) -> T:
    """Call the work once: the `Patience` of what has no lease."""
    return work(False)  # noqa: FBT003 - it is the only argument


@dataclass(frozen=True, kw_only=True)
class LedgerPatience(Patience):
    """The `Patience` of a run: until the deadline of its lease, or until the process is to stop.

    Attributes:
        deadline: of the lease; a run without one does not wait.
        check: raises `Stopped` when the process is to stop.
        at_least: so many seconds are waited for in any case.
        sleep: lets seconds pass.
    """

    deadline: Deadline
    check: Callable[[], None]
    at_least: float = 0.0
    sleep: Callable[[float], None] = time.sleep

    @override
    def __call__(self, work: Callable[[bool], T], /) -> T:
        until, is_repeated = self.deadline.now() + self.at_least, False
        while True:
            try:
                return work(is_repeated)
            except (LedgerLost, LedgerUnavailable, LedgerConflict) as lost:
                if not (_may_return(lost) and self._may_wait(until)):
                    raise
                if not is_repeated:
                    _LOG.warning('event=ledger_away seconds_left=%.0f why="%s"', self.deadline.seconds_left(), lost)
            is_repeated = True
            self.sleep(PAUSE_SECONDS)

    def _may_wait(self, until: float) -> bool:
        if self.deadline.now() < until:
            return True
        left = self.deadline.seconds_left()
        if math.isinf(left) or left <= 0:
            return False
        try:
            self.check()
        except Stopped:
            return False
        return True


def _may_return(lost: LedgerLost | LedgerUnavailable | LedgerConflict) -> bool:
    return not isinstance(lost, LedgerLost) or lost.may_return

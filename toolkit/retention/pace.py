"""A cap on how fast a run may change a store: one NameNode has one lock, and every other user waits for it."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field

from toolkit.storage.after_look import has_had_turn

BURST_SECONDS = 0.05
"""What was not used of the rate is good for this long, so that calls that come in waves still reach it."""

_PIECE_SECONDS = 0.1


def side_by_side(parallel: int, rate: float) -> int:
    """So many calls at once are of use; more would only wait for their turn, each let through before a new hold.

    Args:
        parallel: so many the store is good for.
        rate: calls a second.
    """
    return max(1, int(min(parallel, rate)))


@dataclass(kw_only=True)
class Pace:
    """Lets so many calls a second pass, over all threads, in the order in which they came (`delete_rate`).

    Attributes:
        rate: calls a second; more than 0.
        check: asked before a call passes, and while it waits; what it raises ends the wait.
        now: seconds of a clock that only goes forward.
        sleep: waits so many seconds.
    """

    rate: float
    check: Callable[[], None]
    now: Callable[[], float] = time.monotonic
    sleep: Callable[[float], None] = time.sleep
    _turn: threading.Lock = field(default_factory=threading.Lock, init=False, repr=False)
    _free_at: float = field(default=float("-inf"), init=False)

    def wait(self) -> None:
        """Return when the call may be made; one that had its turn and was called off then has not to wait again.

        Raises:
            Stopped: what `check` raises; the call must not be made.
        """
        delay = 0.0 if has_had_turn() else self._until_own_turn()
        while delay > 0:
            self.check()
            self.sleep(min(delay, _PIECE_SECONDS))
            delay -= _PIECE_SECONDS
        self.check()

    def _until_own_turn(self) -> float:
        with self._turn:
            now = self.now()
            turn = max(self._free_at, now - BURST_SECONDS)
            self._free_at = turn + 1 / self.rate
        return turn - now

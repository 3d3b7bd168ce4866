"""Until when a run may start effects, by a clock of this machine that nobody sets (DESIGN section 6, Lease)."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping

from toolkit.runs.errors import BadLeaseTime

MonotonicClock = Callable[[], float]
"""Seconds from some fixed moment on; it never goes back."""

LEASE_SECONDS = 60.0
"""So long a lease lasts without a sign of life from its owner."""
LEASE_VARIABLE = "FEEDCTL_LEASE_SECONDS"
"""Environment variable that sets another time; for tests."""
BEATS = 6
"""So many signs of life fit into a lease."""

_LONGEST = 86_400.0


def lease_seconds(environment: Mapping[str, str]) -> float:
    """How long leases last.

    Raises:
        BadLeaseTime: the environment asks for less than a second, or for more than a day.
    """
    text = environment.get(LEASE_VARIABLE, "")
    if not text:
        return LEASE_SECONDS
    try:
        seconds = float(text)
    except ValueError:
        raise BadLeaseTime(text=text) from None
    if not 1 <= seconds <= _LONGEST:
        raise BadLeaseTime(text=text)
    return seconds


def machine_clock() -> float:
    """Seconds since the machine started; where the system can tell, those that it slept count as well."""
    return time.clock_gettime(time.CLOCK_BOOTTIME) if hasattr(time, "CLOCK_BOOTTIME") else time.monotonic()


class Deadline:
    """The last moment at which an effect may start.

    The database counts a lease from the moment at which it wrote it, which is not before the call was sent; so a lease
    lasts at least until the sending plus its seconds. One beat less is left for the effect that has just begun.

    Args:
        seconds: of the lease.
        clock: of this machine.
    """

    def __init__(self, *, seconds: float, clock: MonotonicClock = machine_clock) -> None:
        self.seconds, self._clock = seconds, clock
        self._until = clock() + self._usable

    @property
    def _usable(self) -> float:
        return self.seconds * (BEATS - 1) / BEATS

    def now(self) -> float:
        """The moment to remember before a renewal is sent."""
        return self._clock()

    def renewed(self, sent_at: float) -> None:
        """The ledger has renewed the lease.

        Args:
            sent_at: what `now` said before the ledger was asked.
        """
        self._until = max(self._until, sent_at + self._usable)

    def seconds_left(self) -> float:
        """So long effects may start from now on; 0 or less: none may."""
        return self._until - self._clock()

    def is_over(self) -> bool:
        """Whether it is too late to start an effect."""
        return self._clock() >= self._until

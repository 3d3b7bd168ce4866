"""How far an action is, as a line in the log now and then; `terminal_progress` draws a bar."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field

_LOG = logging.getLogger(__name__)
_LOG.setLevel(logging.INFO)  # told to whoever waits, and not a warning

SECONDS_BETWEEN_LINES = 10.0
"""So often a run that nobody watches says in the log how far it is."""


@dataclass(kw_only=True)
class Count:
    """Counts for several threads; tells one of them when it is time to tell.

    Attributes:
        pause: seconds between two tellings.
        now: seconds of a clock that only goes forward.
        done: so many so far.
    """

    pause: float
    now: Callable[[], float] = time.monotonic
    done: int = 0
    _told_at: float = 0.0
    _turn: threading.Lock = field(default_factory=threading.Lock, repr=False)

    def begin(self) -> None:
        """Nothing is done yet."""
        self.done, self._told_at = 0, self.now()

    def add(self, number: int) -> bool:
        """So many more are done; true: it is time to tell."""
        with self._turn:
            self.done += number
            now = self.now()
            is_time = now - self._told_at >= self.pause
            if is_time:
                self._told_at = now
        return is_time


@dataclass(kw_only=True)
class LoggedProgress:
    """A line in the log every few seconds, for a run that lasts longer than that and that no terminal shows.

    Attributes:
        what: the work, in one word.
        pause: seconds between two lines.
        now: seconds of a clock that only goes forward.
    """

    what: str
    pause: float = SECONDS_BETWEEN_LINES
    now: Callable[[], float] = time.monotonic
    _total: int = field(default=0, init=False)
    _began_at: float = field(default=0.0, init=False)
    _count: Count = field(init=False)

    def __post_init__(self) -> None:
        self._count = Count(pause=self.pause, now=self.now)

    def begin(self, total: int) -> None:
        """Say nothing yet: most runs are over soon."""
        self._total, self._began_at = total, self.now()
        self._count.begin()

    def advance(self, number: int) -> None:
        """So many more items are over."""
        if self._count.add(number):
            rate = self._count.done / max(self.now() - self._began_at, 1e-9)
            _LOG.info(
                "event=progress action=%s done=%d total=%d rate=%.0f", self.what, self._count.done, self._total, rate
            )

    def end(self) -> None:
        """Say nothing: the result does."""

"""Progress of an action as a log line now and then; `terminal_progress` draws a bar."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field

from toolkit.actions.progress import NOTHING, Volume

_LOG = logging.getLogger(__name__)
_LOG.setLevel(logging.INFO)  # for the user who waits, and not a warning

_SLOW = 10.0
"""Items a second; below it the digits behind the point say something."""
SECONDS_BETWEEN_LINES = 10.0
"""So often a run without a terminal says in the log how far it is."""


@dataclass(kw_only=True)
class Count:
    """Counts for several threads; tells one of them when it is time to tell.

    Attributes:
        pause: seconds between two tellings.
        now: seconds of a clock that only goes forward.
        done: so many items so far.
        copied: so much for them so far.
        seconds: since the beginning.
    """

    pause: float
    now: Callable[[], float] = time.monotonic
    done: int = 0
    copied: Volume = NOTHING
    seconds: float = 0.0
    _began_at: float = 0.0
    _reported_at: float = 0.0
    _lock: threading.Lock = field(default_factory=threading.Lock, repr=False)

    def begin(self) -> None:
        """Nothing is done yet."""
        self.done, self.copied, self.seconds = 0, NOTHING, 0.0
        self._began_at = self._reported_at = self.now()

    def add(self, number: int, more: Volume = NOTHING) -> bool:
        """Add to what is done; return whether it is time to report."""
        with self._lock:
            self.done += number
            self.copied += more
            now = self.now()
            is_time = now - self._reported_at >= self.pause
            if is_time:
                self._reported_at, self.seconds = now, now - self._began_at
        return is_time

    def rate(self, amount: float) -> float:
        """Return the rate a second, from the beginning to the last report."""
        return amount / max(self.seconds, 1e-9)

    def seconds_left(self, volume: Volume) -> float | None:
        """Until all of a volume is copied, at the rate up to the last telling; None: nothing can be said yet."""
        done = self.copied.work
        return self.seconds * max(0, volume.work - done) / done if done > 0 else None


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
    _volume: Volume = field(default=NOTHING, init=False)
    _count: Count = field(init=False)

    def __post_init__(self) -> None:
        self._count = Count(pause=self.pause, now=self.now)

    def begin(self, total: int, volume: Volume = NOTHING) -> None:
        """Say nothing yet: most runs are over soon."""
        self._total, self._volume = total, volume
        self._count.begin()

    def advance(self, number: int) -> None:
        """Add finished items."""
        if self._count.add(number):
            self._tell()

    def copied(self, more: Volume) -> None:
        """Add to what was copied."""
        if self._count.add(0, more):
            self._tell()

    def end(self) -> None:
        """Say nothing: the result does."""

    def _tell(self) -> None:
        count = self._count
        line = f"event=progress action={self.what} done={count.done} total={self._total}"
        if self._volume == NOTHING:
            rate = count.rate(count.done)
            _LOG.info("%s rate=%.*f", line, 0 if rate >= _SLOW else 3, rate)
            return
        left, volume, copied = count.seconds_left(self._volume), self._volume, count.copied
        _LOG.info(
            "%s files=%d of_files=%d bytes=%d of_bytes=%d bytes_per_second=%.0f seconds_left=%s",
            line,
            copied.files,
            volume.files,
            copied.bytes,
            volume.bytes,
            count.rate(copied.bytes),
            "unknown" if left is None else f"{left:.0f}",
        )

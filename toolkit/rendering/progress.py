"""How far an action is: a bar on a terminal, else a line in the log now and then."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field

from rich.console import Console
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    ProgressColumn,
    Task,
    TaskID,
    TextColumn,
    TimeRemainingColumn,
)
from rich.text import Text

_LOG = logging.getLogger(__name__)
_LOG.setLevel(logging.INFO)  # told to whoever waits, and not a warning

SECONDS_BETWEEN_LINES = 10.0
"""So often a run that nobody watches says in the log how far it is."""
_SECONDS_BETWEEN_DRAWINGS = 0.1


@dataclass(kw_only=True)
class _Count:
    """Counts for several threads; tells one of them when it is time to tell.

    Attributes:
        pause: seconds between two tellings.
        now: seconds of a clock that only goes forward.
    """

    pause: float
    now: Callable[[], float] = time.monotonic
    done: int = 0
    _told_at: float = 0.0
    _turn: threading.Lock = field(default_factory=threading.Lock, repr=False)

    def begin(self) -> None:
        self.done, self._told_at = 0, self.now()

    def add(self, number: int) -> bool:
        with self._turn:
            self.done += number
            now = self.now()
            is_time = now - self._told_at >= self.pause
            if is_time:
                self._told_at = now
        return is_time


class _Rate(ProgressColumn):
    """Items a second, over the last while."""

    def render(self, task: Task) -> Text:
        """See `ProgressColumn.render`."""
        speed = task.finished_speed or task.speed
        return Text("" if speed is None else f"{speed:,.0f}/s", style="progress.data.speed")


@dataclass(kw_only=True)
class TerminalProgress:
    """A bar on standard error, gone when the work is over; threads may tell it how far they are.

    Attributes:
        what: the work, in one word.
    """

    what: str
    _bar: Progress = field(init=False)
    _task: TaskID = field(init=False)
    _count: _Count = field(default_factory=lambda: _Count(pause=_SECONDS_BETWEEN_DRAWINGS), init=False)

    def __post_init__(self) -> None:
        columns = (
            TextColumn("{task.description}"),
            BarColumn(),
            MofNCompleteColumn(),
            _Rate(),
            TimeRemainingColumn(),
        )
        self._bar = Progress(*columns, console=Console(stderr=True), transient=True)

    def begin(self, total: int) -> None:
        """Show the bar."""
        self._task = self._bar.add_task(self.what, total=total)
        self._count.begin()
        self._bar.start()

    def advance(self, number: int) -> None:
        """So many more items are over; drawing costs more than an item, so it is done now and then."""
        if self._count.add(number):
            self._bar.update(self._task, completed=self._count.done)

    def end(self) -> None:
        """Take the bar away."""
        self._bar.stop()


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
    _count: _Count = field(init=False)

    def __post_init__(self) -> None:
        self._count = _Count(pause=self.pause, now=self.now)

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

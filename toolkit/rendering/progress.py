"""How far an action is, on a terminal."""

from __future__ import annotations

from dataclasses import dataclass, field

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TaskID, TextColumn, TimeRemainingColumn


@dataclass(kw_only=True)
class TerminalProgress:
    """A bar on standard error, gone when the work is over.

    Attributes:
        what: the work, in one word.
    """

    what: str
    _bar: Progress = field(init=False)
    _task: TaskID = field(init=False)

    def __post_init__(self) -> None:
        columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
        self._bar = Progress(*columns, console=Console(stderr=True), transient=True)

    def begin(self, total: int) -> None:
        """Show the bar."""
        self._task = self._bar.add_task(self.what, total=total)
        self._bar.start()

    def advance(self) -> None:
        """One more item is over."""
        self._bar.advance(self._task)

    def end(self) -> None:
        """Take the bar away."""
        self._bar.stop()

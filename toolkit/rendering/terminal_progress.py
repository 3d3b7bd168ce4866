"""How far an action is, as a bar on a terminal; where there is none, rich need not be loaded."""

from __future__ import annotations

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

from toolkit.rendering.progress import Count

_SECONDS_BETWEEN_DRAWINGS = 0.1


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
    _count: Count = field(default_factory=lambda: Count(pause=_SECONDS_BETWEEN_DRAWINGS), init=False)

    def __post_init__(self) -> None:
        columns = (
            TextColumn("{task.description}"),
            BarColumn(),
            MofNCompleteColumn(),
            _Rate(),
            TimeRemainingColumn(),
        )
        # Not redirected: rich would read colours and links out of what is said meanwhile.
        self._bar = Progress(
            *columns,
            console=Console(stderr=True),
            transient=True,
            redirect_stdout=False,
            redirect_stderr=False,
        )

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

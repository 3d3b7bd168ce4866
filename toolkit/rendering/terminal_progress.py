"""Progress of an action as a bar on a terminal; without a terminal rich is not loaded."""

from __future__ import annotations

from dataclasses import dataclass, field

from rich.console import Console
from rich.filesize import decimal
from rich.progress import (
    BarColumn,
    Progress,
    ProgressColumn,
    Task,
    TaskID,
    TextColumn,
    TimeRemainingColumn,
)
from rich.text import Text
from typing_extensions import override

from toolkit.actions.progress import NOTHING, Volume
from toolkit.rendering.progress import Count

_SECONDS_BETWEEN_DRAWINGS = 0.1


class _Rate(ProgressColumn):
    """Items a second, over the last while."""

    @override
    def render(self, task: Task) -> Text:
        speed = task.finished_speed or task.speed
        return Text("" if speed is None else f"{speed:,.0f}/s", style="progress.data.speed")


@dataclass(kw_only=True)
class TerminalProgress:
    """A bar on standard error, gone when the work is over; threads may tell it how far they are.

    The bar of a copy is as long as its work (see `Volume.work`), that of anything else as its items are many.

    Attributes:
        what: the work, in one word.
    """

    what: str
    _bar: Progress | None = field(default=None, init=False)
    _task: TaskID = field(default=TaskID(0), init=False)
    _total: int = field(default=0, init=False)
    _volume: Volume = field(default=NOTHING, init=False)
    _count: Count = field(default_factory=lambda: Count(pause=_SECONDS_BETWEEN_DRAWINGS), init=False)

    def begin(self, total: int, volume: Volume = NOTHING) -> None:
        """Show the bar."""
        self._total, self._volume = total, volume
        is_copy = volume != NOTHING
        columns = (
            TextColumn("{task.description}"),
            BarColumn(),
            TextColumn("{task.fields[amount]}", style="progress.download"),
            *(() if is_copy else (_Rate(),)),
            TimeRemainingColumn(),
        )
        # Not redirected: rich would read colours and links out of what is said meanwhile.
        self._bar = bar = Progress(
            *columns,
            console=Console(stderr=True),
            transient=True,
            redirect_stdout=False,
            redirect_stderr=False,
        )
        self._count.begin()
        length = volume.work if is_copy else total
        self._task = bar.add_task(self.what, total=length, amount=self._amount())
        bar.start()

    def advance(self, number: int) -> None:
        """Add finished items; drawing costs more than an item, so it is done now and then."""
        if self._count.add(number):
            self._draw()

    def copied(self, more: Volume) -> None:
        """Add to what was copied."""
        if self._count.add(0, more):
            self._draw()

    def end(self) -> None:
        """Take the bar away."""
        if self._bar is not None:
            self._bar.stop()

    def _draw(self) -> None:
        if self._bar is None:
            return
        is_copy = self._volume != NOTHING
        done = self._count.copied.work if is_copy else self._count.done
        self._bar.update(self._task, completed=done, amount=self._amount())

    def _amount(self) -> str:
        count, volume = self._count, self._volume
        items = f"{count.done}/{self._total}"
        if volume == NOTHING:
            return items
        copied = count.copied
        rate = decimal(int(count.rate(copied.bytes))) if count.seconds else "-"
        files = f"{copied.files:,}/{volume.files:,} files"
        return f"{items}, {files}, {decimal(copied.bytes)}/{decimal(volume.bytes)}, {rate}/s"

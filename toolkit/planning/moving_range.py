"""The range of a feed's instances that two expressions mean, as it moves with the instances of a process."""

from __future__ import annotations

from bisect import bisect_left
from dataclasses import dataclass
from datetime import datetime

from toolkit.el import InstanceSequence, evaluate


@dataclass(frozen=True, kw_only=True, slots=True)
class MovingRange:
    """What an input reads, or an output makes, at each instance of its process.

    Its ends never go back, but for one case: until 2011 St. John's set its clocks back across midnight.

    Args:
        start: expression of the first instance.
        end: expression of the last, which is included.
        grid: the instances of the feed.
        timezone: of the process.
        runs: the instances of the process.
    """

    start: str
    end: str
    grid: InstanceSequence
    timezone: str
    runs: InstanceSequence

    def runs_around(self, instant: datetime) -> tuple[datetime, datetime, int] | None:
        """The first and the last instance of the process whose range holds an instance of the feed, and how many.

        All between them hold it too; None when there is none.

        Raises:
            ElError: an expression that cannot be evaluated.
        """
        found = self._positions(instant)
        return (self.runs[found.start], self.runs[found.stop - 1], len(found)) if found else None

    def _positions(self, instant: datetime) -> range:
        """The positions of those runs; both borders are found by halving."""
        positions = range(len(self.runs))

        def ends_late_enough(position: int) -> bool:
            end = self._floor(self.end, position)
            return end is not None and end >= instant

        def starts_too_late(position: int) -> bool:
            start = self._floor(self.start, position)
            return start is not None and start > instant

        first = bisect_left(positions, x=True, key=ends_late_enough)
        return range(first, bisect_left(positions, x=True, key=starts_too_late))

    def _floor(self, expression: str, position: int) -> datetime | None:
        return self.grid.at_or_before(evaluate(expression, self.runs[position], self.timezone))

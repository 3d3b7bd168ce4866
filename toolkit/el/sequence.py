"""The instances of a feed or process: start, start + frequency, ... strictly before the end (DESIGN section 3)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Self

from toolkit.el.errors import ElError, NoSuchInstance, NotAnInstance
from toolkit.el.frequency import Frequency
from toolkit.el.grid import Grid, lay_grid
from toolkit.el.instants import format_instant, to_utc, to_whole_minute

_LAST_INSTANT = datetime.max.replace(tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class InstanceSequence:
    """The instances of the validity [start, end), found by arithmetic: the millionth costs what the first does.

    Minutes and hours are elapsed time. Days and months are calendar steps in the time zone, counted from the start:
    months(1) from 31 January gives the last of February, then 31 March. A local time that does not exist is shifted
    forward, an ambiguous one is its first, and instants that coincide are one instance (DESIGN section 3).

    Args:
        start: the first instance, a whole minute.
        frequency: the distance between instances.
        timezone: where days and months are counted.
        end: exclusive, a whole minute after the start; None: as long as the calendar goes.

    Raises:
        ElError: naive or sub-minute times, an end not after the start, an unknown time zone.
        OutOfRange: the start has no local time in the years 1 to 9999.
    """

    start: datetime
    frequency: Frequency
    timezone: str = "UTC"
    end: datetime | None = None
    _grid: Grid = field(init=False, repr=False, compare=False)
    _last: int = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        start = to_whole_minute(self.start)
        end = None if self.end is None else to_whole_minute(self.end)
        if end is not None and end <= start:
            raise ElError(text=format_instant(end), expected=f"an end after the start {format_instant(start)}")
        grid = lay_grid(start, self.frequency, self.timezone)
        object.__setattr__(self, "start", start)
        object.__setattr__(self, "end", end)
        object.__setattr__(self, "_grid", grid)
        object.__setattr__(self, "_last", grid.floor(_LAST_INSTANT) if end is None else _position_before(end, grid))

    def __str__(self) -> str:
        until = f" until {format_instant(self.end)}" if self.end else ""
        return f"{self.frequency} from {format_instant(self.start)}{until}, days in {self.timezone}"

    def __reduce__(self) -> tuple[type[Self], tuple[datetime, Frequency, str, datetime | None]]:
        # A zone that was read from the wheel cannot be pickled; the receiver reads it again.
        return type(self), (self.start, self.frequency, self.timezone, self.end)

    def __getitem__(self, position: int) -> datetime:
        """The instance at the position, counted from 0.

        Raises:
            NoSuchInstance: the position is negative or past the end; also an IndexError.
        """
        if not 0 <= position <= self._last:
            raise NoSuchInstance(index=position, sequence=str(self))
        return self._grid.at(position)

    def __contains__(self, instant: datetime) -> bool:
        utc = to_utc(instant)
        position = self._grid.floor(utc)
        return 0 <= position <= self._last and self._grid.at(position) == utc

    def __len__(self) -> int:
        return self._last + 1

    def __iter__(self) -> Iterator[datetime]:
        return map(self._grid.at, range(self._last + 1))

    def index(self, instant: datetime) -> int:
        """The position of an instance.

        Raises:
            NotAnInstance: the instant is not in the sequence.
            ElError: it is naive.
        """
        if instant not in self:
            raise self.not_an_instance(instant)
        return self._grid.floor(to_utc(instant))

    def not_an_instance(self, instant: datetime) -> NotAnInstance:
        """The error of an instant that is not in the sequence, with those next to it that are.

        Raises:
            ElError: the instant is naive.
        """
        utc = to_utc(instant)
        text = utc.isoformat() if utc.second or utc.microsecond else format_instant(utc)
        nearest = [each for each in (self.at_or_before(utc), self.at_or_after(utc)) if each is not None]
        return NotAnInstance(text=text, sequence=str(self), nearest=list(map(format_instant, nearest)))

    def at_or_before(self, instant: datetime) -> datetime | None:
        """The last instance at or before the instant; None before the start, the last instance from the end on.

        Raises:
            ElError: the instant is naive.
        """
        position = min(self._grid.floor(to_utc(instant)), self._last)
        return self._grid.at(position) if position >= 0 else None

    def has_ended_by(self, instant: datetime) -> bool:
        """Return whether the grid has an instance at or before the instant that the end has cut off.

        Raises:
            ElError: the instant is naive.
        """
        return self._grid.floor(to_utc(instant)) > self._last

    def at_or_after(self, instant: datetime) -> datetime | None:
        """The first instance at or after the instant; None when the sequence has ended by then.

        Raises:
            ElError: the instant is naive.
        """
        position = self._ceiling(instant)
        return self._grid.at(position) if position <= self._last else None

    def between(self, first: datetime, end: datetime) -> Iterator[datetime]:
        """The instances of [first, end), oldest first, made one at a time; nothing when `end` is not after `first`.

        Raises:
            ElError: a time is naive.
        """
        return map(self._grid.at, self.positions(first, end))

    def count(self, first: datetime, end: datetime) -> int:
        """Return how many instances [first, end) has.

        Raises:
            ElError: a time is naive.
        """
        return len(self.positions(first, end))

    def positions(self, first: datetime, end: datetime) -> range:
        """Return the positions of the instances of [first, end).

        Raises:
            ElError: a time is naive.
        """
        return range(self._ceiling(first), min(self._ceiling(end), self._last + 1))

    def _ceiling(self, instant: datetime) -> int:
        """The position of the first grid instant at or after this one; the sequence may have ended before it."""
        utc = to_utc(instant)
        position = self._grid.floor(utc)
        if position < 0:
            return 0
        return position if self._grid.at(position) == utc else position + 1


def _position_before(end: datetime, grid: Grid) -> int:
    """The position of the last grid instant that is strictly before the end, which is itself after the start."""
    position = grid.floor(end)
    return position - 1 if grid.at(position) == end else position

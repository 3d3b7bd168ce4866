"""Grid of instants of a sequence: endless from its start on, computed by arithmetic.

A grid has no end: `floor` answers for any instant, and the sequence clips to its validity.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Protocol
from zoneinfo import ZoneInfo

from toolkit.el.errors import OutOfRange
from toolkit.el.frequency import Frequency, Unit, step_local
from toolkit.el.skipped_days import skipped_days
from toolkit.el.zones import load_zone, localize, to_local

_DAY = timedelta(days=1)
_LAST_LOCAL = datetime.max.replace(tzinfo=UTC).replace(tzinfo=None, second=0, microsecond=0)


class Grid(Protocol):
    """Instants that strictly rise with their position; position 0 is the start."""

    def at(self, position: int) -> datetime:
        """The instant at the position; only for one that `floor` has given or a smaller one, from 0 on."""
        ...

    def floor(self, instant: datetime) -> int:
        """The position of the last instant at or before this one; negative when it is before the start."""
        ...


def lay_grid(start: datetime, frequency: Frequency, timezone: str) -> Grid:
    """The grid of a frequency from a UTC start on.

    Raises:
        ElError: unknown time zone.
        OutOfRange: the start has no local time within the years 1 to 9999.
    """
    zone = load_zone(timezone)
    step = frequency.elapsed
    if step is None and timezone == "UTC" and frequency.unit is Unit.DAYS:
        step = frequency.count * _DAY
    if step is not None:
        return ElapsedGrid(start=start, step=step)
    local = to_local(start, zone)
    return CalendarGrid(
        start=start, local=local, frequency=frequency, zone=zone, repeats=_repeats(local, frequency, timezone)
    )


@dataclass(frozen=True, kw_only=True, slots=True)
class ElapsedGrid(Grid):
    """Steps of one length."""

    start: datetime
    step: timedelta

    def at(self, position: int) -> datetime:
        """Return the instant at the position."""
        return self.start + self.step * position

    def floor(self, instant: datetime) -> int:
        """Return the position of the last instant at or before this one."""
        return (instant - self.start) // self.step


@dataclass(frozen=True, kw_only=True, slots=True)
class CalendarGrid(Grid):
    """Steps of days or months in a time zone, counted from the start.

    A raw step is one by the calendar alone. `repeats` are the raw steps, ascending, whose instant the next raw step
    has too: they hold no position of their own, so that positions strictly rise.
    """

    start: datetime
    local: datetime
    frequency: Frequency
    zone: ZoneInfo
    repeats: tuple[int, ...]

    def at(self, position: int) -> datetime:
        """Return the instant at the position."""
        return self._at_raw(self._to_raw(position))

    def floor(self, instant: datetime) -> int:
        """Return the position of the last instant at or before this one."""
        if instant < self.start:
            return -1
        raw = max(self._estimate(instant), 0)
        while self._starts_by(raw + 1, instant):
            raw += 1
        while not self._starts_by(raw, instant):
            raw -= 1
        return raw - bisect_left(self.repeats, raw)

    def _estimate(self, instant: datetime) -> int:
        """The raw step by local time; a clock change puts it off by a step or two at most."""
        local = _saturated_local(instant, self.zone)
        if self.frequency.unit is Unit.MONTHS:
            return (12 * (local.year - self.local.year) + local.month - self.local.month) // self.frequency.count
        return (local - self.local).days // self.frequency.count

    def _starts_by(self, raw: int, instant: datetime) -> bool:
        try:
            return self._at_raw(raw) <= instant
        except (OverflowError, OutOfRange):
            return False

    def _at_raw(self, raw: int) -> datetime:
        # The start may be the second of an ambiguous local time, which its local time cannot tell.
        return localize(step_local(self.local, self.frequency, raw), self.zone) if raw else self.start

    def _to_raw(self, position: int) -> int:
        if not self.repeats:
            return position
        return position + bisect_right([raw - before for before, raw in enumerate(self.repeats)], position)


def _saturated_local(instant: datetime, zone: ZoneInfo) -> datetime:
    try:
        return to_local(instant, zone)
    except OutOfRange:
        return _LAST_LOCAL


def _repeats(local: datetime, frequency: Frequency, timezone: str) -> tuple[int, ...]:
    """The raw steps that fall into a skipped day: shifted forward, they meet the next one (only days(1) does)."""
    if frequency.unit is not Unit.DAYS or frequency.count != 1:
        return ()
    steps = (-((local - day) // _DAY) for day in skipped_days(timezone))
    return tuple(step for step in steps if step > 0)

"""Frequencies, `hours(6)`, and the time that lies so many of them away (DESIGN section 3)."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Self

from dateutil.relativedelta import relativedelta

from toolkit.el.errors import ElError, OutOfRange
from toolkit.el.instants import to_utc
from toolkit.el.zones import load_zone, localize, to_local

_MOST_DIGITS = 10
_NAME = re.compile(r"[A-Za-z_]*")
_COUNT = re.compile(r"[0-9]+")


class Unit(StrEnum):
    """Unit of a frequency."""

    MINUTES = "minutes"
    """Elapsed minutes."""
    HOURS = "hours"
    """Elapsed hours."""
    DAYS = "days"
    """Calendar days in a time zone: a day with a clock change is 23 or 25 hours long."""
    MONTHS = "months"
    """Calendar months in a time zone; a day that the month lacks becomes its last."""

    @property
    def is_elapsed(self) -> bool:
        """True if the unit is elapsed time; the others are calendar steps in a time zone."""
        return self in _ELAPSED


_ELAPSED = {Unit.MINUTES: timedelta(minutes=1), Unit.HOURS: timedelta(hours=1)}
_MOST = {Unit.MINUTES: 9999 * 366 * 24 * 60, Unit.HOURS: 9999 * 366 * 24, Unit.DAYS: 9999 * 366, Unit.MONTHS: 9999 * 12}
"""The longest frequency of each unit; a longer one leaves the calendar with its first step."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Frequency:
    """A distance in time: `count` units, at least one. Not ordered: a month has no length.

    Raises:
        ElError: the count is not positive, or longer than the calendar.
    """

    unit: Unit
    count: int

    def __post_init__(self) -> None:
        if not 0 < self.count <= _MOST[self.unit]:
            raise ElError(
                text=str(self),
                position=len(self.unit) + 1,
                found=str(self.count),
                expected=f"a number from 1 to {_MOST[self.unit]}",
            )

    @classmethod
    def parse(cls, text: str) -> Self:
        """The frequency that the text names: `minutes(n)`, `hours(n)`, `days(n)` or `months(n)`, n > 0.

        Raises:
            ElError: another shape or unit, or a count that is not positive.
        """
        name = _match(_NAME, text, 0)
        if name not in list(Unit):
            expected = " or ".join(f"{each}(N)" for each in Unit)
            raise ElError(text=text, position=0, found=name or text, expected=expected)
        position = _skip(text, len(name), "(")
        count = _match(_COUNT, text, position)
        if not count:
            raise ElError(text=text, position=position, found=text[position:], expected="a number above 0")
        if len(count) > _MOST_DIGITS:
            raise ElError(text=text, position=position, found=count, expected=f"at most {_MOST_DIGITS} digits")
        end = _skip(text, position + len(count), ")")
        if end != len(text):
            raise ElError(text=text, position=end, found=text[end:], expected="nothing more after ')'")
        return cls(unit=Unit(name), count=int(count))

    def __str__(self) -> str:
        return f"{self.unit}({self.count})"

    @property
    def elapsed(self) -> timedelta | None:
        """The exact length of minutes and hours; None for days and months, which have none."""
        unit = _ELAPSED.get(self.unit)
        return None if unit is None else unit * self.count

    def times(self, factor: int) -> Self:
        """The frequency that is `factor` times as long.

        Raises:
            ElError: the factor is not positive, or the result is longer than the calendar.
        """
        return type(self)(unit=self.unit, count=self.count * factor)


def shift(instant: datetime, frequency: Frequency, times: int, timezone: str = "UTC") -> datetime:
    """The UTC instant that lies `times` frequencies after the instant; before it when `times` is negative.

    Minutes and hours are elapsed time, days and months calendar steps in the time zone: the local time of day is kept,
    a nonexistent one is shifted forward by the gap, an ambiguous one is its first, and a day that the month lacks
    becomes its last (DESIGN section 3).

    Raises:
        ElError: naive time or unknown time zone.
        OutOfRange: the result is outside the years 1 to 9999.
    """
    start = to_utc(instant)
    if times == 0:
        return start
    try:
        if (elapsed := frequency.elapsed) is not None:
            return start + elapsed * times
        zone = load_zone(timezone)
        return localize(step_local(to_local(start, zone), frequency, times), zone)
    except OverflowError as error:
        raise OutOfRange(text=f"{start.isoformat()} + {times} x {frequency}") from error


def step_local(local: datetime, frequency: Frequency, times: int) -> datetime:
    """The naive local time that lies `times` steps of days or months away, by the calendar alone.

    Raises:
        OverflowError: the result is outside the years 1 to 9999.
    """
    if frequency.unit is Unit.MONTHS:
        return add_months(local, frequency.count * times)
    return local + timedelta(days=frequency.count * times)


def add_months(local: datetime, months: int) -> datetime:
    """The same day and time that many months away; a day that the month lacks becomes its last.

    Raises:
        OverflowError: the result is outside the years 1 to 9999.
    """
    try:
        return local + relativedelta(months=months)
    except ValueError as error:
        raise OverflowError from error


def _match(pattern: re.Pattern[str], text: str, position: int) -> str:
    match = pattern.match(text, position)
    return match.group() if match else ""


def _skip(text: str, position: int, char: str) -> int:
    if not text.startswith(char, position):
        raise ElError(text=text, position=position, found=text[position:], expected=f"'{char}'")
    return position + 1

"""The shortest and the longest that a frequency can be: what holds for every instant, without looking at any."""

from __future__ import annotations

from datetime import date, timedelta
from functools import lru_cache

from toolkit.el import Frequency, Unit

_CYCLE = range(1996, 2008)
"""Three leap years with the years between them; a month's length repeats with them but for 2100 and its like."""

_DAYS_A_YEAR = 365.2425


def shortest(frequency: Frequency) -> timedelta:
    """The least length; a day has 24 hours here, whatever the clocks do."""
    return _lengths(frequency)[0]


def longest(frequency: Frequency) -> timedelta:
    """The greatest length; a day has 24 hours here, whatever the clocks do."""
    return _lengths(frequency)[1]


def always_longer(left: Frequency, right: Frequency) -> bool:
    """Whether one frequency is longer than another wherever in the calendar they are laid."""
    if left.unit is right.unit:
        return left.count > right.count
    return shortest(left) > longest(right)


def sometimes_shorter(left: Frequency, right: Frequency) -> bool:
    """Whether one frequency is shorter than another anywhere in the calendar."""
    if left.unit is right.unit:
        return left.count < right.count
    return shortest(left) < longest(right)


def length_words(length: timedelta) -> str:
    """A length for people: ``30 days 23 hours``, ``45 minutes``, ``0 minutes``."""
    hours, minutes = divmod(length.seconds // 60, 60)
    parts = [_counted(length.days, "day"), _counted(hours, "hour"), _counted(minutes, "minute")]
    return " ".join(part for part in parts if part) or "0 minutes"


def _counted(count: int, noun: str) -> str:
    return f"{count} {noun}{'' if count == 1 else 's'}" if count else ""


def _lengths(frequency: Frequency) -> tuple[timedelta, timedelta]:
    if frequency.unit is Unit.MONTHS:
        return _month_lengths(frequency.count)
    length = frequency.elapsed or timedelta(days=frequency.count)
    return length, length


@lru_cache(maxsize=256)
def _month_lengths(count: int) -> tuple[timedelta, timedelta]:
    years, months = divmod(count, 12)
    found = [_between(year, month, months) for year in _CYCLE for month in range(12)]
    days = years * _DAYS_A_YEAR
    return timedelta(days=round(days - 0.5)) + min(found), timedelta(days=round(days + 0.5)) + max(found)


def _between(year: int, month: int, months: int) -> timedelta:
    years, last = divmod(month + months, 12)
    return date(year + years, last + 1, 1) - date(year, month + 1, 1)

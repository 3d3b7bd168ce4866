"""Bounds of frequencies and of the reach of expressions, computed without any instant."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import date, timedelta
from functools import lru_cache
from types import MappingProxyType

from toolkit.el import Expression, Frequency, Function, Unit, parse_expression
from toolkit.el.functions import Parameter

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
    """Return whether one frequency is longer than another at every point of the calendar."""
    if left.unit is right.unit:
        return left.count > right.count
    return shortest(left) > longest(right)


def sometimes_shorter(left: Frequency, right: Frequency) -> bool:
    """Return whether one frequency is shorter than another at some point of the calendar."""
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


_DAY = timedelta(days=1)
_CLOCK_CHANGE = timedelta(hours=3)
"""More than any zone's clock is changed by."""

_TRUNCATED_BY: Mapping[Function, tuple[int, int]] = MappingProxyType(
    {
        Function.TODAY: (0, 1),
        Function.YESTERDAY: (1, 2),
        Function.CURRENT_WEEK: (0, 7),
        Function.LAST_WEEK: (7, 14),
        Function.CURRENT_MONTH: (0, 31),
        Function.LAST_MONTH: (28, 62),
        Function.CURRENT_YEAR: (0, 366),
        Function.LAST_YEAR: (365, 732),
    }
)
"""The days between what a function truncates to and the nominal time: at least and at most."""

_UNITS: Mapping[Parameter, tuple[timedelta, ...]] = MappingProxyType(
    {
        Parameter.MONTHS: (28 * _DAY, 31 * _DAY),
        Parameter.DAYS: (_DAY,),
        Parameter.HOURS: (timedelta(hours=1),),
        Parameter.MINUTES: (timedelta(minutes=1),),
    }
)


_FAR = 10_000_000
"""So many months or days leave the calendar; more of them would leave what a length can be."""


def furthest_back(expression: str) -> timedelta:
    """No run means an instant further before its nominal time; negative when it is always after it.

    Args:
        expression: one that does not depend on availability.
    """
    return _reach(parse_expression(expression))[1]


def least_back(expression: str) -> timedelta:
    """Every run means an instant at least so far before its nominal time; negative when it may be after it."""
    return _reach(parse_expression(expression))[0]


def _reach(call: Expression) -> tuple[timedelta, timedelta]:
    if call.function not in _TRUNCATED_BY:  # now and instanceTime count elapsed time only
        least = most = timedelta()
    else:
        days = _TRUNCATED_BY[call.function]
        least, most = days[0] * _DAY - _CLOCK_CHANGE, days[1] * _DAY + _CLOCK_CHANGE
    for parameter, argument in zip(call.function.parameters, call.arguments, strict=True):
        lengths = sorted(max(-_FAR, min(argument, _FAR)) * unit for unit in _UNITS.get(parameter, ()))
        if lengths:
            least, most = least - lengths[-1], most - lengths[0]
    return least, most

"""The instant that an expression means at a nominal time, where no availability is asked for (DESIGN section 3)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import datetime, timedelta
from types import MappingProxyType

from toolkit.el.errors import ElError, OutOfRange
from toolkit.el.expression import Expression, parse_expression
from toolkit.el.frequency import add_months
from toolkit.el.functions import Function
from toolkit.el.instants import format_instant, to_whole_minute
from toolkit.el.zones import load_zone, localize, to_local

_DAYS_A_WEEK = 7
_DAY = timedelta(days=1)


def evaluate(expression: str | Expression, nominal_time: datetime, timezone: str = "UTC") -> datetime:
    """The UTC instant that the expression means.

    The order is: truncate in the time zone, which is the process's; add years, months and days by the calendar; make it
    an instant; add hours and minutes as elapsed time (DESIGN section 3).

    Raises:
        ElError: a bad expression or time zone, a naive or sub-minute nominal time, or `latest` and `future`, which
            depend on availability: for these see `resolve`.
        OutOfRange: the result is outside the years 1 to 9999.
    """
    call = parse_expression(expression) if isinstance(expression, str) else expression
    _refuse_availability(call)
    nominal = to_whole_minute(nominal_time)
    try:
        return _base(call, nominal, timezone) + _elapsed(call)
    except OverflowError as error:
        raise OutOfRange(text=f"{call} at {format_instant(nominal)}") from error


def _refuse_availability(call: Expression) -> None:
    if call.function.needs_availability:
        expected = "a function of the nominal time alone: latest and future count what is available when it runs"
        raise ElError(text=call.text, found=call.function, expected=expected)


def _base(call: Expression, nominal: datetime, timezone: str) -> datetime:
    base = _BASES.get(call.function)
    if base is None:
        return nominal
    zone = load_zone(timezone)
    day = to_local(nominal, zone).replace(hour=0, minute=0)
    return localize(base(day, call.arguments), zone)


def _elapsed(call: Expression) -> timedelta:
    if call.function is Function.INSTANCE_TIME:
        return timedelta()
    *_, hours, minutes = call.arguments
    return timedelta(hours=hours, minutes=minutes)


def _today(day: datetime, _: tuple[int, ...]) -> datetime:
    return day


def _yesterday(day: datetime, _: tuple[int, ...]) -> datetime:
    return day - _DAY


def _current_week(day: datetime, arguments: tuple[int, ...]) -> datetime:
    return day - (day.weekday() - arguments[0]) % _DAYS_A_WEEK * _DAY


def _last_week(day: datetime, arguments: tuple[int, ...]) -> datetime:
    return _current_week(day, arguments) - _DAYS_A_WEEK * _DAY


def _current_month(day: datetime, arguments: tuple[int, ...]) -> datetime:
    return day.replace(day=1) + arguments[0] * _DAY


def _last_month(day: datetime, arguments: tuple[int, ...]) -> datetime:
    return add_months(day.replace(day=1), -1) + arguments[0] * _DAY


def _current_year(day: datetime, arguments: tuple[int, ...]) -> datetime:
    return add_months(day.replace(month=1, day=1), arguments[0]) + arguments[1] * _DAY


def _last_year(day: datetime, arguments: tuple[int, ...]) -> datetime:
    return add_months(day.replace(month=1, day=1), arguments[0] - 12) + arguments[1] * _DAY


_BASES: Mapping[Function, Callable[[datetime, tuple[int, ...]], datetime]] = MappingProxyType(
    {
        Function.TODAY: _today,
        Function.YESTERDAY: _yesterday,
        Function.CURRENT_WEEK: _current_week,
        Function.LAST_WEEK: _last_week,
        Function.CURRENT_MONTH: _current_month,
        Function.LAST_MONTH: _last_month,
        Function.CURRENT_YEAR: _current_year,
        Function.LAST_YEAR: _last_year,
    }
)

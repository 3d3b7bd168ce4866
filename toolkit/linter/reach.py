"""How far an expression goes back from the nominal time, at most and at least, without evaluating it anywhere."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import timedelta
from types import MappingProxyType

from toolkit.el import Expression, Function, parse_expression
from toolkit.el.functions import Parameter

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

"""The instance of a feed that an expression means at a nominal time (DESIGN section 3)."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime
from itertools import islice

from toolkit.el.availability import Availability, newest_first, within_limit
from toolkit.el.errors import ElError
from toolkit.el.evaluation import evaluate
from toolkit.el.expression import Expression, parse_expression
from toolkit.el.functions import Function
from toolkit.el.instants import to_utc
from toolkit.el.sequence import InstanceSequence


def resolve(
    expression: str | Expression,
    nominal_time: datetime,
    sequence: InstanceSequence,
    timezone: str = "UTC",
    availability: Availability | None = None,
) -> datetime | None:
    """The instance that the expression means; None: not yet, or before the sequence starts.

    A time that is no instance means the instance immediately before it. `latest` and `future` count available instances
    only.

    Args:
        expression: any EL function.
        nominal_time: of the process instance.
        sequence: the instances of the feed.
        timezone: of the process, where days are truncated.
        availability: which instances of the feed are available; compulsory for `latest` and `future`.

    Raises:
        ElError: a bad expression, time or time zone, or `latest` or `future` without an availability.
    """
    call = as_expression(expression)
    if not call.function.needs_availability:
        return sequence.at_or_before(evaluate(call, nominal_time, timezone))
    return next(islice(candidates(call, nominal_time, sequence, availability), rank(call), None), None)


def as_expression(expression: str | Expression) -> Expression:
    """The expression, parsed when it is a text.

    Raises:
        ElError: see `parse_expression`.
    """
    return parse_expression(expression) if isinstance(expression, str) else expression


def candidates(
    call: Expression, nominal_time: datetime, sequence: InstanceSequence, availability: Availability | None
) -> Iterator[datetime]:
    """The available instances that `latest` or `future` counts, in the order in which it counts them.

    Raises:
        ElError: there is no availability to ask.
    """
    if availability is None:
        expected = "to be told which instances are available: pass an availability"
        raise ElError(text=call.text, found=call.function, expected=expected)
    nominal = to_utc(nominal_time)
    if call.function is Function.LATEST:
        return newest_first(nominal, sequence, availability)
    return within_limit(nominal, call.arguments[1], sequence, availability)


def rank(call: Expression) -> int:
    """Return how many candidates `latest` or `future` passes over: 2 for latest(-2) and for future(2, n)."""
    return abs(call.arguments[0])

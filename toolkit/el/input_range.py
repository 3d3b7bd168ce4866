"""The instances between two expressions: what an input reads, or what it waits for (DESIGN sections 3 and 8)."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from itertools import islice

from toolkit.el.availability import Availability, is_available
from toolkit.el.errors import ElError
from toolkit.el.evaluation import evaluate
from toolkit.el.expression import Expression
from toolkit.el.functions import Function
from toolkit.el.instants import format_instant
from toolkit.el.resolution import as_expression, candidates, rank
from toolkit.el.sequence import InstanceSequence


@dataclass(frozen=True, kw_only=True, slots=True)
class UnreadyRange:
    """A range that cannot be read yet.

    Args:
        expression: the range, `start..end`.
        missing: the instances that are known to be missing, oldest first; empty when any further one would do.
        reason: what is waited for, in words for an operator.
    """

    expression: str
    missing: tuple[datetime, ...]
    reason: str


def resolve_range(
    start: str | Expression,
    end: str | Expression,
    nominal_time: datetime,
    sequence: InstanceSequence,
    timezone: str = "UTC",
    availability: Availability | None = None,
) -> tuple[datetime, ...] | UnreadyRange:
    """The instances from `start` to `end`, both included, oldest first; or what is waited for.

    Both ends mean the instance immediately before them. What lies before the start of the sequence does not exist.
    With an availability all instances must be available (an optional input passes none).
    `latest(-2)..latest(0)` are the three newest available instances; `future(0,9)..future(2,9)` the next three.

    Args:
        start: the older end of the range.
        end: the newer end of the range.
        nominal_time: of the process instance.
        sequence: the instances of the feed.
        timezone: of the process, where days are truncated.
        availability: which instances of the feed are available; compulsory for `latest` and `future`.

    Raises:
        ElError: a bad expression, time or time zone, a start after the end, `latest` or `future` without an
            availability or together with another function.
    """
    calls = _Ends(start=as_expression(start), end=as_expression(end))
    if not calls.count_available:
        return _fixed(calls, _instants(calls, nominal_time, timezone), sequence, availability)
    return _counted(calls, nominal_time, sequence, availability)


@dataclass(frozen=True, kw_only=True, slots=True)
class _Ends:
    start: Expression
    end: Expression

    def __str__(self) -> str:
        return f"{self.start}..{self.end}"

    @property
    def count_available(self) -> bool:
        """True if both ends count available instances; the ends must agree on it."""
        functions = {self.start.function, self.end.function}
        mixed = [function for function in functions if function.needs_availability]
        if mixed and len(functions) > 1:
            expected = "latest or future at both ends of a range, or at neither"
            raise ElError(text=str(self), found=" and ".join(sorted(functions)), expected=expected)
        return bool(mixed)


def _instants(ends: _Ends, nominal_time: datetime, timezone: str) -> tuple[datetime, datetime]:
    start = evaluate(ends.start, nominal_time, timezone)
    end = evaluate(ends.end, nominal_time, timezone)
    if start > end:
        found = f"{format_instant(start)}..{format_instant(end)}"
        raise ElError(text=str(ends), found=found, expected="a start that is not after the end")
    return start, end


def _fixed(
    ends: _Ends, instants: tuple[datetime, datetime], sequence: InstanceSequence, availability: Availability | None
) -> tuple[datetime, ...] | UnreadyRange:
    first, last = (sequence.at_or_before(instant) for instant in instants)
    if last is None:
        return ()
    instances = (*sequence.between(first or sequence.start, last), last)
    if availability is None:
        return instances
    missing = tuple(instance for instance in instances if not is_available(instance, availability))
    return (
        UnreadyRange(expression=str(ends), missing=missing, reason=_missing_words(ends, missing, len(instances)))
        if missing
        else instances
    )


def _missing_words(ends: _Ends, missing: tuple[datetime, ...], wanted: int) -> str:
    oldest, newest = format_instant(missing[0]), format_instant(missing[-1])
    which = oldest if len(missing) == 1 else f"the first is {oldest}, the last {newest}"
    verb = "is" if len(missing) == 1 else "are"
    return f"{ends} needs {wanted} instances, of which {len(missing)} {verb} not available: {which}"


def _counted(
    ends: _Ends, nominal_time: datetime, sequence: InstanceSequence, availability: Availability | None
) -> tuple[datetime, ...] | UnreadyRange:
    if ends.start.arguments[0] > ends.end.arguments[0]:
        raise ElError(
            text=str(ends), found=f"{ends.start} after {ends.end}", expected="a start that is not after the end"
        )
    far, near = sorted((ends.start, ends.end), key=rank, reverse=True)
    found = tuple(islice(candidates(far, nominal_time, sequence, availability), rank(far) + 1))
    # What was found is asked again, not the storage: each end has a limit of its own.
    nearest = tuple(islice(candidates(near, nominal_time, sequence, found), rank(near) + 1))
    for call, counted in ((far, found), (near, nearest)):
        if len(counted) <= rank(call):
            reason = _too_few_words(call, nominal_time, len(counted))
            return UnreadyRange(expression=str(ends), missing=(), reason=f"{ends}: {reason}")
    return tuple(sorted(found[rank(near) :]))


def _too_few_words(call: Expression, nominal_time: datetime, found: int) -> str:
    is_latest = call.function is Function.LATEST
    where = "at or before" if is_latest else f"in the {call.arguments[1] + 1} grid instants at or after"
    return f"{call} needs {rank(call) + 1} available instances {where} {format_instant(nominal_time)}, found {found}"

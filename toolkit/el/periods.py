"""From a local period, as a name states it, to the instants that have this name (DESIGN section 3, path template)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from functools import lru_cache
from zoneinfo import ZoneInfo

from toolkit.el.fields import COARSE_TO_FINE, next_start

Span = tuple[datetime, datetime]
"""Instants from the first (included) to the second (excluded), UTC."""

_MINUTE = timedelta(minutes=1)
_MIN, _MAX = datetime.min.replace(tzinfo=UTC), datetime.max.replace(tzinfo=UTC, second=0, microsecond=0)


@dataclass(frozen=True, kw_only=True, slots=True)
class PathPeriod:
    """The instants that one conforming name stands for; several instants can have one name.

    Args:
        spans: runs of instants, in order, each [first, end), UTC. There is more than one only where a clock
            is set back between two names, so that a name's instants lie apart.
        variables: the user variables that the name binds.
    """

    spans: tuple[Span, ...]
    variables: Mapping[str, str] = field(default_factory=dict)

    @property
    def first(self) -> datetime:
        """The earliest instant of the period, UTC."""
        return self.spans[0][0]

    @property
    def end(self) -> datetime:
        """The instant just after the latest one, UTC."""
        return self.spans[-1][1]

    def __contains__(self, instant: object) -> bool:
        return isinstance(instant, datetime) and any(first <= instant < end for first, end in self.spans)


@lru_cache(maxsize=4096)
def date_spans(values: tuple[int, ...], zone: ZoneInfo) -> tuple[Span, ...]:
    """The instants of a local date given from the year down; empty when there is no such local time."""
    try:
        year, month, day, hour, minute = (*values, *(1, 1, 0, 0)[len(values) - 1 :])
        start = datetime(year, month, day, hour, minute)  # noqa: DTZ001 - a name states a local time
    except ValueError:
        return ()
    return spans_of(start, next_start(COARSE_TO_FINE[len(values) - 1], start), zone)


def spans_of(start: datetime, end: datetime, zone: ZoneInfo) -> tuple[Span, ...]:
    """The instants whose local time in the zone lies in [start, end).

    Args:
        start: naive local time.
        end: naive local time, later than start.
        zone: the zone of the names.

    Returns:
        Merged runs of instants in order; empty when the zone skips all of the local period.
    """
    if zone.key == "UTC":
        return ((start.replace(tzinfo=UTC), end.replace(tzinfo=UTC)),)
    offsets = {_offset(local, fold, zone) for local in (start, end) for fold in (0, 1)}
    spans = sorted(span for offset in offsets for span in _under(offset, start, end, zone))
    return tuple(_merged([(_whole_minute(first), _whole_minute(end)) for first, end in spans]))


def _whole_minute(instant: datetime) -> datetime:
    """The first whole minute from the instant on: instants have no seconds, offsets of old local times do."""
    seconds = timedelta(seconds=instant.second)
    return instant - seconds + _MINUTE if seconds else instant


def _offset(local: datetime, fold: int, zone: ZoneInfo) -> timedelta:
    return zone.utcoffset(local.replace(fold=fold)) or timedelta()


def _under(offset: timedelta, start: datetime, end: datetime, zone: ZoneInfo) -> Iterator[Span]:
    """The instants of the local period while the zone's clock runs with this offset."""
    first, beyond = _minus(start, offset), _minus(end, offset)
    if first >= beyond:  # both were moved to the edge of the calendar
        return
    last = beyond - _MINUTE
    at_first, at_last = _runs_with(offset, first, zone), _runs_with(offset, last, zone)
    if at_first and at_last:
        yield first, beyond
    elif at_first:
        yield first, _change(first, last, zone)
    elif at_last:
        yield _change(first, last, zone), beyond


def _runs_with(offset: timedelta, instant: datetime, zone: ZoneInfo) -> bool:
    try:
        return instant.astimezone(zone).utcoffset() == offset
    except OverflowError:
        return True


def _change(first: datetime, last: datetime, zone: ZoneInfo) -> datetime:
    """The instant in (first, last] from which the offset of `last` holds; found by halving."""
    offset = last.astimezone(zone).utcoffset()
    low, high = first, last
    while high - low > timedelta(seconds=1):
        middle = low + (high - low) // 2
        if middle.astimezone(zone).utcoffset() == offset:
            high = middle
        else:
            low = middle
    return high.replace(microsecond=0)  # clocks change at whole seconds


def _minus(local: datetime, offset: timedelta) -> datetime:
    try:
        return local.replace(tzinfo=UTC) - offset
    except OverflowError:
        return _MIN if offset > timedelta() else _MAX


def _merged(spans: list[Span]) -> Iterator[Span]:
    run: Span | None = None
    for first, end in spans:
        if run is not None and first <= run[1]:
            run = run[0], max(run[1], end)
            continue
        if run is not None:
            yield run
        run = first, end
    if run is not None:
        yield run

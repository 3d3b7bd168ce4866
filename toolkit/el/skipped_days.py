"""Days that a time zone never had: Apia has no 30 December 2011, since Samoa crossed the date line."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from functools import cache
from itertools import pairwise
from zoneinfo import ZoneInfo

from toolkit.el.zones import load_zone

_DAY = timedelta(days=1)
_SECOND = timedelta(seconds=1)
_SAMPLED_YEARS = range(1840, 2041)
"""From before the first zone that crossed the date line (Manila, 1844); later rules of tzdata are summer times only."""


@cache
def skipped_days(timezone: str) -> tuple[datetime, ...]:
    """The naive local times, ascending, at which a gap of exactly 24 hours begins.

    A local time within those 24 hours does not exist; shifted forward by the gap it is the same time a day later.

    Raises:
        ElError: unknown time zone.
    """
    return tuple(_date_line_crossings(load_zone(timezone)))


def _date_line_crossings(zone: ZoneInfo) -> Iterator[datetime]:
    samples = [datetime(year, 1, 1, tzinfo=UTC) for year in _SAMPLED_YEARS]
    for before, after in pairwise(samples):
        # Half a day tells a crossing from the other changes of the same year.
        if _offset(after, zone) - _offset(before, zone) > _DAY / 2:
            crossing = _bisect(before, after, zone)
            begin = _offset(crossing - _SECOND, zone)
            if _offset(crossing, zone) - begin == _DAY:
                yield (crossing + begin).replace(tzinfo=None)


def _bisect(before: datetime, after: datetime, zone: ZoneInfo) -> datetime:
    """The first second after the change of the offset that lies between the two instants."""
    middle_offset = (_offset(before, zone) + _offset(after, zone)) / 2
    while after - before > _SECOND:
        middle = before + (after - before) // (2 * _SECOND) * _SECOND
        if _offset(middle, zone) > middle_offset:
            after = middle
        else:
            before = middle
    return after


def _offset(instant: datetime, zone: ZoneInfo) -> timedelta:
    return instant.astimezone(zone).utcoffset() or timedelta()

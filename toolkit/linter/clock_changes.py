"""When the clocks of a time zone are changed."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import lru_cache
from itertools import pairwise

from toolkit.el import load_zone

_STRIDE = timedelta(days=7)
"""Two changes never lie nearer together: Ramadan, which undoes one for its length, is the shortest known."""
_SECOND = timedelta(seconds=1)
_MANY = 512


_YEAR = timedelta(days=365)
_LAST = datetime.max.replace(tzinfo=UTC, second=0, microsecond=0)
_FIRST_LOCAL = datetime(1, 1, 3, tzinfo=UTC)
_LAST_LOCAL = datetime(9999, 12, 29, tzinfo=UTC)
"""Between these every zone has a local time."""


@dataclass(frozen=True, kw_only=True, slots=True)
class ClockChange:
    """A change of a zone's offset from UTC.

    Attributes:
        at: the first instant with the new offset, UTC.
        before: the offset until then.
        after: the offset from then on.
    """

    at: datetime
    before: timedelta
    after: timedelta

    @property
    def is_set_back(self) -> bool:
        """True if local times come twice; else some never come."""
        return self.after < self.before

    @property
    def local(self) -> tuple[datetime, datetime]:
        """The naive local times [first, end) that come twice, or never."""
        one, other = (self.at + self.before).replace(tzinfo=None), (self.at + self.after).replace(tzinfo=None)
        return min(one, other), max(one, other)


def year_from(time: datetime) -> tuple[datetime, datetime]:
    """The year that a finding looks ahead, from the minute of an instant on."""
    first = time.replace(second=0, microsecond=0)
    return first, first + min(_YEAR, _LAST - first)


@lru_cache(maxsize=_MANY)
def clock_changes(timezone: str, first: datetime, end: datetime) -> tuple[ClockChange, ...]:
    """The changes in (first, end), oldest first.

    Args:
        timezone: a known zone.
        first: UTC, a whole minute.
        end: UTC, a whole minute; at most some years later, since every week is looked at.
    """
    if timezone == "UTC":
        return ()
    first, end = max(first, _FIRST_LOCAL), min(end, _LAST_LOCAL)
    samples = [first]
    while samples[-1] < end:
        samples.append(min(samples[-1] + _STRIDE, end))
    pairs = ((one, other) for one, other in pairwise(samples) if _offset(one, timezone) != _offset(other, timezone))
    return tuple(_change(one, other, timezone) for one, other in pairs)


def _change(before: datetime, after: datetime, timezone: str) -> ClockChange:
    """The one change between two instants, found by halving."""
    old, new = _offset(before, timezone), _offset(after, timezone)
    while after - before > _SECOND:
        middle = before + (after - before) // (2 * _SECOND) * _SECOND
        if _offset(middle, timezone) == old:
            before = middle
        else:
            after = middle
    return ClockChange(at=after.astimezone(UTC), before=old, after=new)


def _offset(instant: datetime, timezone: str) -> timedelta:
    return instant.astimezone(load_zone(timezone)).utcoffset() or timedelta()

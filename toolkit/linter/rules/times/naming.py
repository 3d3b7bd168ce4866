"""Which instances of a sequence have one name, when names have dates down to a finest field."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from functools import lru_cache
from itertools import islice

from toolkit.el import Frequency, InstanceSequence, OutOfRange, load_zone
from toolkit.el.fields import COARSE_TO_FINE, Field, next_start
from toolkit.el.periods import Span, spans_of
from toolkit.el.zones import to_local
from toolkit.linter.clock_changes import ClockChange, clock_changes, year_from

_LOOKED_AT = 400
"""So many of a feed's first instances are looked at when its names are coarser than its frequency."""
_AROUND = 6
"""So many instances before and after a change of the clocks are looked at."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Names:
    """How the instances of a feed are named.

    Attributes:
        finest: the finest date field; names with equal dates down to it are equal.
        timezone: of the fields.
    """

    finest: Field
    timezone: str

    def spans(self, instant: datetime) -> tuple[Span, ...]:
        """The instants that have the same name as this one; none where it has no local time."""
        zone = load_zone(self.timezone)
        try:
            start = _truncated(to_local(instant, zone), self.finest)
            return spans_of(start, next_start(self.finest, start), zone)
        except (OutOfRange, OverflowError):
            return ()


def _truncated(local: datetime, finest: Field) -> datetime:
    """The naive local time at which the period of a name with this finest field begins."""
    known = [local.year, local.month, local.day, local.hour, local.minute]
    kept = COARSE_TO_FINE.index(finest) + 1
    year, month, day, hour, minute = (*known[:kept], *(1, 1, 0, 0)[kept - 1 :])
    return datetime(year, month, day, hour, minute)  # noqa: DTZ001 - a name states a local time


@lru_cache(maxsize=1024)
def first_shared(instances: InstanceSequence, names: Names) -> tuple[datetime, datetime, int] | None:
    """The first two instances with one name, and how many have it; None when there are none among the first."""
    for instant in islice(instances, _LOOKED_AT):
        sharing = [each for span in names.spans(instant) for each in islice(instances.between(*span), 2)]
        if len(sharing) > 1:
            count = sum(instances.count(*span) for span in names.spans(instant))
            return sharing[0], sharing[1], count
    return None


def shared_at_changes(
    instances: InstanceSequence, names: Names, timezone: str, time: datetime
) -> tuple[tuple[datetime, datetime], ...]:
    """Pairs of instances with one name, around the changes of the clocks in the year from an instant on.

    Args:
        instances: of the feed.
        names: what they are called.
        timezone: the feed's, in which days and months are counted.
        time: UTC.
    """
    zones = {names.timezone} | (set() if _is_elapsed(instances.frequency) else {timezone})
    changes = {change for zone in zones if zone != "UTC" for change in clock_changes(zone, *year_from(time))}
    if not changes:
        return ()
    return _shared_around(instances, names, tuple(sorted(changes, key=lambda change: change.at)))


def _is_elapsed(frequency: Frequency) -> bool:
    return frequency.elapsed is not None


@lru_cache(maxsize=1024)
def _shared_around(
    instances: InstanceSequence, names: Names, changes: tuple[ClockChange, ...]
) -> tuple[tuple[datetime, datetime], ...]:
    found: dict[tuple[datetime, datetime], None] = {}
    for change in changes:
        for instant in _near(instances, change):
            sharing = [each for span in names.spans(instant) for each in islice(instances.between(*span), 2)]
            found.update(dict.fromkeys([(sharing[0], sharing[1])] if len(sharing) > 1 else []))
    return tuple(sorted(found))


def _near(instances: InstanceSequence, change: ClockChange) -> Iterator[datetime]:
    """Some instances around a change: those just before it, where names are given that come again, and just after."""
    position = instances.count(instances.start, change.at)
    last = instances.count(instances.start, instances.end or change.at)
    for each in range(max(0, position - _AROUND), min(position + _AROUND, last)):
        yield instances[each]

"""Instances of a route that a replication looks at: by arithmetic, and by the records of what is not done."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

from toolkit.el import InstanceSequence, format_instant, parse_instant
from toolkit.entities import Order

if TYPE_CHECKING:
    from toolkit.planning.replication import Range, Route
    from toolkit.planning.retention import RetentionClock

_MINUTE = timedelta(minutes=1)
_END = datetime.max.replace(tzinfo=UTC)


@dataclass(frozen=True, kw_only=True, slots=True)
class CopyRecords:
    """Records of the runs of a route; by default there are none.

    Attributes:
        unrecorded: the instances of a sequence from one instant until before another that no run was about.
        unfinished: keys of instances with a run that are not copied, or that a later run has begun to copy again.
        skipped: keys of those that an earlier run has skipped since the source's retention had removed them; they are
            looked at again when the user names them, or the source keeps instances for longer now.
        evicted: of these keys those that the target's retention has removed.
    """

    unrecorded: Callable[[InstanceSequence, datetime, datetime], Iterable[datetime]] = InstanceSequence.between
    unfinished: Callable[[], Collection[str]] = tuple
    skipped: Callable[[], Collection[str]] = tuple
    evicted: Callable[[Sequence[str]], Collection[str]] = lambda _: ()


@dataclass(frozen=True, kw_only=True, slots=True)
class DueCopies:
    """Finds the instances of a route that a run looks at.

    Attributes:
        route: from a source to a target.
        nominal: of the run, UTC.
        clock: of the target's retention; None: what it would evict counts too, for who looks at what is there.
        wanted: instances that the user asks for.
        records: of the runs of the route.
    """

    route: Route
    nominal: datetime
    clock: RetentionClock | None
    wanted: Range
    records: CopyRecords

    def instants(self) -> Iterator[datetime]:
        """Yield the instances in the order that the user or the feed's property ``order`` asks for.

        What was copied before is looked at again while late data may come, and when the user names it.
        """
        order = self.route.feed.properties.get("order")
        found = self._instants(is_last_only=order == Order.LAST_ONLY and not self.wanted.is_given)
        gone = self.records.evicted([format_instant(each) for each in found])
        for instant in reversed(found) if self.wanted.newest_first or order == Order.LIFO else found:
            if format_instant(instant) not in gone:
                yield instant

    def _instants(self, *, is_last_only: bool) -> list[datetime]:
        """Return the instances, oldest first, also those that the target's retention has removed."""
        sequence, places = self.route.source.instances, self._places()
        there = self.route.target.instances
        if is_last_only:
            last = next((place for place in reversed(places) if sequence[place] in there), None)
            places = range(0) if last is None else range(last, last + 1)
        late = len(places) if self.wanted.is_given else self._late_from(places)
        if self.wanted.is_given:
            found: Iterable[datetime] = map(sequence.__getitem__, places)
        else:
            found = (*self._unfinished(places[:late]), *map(sequence.__getitem__, places[late:]))
        skipped = () if self.wanted.is_given else self.records.skipped()
        return [
            each
            for each in found
            if each in there
            and self.route.eligible_at(each) <= self.nominal  # again: a clock change may swap neighbours
            and not self._is_given_up(each, skipped)
        ]

    def _places(self) -> range:
        """Return the positions at the source of the instances that may be pulled.

        An instance is eligible at its time and the source's delay. One that the target's retention would evict at once
        is not: it would come back only to go again.
        """
        route, sequence = self.route, self.route.source.instances
        start, stop = route.span
        starts = [start, *([] if self.clock is None else [route.kept_from(self.clock)])]
        starts += [self.wanted.first] if self.wanted.first else []
        stops = [stop, self.nominal + _MINUTE, *([self.wanted.end] if self.wanted.end else [])]
        places = sequence.positions(max(starts), min(stops))
        return places[: bisect_right(places, self.nominal, key=lambda place: route.eligible_at(sequence[place]))]

    def _late_from(self, places: range) -> int:
        """Return how many of the instances come before the first that late data may still come for.

        The last look is at the cut-off, as that of a process is (DESIGN section 8, Late checks). With the property
        ``feed.late.allowed: false`` of the feed there is none.
        """
        route, sequence = self.route, self.route.source.instances
        if route.feed.late_arrival is None or route.feed.properties.get("feed.late.allowed") is False:
            return len(places)
        return bisect_left(places, self.nominal, key=lambda place: route.late_until(sequence[place]) or _END)

    def _unfinished(self, places: range) -> list[datetime]:
        """Return which of the instances no run has finished."""
        if not places:
            return []
        sequence = self.route.source.instances
        first, end = sequence[places[0]], sequence[places[-1]] + _MINUTE
        recorded = map(parse_instant, self.records.unfinished())
        found = {each for each in recorded if first <= each < end and each in sequence}
        return sorted({*found, *self.records.unrecorded(sequence, first, end)})

    def _is_given_up(self, instant: datetime, skipped: Collection[str]) -> bool:
        return format_instant(instant) in skipped and self.route.is_expired_at_source(instant, self.clock)

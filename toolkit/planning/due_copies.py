"""Instances of a route that a replication looks at: by arithmetic, and by the records of what is not done."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

from toolkit.el import InstanceSequence, format_instant, parse_instant
from toolkit.entities import Order
from toolkit.planning.history import Gap

if TYPE_CHECKING:
    from toolkit.el.periods import Span
    from toolkit.planning.replication import Range, Route
    from toolkit.planning.retention import RetentionClock

RECENT = 256
"""So many of the newest instances are looked at and waited for one by one; older ones once something is there."""
_MINUTE = timedelta(minutes=1)
_END = datetime.max.replace(tzinfo=UTC)
_SWAPPED = timedelta(days=2)
"""The cut-off of an instance is never so much after that of a later one. 28 January 23:00 and 29 January 00:00 plus
months(1) are nearly a day apart in the wrong order; a clock change, or a day that a zone skips, adds up to a day."""


def _gap(sequence: InstanceSequence, first: datetime, end: datetime) -> Gap:
    return Gap(first=first, end=end, missing=sequence.count(first, end))


@dataclass(frozen=True, kw_only=True, slots=True)
class CopyRecords:
    """Records of the runs of a route; by default there are none.

    Attributes:
        unrecorded: the instances of a sequence from one instant until before another that no run was about.
        gaps: the periods of such instances, as `toolkit.planning.history.gaps` finds them.
        recorded: of these keys those that a run was about.
        unfinished: keys of instances with a run that are not copied, or that a later run has begun to copy again.
        skipped: keys of those that an earlier run has skipped since the source's retention had removed them; they are
            looked at again when the user names them, or the source keeps instances for longer now.
        evicted: of these keys those that the target's retention has removed.
    """

    unrecorded: Callable[[InstanceSequence, datetime, datetime], Iterable[datetime]] = InstanceSequence.between
    gaps: Callable[[InstanceSequence, datetime, datetime], Sequence[Gap]] = lambda *period: (_gap(*period),)
    recorded: Callable[[Sequence[str]], Collection[str]] = lambda _: ()
    unfinished: Callable[[], Collection[str]] = tuple
    skipped: Callable[[], Collection[str]] = tuple
    evicted: Callable[[Sequence[str]], Collection[str]] = lambda _: ()


@dataclass(frozen=True, kw_only=True, slots=True)
class FoundCopies:
    """Instances that a run looks at, and the number of those that it does not wait for.

    Attributes:
        instants: in the order that the user or the feed's property ``order`` asks for.
        absent: so many older instances have no record, and are not at the source.
        recent_from: older instances come before it.
    """

    instants: tuple[datetime, ...]
    absent: int = 0
    recent_from: datetime | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class DueCopies:
    """Finds the instances of a route that a run looks at.

    Attributes:
        route: from a source to a target.
        nominal: of the run, UTC.
        clock: of the target's retention; None: what it would evict counts too, for who looks at what is there.
        wanted: instances that the user asks for.
        records: of the runs of the route.
        listed: the instances of some periods that have anything at the source, found by listing; None: nobody lists,
            so that an instance is looked at however old it is.
    """

    route: Route
    nominal: datetime
    clock: RetentionClock | None
    wanted: Range
    records: CopyRecords
    listed: Callable[[Sequence[Span]], Collection[datetime]] | None = None

    def found(self) -> FoundCopies:
        """Return the instances; what was copied before only while late data may come, or when the user names it."""
        order = self.route.feed.properties.get("order")
        found = self._found(is_last_only=order == Order.LAST_ONLY and not self.wanted.is_given)
        instants = [each for each in found.instants if self._is_due(each)]
        if instants and not self.wanted.is_given:
            skipped = self.records.skipped()
            instants = [each for each in instants if not self._is_given_up(each, skipped)]
        gone = self.records.evicted([format_instant(each) for each in instants])
        instants = [each for each in instants if format_instant(each) not in gone]
        is_reversed = self.wanted.newest_first or order == Order.LIFO
        return replace(found, instants=tuple(reversed(instants) if is_reversed else instants))

    def _found(self, *, is_last_only: bool) -> FoundCopies:
        """Return the instances, oldest first, also those that the target's retention has removed."""
        sequence, places = self.route.source.instances, self._places()
        there = self.route.target.instances
        if is_last_only:
            last = next((place for place in reversed(places) if sequence[place] in there), None)
            places = range(0) if last is None else range(last, last + 1)
        if self.wanted.is_given:
            return FoundCopies(instants=tuple(map(sequence.__getitem__, places)))
        late = self._late_from(places)
        older = 0 if self.listed is None else min(late, max(0, len(places) - RECENT))
        new, absent = self._listed(places[:older])
        new += self._unrecorded(places[older:])
        instants = {*new, *self._unfinished(places), *filter(self._is_late, map(sequence.__getitem__, places[late:]))}
        return FoundCopies(
            instants=tuple(sorted(instants)), absent=absent, recent_from=sequence[places[older]] if older else None
        )

    def _is_due(self, instant: datetime) -> bool:
        """Return whether the target has an instance, and its delay is over: a clock change may swap two of them."""
        return instant in self.route.target.instances and self.route.eligible_at(instant) <= self.nominal

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
        """Return a number of instances from the oldest on for which no late data is expected any more.

        The last look is at the cut-off, as that of a process is (DESIGN section 8, Late checks). With the property
        ``feed.late.allowed: false`` of the feed there is none.
        """
        route, sequence = self.route, self.route.source.instances
        if route.feed.late_arrival is None or route.feed.properties.get("feed.late.allowed") is False:
            return len(places)
        first = self.nominal - _SWAPPED
        return bisect_left(places, first, key=lambda place: route.late_until(sequence[place]) or _END)

    def _is_late(self, instant: datetime) -> bool:
        """Return whether late data of an instance may still come."""
        until = self.route.late_until(instant)
        return until is not None and self.nominal <= until

    def _span(self, places: range) -> Span:
        """Return the first instance, and the minute behind the last one."""
        sequence = self.route.source.instances
        return sequence[places[0]], sequence[places[-1]] + _MINUTE

    def _unfinished(self, places: range) -> list[datetime]:
        """Return which of the instances have a run, and none that finished them."""
        if not places:
            return []
        first, end = self._span(places)
        found = map(parse_instant, self.records.unfinished())
        return [each for each in found if first <= each < end and each in self.route.source.instances]

    def _unrecorded(self, places: range) -> list[datetime]:
        """Return which of the instances no run was about."""
        return list(self.records.unrecorded(self.route.source.instances, *self._span(places))) if places else []

    def _listed(self, places: range) -> tuple[list[datetime], int]:
        """Return which of the instances no run was about and have anything at the source; and how many have nothing."""
        if self.listed is None or not places:
            return [], 0
        gaps = self.records.gaps(self.route.source.instances, *self._span(places))
        found = sorted(self.listed([(gap.first, gap.end) for gap in gaps])) if gaps else []
        recorded = self.records.recorded([format_instant(each) for each in found])
        new = [each for each in found if format_instant(each) not in recorded]
        return new, sum(gap.missing for gap in gaps) - len(new)

    def _is_given_up(self, instant: datetime, skipped: Collection[str]) -> bool:
        return format_instant(instant) in skipped and self.route.is_expired_at_source(instant, self.clock)

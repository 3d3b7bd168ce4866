"""The instances that a feed has had by a time, as a policy of retention sees them: sets found by halving."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import cached_property

from toolkit.el import InstanceSequence, PathPeriod
from toolkit.entities import Hold
from toolkit.planning.blast_radius.places import BoundLocation
from toolkit.planning.retention import EvictionPolicy, instance_time, kept_by_time


@dataclass(frozen=True, slots=True)
class Positions:
    """Positions of instances; the runs are sorted, not empty, and don't touch.

    Args:
        runs: ranges of step 1.
    """

    runs: tuple[range, ...] = ()

    @classmethod
    def of(cls, *runs: range) -> Positions:
        """The positions of any ranges of step 1, overlapping or not."""
        merged: list[range] = []
        for run in sorted((run for run in runs if run), key=lambda run: run.start):
            if merged and run.start <= merged[-1].stop:
                merged[-1] = range(merged[-1].start, max(merged[-1].stop, run.stop))
            else:
                merged.append(run)
        return cls(tuple(merged))

    def __len__(self) -> int:
        return sum(map(len, self.runs))

    @property
    def first(self) -> int:
        """The lowest position; an IndexError when there is none."""
        return self.runs[0].start

    @property
    def last(self) -> int:
        """The highest position; an IndexError when there is none."""
        return self.runs[-1].stop - 1

    def minus(self, others: Positions) -> Positions:
        """These positions without the others."""
        return Positions(tuple(piece for run in self.runs for piece in _pieces(run, others)))

    def both(self, others: Positions) -> Positions:
        """The positions that are among the others too."""
        return self.minus(self.minus(others))


def _pieces(run: range, others: Positions) -> Iterator[range]:
    start = run.start
    for other in others.runs:
        if other.start >= run.stop:
            break
        if start < other.start:
            yield range(start, other.start)
        start = max(start, other.stop)
    if start < run.stop:
        yield range(start, run.stop)


_MINUTE = timedelta(minutes=1)
_EARLIEST, _END = datetime.min.replace(tzinfo=UTC), datetime.max.replace(tzinfo=UTC)
_LAST = _END - _MINUTE


@dataclass(frozen=True, kw_only=True)
class Existing:
    """Instances that were made, and how their names are read; each has a name of its own.

    Attributes:
        made: the sequence that they were made by.
        count: how many of them there are by the time that is asked about.
        written: where they were put.
        read: where retention looks for them.
        instances: the sequence that retention knows.
    """

    made: InstanceSequence
    count: int
    written: BoundLocation
    read: BoundLocation
    instances: InstanceSequence

    @property
    def all(self) -> Positions:
        """All of them."""
        return Positions.of(range(self.count))

    @property
    def is_managed(self) -> bool:
        """True if names as they were written conform to where retention looks; both ends and the middle are tried."""
        if self._is_same_place or not self.read.dated:
            return self.read.dated
        times = [self.made[each] for each in (0, self.count // 2, self.count - 1) if each >= 0]
        names = (each for time in times for each in self.written.samples(time))
        return all(self.read.period(each) is not None for each in names)

    def evictable(self, policy: EvictionPolicy) -> Positions:
        """Return the instances that a run with this policy would evict: `retention.kept_by` for all, by bisection."""
        if not self.is_managed:
            return Positions()
        kept_from = self._keep_last_from(policy)
        old = self._first(lambda position: kept_by_time(policy, self._time(position), kept_from) is not None)
        return Positions.of(range(old)).minus(self.held(policy.holds))

    def held(self, holds: Iterable[Hold]) -> Positions:
        """Return the instances on hold; a name that is partly held is held as a whole."""
        return Positions.of(*map(self._held_by, holds))

    def kept_last(self, policy: EvictionPolicy) -> Positions:
        """The newest that `keep_last` protects."""
        kept_from = self._keep_last_from(policy)
        return Positions.of(range(self._first(lambda position: self._time(position) >= kept_from), self.count))

    def _keep_last_from(self, policy: EvictionPolicy) -> datetime:
        """Do as `retention.keep_last_from` does, by counting positions."""
        if policy.keep_last <= 0:
            return _END
        known = self._first(lambda position: self._time(position) > policy.nominal_time)
        return self._time(known - policy.keep_last) if known >= policy.keep_last else _EARLIEST

    def _held_by(self, hold: Hold) -> range:
        start, end = hold.start, hold.end
        first = 0 if start is None else self._first(lambda position: self._period(position).end > start)
        return range(first, self.count if end is None else self._first(lambda at: self._period(at).first >= end))

    def _first(self, holds_from_here: Callable[[int], bool]) -> int:
        """The first position from which on something is so."""
        return bisect_left(range(self.count), x=True, key=holds_from_here)

    def _time(self, position: int) -> datetime:
        instant = self.made[position]
        return instant if self._has_own_times else instance_time(self._period(position), self.instances)

    @property
    def _is_same_place(self) -> bool:
        return self.written.names_text == self.read.names_text and self.written.timezone == self.read.timezone

    @cached_property
    def _has_own_times(self) -> bool:
        """True if each name stands for its instance alone, so that no name needs to be read; days depend on zones."""
        step, granularity = self.made.frequency.elapsed, self.read.granularity
        length = None if granularity is None else granularity.elapsed
        if step is None or length is None or self.read.timezone != "UTC":
            return False
        return length <= step and self.made == self.instances and self._is_same_place

    def _period(self, position: int) -> PathPeriod:
        instant = self.made[position]
        period = self.read.period(next(self.written.samples(instant)))
        return period or PathPeriod(spans=((instant, max(instant, min(instant, _LAST) + _MINUTE)),))

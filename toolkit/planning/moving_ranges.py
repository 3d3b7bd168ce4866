"""Process instances that write or read a feed instance: inverses of expressions, by arithmetic."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from datetime import datetime
from functools import lru_cache

from toolkit.el import InstanceSequence, evaluate
from toolkit.entities import Feed, Process
from toolkit.planning.process_io import depends_on_availability, naming


@dataclass(frozen=True, kw_only=True, slots=True)
class MovingRange:
    """Range of feed instances that an input reads, or an output writes, at each instance of its process.

    Its ends never go back, but for one case: until 2011 St. John's set its clocks back across midnight.

    Args:
        start: expression of the first instance.
        end: expression of the last, which is included.
        grid: the instances of the feed.
        timezone: of the process.
        runs: the instances of the process.
    """

    start: str
    end: str
    grid: InstanceSequence
    timezone: str
    runs: InstanceSequence

    def runs_around(self, instant: datetime) -> tuple[datetime, datetime, int] | None:
        """The first and the last instance of the process whose range holds an instance of the feed, and how many.

        All between them hold it too; None when there is none.

        Raises:
            ElError: an expression that cannot be evaluated.
        """
        found = _positions(self, instant)
        return (self.runs[found.start], self.runs[found.stop - 1], len(found)) if found else None

    def runs_of(self, instant: datetime) -> list[datetime]:
        """Return the instances of the process whose range holds an instance of the feed, oldest first.

        Raises:
            ElError: an expression that cannot be evaluated.
        """
        return [self.runs[position] for position in _positions(self, instant)]

    def positions_of(self, instants: Iterable[datetime]) -> Iterator[range]:
        """Yield for each instance of the feed the positions of the runs whose range holds it; oldest first is fastest.

        Borders are searched from those of the instance before on, or from its time: ranges are mostly close to it.

        Raises:
            ElError: an expression that cannot be evaluated.
        """
        floors: dict[tuple[str, int], datetime | None] = {}

        def floor(expression: str, position: int) -> datetime | None:
            key = (expression, position)
            if key not in floors:
                floors[key] = self.grid.at_or_before(evaluate(expression, self.runs[position], self.timezone))
            return floors[key]

        def ends_late_enough(position: int) -> bool:
            end = floor(self.end, position)
            return end is not None and end >= instant

        def starts_too_late(position: int) -> bool:
            start = floor(self.start, position)
            return start is not None and start > instant

        count = len(self.runs)
        begin = stop = None
        for instant in instants:
            if begin is None or stop is None:
                begin = stop = min(self.runs.positions(instant, instant).start, count)
            begin, stop = _border(begin, count, ends_late_enough), _border(stop, count, starts_too_late)
            yield range(begin, stop)


@lru_cache(maxsize=4096)
def _positions(of: MovingRange, instant: datetime) -> range:
    """Cached: an update of a feed is asked about by each process that reads it, mostly by the same expressions."""
    return next(of.positions_of([instant]))


def _border(near: int, count: int, holds: Callable[[int], bool]) -> int:
    """Return the first of `count` positions at which a condition holds that holds from there on; else `count`.

    The steps away from `near` double, then the last one is halved.
    """
    low, high, step = near, near, 1
    while low > 0 and holds(low - 1):
        low, high, step = max(0, low - step), low - 1, 2 * step
    step = 1
    while high < count and not holds(high):
        low, high, step = high + 1, min(count, high + step), 2 * step
    return bisect_left(range(count), x=True, lo=low, hi=high, key=holds)


@dataclass(frozen=True, kw_only=True, slots=True)
class Producer:
    """The instances of one process that make a feed instance through one output.

    Args:
        process: the process's name.
        output: the output's name.
        instances: nominal times of the first and the last of them, UTC; all instances between make it too, as those of
            a process do that runs more often than the feed has instances.
        count: how many instances that is.
    """

    process: str
    output: str
    instances: tuple[datetime, datetime]
    count: int


def producers(feed: Feed, cluster: str, instant: datetime, processes: Iterable[Process]) -> Iterator[Producer]:
    """The process instances on a cluster that make a feed instance.

    Args:
        feed: the feed.
        cluster: the cluster's name.
        instant: an instance of the feed on that cluster, UTC.
        processes: all processes; those that do not make the feed, or are not on the cluster, are passed over.

    Raises:
        ElError: `instant` is no instance of the feed there.
        UnknownName: the feed is not on that cluster.
    """
    grid = feed.instances_on(cluster)
    grid.index(instant)
    endless = replace(grid, end=None)  # a run after the feed's end makes nothing, and not its last instance again
    for process in processes:
        if any(each.name == cluster for each in process.clusters):
            yield from _producer_of_process(feed.name, endless, instant, process, process.instances_on(cluster))


def _producer_of_process(
    feed: str, grid: InstanceSequence, instant: datetime, process: Process, runs: InstanceSequence
) -> Iterator[Producer]:
    for name, each in process.outputs.items():
        if each.feed != feed:
            continue
        made = MovingRange(start=each.instance, end=each.instance, grid=grid, timezone=process.timezone, runs=runs)
        with naming(process.name, "output", name):
            around = made.runs_around(instant)
        if around is not None:
            first, last, count = around
            yield Producer(process=process.name, output=name, instances=(first, last), count=count)


@dataclass(frozen=True, kw_only=True, slots=True)
class Consumer:
    """The instances of one process that read a feed instance through one input.

    Args:
        process: the process's name.
        input: the input's name.
        instances: nominal times of the first and the last of them, UTC; all instances between read it too. None when
            it depends on what is available at the time (`latest`, `future`).
        count: how many instances that is; 0 when it depends.
    """

    process: str
    input: str
    instances: tuple[datetime, datetime] | None
    count: int

    @property
    def depends_on_availability(self) -> bool:
        """True if only a run can tell which instances read it."""
        return self.instances is None


def consumers(feed: Feed, cluster: str, instant: datetime, processes: Iterable[Process]) -> Iterator[Consumer]:
    """The process instances on a cluster that read a feed instance.

    Args:
        feed: the feed.
        cluster: the cluster's name.
        instant: an instance of the feed on that cluster, UTC.
        processes: all processes; those that do not read the feed, or are not on the cluster, are passed over.

    Raises:
        ElError: `instant` is no instance of the feed there.
        UnknownName: the feed is not on that cluster.
    """
    grid = feed.instances_on(cluster)
    grid.index(instant)
    for process in processes:
        if any(each.name == cluster for each in process.clusters):
            yield from _consumer_of_process(feed.name, grid, instant, process, cluster)


def _consumer_of_process(
    feed: str, grid: InstanceSequence, instant: datetime, process: Process, cluster: str
) -> Iterator[Consumer]:
    runs = process.instances_on(cluster)
    for name, each in process.inputs.items():
        if each.feed != feed:
            continue
        if depends_on_availability(each):
            yield Consumer(process=process.name, input=name, instances=None, count=0)
            continue
        read = MovingRange(start=each.start, end=each.end, grid=grid, timezone=process.timezone, runs=runs)
        with naming(process.name, "input", name):
            around = read.runs_around(instant)
        if around is not None:
            first, last, count = around
            yield Consumer(process=process.name, input=name, instances=(first, last), count=count)

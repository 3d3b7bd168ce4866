"""The inputs of processes on their clusters, and the runs at which their windows are at their widest."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import lru_cache
from itertools import islice

from toolkit.el import ElError, Expression, InstanceSequence, evaluate, load_zone, localize, parse_expression
from toolkit.el.frequency import add_months
from toolkit.el.zones import to_local
from toolkit.entities import Feed, FeedCluster, Input, Pointer, Process, Repository
from toolkit.linter.clock_changes import clock_changes, year_from
from toolkit.linter.findings import Mention

_MINUTE = timedelta(minutes=1)
_DAY = timedelta(days=1)
_MONTHS = 13
_FIRST_DAYS = 8
"""The starts of these days of a month: of each weekday one, and of the month."""
_INSTANCES = 13
_LOOKED_AT = range(1900, 9990)
"""The years in which a year before and after has no end of the calendar in it."""


@dataclass(frozen=True, kw_only=True, slots=True)
class InputWindow:
    """An input of a process on one of its clusters, where the feed is too.

    Attributes:
        position: of the cluster among the process's.
        name: the input's.
    """

    process: Process
    position: int
    name: str
    input: Input
    feed: Feed
    feed_cluster: FeedCluster

    @property
    def cluster(self) -> str:
        """The cluster's name."""
        return self.feed_cluster.name

    @property
    def start(self) -> Expression:
        """The older end of the window."""
        return parse_expression(self.input.start)

    @property
    def end(self) -> Expression:
        """The newer end of the window."""
        return parse_expression(self.input.end)

    @property
    def counts_available(self) -> bool:
        """True if only a run can tell which instances the window has, since it counts available ones."""
        return self.start.function.needs_availability or self.end.function.needs_availability

    @property
    def runs(self) -> InstanceSequence:
        """The instances of the process on the cluster."""
        return self.process.clusters[self.position].validity.sequence(self.process.frequency, self.process.timezone)

    @property
    def grid(self) -> InstanceSequence:
        """The instances of the feed on the cluster."""
        return self.feed_cluster.validity.sequence(self.feed.frequency, self.feed.timezone)

    def at(self, *below: str) -> Pointer:
        """The pointer to a value of the input."""
        return ("inputs", self.name, *below)

    def of_feed(self, *below: str) -> Mention:
        """A value of the feed on the cluster."""
        return self.feed.name, ("clusters", self.feed.clusters.index(self.feed_cluster), *below)

    def instant(self, expression: Expression, run: datetime) -> datetime | None:
        """Return the instant of an expression at a run; None: outside of the calendar, or known to the run only."""
        try:
            return evaluate(expression, run, self.process.timezone)
        except ElError:
            return None


def input_windows(repository: Repository) -> Iterator[InputWindow]:
    """Every input on every cluster of every process, by name of the process."""
    for _, process in sorted(repository.processes.items()):
        for position, cluster in enumerate(process.clusters):
            for name, each in process.inputs.items():
                feed = repository.feeds.get(each.feed)
                there = None if feed is None else feed.find_cluster(cluster.name)
                if feed is not None and there is not None:
                    yield InputWindow(
                        process=process, position=position, name=name, input=each, feed=feed, feed_cluster=there
                    )


@lru_cache(maxsize=256)
def critical_runs(
    runs: InstanceSequence, grid: InstanceSequence, timezone: str, time: datetime
) -> tuple[datetime, ...]:
    """The runs of a year between which no window of an expression is longer, relative to a limit, than at these.

    A window is longest at the last run before what its expression truncates to begins anew: a day, a week, a month, a
    year, or an instance of the feed. A limit in months is shortest in March, one in days where clocks are changed;
    where a limit spans a change of the clocks, another run may be worse by that hour.

    Args:
        runs: of the process.
        grid: the feed's instances.
        timezone: the process's.
        time: from when on; runs that ended before it are looked at from their first.
    """
    begin = runs.at_or_after(time) or runs.start
    if begin.year not in _LOOKED_AT:
        return (begin,)
    end = year_from(begin)[1]
    found = {runs.start, begin}
    for border in (*_calendar(begin, timezone), *islice(grid.between(begin, end), _INSTANCES)):
        found |= {each for each in (runs.at_or_before(border - _MINUTE), runs.at_or_after(border)) if each is not None}
    return tuple(sorted(each for each in found if each >= begin or each == runs.start))


def _calendar(begin: datetime, timezone: str) -> Iterator[datetime]:
    """The starts of the first days of each month of a year, and of the days around its clock changes."""
    zone = load_zone(timezone)
    month = to_local(begin, zone).replace(day=1, hour=0, minute=0)
    for months in range(_MONTHS):
        first = add_months(month, months)
        yield from (localize(first + day * _DAY, zone) for day in range(_FIRST_DAYS))
    for change in clock_changes(timezone, *year_from(begin)):
        midnight = change.local[0].replace(hour=0, minute=0)
        yield from (localize(midnight + day * _DAY, zone) for day in range(3))

"""Which process instances make a feed instance: the inverse of an output's expression, by arithmetic."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import datetime

from toolkit.el import InstanceSequence
from toolkit.entities import Feed, Process
from toolkit.planning.moving_range import MovingRange


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
    for process in processes:
        if any(each.name == cluster for each in process.clusters):
            yield from _of_process(feed.name, grid, instant, process, process.instances_on(cluster))


def _of_process(
    feed: str, grid: InstanceSequence, instant: datetime, process: Process, runs: InstanceSequence
) -> Iterator[Producer]:
    for name, each in process.outputs.items():
        if each.feed != feed:
            continue
        made = MovingRange(start=each.instance, end=each.instance, grid=grid, timezone=process.timezone, runs=runs)
        around = made.runs_around(instant)
        if around is not None:
            first, last, count = around
            yield Producer(process=process.name, output=name, instances=(first, last), count=count)

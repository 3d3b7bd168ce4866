"""Which process instances read a feed instance: the inverse of an input's range, by arithmetic."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import datetime

from toolkit.el import InstanceSequence
from toolkit.entities import Feed, Process
from toolkit.planning.moving_range import MovingRange
from toolkit.planning.process_io import depends_on_availability


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
        """Whether only a run can tell which instances read it."""
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
            yield from _of_process(feed.name, grid, instant, process, cluster)


def _of_process(
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
        around = read.runs_around(instant)
        if around is not None:
            first, last, count = around
            yield Consumer(process=process.name, input=name, instances=(first, last), count=count)

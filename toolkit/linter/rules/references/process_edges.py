"""Which process waits for what another one, or itself, makes on a cluster."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime

from toolkit.el import ElError, Function, InstanceSequence, evaluate, parse_expression
from toolkit.entities import ClusterRole, Feed, Input, Output, Process, Repository


@dataclass(frozen=True, kw_only=True, slots=True)
class Edge:
    """A process reads what another one, or itself, makes.

    Attributes:
        name: of the input.
        grid: of the feed.
    """

    reader: Process
    reads: InstanceSequence
    name: str
    input: Input
    maker: Process
    makes: InstanceSequence
    output: Output
    grid: InstanceSequence

    @property
    def counts_available(self) -> bool:
        """Whether the input counts available instances."""
        return parse_expression(self.input.end).function.needs_availability

    @property
    def takes_latest(self) -> bool:
        """Whether the input takes the newest available instances."""
        return parse_expression(self.input.start).function is Function.LATEST

    def needs(self, run: datetime) -> tuple[datetime, datetime] | None:
        """The newest instance that a run reads, and the first run that makes it."""
        instance = _written(self.input.end, run, self.reader.timezone, self.grid)
        if instance is None:
            return None

        def is_late_enough(position: int) -> bool:
            written = _written(self.output.instance, self.makes[position], self.maker.timezone, self.grid)
            return written is not None and written >= instance

        positions = range(self.makes.count(self.makes.start, self.makes.end or self.makes.start))
        position = bisect_left(positions, x=True, key=is_late_enough)
        if position == len(positions):
            return None
        made = _written(self.output.instance, self.makes[position], self.maker.timezone, self.grid)
        return (instance, self.makes[position]) if made == instance else None


Edges = Mapping[str, list[Edge]]
"""By the reader's name."""


def edges_by_cluster(repository: Repository) -> dict[str, dict[str, list[Edge]]]:
    """The edges by cluster and by name of the reader."""
    makers = _makers(repository)
    found: dict[str, dict[str, list[Edge]]] = {}
    for _, process in sorted(repository.processes.items()):
        for cluster in process.clusters:
            edges = list(_edges(process, cluster.name, repository.feeds, makers))
            if edges:
                found.setdefault(cluster.name, {})[process.name] = edges
    return found


def _makers(repository: Repository) -> dict[tuple[str, str], list[tuple[Process, Output]]]:
    found: dict[tuple[str, str], list[tuple[Process, Output]]] = {}
    for _, process in sorted(repository.processes.items()):
        for output in process.outputs.values():
            for cluster in process.clusters:
                found.setdefault((output.feed, cluster.name), []).append((process, output))
    return found


def _edges(
    process: Process,
    cluster: str,
    feeds: Mapping[str, Feed],
    makers: Mapping[tuple[str, str], list[tuple[Process, Output]]],
) -> Iterator[Edge]:
    """What the process waits for that one process alone makes."""
    for name, each in process.inputs.items():
        made = makers.get((each.feed, cluster), [])
        feed = feeds.get(each.feed)
        if feed is None or each.optional or len(made) != 1 or _comes_otherwise(feed, cluster):
            continue
        maker, output = made[0]
        yield Edge(
            reader=process,
            reads=process.instances_on(cluster),
            name=name,
            input=each,
            maker=maker,
            makes=maker.instances_on(cluster),
            output=output,
            grid=feed.instances_on(cluster),
        )


def _comes_otherwise(feed: Feed, cluster: str) -> bool:
    """Whether instances may come without a run of the repo."""
    there = [each for each in feed.clusters if each.name == cluster]
    return not there or feed.external or any(each.type is ClusterRole.TARGET or each.import_ for each in there)


def in_cycles(edges: Edges) -> set[str]:
    """The processes that may lie on a cycle: what no other one of them reads, or what reads none, goes, and so on."""
    left = set(edges)
    while True:
        read = {edge.maker.name for name in left for edge in edges[name] if edge.maker.name in left}
        reading = {name for name in left if any(edge.maker.name in left for edge in edges[name])}
        if left == read & reading:
            return left
        left = read & reading


def _written(expression: str, run: datetime, timezone: str, grid: InstanceSequence) -> datetime | None:
    try:
        return grid.at_or_before(evaluate(expression, run, timezone))
    except ElError:
        return None

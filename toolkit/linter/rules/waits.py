"""The rule about runs that wait for themselves, and who waits for whom."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from itertools import islice

from toolkit.el import ElError, Function, InstanceSequence, evaluate, format_instant, parse_expression
from toolkit.entities import ClusterRole, Feed, Input, Output, Process, Repository
from toolkit.linter.findings import Hit
from toolkit.linter.rule import Check, LintContext


@dataclass(frozen=True, kw_only=True, slots=True)
class WaitEdge:
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
        """True if the input counts available instances."""
        return parse_expression(self.input.end).function.needs_availability

    @property
    def takes_latest(self) -> bool:
        """True if the input takes the newest available instances."""
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


Edges = Mapping[str, list[WaitEdge]]
"""By the reader's name."""


def edges_by_cluster(repository: Repository) -> dict[str, dict[str, list[WaitEdge]]]:
    """The edges by cluster and by name of the reader."""
    makers = _makers(repository)
    found: dict[str, dict[str, list[WaitEdge]]] = {}
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
) -> Iterator[WaitEdge]:
    """Yield the inputs of the process that exactly one process writes."""
    for name, each in process.inputs.items():
        made = makers.get((each.feed, cluster), [])
        feed = feeds.get(each.feed)
        if feed is None or each.optional or len(made) != 1 or _comes_otherwise(feed, cluster):
            continue
        maker, output = made[0]
        yield WaitEdge(
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
    """Return whether instances may come without a run of the repo."""
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


_RUNS = 26
"""So many runs of a process are followed: a day of an hourly one, and more of the others."""
_MOST_STEPS = 400
"""So many edges are followed for one process; a knot of more is looked at in part."""


@dataclass(frozen=True, kw_only=True, slots=True)
class _Step:
    """A run that waits for a run."""

    edge: WaitEdge
    run: datetime
    instance: datetime
    made_by: datetime


def circular_wait(context: LintContext) -> Iterator[Hit]:
    """No run waits for what it, or a later run, has yet to make."""
    for cluster, edges in sorted(edges_by_cluster(context.repository).items()):
        knotted = in_cycles(edges)
        for name in sorted(knotted):
            yield from _hits(name, cluster, {each: edges[each] for each in sorted(knotted) if each >= name})


def _hits(name: str, cluster: str, edges: Edges) -> Iterator[Hit]:
    """The first wait of a process that leads back to the same run or a later one, over processes after it by name."""
    for edge in edges[name]:
        if edge.maker.name == name and edge.counts_available and edge.takes_latest:
            yield _cold_hit(edge, cluster)
            return
    runs = edges[name][0].reads
    for run in islice(runs, _RUNS):
        steps = next(_circles(name, run, edges), None)
        if steps is not None:
            yield _hit(steps, cluster)
            return


def _circles(name: str, run: datetime, edges: Edges) -> Iterator[tuple[_Step, ...]]:
    """Chains of waits from a run back to its process, at the same run or a later one."""
    pending: list[tuple[_Step, ...]] = [(step,) for step in _steps(name, run, edges)]
    for _ in range(_MOST_STEPS):
        if not pending:
            return
        chain = pending.pop()
        last = chain[-1]
        if last.edge.maker.name == name:
            if last.made_by >= run:
                yield chain
            continue
        passed = {step.edge.reader.name for step in chain}
        if last.edge.maker.name not in passed:
            pending.extend((*chain, step) for step in _steps(last.edge.maker.name, last.made_by, edges))


def _steps(name: str, run: datetime, edges: Edges) -> Iterator[_Step]:
    for edge in edges.get(name, []):
        found = None if edge.counts_available or edge.maker.name not in edges else edge.needs(run)
        if found is not None:
            yield _Step(edge=edge, run=run, instance=found[0], made_by=found[1])


def _hit(steps: tuple[_Step, ...], cluster: str) -> Hit:
    first = steps[0]
    chain = "; ".join(_words(step) for step in steps)
    return Hit(
        subject=first.edge.reader.name,
        pointer=("inputs", first.edge.name, "end"),
        message=f"on {cluster} a run waits for itself or for a later one, so neither ever starts: {chain}",
        hint="read an earlier instance, such as now(-1,0), or make the input optional",
        related=tuple(sorted({step.edge.maker.name for step in steps} - {first.edge.reader.name})),
    )


def _words(step: _Step) -> str:
    edge = step.edge
    return (
        f"{edge.reader.name} of {format_instant(step.run)} reads {edge.input.feed} of {format_instant(step.instance)}, "
        f"which {edge.maker.name} of {format_instant(step.made_by)} makes"
    )


def _cold_hit(edge: WaitEdge, cluster: str) -> Hit:
    return Hit(
        subject=edge.reader.name,
        pointer=("inputs", edge.name, "end"),
        message=(
            f"on {cluster} the first run waits for an available instance of {edge.input.feed}, which only this process "
            "makes, so no run ever starts"
        ),
        hint="make the input optional, or mark the feed external when its first instance comes from elsewhere",
    )


CHECKS: Mapping[str, Check] = {
    "circular-wait": circular_wait,
}

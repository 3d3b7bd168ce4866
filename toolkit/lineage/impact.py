"""Impact of an instance: what was made from it, what of that is still there, and the commands that make it again."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from graphlib import CycleError, TopologicalSorter

from toolkit.entities import Repository
from toolkit.ledger.database import Transaction
from toolkit.ledger.vocabulary import LifeCycle
from toolkit.lineage.graph import LineageGraph, Vertex, VertexKind
from toolkit.lineage.instance_lineage import AVAILABLE, InstanceId, instance_graph, start_vertices

Command = tuple[str, ...]
"""Words of a command; `shlex.join` quotes them."""


@dataclass(frozen=True, kw_only=True, slots=True)
class AffectedInstance:
    """Instance that was made from another one, directly or through others.

    Attributes:
        instance: which.
        uri: where its data is, or was; empty: unknown.
        state: of the newest version that was made from it: ``available``, ``evicted``, ``superseded`` ...
        ended: when that version ended; empty: it has not.
        runs: vertices of the runs that made its versions from it.
    """

    instance: InstanceId
    uri: str
    state: str
    ended: str
    runs: tuple[str, ...]

    @property
    def is_there(self) -> bool:
        """True if what was made from the instance is still what readers get."""
        return self.state == AVAILABLE


@dataclass(frozen=True, kw_only=True, slots=True)
class Impact:
    """Impact of an instance.

    Attributes:
        start: the instance.
        affected: what was made from it, in an order in which it can be made again.
        needs: backfills of what is still there and of what that is made from, each with those that come before it.
        graph: the runs and instances downstream; its `cut_at` says where it is not complete.
    """

    start: InstanceId
    affected: tuple[AffectedInstance, ...]
    needs: Mapping[Command, frozenset[Command]]
    graph: LineageGraph

    @property
    def commands(self) -> list[Command]:
        """Commands that make again what is still there, in an order in which each reads what those before it made."""
        return commands_of([self])


def impact(
    tx: Transaction, repository: Repository, start: InstanceId, *, depth: int | None = None, limit: int = 2000
) -> Impact:
    """Return what was made from an instance; arguments as of `instance_graph`."""
    graph = instance_graph(tx, repository, start, up=False, depth=depth, limit=limit)
    begun = set(start_vertices(graph, start))
    before = {each: set[str]() for each in graph.vertices}
    for edge in graph.edges:
        before[edge.target].add(edge.source)
    order = [each for each in TopologicalSorter(before).static_order() if each not in begun]
    affected = tuple(_affected(graph, order, before))
    needed = _needed(order, before, {each.instance.vertex_id for each in affected if each.is_there})
    return Impact(start=start, affected=affected, needs=_needs(graph, needed - begun), graph=graph)


def commands_of(impacts: Iterable[Impact]) -> list[Command]:
    """Return the commands of the impacts of several instances, each once, in an order that is right for all."""
    needs: dict[Command, set[Command]] = {}
    for each in impacts:
        for command, earlier in each.needs.items():
            needs.setdefault(command, set()).update(earlier)
    while True:
        try:
            return list(TopologicalSorter({each: sorted(needs[each]) for each in sorted(needs)}).static_order())
        except CycleError as error:  # two processes have read from each other, one before the entities changed
            first, second = error.args[1][:2]
            needs[second].discard(first)


def _needs(graph: LineageGraph, needed: set[str]) -> Mapping[Command, frozenset[Command]]:
    """Return the command of each run with those that write what it reads, whichever version that was then."""
    runs = {each: _command(graph.vertices[each]) for each in needed if graph.vertices[each].kind is VertexKind.RUN}
    writers: dict[InstanceId, set[Command]] = {}
    for edge in graph.edges:
        if edge.source in runs:
            writers.setdefault(_instance(graph.vertices[edge.target]), set()).add(runs[edge.source])
    needs: dict[Command, set[Command]] = {each: set() for each in runs.values()}
    for edge in graph.edges:
        if edge.target in runs:
            needs[runs[edge.target]] |= writers.get(_instance(graph.vertices[edge.source]), set())
    return {each: frozenset(earlier - {each}) for each, earlier in needs.items()}


def _instance(vertex: Vertex) -> InstanceId:
    return InstanceId(feed=vertex.name, cluster=vertex.facts["cluster"], key=vertex.facts["instance_key"])


def _affected(graph: LineageGraph, order: list[str], before: Mapping[str, set[str]]) -> Iterator[AffectedInstance]:
    """Yield an instance where its last version comes in the order."""
    versions: dict[InstanceId, list[str]] = {}
    for each in order:
        vertex = graph.vertices[each]
        if vertex.kind is VertexKind.INSTANCE:
            name = _instance(vertex)
            versions[name] = [*versions.pop(name, []), each]
    for name, found in versions.items():
        newest = name.vertex_id if name.vertex_id in found else found[-1]
        facts = graph.vertices[newest].facts
        yield AffectedInstance(
            instance=name,
            uri=facts.get("uri", ""),
            state=facts["state"],
            ended=facts.get("ended", ""),
            runs=tuple(sorted({run for each in found for run in before[each]})),
        )


def _needed(order: list[str], before: Mapping[str, set[str]], there: set[str]) -> set[str]:
    """Return what is still there, with all that leads to it from the start."""
    needed = set(there)
    for each in reversed(order):
        if each in needed:
            needed |= before[each]
    return needed


def _command(run: Vertex) -> Command:
    """Return the command that does a run again: a backfill of a process, or the order for the next run of a copy."""
    cluster, key = run.facts["cluster"], run.facts["instance_key"]
    life_cycle = run.facts.get("life_cycle", LifeCycle.EXECUTION)
    if life_cycle == LifeCycle.EXECUTION:
        again = ("--start", key, "--cluster", cluster, "--only", "all", "--force")
        return ("feedctl", "backfill", run.name, *again)
    return ("feedctl", "instance", "rerun", run.name, "--time", key, "--cluster", cluster, "--life-cycle", life_cycle)

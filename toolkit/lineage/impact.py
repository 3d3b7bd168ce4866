"""Impact of an instance: what was made from it, what of that is still there, and the commands that make it again."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from graphlib import TopologicalSorter

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
        commands: backfills of what is still there and of what that is made from, in the same order.
        graph: the runs and instances downstream; its `cut_at` says where it is not complete.
    """

    start: InstanceId
    affected: tuple[AffectedInstance, ...]
    commands: tuple[Command, ...]
    graph: LineageGraph


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
    vertices = (graph.vertices[each] for each in order if each in needed)
    last = {_command(each): None for each in reversed([*vertices]) if each.kind is VertexKind.RUN}
    return Impact(start=start, affected=affected, commands=tuple(reversed(last)), graph=graph)


def _affected(graph: LineageGraph, order: list[str], before: Mapping[str, set[str]]) -> Iterator[AffectedInstance]:
    """Yield an instance where its last version comes in the order."""
    versions: dict[InstanceId, list[str]] = {}
    for each in order:
        vertex = graph.vertices[each]
        if vertex.kind is VertexKind.INSTANCE:
            name = InstanceId(feed=vertex.name, cluster=vertex.facts["cluster"], key=vertex.facts["instance_key"])
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

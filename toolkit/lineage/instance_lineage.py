"""Lineage of instances: from an instance through the runs that wrote and read it, by the ledger.

A vertex stands for one version of an instance, the one that a run wrote, so that no walk leads back to where it was.
What the ledger does not know, a run without a ledger or before its time, is inferred from the entities and marked so.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass, field
from datetime import datetime
from graphlib import CycleError, TopologicalSorter
from typing import Any, TypeAlias

import sqlalchemy as sa

from toolkit.entities import Repository
from toolkit.ledger import lineage
from toolkit.ledger.database import Transaction
from toolkit.ledger.lineage import InstanceEdge, InstanceName
from toolkit.ledger.vocabulary import EventKind, LineageDirection
from toolkit.lineage.graph import EdgeKind, LineageEdge, LineageGraph, Vertex, VertexKind
from toolkit.lineage.inferred_runs import InferredRun, InferredRuns

INPUT, OUTPUT = LineageDirection.INPUT, LineageDirection.OUTPUT
UNRECORDED = 0
"""In the place of a run: the version of an instance that no recorded run has written."""
AVAILABLE, SUPERSEDED, UNKNOWN = "available", "superseded", "unknown"
"""States of a version of an instance, besides those of `_GONE`."""
_GONE = {EventKind.EVICTED: "evicted", EventKind.RETRACTED: "retracted"}


@dataclass(frozen=True, kw_only=True, slots=True, order=True)
class InstanceId:
    """Instance of a feed on a cluster.

    Attributes:
        feed: name.
        cluster: name.
        key: instance key, ``2026-03-01T06:40Z``.
    """

    feed: str
    cluster: str
    key: str

    @property
    def vertex_id(self) -> str:
        """The vertex of its newest version; those of older ones have ``#RUN`` at the end."""
        return f"{VertexKind.INSTANCE}:{self.feed}@{self.cluster}/{self.key}"


@dataclass(frozen=True, slots=True, order=True)
class _Version:
    """Instance as a run wrote it; `UNRECORDED` stands for no run."""

    name: InstanceName
    run_id: int


_Node: TypeAlias = "_Version | int | InferredRun"
"""Version of an instance, a recorded run by its number, or an inferred run."""
_Step: TypeAlias = "tuple[_Node, _Node, dict[str, str]]"
"""Vertex of a ring, its neighbour, and facts of the edge between them."""


def instance_graph(
    tx: Transaction,
    repository: Repository,
    start: InstanceId,
    *,
    up: bool = True,
    down: bool = True,
    depth: int | None = None,
    limit: int = 2000,
) -> LineageGraph:
    """Return what an instance was made from (up) and what was made from it (down), all its versions together.

    Args:
        tx: of the ledger.
        repository: entities, for what the ledger does not know.
        start: the instance; it is in the graph even if nothing is known of it.
        up: follow edges against the flow.
        down: follow edges with the flow.
        depth: steps at most; a step is one edge, so from instance to instance are two. None: all.
        limit: vertices at most; those where it stopped are in `cut_at`.
    """
    walk = _Walk(tx=tx, inferred=InferredRuns(tx=tx, repository=repository), limit=limit)
    begun = walk.versions_of((start.feed, start.cluster, start.key))
    for follows, is_up in ((up, True), (down, False)):
        if follows:
            walk.go(begun, depth, is_up=is_up)
    return _Drawing(walk).graph()


def start_vertices(graph: LineageGraph, start: InstanceId) -> tuple[str, ...]:
    """Return the ids of all versions of an instance in a graph, the newest first."""
    own = start.vertex_id
    older = sorted(each for each in graph.vertices if each.startswith(f"{own}#"))
    return (*((own,) if own in graph.vertices else ()), *older)


@dataclass(kw_only=True)
class _Walk:
    """Walk from ring to ring: one statement for each, however many vertices it has."""

    tx: Transaction
    inferred: InferredRuns
    limit: int
    nodes: dict[_Node, None] = field(default_factory=dict)
    edges: dict[tuple[_Node, _Node], dict[str, str]] = field(default_factory=dict)
    cut: set[_Node] = field(default_factory=set)
    written: dict[InstanceName, list[InstanceEdge]] = field(default_factory=dict)

    def versions_of(self, name: InstanceName) -> list[_Node]:
        """Return all versions of an instance, which are in the graph from now on."""
        self._load([name])
        found: list[_Node] = [_Version(name, each.run_id) for each in self.written[name]]
        found.append(_Version(name, UNRECORDED))
        self.nodes |= dict.fromkeys(found)
        return found

    def go(self, start: Iterable[_Node], depth: int | None, *, is_up: bool) -> None:
        """Add what is reached in one direction."""
        ring, seen, steps = list(start), set(start), 0
        while ring and (depth is None or steps < depth):
            steps += 1
            following: dict[_Node, None] = {}
            for here, there, facts in self._up(ring) if is_up else self._down(ring):
                if there not in self.nodes and len(self.nodes) >= self.limit:
                    self.cut.add(here)
                    continue
                self.nodes[there] = None
                self.edges[(there, here) if is_up else (here, there)] = facts
                if there not in seen:
                    seen.add(there)
                    following[there] = None
            ring = list(following)

    def _up(self, ring: list[_Node]) -> Iterator[_Step]:
        data, runs, inferred = _sorted(ring)
        for each in data:
            if each.run_id:
                yield each, each.run_id, self._facts_of_output(each)
            elif not self.written[each.name]:
                yield from ((each, found, {}) for found in self.inferred.writers(each.name))
        read = self._limited(lineage.of_runs(self.tx, runs, INPUT, self.limit), runs)
        for edge in read:
            yield edge.run_id, self._version_read(edge), _facts(edge)
        for run in inferred:
            inputs = list(self.inferred.inputs(run))
            self._load(name for _, name in inputs)
            yield from ((run, self._newest(name), {"input": each}) for each, name in inputs)

    def _down(self, ring: list[_Node]) -> Iterator[_Step]:
        data, runs, inferred = _sorted(ring)
        wanted = set(data)
        names = dict.fromkeys(each.name for each in data)
        for edge in self._limited(lineage.of_instances(self.tx, names, INPUT, self.limit), data):
            if (version := self._version_read(edge)) in wanted:
                yield version, edge.run_id, _facts(edge)
        self.inferred.prepare(names)
        for each in data:
            if each == self._newest(each.name):
                yield from ((each, found, {}) for found in self.inferred.readers(each.name))
        for edge in self._limited(lineage.of_runs(self.tx, runs, OUTPUT, self.limit), runs):
            yield edge.run_id, _Version(edge.instance, edge.run_id), _facts(edge)
        for run in inferred:
            outputs = list(self.inferred.outputs(run))
            self._load(outputs)
            yield from ((run, _Version(each, UNRECORDED), {}) for each in outputs)

    def _limited(self, found: Iterable[InstanceEdge], ring: Collection[_Node]) -> list[InstanceEdge]:
        """Return the edges of a ring, with the writers of their instances loaded; at the limit the ring is cut."""
        edges = sorted(found, key=lambda each: (each.run_id, each.instance, each.name))
        if len(edges) >= self.limit:
            self.cut |= set(ring)
        self._load(each.instance for each in edges)
        return edges

    def _load(self, names: Iterable[InstanceName]) -> None:
        missing = dict.fromkeys(each for each in names if each not in self.written)
        self.written |= {each: [] for each in missing}
        for edge in lineage.of_instances(self.tx, missing, OUTPUT):
            self.written[edge.instance].append(edge)
        for each in missing:
            self.written[each].sort(key=lambda edge: (edge.at, edge.run_id))

    def _version_read(self, edge: InstanceEdge) -> _Version:
        """Return the version that was announced last before a run looked."""
        before = [each for each in self.written[edge.instance] if (each.at, each.run_id) < (edge.at, edge.run_id)]
        return _Version(edge.instance, before[-1].run_id if before else UNRECORDED)

    def _newest(self, name: InstanceName) -> _Version:
        return _Version(name, self.written[name][-1].run_id if self.written[name] else UNRECORDED)

    def _facts_of_output(self, version: _Version) -> dict[str, str]:
        return next(_facts(each) for each in self.written[version.name] if each.run_id == version.run_id)


def _sorted(ring: Iterable[_Node]) -> tuple[list[_Version], list[int], list[InferredRun]]:
    data, runs, inferred = list[_Version](), list[int](), list[InferredRun]()
    for each in ring:
        if isinstance(each, _Version):
            data.append(each)
        elif isinstance(each, InferredRun):
            inferred.append(each)
        else:
            runs.append(each)
    return sorted(data), sorted(runs), sorted(inferred)


def _facts(edge: InstanceEdge) -> dict[str, str]:
    facts = {"input": edge.name, "fingerprint": edge.fingerprint or ""}
    return {name: value for name, value in facts.items() if value}


class _Drawing:
    """Vertices and edges of a walk, with what the ledger knows of them."""

    def __init__(self, walk: _Walk) -> None:
        self.written = walk.written
        used = {end for pair in walk.edges for end in pair}
        drawn = {each for each in walk.nodes if each in used or self._is_known(each)} - _in_cycles(walk.edges)
        self.runs = lineage.facts_of_runs(walk.tx, [each for each in drawn if isinstance(each, int)])
        # A run may have been pruned since its edges were read.
        drawn = {each for each in drawn if not isinstance(each, int) or each in self.runs}
        self.nodes, self.cut = drawn, walk.cut
        self.edges = {pair: facts for pair, facts in walk.edges.items() if drawn.issuperset(pair)}
        self.last = lineage.last_events(walk.tx, {each.name for each in drawn if isinstance(each, _Version)})

    def graph(self) -> LineageGraph:
        """Return the graph."""
        edges = (
            LineageEdge(
                source=self._id(source),
                target=self._id(target),
                kind=EdgeKind.PRODUCES if isinstance(target, _Version) else EdgeKind.CONSUMES,
                facts=facts,
            )
            for (source, target), facts in self.edges.items()
        )
        return LineageGraph.of(map(self._vertex, self.nodes), edges, map(self._id, self.cut & self.nodes))

    def _is_known(self, node: _Node) -> bool:
        """Return whether a vertex without an edge is drawn: a start that was written, or of which nothing is known."""
        return isinstance(node, _Version) and (node.run_id != UNRECORDED or not self.written[node.name])

    def _id(self, node: _Node) -> str:
        if isinstance(node, int):
            return f"{VertexKind.RUN}:{node}"
        if isinstance(node, InferredRun):
            return f"{VertexKind.RUN}:inferred/{node.process}@{node.cluster}/{node.key}"
        feed, cluster, key = node.name
        newest = self.written[node.name][-1].run_id if self.written[node.name] else UNRECORDED
        own = InstanceId(feed=feed, cluster=cluster, key=key).vertex_id
        return own if node.run_id == newest else f"{own}#{node.run_id}"

    def _vertex(self, node: _Node) -> Vertex:
        if isinstance(node, _Version):
            kind, name, facts = VertexKind.INSTANCE, node.name[0], self._facts_of_version(node)
        elif isinstance(node, InferredRun):
            facts = {"cluster": node.cluster, "instance_key": node.key, "inferred": "true"}
            kind, name = VertexKind.RUN, node.process
        else:
            kind, name, facts = VertexKind.RUN, self.runs[node].entity, _facts_of_run(self.runs[node])
        return Vertex(vertex_id=self._id(node), kind=kind, name=name, facts=facts)

    def _facts_of_version(self, version: _Version) -> dict[str, str]:
        """Return the state of a version: what became of it, and when it ended if it did."""
        written, last = self.written[version.name], self.last.get(version.name)
        at = next((at for at, each in enumerate(written) if each.run_id == version.run_id), -1)
        facts = {"cluster": version.name[1], "instance_key": version.name[2]}
        uri = (written[at].uri if at >= 0 else None) or (last.uri if last else None)
        if uri:
            facts["uri"] = uri
        if len(written) > 1 and at >= 0:
            facts["version"] = f"{at + 1} of {len(written)}"
        if at + 1 < len(written):
            return {**facts, "state": SUPERSEDED, "ended": _moment(written[at + 1].at)}
        if last is None:
            return {**facts, "state": AVAILABLE if written else UNKNOWN}
        gone = _GONE.get(last.kind)
        return {**facts, "state": gone, "ended": _moment(last.recorded_at)} if gone else {**facts, "state": AVAILABLE}


def _facts_of_run(run: sa.Row[Any]) -> dict[str, str]:
    facts = {
        "cluster": run.cluster,
        "instance_key": run.instance_key,
        "life_cycle": run.life_cycle.value,
        "run_id": str(run.run_id),
        "attempt": str(run.attempt),
        "counterpart": run.counterpart,
        "ended": _moment(run.ended_at) if run.ended_at else "",
    }
    return {name: value for name, value in facts.items() if value}


def _moment(at: datetime) -> str:
    return at.strftime("%Y-%m-%dT%H:%M:%SZ")


def _in_cycles(edges: Iterable[tuple[_Node, _Node]]) -> set[_Node]:
    """Return inferred runs without which the graph has no cycle: entities of today may contradict the history."""
    removed: set[_Node] = set()
    while any(isinstance(end, InferredRun) for pair in edges for end in pair):
        before: dict[_Node, list[_Node]] = {}
        for source, target in edges:
            if not {source, target} & removed:
                before.setdefault(target, []).append(source)
        try:
            TopologicalSorter(before).prepare()
        except CycleError as error:
            found = {each for each in error.args[1] if isinstance(each, InferredRun)}
            if not found:  # the clock of the database went back
                break
            removed |= found
        else:
            break
    return removed

"""Lineage graph: vertices, directed edges from what is read to what is made, and walks along them."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from functools import cached_property
from typing import TypeAlias

_Nearby: TypeAlias = Mapping[str, Sequence[str]]


class VertexKind(StrEnum):
    """Kind of a vertex."""

    FEED = "feed"
    PROCESS = "process"
    CLUSTER = "cluster"
    DATASOURCE = "datasource"
    OWNER = "owner"
    TAG = "tag"
    GROUP = "group"
    PIPELINE = "pipeline"
    DOMAIN = "domain"
    DATASET = "dataset"
    """Data that is no feed."""
    INSTANCE = "instance"
    """Instance of a feed."""
    RUN = "run"
    """Successful run, or one that is inferred from the entities."""
    TABLE = "table"
    COLUMN = "column"
    FUNCTION = "function"


class EdgeKind(StrEnum):
    """Kind of an edge; the data flows from its source to its target."""

    CONSUMES = "consumes"
    """From a feed to the process that reads it, from an instance to the run that read it."""
    PRODUCES = "produces"
    """From a process to the feed that it writes, from a run to the instance that it wrote."""
    REPLICATED_TO = "replicated-to"
    IMPORTED_FROM = "imported-from"
    """From a datasource to a feed."""
    EXPORTED_TO = "exported-to"
    """From a feed to a datasource."""
    STORED_ON = "stored-on"
    RUNS_ON = "runs-on"
    EVICTED_FROM = "evicted-from"
    """From a feed to a cluster where retention removes its old instances."""
    OWNED_BY = "owned-by"
    TAGGED = "tagged"
    GROUPED = "grouped"
    PART_OF = "part-of"
    """From a process to its pipeline or domain, from a column to its table."""
    DIRECT = "direct"
    """The value of a column becomes, unchanged or computed, the value of another."""
    AGGREGATE = "aggregate"
    """The value goes into an aggregate of many rows."""
    CONDITION = "condition"
    """The value decides which rows there are, as in WHERE, JOIN and GROUP BY."""


FLOWS = frozenset(
    {
        *(EdgeKind.CONSUMES, EdgeKind.PRODUCES, EdgeKind.REPLICATED_TO, EdgeKind.IMPORTED_FROM, EdgeKind.EXPORTED_TO),
        *(EdgeKind.DIRECT, EdgeKind.AGGREGATE, EdgeKind.CONDITION),
    }
)
"""Edges along which data flows; the others describe an entity."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Vertex:
    """Vertex of a lineage graph.

    Attributes:
        vertex_id: unique in the graph, and the same in each graph of the config repo.
        kind: of the vertex.
        name: of the entity, the column, the owner ...; any text.
        facts: further values for people and documents, such as `cluster`, `instance_key`, `uri`, `state`.
    """

    vertex_id: str
    kind: VertexKind
    name: str
    facts: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True, slots=True)
class LineageEdge:
    """Directed edge of a lineage graph.

    Attributes:
        source: `vertex_id` of the vertex that the data comes from, or that is described.
        target: `vertex_id` of the other.
        kind: of the edge.
        facts: further values, such as the name of the input, `fingerprint`, `digest`.
    """

    source: str
    target: str
    kind: EdgeKind
    facts: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class LineageGraph:
    """Vertices and edges; each end of an edge is a vertex of the graph.

    Attributes:
        vertices: by `vertex_id`, sorted.
        edges: sorted.
        cut_at: ids of the vertices whose further edges a limit left out; sorted.
    """

    vertices: Mapping[str, Vertex]
    edges: tuple[LineageEdge, ...] = ()
    cut_at: tuple[str, ...] = ()

    @classmethod
    def of(cls, vertices: Iterable[Vertex], edges: Iterable[LineageEdge], cut_at: Iterable[str] = ()) -> LineageGraph:
        """Return the graph of some vertices; an edge without both of its ends is left out."""
        by_id = {each.vertex_id: each for each in sorted(vertices, key=lambda each: each.vertex_id)}
        kept = {
            (each.source, each.target, each.kind, tuple(sorted(each.facts.items()))): each
            for each in edges
            if each.source in by_id and each.target in by_id
        }
        return cls(vertices=by_id, edges=tuple(kept[key] for key in sorted(kept)), cut_at=tuple(sorted(set(cut_at))))

    def around(
        self, start: Iterable[str], *, up: bool = True, down: bool = True, depth: int | None = None, limit: int = 2000
    ) -> LineageGraph:
        """Return the part of the graph that data flows from (up) or to (down), with what describes its vertices.

        What is exported to a datasource is not what is imported from it: no walk goes through one.

        Args:
            start: ids of vertices.
            up: follow edges against the flow.
            down: follow edges with the flow.
            depth: steps at most; a step is one edge. None: all.
            limit: vertices at most; the vertices where it stopped are in `cut_at`.
        """
        begun = [each for each in start if each in self.vertices]
        kept, cut = set(begun), set[str]()
        for follows, nearby in ((up, self._sources), (down, self._targets)):
            if follows:
                cut |= self._reach(begun, nearby, kept, depth=depth, limit=limit)
        leaving = [each for here in kept for each in self._leaving.get(here, ())]
        found = [each for each in leaving if each.kind not in FLOWS or each.target in kept]
        kept |= {each.target for each in found}
        return LineageGraph.of((self.vertices[each] for each in kept), found, (*self.cut_at, *cut))

    def only(self, kinds: Collection[VertexKind]) -> LineageGraph:
        """Return the vertices of some kinds; data that flows through others becomes one edge, which names what it left.

        Args:
            kinds: of the vertices that stay, such as feeds.
        """
        flows: dict[str, list[LineageEdge]] = defaultdict(list)
        found = [each for each in self.edges if each.kind not in FLOWS]
        for each in self.edges:
            if each.kind in FLOWS:
                flows[each.source].append(each)
        kept = [each for each in self.vertices.values() if each.kind in kinds]
        found += [edge for each in kept for edge in self._flows_to(kinds, each.vertex_id, flows)]
        return LineageGraph.of(kept, found, (each for each in self.cut_at if self.vertices[each].kind in kinds))

    def _flows_to(
        self, kinds: Collection[VertexKind], start: str, flows: Mapping[str, list[LineageEdge]]
    ) -> Iterable[LineageEdge]:
        """Yield an edge to each vertex of these kinds that is reached through none of them."""
        seen = {start}
        pending = [(each, "") for each in flows.get(start, ())]
        while pending:
            edge, through = pending.pop()
            there = self.vertices[edge.target]
            if there.kind in kinds:
                facts = {"through": through} if through else edge.facts
                yield LineageEdge(source=start, target=edge.target, kind=edge.kind, facts=facts)
            elif edge.target not in seen and there.kind is not VertexKind.DATASOURCE:
                seen.add(edge.target)
                pending += [(each, through or there.name) for each in flows.get(edge.target, ())]

    @cached_property
    def _leaving(self) -> Mapping[str, Sequence[LineageEdge]]:
        """Edges by their source; kept, as pages show the surroundings of each vertex."""
        leaving: dict[str, list[LineageEdge]] = defaultdict(list)
        for each in self.edges:
            leaving[each.source].append(each)
        return dict(leaving)

    @cached_property
    def _sources(self) -> _Nearby:
        """Vertices that the data of a vertex comes from."""
        nearby: dict[str, list[str]] = defaultdict(list)
        for each in self.edges:
            if each.kind in FLOWS:
                nearby[each.target].append(each.source)
        return dict(nearby)

    @cached_property
    def _targets(self) -> _Nearby:
        """Vertices that the data of a vertex goes to."""
        leaving = self._leaving.items()
        return {here: [each.target for each in edges if each.kind in FLOWS] for here, edges in leaving}

    def _reach(
        self, start: Iterable[str], nearby: _Nearby, kept: set[str], *, depth: int | None, limit: int
    ) -> set[str]:
        """Add to `kept` what is reached; return the vertices where the limit stopped."""
        seen, ring, cut, steps = set(start), list(start), set[str](), 0
        while ring and (depth is None or steps < depth):
            steps += 1
            following = []
            for here in ring:
                for there in nearby.get(here, ()):
                    if there in seen:
                        continue
                    if there not in kept and len(kept) >= limit:
                        cut.add(here)
                        continue
                    seen.add(there)
                    kept.add(there)
                    if self.vertices[there].kind is not VertexKind.DATASOURCE:
                        following.append(there)
            ring = following
        return cut

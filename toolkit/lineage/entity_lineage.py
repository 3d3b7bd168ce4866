"""Lineage of entities, from the config repo alone: no ledger is read (Falcon overview, Lineage)."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, TypeVar

from toolkit.el import TableUri, dataset_uri
from toolkit.entities import Feed, Process
from toolkit.entities.errors import UnknownName
from toolkit.lineage.graph import EdgeKind, LineageEdge, LineageGraph, Vertex, VertexKind
from toolkit.planning.dataset_links import dataset_graph

if TYPE_CHECKING:
    from datetime import datetime

    from toolkit.entities import FeedCluster, Repository
    from toolkit.entities.structure import Entity
    from toolkit.planning.dataset_graph import DatasetNode

_E = TypeVar("_E", Feed, Process)


def entity_graph(repository: Repository, at: datetime | None = None) -> LineageGraph:
    """Return the vertices and edges of all usable entities of a config repo.

    Two entities have one edge of a kind, whose facts name the clusters, inputs and outputs.

    Args:
        repository: all entities.
        at: only feeds and processes on the clusters where they are valid at this instant, UTC; None: always.
    """
    feeds, processes = _valid_at(repository.feeds, at), _valid_at(repository.processes, at)
    return _Builder(replace(repository, feeds=feeds, processes=processes)).graph()


def neighbourhood(
    graph: LineageGraph,
    start: str | None,
    *,
    up: bool = True,
    down: bool = True,
    depth: int | None = None,
    limit: int = 2000,
) -> LineageGraph:
    """Return the lineage of a `vertex_id` as `LineageGraph.around` does; None: of all; an unknown one: an empty graph.

    A cluster, owner, tag, group, pipeline or domain has the vertices that it describes, and with a depth their lineage.
    """
    if start is None:
        return _around(graph, list(graph.vertices), limit=limit)
    if start not in graph.vertices:
        return LineageGraph.of((), ())
    if graph.vertices[start].kind not in _DESCRIBING:
        return graph.around([start], up=up, down=down, depth=depth, limit=limit)
    described = dict.fromkeys(each.source for each in graph.edges if each.target == start)
    return _around(graph, [start, *described], up=up, down=down, depth=depth or 0, limit=limit)


def _around(
    graph: LineageGraph, starts: list[str], *, up: bool = True, down: bool = True, depth: int | None = None, limit: int
) -> LineageGraph:
    """Return what surrounds as many vertices as the limit allows, cut at the last one if there are more."""
    found = graph.around(starts[:limit], up=up, down=down, depth=depth, limit=limit)
    left_out = starts[limit - 1 : limit] if len(starts) > limit else []
    return LineageGraph.of(found.vertices.values(), found.edges, (*found.cut_at, *left_out))


_DESCRIBING = frozenset({
    *(VertexKind.CLUSTER, VertexKind.OWNER, VertexKind.TAG, VertexKind.GROUP, VertexKind.PIPELINE, VertexKind.DOMAIN)
})  # fmt: skip
_ENTITIES = (VertexKind.FEED, VertexKind.PROCESS, VertexKind.CLUSTER, VertexKind.DATASOURCE)


def start_of(name: str, *graphs: LineageGraph) -> str:
    """Return the `vertex_id` of an entity, or the one that was given, which is in one of some graphs.

    Raises:
        UnknownName: no graph has such a vertex.
    """
    vertices = {key: vertex for each in graphs for key, vertex in each.vertices.items()}
    found = next((each for each in (name, *(f"{kind}:{name}" for kind in _ENTITIES)) if each in vertices), None)
    if found is None:
        known = [each.name for each in vertices.values() if each.kind in _ENTITIES]
        raise UnknownName(what="entity", name=name, known=known)
    return found


def difference(before: LineageGraph, after: LineageGraph) -> LineageGraph:
    """Return the edges that are in one of two graphs alone, with their ends, and the vertices likewise.

    What only the later graph has carries the fact `change: added`, what only the earlier one has `change: cut`.
    An edge with other facts than before is cut and added.
    """
    old, new = _keyed(before), _keyed(after)
    edges = [
        replace(found[key], facts={**found[key].facts, "change": change})
        for found, others, change in ((new, old, "added"), (old, new, "cut"))
        for key in found.keys() - others.keys()
    ]
    ends = {each for edge in edges for each in (edge.source, edge.target)}
    vertices = []
    for each, vertex in {**before.vertices, **after.vertices}.items():
        if each in before.vertices and each in after.vertices:
            vertices += [vertex] if each in ends else []
        else:
            change = "added" if each in after.vertices else "cut"
            vertices.append(replace(vertex, facts={**vertex.facts, "change": change}))
    return LineageGraph.of(vertices, edges)


def _keyed(graph: LineageGraph) -> Mapping[object, LineageEdge]:
    return {(each.source, each.target, each.kind, tuple(sorted(each.facts.items()))): each for each in graph.edges}


def _valid_at(entities: Mapping[str, _E], at: datetime | None) -> dict[str, _E]:
    """Return the entities on the clusters where they are valid at an instant, and nowhere else."""
    if at is None:
        return dict(entities)
    narrowed = {
        name: replace(each, clusters=tuple(on for on in each.clusters if on.validity.start <= at < on.validity.end))
        for name, each in entities.items()
    }
    return {name: each for name, each in narrowed.items() if each.clusters}


@dataclass
class _Builder:
    """Graph of entities while it is made; facts of one edge are collected from all clusters."""

    repository: Repository
    vertices: dict[str, Vertex] = field(default_factory=dict)
    edges: dict[tuple[str, str, EdgeKind], dict[str, dict[str, None]]] = field(default_factory=dict)

    def graph(self) -> LineageGraph:
        of = self.repository
        entities: list[Mapping[str, Entity]] = [of.clusters, of.datasources, of.feeds, of.processes]
        for entity in (each for named in entities for each in named.values()):
            self._describe(entity)
        for node in dataset_graph(of).nodes.values():
            self._flow(node)
        edges = (
            LineageEdge(source=source, target=target, kind=kind, facts={name: ", ".join(facts[name]) for name in facts})
            for (source, target, kind), facts in self.edges.items()
        )
        return LineageGraph.of(self.vertices.values(), edges)

    def _vertex(self, kind: VertexKind, name: str, /, **facts: str | None) -> str:
        """Add a vertex, unless it is there, and return its id."""
        key = f"{kind}:{name}"
        given = {each: text for each, text in facts.items() if text}
        self.vertices.setdefault(key, Vertex(vertex_id=key, kind=kind, name=name, facts=given))
        return key

    def _edge(self, source: str, kind: EdgeKind, target: str, /, **facts: str | None) -> None:
        known = self.edges.setdefault((source, target, kind), defaultdict(dict))
        for name, text in facts.items():
            if text:
                known[name][text] = None

    def _describe(self, entity: Entity) -> None:
        file, kind = self.repository.file_of(entity.name), VertexKind(entity.KIND)
        here = self._vertex(kind, entity.name, description=entity.description, file=file)
        if entity.owner:
            self._edge(here, EdgeKind.OWNED_BY, self._vertex(VertexKind.OWNER, entity.owner))
        for key, value in entity.tags.items():
            self._edge(here, EdgeKind.TAGGED, self._vertex(VertexKind.TAG, f"{key}={value}"))
        if isinstance(entity, Feed):
            for name in entity.groups:
                self._edge(here, EdgeKind.GROUPED, self._vertex(VertexKind.GROUP, name))
            for on in entity.clusters:
                self._store(here, entity, on)
        elif isinstance(entity, Process):
            for each in entity.clusters:
                self._edge(here, EdgeKind.RUNS_ON, f"cluster:{each.name}")
            for name in entity.pipelines:
                self._edge(here, EdgeKind.PART_OF, self._vertex(VertexKind.PIPELINE, name))
            if entity.domain:
                self._edge(here, EdgeKind.PART_OF, self._vertex(VertexKind.DOMAIN, entity.domain))

    def _store(self, here: str, feed: Feed, on: FeedCluster) -> None:
        """Add where a feed is stored on a cluster, and what is done there with its instances."""
        there, text, places = f"cluster:{on.name}", feed.table_on(on.name), feed.locations_on(on.name).by_type()
        self._edge(here, EdgeKind.STORED_ON, there, role=on.type, table=text, **dict(places))
        if text is not None:
            table = TableUri.parse(text)
            stored = self._vertex(VertexKind.TABLE, f"{table.database}.{table.table}")
            self._edge(here, EdgeKind.STORED_ON, stored, cluster=on.name)
        if on.retention is not None:
            limit, action = str(on.retention.limit), on.retention.action
            self._edge(here, EdgeKind.EVICTED_FROM, there, limit=limit, action=action)
            if on.retention.archive is not None:
                archive = f"cluster:{on.retention.archive.cluster}"
                self._edge(here, EdgeKind.STORED_ON, archive, archive_of=on.name)
        if on.import_ is not None:
            source = f"datasource:{on.import_.source.name}"
            self._edge(source, EdgeKind.IMPORTED_FROM, here, cluster=on.name, table=on.import_.source.table_name)
        if on.ingest is not None and on.ingest.source is not None:
            topic, files = on.ingest.topic, on.ingest.files
            name = f"kafka://{topic.bootstrap}/{topic.kafka}" if topic else files.directory if files else ""
            self._edge(self._vertex(VertexKind.DATASET, name), EdgeKind.IMPORTED_FROM, here, cluster=on.name)
        if on.export is not None:
            target = f"datasource:{on.export.target.name}"
            self._edge(here, EdgeKind.EXPORTED_TO, target, cluster=on.name, table=on.export.target.table_name)

    def _flow(self, node: DatasetNode) -> None:
        """Add a dataset, unless it is a feed, and what produces, consumes and replicates it."""
        here = (
            f"feed:{node.feed}"
            if node.feed
            else self._vertex(VertexKind.DATASET, node.uri, description=node.description)
        )
        if node.owner and not node.feed:
            self._edge(here, EdgeKind.OWNED_BY, self._vertex(VertexKind.OWNER, node.owner))
        for link in node.producers:
            if link.process:
                outputs = self.repository.processes[link.process].outputs
                names = ", ".join(name for name, each in outputs.items() if each.feed == node.feed)
                facts = {"link": link.kind, "cluster": node.cluster, "outputs": names}
                self._edge(f"process:{link.process}", EdgeKind.PRODUCES, here, **facts)
        for link in node.consumers:
            if link.process:
                inputs = self.repository.processes[link.process].inputs
                names = ", ".join(name for name, each in inputs.items() if each.feed == node.feed)
                facts = {"link": link.kind, "cluster": node.cluster, "inputs": names}
                self._edge(here, EdgeKind.CONSUMES, f"process:{link.process}", **facts)
            else:
                target = dataset_uri.parse(link.dataset).cluster
                self._edge(here, EdgeKind.REPLICATED_TO, f"cluster:{target}", source=node.cluster)

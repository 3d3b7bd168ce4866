"""Lineage graphs as a tree for people, in the languages of Mermaid and Graphviz, and as a JSON document."""

from __future__ import annotations

import shlex
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from toolkit.lineage.graph import FLOWS, EdgeKind, LineageEdge, LineageGraph, Vertex, VertexKind
from toolkit.printable import on_one_line
from toolkit.rendering.columns import Columns, ResultColumn
from toolkit.rendering.graph_labels import dot_label, mermaid_label
from toolkit.rendering.tables import write_table

if TYPE_CHECKING:
    from typing import TextIO

    from toolkit.lineage.impact import AffectedInstance, Impact

_PHRASES = {
    EdgeKind.CONSUMES: ("read by", "reads"),
    EdgeKind.PRODUCES: ("writes", "written by"),
    EdgeKind.REPLICATED_TO: ("replicated to", "replica of"),
    EdgeKind.IMPORTED_FROM: ("imported into", "imported from"),
    EdgeKind.EXPORTED_TO: ("exported to", "export of"),
    EdgeKind.STORED_ON: ("stored on", "stores"),
    EdgeKind.RUNS_ON: ("runs on", "runs"),
    EdgeKind.EVICTED_FROM: ("evicted from", "evicts"),
    EdgeKind.OWNED_BY: ("has", "owns"),
    EdgeKind.TAGGED: ("has", "tag of"),
    EdgeKind.GROUPED: ("in", "has"),
    EdgeKind.PART_OF: ("part of", "has"),
    EdgeKind.DIRECT: ("becomes", "made from"),
    EdgeKind.AGGREGATE: ("aggregated into", "aggregate of"),
    EdgeKind.CONDITION: ("decides rows of", "rows decided by"),
}
"""Words for each kind of edge, read from its source and read from its target."""


def tree_lines(graph: LineageGraph, start: Iterable[str]) -> Iterator[str]:
    """Yield some vertices with what describes them, and the trees of what leads to them and of what they lead to.

    A vertex that was shown before is marked, and what is behind it is not repeated. Without a vertex to start from,
    each is followed by the edges that leave it.
    """
    chosen = [each for each in start if each in graph.vertices]
    nearby: dict[tuple[str, bool, bool], list[LineageEdge]] = defaultdict(list)
    for each in graph.edges:
        nearby[each.source, each.kind in FLOWS, False].append(each)
        nearby[each.target, each.kind in FLOWS, True].append(each)
    for vertex in (graph.vertices[each] for each in chosen or graph.vertices):
        yield _vertex_text(vertex)
        for up in (False, True) if chosen else (False,):
            for edge in (*nearby[vertex.vertex_id, False, up], *(() if chosen else nearby[vertex.vertex_id, True, up])):
                yield f"  {_edge_text(graph, edge, up=up)}"
    for heading, up in (("upstream", True), ("downstream", False)):
        shown = set(chosen)
        lines = [line for each in chosen for line in _tree(graph, nearby, each, shown, up=up)]
        yield from (heading, *lines) if lines else ()


def _tree(
    graph: LineageGraph,
    nearby: Mapping[tuple[str, bool, bool], list[LineageEdge]],
    start: str,
    shown: set[str],
    *,
    up: bool,
) -> Iterator[str]:
    """Yield the lines below a vertex; without recursion, since a graph may be deep."""
    pending = [(1, each) for each in reversed(nearby.get((start, True, up), []))]
    while pending:
        depth, edge = pending.pop()
        there = edge.source if up else edge.target
        behind = nearby.get((there, True, up), [])
        mark = " (see above)" if behind and there in shown else ""
        if there not in shown:
            shown.add(there)
            pending += [(depth + 1, each) for each in reversed(behind)]
            mark = " (cut: more than the limit)" if there in graph.cut_at else ""
        yield f"{'  ' * depth}{'<-' if up else '->'} {_edge_text(graph, edge, up=up)}{mark}"


def _edge_text(graph: LineageGraph, edge: LineageEdge, *, up: bool) -> str:
    there = graph.vertices[edge.source if up else edge.target]
    return f"{_PHRASES[edge.kind][up]} {_vertex_text(there)}{_facts(edge.facts)}"


def _vertex_text(vertex: Vertex) -> str:
    first, *more = _label(vertex)
    shown = {name: vertex.facts[name] for name in _SHOWN if name in vertex.facts}
    return f"{first}{f' on {more[0]}' if 'instance_key' in vertex.facts else ''}{_facts(shown)}"


def _label(vertex: Vertex) -> Sequence[str]:
    """Return what names a vertex, where and when it is, and what else people need of it, in lines."""
    where = [f"{vertex.facts.get('cluster')} {vertex.facts['instance_key']}"] if "instance_key" in vertex.facts else []
    shown = (f"{name}: {vertex.facts[name]}" for name in _SHOWN if name in vertex.facts)
    return [f"{vertex.kind} {vertex.name}", *where, *shown]


_SHOWN = ("run_id", "state", "version", "ended", "inferred")
"""Facts of a vertex that are part of its label."""


def _facts(facts: Mapping[str, str]) -> str:
    shown = {**facts, "fingerprint": facts["fingerprint"][:24]} if "fingerprint" in facts else facts
    text = ", ".join(f"{name}: {text}" for name, text in shown.items() if name != "change")
    return f" ({text})" if text else ""


def difference_lines(graph: LineageGraph) -> Iterator[str]:
    """Yield what `toolkit.lineage.entity_lineage.difference` has found: added with `+`, cut with `-`."""
    signs = {"added": "+", "cut": "-"}
    for vertex in graph.vertices.values():
        if "change" in vertex.facts:
            yield f"{signs[vertex.facts['change']]} {_vertex_text(vertex)}"
    for edge in graph.edges:
        source = _vertex_text(graph.vertices[edge.source])
        yield f"{signs[edge.facts['change']]} {source} {_edge_text(graph, edge, up=False)}"


DATA = frozenset({
    *(VertexKind.FEED, VertexKind.DATASET, VertexKind.DATASOURCE, VertexKind.INSTANCE),
    *(VertexKind.TABLE, VertexKind.COLUMN),
})  # fmt: skip
"""Kinds of vertices that are data."""
RUNS = frozenset({VertexKind.PROCESS, VertexKind.RUN, VertexKind.FUNCTION})
"""Kinds of vertices that read and write data."""


def _shape(kind: VertexKind, data: str, run: str, other: str) -> str:
    return data if kind in DATA else run if kind in RUNS else other


def without_details(graph: LineageGraph, start: Collection[str]) -> LineageGraph:
    """Return a graph as it is drawn: only of the vertices that it starts from with what describes them."""
    edges = [each for each in graph.edges if each.kind in FLOWS or not {each.source, each.target}.isdisjoint(start)]
    kept = {*start, *graph.cut_at, *(end for each in edges for end in (each.source, each.target))}
    return LineageGraph.of((graph.vertices[each] for each in kept if each in graph.vertices), edges, graph.cut_at)


def mermaid_lines(graph: LineageGraph) -> Iterator[str]:
    """Yield the lines of a Mermaid flowchart; what describes an entity hangs on a dotted line."""
    numbers, used = {each: f"n{number}" for number, each in enumerate(graph.vertices, 1)}, set[str]()
    yield "flowchart LR"
    for each, vertex in graph.vertices.items():
        begin, end = _shape(vertex.kind, "[ ]", "([ ])", "( )").split()
        style = vertex.facts.get("change") or ("more" if each in graph.cut_at else "")
        used |= {style} if style else set()
        yield f"  {numbers[each]}{begin}{mermaid_label(*_label(vertex))}{end}{f':::{style}' if style else ''}"
    for edge in graph.edges:
        arrow = "-->" if edge.kind in FLOWS else "-.->"
        text = " ".join(filter(None, (edge.facts.get("change"), edge.kind)))
        yield f'  {numbers[edge.source]} {arrow}|"{text}"| {numbers[edge.target]}'
    for style in sorted(used):
        yield f"  classDef {style} {_MERMAID_STYLES[style]}"


_MERMAID_STYLES = {
    "added": "stroke:#080,stroke-width:3px",
    "cut": "stroke:#c00,stroke-dasharray:4",
    "more": "stroke-dasharray:4",
}


def dot_lines(graph: LineageGraph) -> Iterator[str]:
    """Yield the lines of a Graphviz digraph; what describes an entity hangs on a dotted line."""
    numbers = {each: f"n{number}" for number, each in enumerate(graph.vertices, 1)}
    colours = {"added": ", color=green", "cut": ", color=red", None: ""}
    yield "digraph lineage {"
    yield "  rankdir=LR;"
    for each, vertex in graph.vertices.items():
        shape, label = _shape(vertex.kind, "box", "ellipse", "note"), dot_label(*_label(vertex))
        style = ", style=dashed" if each in graph.cut_at else ""
        yield f"  {numbers[each]} [shape={shape}, label={label}{style}{colours[vertex.facts.get('change')]}];"
    for edge in graph.edges:
        style = "" if edge.kind in FLOWS else ", style=dotted"
        label = f"label={dot_label(edge.kind)}{style}{colours[edge.facts.get('change')]}"
        yield f"  {numbers[edge.source]} -> {numbers[edge.target]} [{label}];"
    yield "}"


def lineage_document(graph: LineageGraph, start: Iterable[str]) -> dict[str, object]:
    """Return the JSON form of a graph: node-link, as `networkx.node_link_graph` reads it."""
    return {
        "directed": True,
        "multigraph": True,
        "graph": {},
        "start": list(start),
        "nodes": [
            {"id": each.vertex_id, "kind": str(each.kind), "name": each.name, "facts": dict(each.facts)}
            for each in graph.vertices.values()
        ],
        "edges": [
            {"source": each.source, "target": each.target, "kind": str(each.kind), "facts": dict(each.facts)}
            for each in graph.edges
        ],
        "cut_at": list(graph.cut_at),
    }


_AFFECTED: Columns[AffectedInstance] = Columns(
    ResultColumn("feed", "instance.feed", "feed"),
    ResultColumn("cluster", "instance.cluster", "cluster"),
    ResultColumn("instance", "instance.key", "instance"),
    ResultColumn("state", "state", "state"),
    ResultColumn("ended", "ended?", "ended"),
    ResultColumn("uri", "uri?", "uri"),
    *("is_there", "runs"),
)


def impact_document(found: Impact) -> dict[str, object]:
    """Return the JSON form of an impact."""
    return {
        "feed": found.start.feed,
        "cluster": found.start.cluster,
        "instance": found.start.key,
        "affected": _AFFECTED.documents(found.affected),
        "commands": [list(each) for each in found.commands],
        "is_complete": not found.graph.cut_at,
    }


def write_impact(found: Impact, to: TextIO) -> None:
    """Write an impact for people: what was made from the instance, and the commands that make it again."""
    there, start = sum(each.is_there for each in found.affected), found.start
    summary = f"{len(found.affected)} instances were made from it, {there} of them are still there"
    to.write(f"{on_one_line(f'{start.feed} on {start.cluster} {start.key}')}: {summary}\n")
    if found.affected:
        write_table(_AFFECTED.headings, _AFFECTED.rows(found.affected), to)
    if found.commands:
        to.write("to make them again, in this order, once the instance is good:\n")
        to.writelines(f"  {on_one_line(shlex.join(each))}\n" for each in found.commands)

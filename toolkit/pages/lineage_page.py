"""Lineage on pages: the graph of all feeds and processes, the part around each of them, and the columns of tables."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from functools import partial

from toolkit.lineage.graph import FLOWS, LineageGraph, Vertex, VertexKind
from toolkit.pages.folder import page_name
from toolkit.pages.svg import graph_figure
from toolkit.pages.templating import PageCell, PageSection, PageView

GRAPH_PATH, TABLES_PATH = "lineage.html", "tables.html"
_STEPS, _NEAR, _MOST = 4, 60, 2000
"""Edges between an entity and what its page shows, vertices there, and vertices of the graph of all."""
_HELP = "Data flows from left to right. Click on a box, beside its name, to mark what its data comes from and goes to."
_FOLDERS = {VertexKind.FEED: "feeds", VertexKind.PROCESS: "processes", VertexKind.TABLE: "tables"}
_DESCRIBING = frozenset({
    *(VertexKind.CLUSTER, VertexKind.OWNER, VertexKind.TAG, VertexKind.GROUP, VertexKind.PIPELINE, VertexKind.DOMAIN)
})  # fmt: skip


def drawn_part(graph: LineageGraph, states: Mapping[str, str] | None = None) -> LineageGraph:
    """Return the vertices that data flows through, and its flows; of facts only those that are drawn.

    Args:
        graph: any.
        states: by the name of a vertex.
    """
    known = states or {}
    vertices = (
        replace(
            each,
            facts={name: each.facts[name] for name in ("table", "feed") if name in each.facts}
            | ({"state": known[each.name]} if each.name in known else {}),
        )
        for each in graph.vertices.values()
        if each.kind not in _DESCRIBING
    )
    flows = (replace(each, facts={}) for each in graph.edges if each.kind in FLOWS)
    return LineageGraph.of(vertices, flows, graph.cut_at)


def near_entity(flow: LineageGraph, kind: str, name: str) -> LineageGraph:
    """Return what the data of a feed or process comes from and goes to, as far as its page shows it."""
    return flow.around([f"{kind}:{name}"], depth=_STEPS, limit=_NEAR)


def lineage_section(near: LineageGraph, kind: str, name: str) -> PageSection:
    """Return the section of a page below the root with the neighbours of its feed or process; it may have none."""
    figure = graph_figure(near, title=f"Lineage of {name}", href=_paths("../"), focus=f"{kind}:{name}")
    link = PageCell("Lineage of all", GRAPH_PATH)
    return PageSection(heading="Lineage", markup=figure if near.edges else "", links=[link])


def graph_view(flow: LineageGraph) -> PageView:
    """Return the page with the graph of all feeds and processes; of too many, those with the most edges."""
    lead = [_HELP]
    if len(flow.vertices) > _MOST:
        lead.append(f"Of {len(flow.vertices):,} boxes, {_MOST:,} with the most lines are shown.")
        counts = Counter(end for each in flow.edges for end in (each.source, each.target))
        flow = flow.around([each for each, _ in counts.most_common(_MOST // 4)], limit=_MOST)
    figure = graph_figure(flow, title="Lineage of all feeds and processes", href=_paths(""))
    return PageView(title="Lineage", lead=lead, sections=[PageSection(heading="Graph", markup=figure)])


def table_views(columns: LineageGraph) -> Iterator[tuple[str, object, Callable[[], PageView]]]:
    """Yield the path of the list of tables, and of the page of each table, what it is made from, and who makes it."""
    tables: dict[str, list[Vertex]] = {}
    for each in columns.vertices.values():
        name = each.facts.get("table", each.name if each.kind is VertexKind.TABLE else "")
        tables.setdefault(name, []).append(each)
    rows = []
    for name, own in sorted(tables.items()):
        if name:
            path, feed = f"tables/{page_name(name)}.html", own[0].facts.get("feed", "")
            link = PageCell(feed, f"feeds/{page_name(feed)}.html" if feed else "")
            rows.append([PageCell(name, path), link, PageCell(sum(each.kind is VertexKind.COLUMN for each in own))])
            near = columns.around([each.vertex_id for each in own], depth=2, limit=len(own) + _NEAR)
            yield path, near, partial(_table_view, name, link, near)
    listed = PageSection(heading=f"{len(rows):,} tables", headings=("table", "feed", "columns"), rows=rows)
    lead = "Tables whose columns are known from the statements that ran."
    yield TABLES_PATH, rows, lambda: PageView(title="Tables", lead=[lead], sections=[listed])


def _table_view(name: str, feed: PageCell, near: LineageGraph) -> PageView:
    figure = graph_figure(near, title=f"Columns of {name}", href=_paths("../"), focus=f"table:{name}")
    section = PageSection(heading="Columns", markup=figure, links=[PageCell("All tables", TABLES_PATH)])
    return PageView(title=name, lead=[_HELP], facts=[("Feed", [feed])] if feed.path else [], sections=[section])


def _paths(root: str) -> Callable[[Vertex], str | None]:
    def path(vertex: Vertex) -> str | None:
        folder = _FOLDERS.get(vertex.kind)
        return f"{root}{folder}/{page_name(vertex.name)}.html" if folder else None

    return path

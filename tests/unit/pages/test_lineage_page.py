"""Lineage on pages: what the graph of all, a feed's page and a table's page draw, and what they leave out."""

from __future__ import annotations

import itertools
import re
from pathlib import Path

from tests.contract.ledger.samples import begun, key
from tests.unit.management.runs import execution
from tests.unit.pages.test_build import built
from toolkit.ledger.column_lineage import ColumnRelation, LineageNode, StatementLineage, record
from toolkit.ledger.database import Ledger
from toolkit.ledger.vocabulary import LineageRelationKind, RunStatus
from toolkit.lineage.graph import EdgeKind, LineageEdge, LineageGraph, Vertex, VertexKind
from toolkit.pages.lineage_page import drawn_part, graph_view, near_entity


def drawn(path: Path) -> set[tuple[str, str, str]]:
    """Return the titles of a page's lines: source, kind, target."""
    titles = re.findall(r'<path class="edge [^>]*><title>([^<]*)</title>', path.read_text(encoding="utf-8"))
    return {(source, kind, target) for source, kind, target in (each.split(" ") for each in titles)}


def links(path: Path) -> set[str]:
    return set(re.findall(r'<a href="([^"]*)"><text', path.read_text(encoding="utf-8")))


def pages(ledger: Ledger, folder: Path) -> Path:
    built(ledger, folder)
    return folder


def feed(name: str, **facts: str) -> Vertex:
    return Vertex(vertex_id=f"feed:{name}", kind=VertexKind.FEED, name=name, facts=facts)


def chain(length: int) -> LineageGraph:
    vertices = [feed(f"f{number:04}") for number in range(length)]
    edges = [
        LineageEdge(source=left.vertex_id, target=right.vertex_id, kind=EdgeKind.REPLICATED_TO)
        for left, right in itertools.pairwise(vertices)
    ]
    return LineageGraph.of(vertices, edges)


def test_the_graph_of_all_and_the_page_of_a_feed_link_to_the_pages_of_what_they_draw(
    sqlite_ledger: Ledger, tmp_path: Path
) -> None:
    out = pages(sqlite_ledger, tmp_path / "pages")
    assert ("clicks", "consumes", "count_job") in drawn(out / "lineage.html")
    assert {"feeds/clicks.html", "processes/count_job.html"} <= links(out / "lineage.html")
    assert ("clicks", "consumes", "count_job") in drawn(out / "feeds/clicks.html")
    assert {"../feeds/clicks.html", "../processes/count_job.html"} <= links(out / "feeds/clicks.html")
    for path in [*out.glob("*.html"), *out.glob("feeds/*.html")]:
        assert all((path.parent / each).is_file() for each in links(path))


def test_a_process_that_failed_is_marked_in_the_graph_of_all(sqlite_ledger: Ledger, tmp_path: Path) -> None:
    execution(sqlite_ledger, "2026-03-20T10:00Z", RunStatus.FAILED)
    text = (pages(sqlite_ledger, tmp_path / "pages") / "lineage.html").read_text()
    assert 'class="vertex process state-failed"' in text
    assert 'class="fact">failed</text>' in text


def test_a_table_has_a_page_with_the_columns_that_its_own_are_made_from(sqlite_ledger: Ledger, tmp_path: Path) -> None:
    source, target = LineageNode(table="raw.orders", column="amount"), LineageNode(table="mart.sales", column="total")
    where = ColumnRelation(
        source=LineageNode(table="raw.orders", column="day"),
        target=LineageNode(table="mart.sales"),
        kind=LineageRelationKind.CONDITION,
    )
    relations = [ColumnRelation(source=source, target=target, kind=LineageRelationKind.AGGREGATE), where]
    executed = begun(sqlite_ledger, key("2026-03-20T05:00Z"))
    statement = StatementLineage.of("spark_sql", "select", relations)
    sqlite_ledger.write(lambda tx: record(tx, [statement], executed.run_id))
    out = pages(sqlite_ledger, tmp_path / "pages")
    assert ("raw.orders.amount", "aggregate", "mart.sales.total") in drawn(out / "tables/mart.sales.html")
    assert ("raw.orders.day", "condition", "mart.sales") in drawn(out / "tables/mart.sales.html")
    assert {"../tables/raw.orders.html", "../tables/mart.sales.html"} == links(out / "tables/mart.sales.html")
    assert "raw.orders" in (out / "tables.html").read_text()
    built(sqlite_ledger, out)
    assert (out / "tables/raw.orders.html").is_file()


def test_a_page_shows_no_more_than_the_nearest_of_a_long_chain() -> None:
    near = near_entity(drawn_part(chain(50)), "feed", "f0020")
    assert [each.name for each in near.vertices.values()] == [f"f{number:04}" for number in range(16, 25)]


def test_only_what_is_drawn_can_change_a_page() -> None:
    owner = Vertex(vertex_id="owner:me", kind=VertexKind.OWNER, name="me")
    owned = LineageEdge(source="feed:a", target="owner:me", kind=EdgeKind.OWNED_BY)
    one = LineageGraph.of([feed("a", description="old"), owner], [owned])
    other = LineageGraph.of([feed("a", description="new")], [])
    assert drawn_part(one) == drawn_part(other)


def test_of_too_many_the_graph_of_all_says_how_many_it_shows() -> None:
    view = graph_view(chain(2500))
    assert "Of 2,500 boxes" in view.lead[1]
    markup = view.sections[0].markup
    assert markup.count('class="card"') <= 2000
    assert "cut at a limit" in markup
    assert len(graph_view(chain(30)).lead) == 1

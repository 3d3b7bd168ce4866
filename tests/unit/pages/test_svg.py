"""Drawings of lineage graphs: whatever a name says, it is text."""

import re
from html.parser import HTMLParser
from xml.etree.ElementTree import Element, fromstring

import pytest

from toolkit.lineage.graph import EdgeKind, LineageEdge, LineageGraph, Vertex, VertexKind
from toolkit.pages.svg import graph_figure

SVG = "{http://www.w3.org/2000/svg}"
HOSTILE = [
    "</script><script>alert(1)</script>",
    '" onmouseover="alert(1)',
    "]]><![CDATA[x",
    "a[b]{c}",
    "<!--",
    "&lt;b&gt;",
    "two\nlines\r\0\x1b[31m",
    "\N{RIGHT-TO-LEFT OVERRIDE}gpj.exe",
    "\N{HEBREW LETTER ALEF}\N{HEBREW LETTER BET}",
    "half \ud800",
    "名" * 40,
    "x" * 10_000,
    " ",
    "",
]


def feed(name: str, **facts: str) -> Vertex:
    return Vertex(vertex_id=f"feed:{name}", kind=VertexKind.FEED, name=name, facts=facts)


def process(name: str) -> Vertex:
    return Vertex(vertex_id=f"process:{name}", kind=VertexKind.PROCESS, name=name)


def edge(source: Vertex, target: Vertex, kind: EdgeKind) -> LineageEdge:
    return LineageEdge(source=source.vertex_id, target=target.vertex_id, kind=kind)


def read(figure: str) -> Element:
    return fromstring(figure)  # noqa: S314 - our own text


def vertices(figure: Element) -> dict[str, Element]:
    """Return the elements of the vertices by their titles."""
    drawn = [each for each in figure.iter() if "vertex" in each.get("class", "").split()]
    return {each.findtext(f"{SVG}title", ""): each for each in drawn}


class Tags(HTMLParser):
    """All tags with their attributes, as a browser reads them."""

    def __init__(self) -> None:
        super().__init__()
        self.found: list[tuple[str, dict[str, str | None]]] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found.append((tag, dict(attrs)))


@pytest.mark.parametrize("name", HOSTILE)
def test_a_hostile_name_is_text_and_changes_no_element(name: str) -> None:
    def drawn(text: str) -> str:
        here, there = feed(text, state=text), process(text)
        graph = LineageGraph.of([here, there], [edge(here, there, EdgeKind.CONSUMES)], [here.vertex_id])
        return graph_figure(graph, title=text, href=lambda each: f"{each.kind}.html", focus=here.vertex_id)

    hostile, plain = Tags(), Tags()
    hostile.feed(drawn(name))
    plain.feed(drawn("plain"))
    labels = {"aria-label", "d", "x", "y", "width", "height", "rx", "viewbox", "class"}
    shapes = [
        [(tag, {k: v for k, v in at.items() if k not in labels}) for tag, at in each.found] for each in (hostile, plain)
    ]
    assert [tag for tag, _ in hostile.found if tag != "text"] == [tag for tag, _ in plain.found if tag != "text"]
    assert [each for each in shapes[0] if each[0] != "text"] == [each for each in shapes[1] if each[0] != "text"]
    figure = read(drawn(name))
    assert {each.get("class") for each in vertices(figure).values()} <= {
        "vertex feed focus",
        "vertex process",
        "vertex feed state-x focus",
    }
    assert len(vertices(figure)) == 2
    for text in figure.itertext():
        assert text.replace("\n", "").isprintable()
        assert len(text) <= 400


def test_a_name_is_read_back_whole_from_the_title() -> None:
    figure = read(graph_figure(LineageGraph.of([feed("<a&b>", owner='"me"')], []), title="<t>"))
    assert list(vertices(figure)) == ['feed <a&b>; owner: "me"']
    assert [each.text for each in figure.iter(f"{SVG}text")] == ["<a&b>"]
    assert figure.findtext(f".//{SVG}svg/{SVG}title") == "<t>"


def test_only_a_vertex_with_a_page_is_a_link() -> None:
    graph = LineageGraph.of([feed("a"), process("p")], [edge(feed("a"), process("p"), EdgeKind.CONSUMES)])
    figure = read(graph_figure(graph, title="t", href=lambda each: "feeds/a.html" if each.name == "a" else None))
    assert [each.get("href") for each in figure.iter(f"{SVG}a")] == ["feeds/a.html"]
    assert [each.text for each in figure.iterfind(f".//{SVG}a/{SVG}text")] == ["a"]


def test_an_edge_names_its_ends_and_its_kind() -> None:
    graph = LineageGraph.of([feed("a"), process("p")], [edge(feed("a"), process("p"), EdgeKind.CONSUMES)])
    line = next(each for each in read(graph_figure(graph, title="t")).iter(f"{SVG}path"))
    ids = {name: each.get("data-id") for name, each in vertices(read(graph_figure(graph, title="t"))).items()}
    assert (line.get("class"), line.get("data-from"), line.get("data-to")) == (
        "edge consumes",
        ids["feed a"],
        ids["process p"],
    )
    assert line.findtext(f"{SVG}title") == "a consumes p"


def test_columns_are_lines_of_their_table_and_edges_end_at_them() -> None:
    table = Vertex(vertex_id="table:db.in", kind=VertexKind.TABLE, name="db.in")
    columns = [
        Vertex(vertex_id=f"column:{each}.{name}", kind=VertexKind.COLUMN, name=f"{each}.{name}", facts={"table": each})
        for each in ("db.in", "db.out")
        for name in "abc"
    ]
    parts = [edge(table, each, EdgeKind.CONDITION) for each in columns[:3]]
    graph = LineageGraph.of([table, *columns], [*parts, edge(columns[2], columns[3], EdgeKind.DIRECT)])
    figure = read(graph_figure(graph, title="t"))
    cards = [each for each in figure.iter(f"{SVG}g") if each.get("class") == "card"]
    assert [[text.text for text in card.iter(f"{SVG}text")] for card in cards] == [
        ["db.in", "a", "b", "c"],
        ["db.out", "a", "b", "c"],
    ]
    (line,) = (each.get("d", "") for each in figure.iter(f"{SVG}path"))
    (_, first), (_, last) = re.findall(r"([\d.-]+) ([\d.-]+)(?= C| M)", line)
    rows = {name: each.find(f"{SVG}rect") for name, each in vertices(figure).items()}
    for name, y in (("column db.in.c; table: db.in", first), ("column db.out.a; table: db.out", last)):
        row = rows[name]
        assert row is not None
        assert float(row.get("y", 0)) < float(y) < float(row.get("y", 0)) + float(row.get("height", 0)), name


def test_a_graph_that_was_cut_says_so() -> None:
    graph = LineageGraph.of([feed("a")], [], ["feed:a"])
    assert "cut at a limit: 1 of its vertices" in graph_figure(graph, title="t")
    assert "figcaption" not in graph_figure(LineageGraph.of([feed("a")], []), title="t")


def test_the_cluster_key_and_state_of_an_instance_are_shown() -> None:
    vertex = Vertex(
        vertex_id="instance:a@c/2026",
        kind=VertexKind.INSTANCE,
        name="a",
        facts={"cluster": "c", "instance_key": "2026", "state": "evicted", "fingerprint": "f"},
    )
    figure = read(graph_figure(LineageGraph.of([vertex], []), title="t"))
    assert [each.text for each in figure.iter(f"{SVG}text")] == ["a", "c 2026 evicted"]
    assert next(iter(vertices(figure).values())).get("class") == "vertex instance state-evicted"


def test_loops_and_cycles_are_drawn() -> None:
    a, p = feed("a"), process("p")
    edges = [edge(a, a, EdgeKind.REPLICATED_TO), edge(a, p, EdgeKind.CONSUMES), edge(p, a, EdgeKind.PRODUCES)]
    figure = read(graph_figure(LineageGraph.of([a, p], edges), title="t"))
    assert len(list(figure.iter(f"{SVG}path"))) == 3


def test_a_graph_without_vertices_is_a_drawing() -> None:
    assert "0 boxes" in graph_figure(LineageGraph.of([], []), title="t")

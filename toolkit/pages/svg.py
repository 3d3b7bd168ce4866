"""Drawing of a lineage graph as SVG within a page; `graph.css` and `graph.js` are for it.

Names come from anyone who writes a config repo: an XML library writes them as text, and none becomes a class, an id or
an address.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import NamedTuple
from xml.etree.ElementTree import Element, SubElement, tostring

from toolkit.lineage.graph import EdgeKind, LineageGraph, Vertex, VertexKind
from toolkit.pages.layout import Box, layered
from toolkit.printable import on_one_line

_LINE, _PADDING, _CHARACTER, _MARGIN = 18.0, 11.0, 7.3, 12.0
"""Height of a line of text, space beside it, width of a character, and space round the drawing."""
_LONGEST_LABEL, _LONGEST_TITLE = 30, 400
"""Characters; the rest of a label is in the title, which browsers show for a pointer that rests."""
_SHOWN_FACTS = ("cluster", "instance_key", "state")
"""Facts that are the second line in the box of a vertex."""
_STATE = re.compile(r"[a-z][a-z-]{0,30}")
_ROUND = frozenset({VertexKind.PROCESS, VertexKind.RUN, VertexKind.FUNCTION})


def graph_figure(
    graph: LineageGraph, *, title: str, href: Callable[[Vertex], str | None] = lambda _: None, focus: str = ""
) -> str:
    """Return a `<figure>` for a page: the drawing, and a caption that says what a limit left out.

    Args:
        graph: edges of any kind; a column is drawn as a line of the table that its facts name.
        title: of the drawing, for readers that do not see it.
        href: returns the address of a vertex's page, relative to this page; None: it has none.
        focus: id of the vertex that the page is about.
    """
    vertices = {_card_of(each): _table_of(each) for each in graph.vertices.values()} | dict(graph.vertices)
    card_of = {key: _card_of(each) for key, each in vertices.items()}
    cards = {key: _Card(vertices[key], []) for key in card_of.values()}
    for key, table in card_of.items():
        if key != table:
            cards[table].columns.append(vertices[key])
    kinds = sorted({(each.source, each.target, each.kind) for each in graph.edges})
    edges = [(a, b, kind) for a, b, kind in kinds if a == b or not card_of[a] == card_of[b] in {a, b}]
    layout = layered({key: card.size for key, card in cards.items()}, [(card_of[a], card_of[b]) for a, b, _ in edges])
    title, drawing = (
        _cut(title, _LONGEST_TITLE),
        _Drawing(vertices, {key: f"v{n}" for n, key in enumerate(vertices)}, href, focus),
    )
    figure = Element("figure", {"class": "graph"})
    frame = SubElement(figure, "div", {"class": "graph-frame", "tabindex": "0", "role": "region", "aria-label": title})
    whole = Box(-_MARGIN, -_MARGIN, layout.width + 2 * _MARGIN, layout.height + 2 * _MARGIN)
    sides = {"viewBox": " ".join(map("{:g}".format, whole)), "width": f"{whole.width:g}", "height": f"{whole.height:g}"}
    about = {"data-focus": drawing.ids[focus]} if focus in vertices else {}
    svg = SubElement(frame, "svg", {"xmlns": "http://www.w3.org/2000/svg", "role": "group", **sides, **about})
    SubElement(svg, "title").text = title
    SubElement(svg, "desc").text = f"{len(cards)} boxes and {len(edges)} lines; data flows from left to right."
    places = {key: place for each, card in cards.items() for key, place in card.places(layout.boxes[each])}
    for a, b, kind in edges:
        drawing.add_edge(svg, a, b, kind, _path(places[a], places[b], layout.bends.get((card_of[a], card_of[b]), ())))
    for key, card in cards.items():
        drawing.add_card(svg, card, layout.boxes[key])
    if graph.cut_at:
        text = f"The graph is cut at a limit: {len(graph.cut_at)} of its vertices have further neighbours."
        SubElement(figure, "figcaption").text = text
    return tostring(figure, encoding="unicode")


def _table_of(vertex: Vertex) -> Vertex:
    """Return the table of a column, which need not be in the graph; any other vertex is returned as it is."""
    table = vertex.facts.get("table") if vertex.kind is VertexKind.COLUMN else None
    return Vertex(vertex_id=f"table:{table}", kind=VertexKind.TABLE, name=table) if table else vertex


def _card_of(vertex: Vertex) -> str:
    return _table_of(vertex).vertex_id


class _Card(NamedTuple):
    """Box of a vertex: its own lines, and one for each column of a table."""

    vertex: Vertex
    columns: list[Vertex]

    @property
    def lines(self) -> Sequence[str]:
        facts = " ".join(self.vertex.facts[name] for name in _SHOWN_FACTS if self.vertex.facts.get(name))
        return [_cut(text, _LONGEST_LABEL) for text in (self.vertex.name or str(self.vertex.kind), facts) if text]

    @property
    def rows(self) -> Sequence[str]:
        return [_cut(each.name.removeprefix(f"{self.vertex.name}."), _LONGEST_LABEL) for each in self.columns]

    @property
    def size(self) -> tuple[float, float]:
        texts = [*self.lines, *self.rows]
        wide = max(sum(2 if unicodedata.east_asian_width(each) in "WF" else 1 for each in text) for text in texts)
        return wide * _CHARACTER + 2 * _PADDING, _LINE * len(texts) + _PADDING

    def places(self, box: Box) -> Iterator[tuple[str, Box]]:
        """Yield the id and box of the vertex, and of its columns: lines of the drawing begin and end there."""
        yield self.vertex.vertex_id, box
        for number, column in enumerate(self.columns, len(self.lines)):
            yield column.vertex_id, Box(box.x, box.y + _PADDING / 2 + number * _LINE, box.width, _LINE)


@dataclass(frozen=True, slots=True)
class _Drawing:
    """Elements of one drawing; `ids` has the short id of each vertex."""

    vertices: Mapping[str, Vertex]
    ids: Mapping[str, str]
    href: Callable[[Vertex], str | None]
    focus: str

    def add_edge(self, svg: Element, source: str, target: str, kind: EdgeKind, path: str) -> None:
        data = {"data-from": self.ids[source], "data-to": self.ids[target]}
        line = SubElement(svg, "path", {"class": f"edge {kind}", "d": path, **data})
        text = f"{self.vertices[source].name} {kind} {self.vertices[target].name}"
        SubElement(line, "title").text = _cut(text, _LONGEST_TITLE)

    def add_card(self, svg: Element, card: _Card, box: Box) -> None:
        group = SubElement(svg, "g", {"class": "card"})
        self._add_vertex(group, card.vertex, box, card.lines, box.height / 2 if card.vertex.kind in _ROUND else 4)
        for (key, place), label in zip([*card.places(box)][1:], card.rows, strict=True):
            self._add_vertex(group, self.vertices[key], place, [label], 0)

    def _add_vertex(self, group: Element, vertex: Vertex, box: Box, lines: Sequence[str], radius: float) -> None:
        """Add the element of a vertex; its name is a link if it has a page, and the rest of the box is not."""
        state, page = vertex.facts.get("state", ""), self.href(vertex)
        marks = [f"state-{state}"] if _STATE.fullmatch(state) else []
        marks += ["focus"] if vertex.vertex_id == self.focus else []
        known = {"class": " ".join(["vertex", vertex.kind, *marks]), "data-id": self.ids[vertex.vertex_id]}
        here = SubElement(group, "g", known)
        facts = [f"{name}: {value}" for name, value in vertex.facts.items()]
        SubElement(here, "title").text = _cut("; ".join([f"{vertex.kind} {vertex.name}", *facts]), _LONGEST_TITLE)
        SubElement(here, "rect", {name: f"{value:g}" for name, value in {**box._asdict(), "rx": radius}.items()})
        top = box.y + (_PADDING / 2 if radius else 0)
        for number, text in enumerate(lines):
            parent = here if number or page is None else SubElement(here, "a", {"href": page})
            place = {"x": f"{box.x + _PADDING:g}", "y": f"{top + (number + 0.73) * _LINE:g}"}
            SubElement(parent, "text", place | ({"class": "fact"} if number else {})).text = text


def _path(source: Box, target: Box, bends: Sequence[tuple[float, float]]) -> str:
    """Return the data of a smooth line with an arrow head; one against the flow leaves and enters at the other side.

    A loop, and a line between two columns of one table, goes round the right side.
    """
    sign = 1 if source.x < target.x else -1
    x, y = source.x + source.width * (source.x <= target.x), source.y + source.height / 2
    end_x, end_y = target.x + target.width * (sign < 0), target.y + target.height / 2 + 4 * (source == target)
    far = max(x, end_x) + 34 if source.x == target.x else None
    curve = "".join(
        f" C{far or (x1 + x2) / 2:g} {y1:g} {far or (x1 + x2) / 2:g} {y2:g} {x2:g} {y2:g}"
        for (x1, y1), (x2, y2) in pairwise([(x, y), *bends, (end_x, end_y)])
    )
    back = end_x - sign * 7
    return f"M{x:g} {y:g}{curve} M{back:g} {end_y - 3.5:g} L{end_x:g} {end_y:g} L{back:g} {end_y + 3.5:g}"


def _cut(text: str, longest: int) -> str:
    """Return a text on one line, of so many characters at most."""
    shown = on_one_line(text[: longest + 1])
    return shown if len(shown) <= longest else shown[: longest - 1] + "…"

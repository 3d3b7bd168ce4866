"""Drawing of a lineage graph as SVG within a page; `graph.css` and `graph.js` are for it.

Names come from anyone who writes a config repo: an XML library writes them as text, and none becomes a class, an id or
an address.
"""

from __future__ import annotations

import re
import unicodedata
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import NamedTuple
from xml.etree.ElementTree import Element, SubElement, tostring

from toolkit.lineage.graph import EdgeKind, LineageEdge, LineageGraph, Vertex, VertexKind
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


class _Card(NamedTuple):
    """Box of a vertex: its own lines, and one for each column of a table."""

    vertex: Vertex
    lines: tuple[str, ...]
    rows: tuple[Vertex, ...]

    @property
    def size(self) -> tuple[float, float]:
        texts = [*self.lines, *(_cut(each.name, _LONGEST_LABEL) for each in self.rows)]
        return max(map(_columns, texts)) * _CHARACTER + 2 * _PADDING, _LINE * len(texts) + _PADDING

    def ports(self, box: Box) -> Iterator[tuple[str, Box]]:
        """Yield the ids of the card with the boxes that their lines begin and end at."""
        yield self.vertex.vertex_id, box
        for number, column in enumerate(self.rows, len(self.lines)):
            yield column.vertex_id, Box(box.x, box.y + _PADDING / 2 + number * _LINE, box.width, _LINE)


def graph_figure(
    graph: LineageGraph, *, title: str, href: Callable[[Vertex], str | None] = lambda _: None, focus: str = ""
) -> str:
    """Return a `<figure>` for a page: the drawing, and a caption that says what a limit left out.

    Args:
        graph: edges of any kind; columns are drawn as lines of the table that they are part of.
        title: of the drawing, for readers that do not see it.
        href: returns the address of a vertex's page, relative to this page; None: it has none.
        focus: id of the vertex that the page is about.
    """
    title, cards = _cut(title, _LONGEST_TITLE), {each.vertex.vertex_id: each for each in _cards(graph)}
    card_of = {each.vertex_id: key for key, card in cards.items() for each in (card.vertex, *card.rows)}
    edges = [each for each in graph.edges if not _is_row(graph, each)]
    ends = [(card_of[each.source], card_of[each.target]) for each in edges]
    layout = layered({key: card.size for key, card in cards.items()}, ends)
    drawing = _Drawing(href, focus, {vertex_id: f"v{number}" for number, vertex_id in enumerate(graph.vertices)})
    figure = Element("figure", {"class": "graph"})
    frame = SubElement(figure, "div", {"class": "graph-frame", "tabindex": "0", "role": "region", "aria-label": title})
    whole = Box(-_MARGIN, -_MARGIN, layout.width + 2 * _MARGIN, layout.height + 2 * _MARGIN)
    sides = {"viewBox": " ".join(map("{:g}".format, whole)), "width": f"{whole.width:g}", "height": f"{whole.height:g}"}
    about = {"data-focus": drawing.ids[focus]} if focus in drawing.ids else {}
    svg = SubElement(frame, "svg", {"xmlns": "http://www.w3.org/2000/svg", "role": "group", **sides, **about})
    SubElement(svg, "title").text = title
    SubElement(svg, "desc").text = f"{len(cards)} boxes and {len(edges)} lines; data flows from left to right."
    ports = {vertex_id: port for key, card in cards.items() for vertex_id, port in card.ports(layout.boxes[key])}
    for each, pair in zip(edges, ends, strict=True):
        data = {"data-from": drawing.ids[each.source], "data-to": drawing.ids[each.target]}
        path = _path(ports[each.source], ports[each.target], layout.bends.get(pair, ()))
        line = SubElement(svg, "path", {"class": f"edge {each.kind}", "d": path, **data})
        says = f"{graph.vertices[each.source].name} {each.kind} {graph.vertices[each.target].name}"
        SubElement(line, "title").text = _cut(says, _LONGEST_TITLE)
    for key, card in cards.items():
        drawing.add_card(svg, card, layout.boxes[key])
    if graph.cut_at:
        text = f"The graph is cut at a limit: {len(graph.cut_at)} of its vertices have further neighbours."
        SubElement(figure, "figcaption").text = text
    return tostring(figure, encoding="unicode")


def _is_row(graph: LineageGraph, edge: LineageEdge) -> bool:
    return edge.kind is EdgeKind.PART_OF and graph.vertices[edge.source].kind is VertexKind.COLUMN


def _cards(graph: LineageGraph) -> Iterator[_Card]:
    rows: dict[str, list[Vertex]] = defaultdict(list)
    for each in graph.edges:
        if _is_row(graph, each):
            rows[each.target].append(graph.vertices[each.source])
    within = {each.vertex_id for columns in rows.values() for each in columns}
    for vertex_id, vertex in graph.vertices.items():
        if vertex_id not in within:
            facts = " ".join(vertex.facts[name] for name in _SHOWN_FACTS if vertex.facts.get(name))
            lines = tuple(_cut(each, _LONGEST_LABEL) for each in (vertex.name, facts) if each)
            yield _Card(vertex, lines or (vertex.kind,), tuple(rows.get(vertex_id, ())))


@dataclass(frozen=True, slots=True)
class _Drawing:
    """Elements of one drawing; `ids` has the short id of each vertex."""

    href: Callable[[Vertex], str | None]
    focus: str
    ids: Mapping[str, str]

    def add_card(self, svg: Element, card: _Card, box: Box) -> None:
        group = SubElement(svg, "g", {"class": "card"})
        ports = [port for _, port in card.ports(box)]
        self._add_vertex(group, card.vertex, box, card.lines, box.height / 2 if card.vertex.kind in _ROUND else 4)
        for column, port in zip(card.rows, ports[1:], strict=True):
            self._add_vertex(group, column, port, (_cut(column.name, _LONGEST_LABEL),), 0)

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
    """Return the data of a smooth line with an arrow head; one against the flow leaves and enters at the other side."""
    sign = -1 if source.x >= target.x else 1
    start = (source.x + source.width * (sign > 0 or source.x == target.x), source.y + source.height / 2)
    end = (target.x + target.width * (sign < 0), target.y + target.height / 2)
    if source.x == target.x:  # a loop, or two rows of one table: round the right side
        end = (end[0], end[1] + 4 * (source == target))
        out = max(start[0], end[0]) + 34
        curve = f" C{out:g} {start[1]:g} {out:g} {end[1]:g} {end[0]:g} {end[1]:g}"
    else:
        curve = "".join(
            f" C{(x1 + x2) / 2:g} {y1:g} {(x1 + x2) / 2:g} {y2:g} {x2:g} {y2:g}"
            for (x1, y1), (x2, y2) in pairwise([start, *bends, end])
        )
    back = end[0] - sign * 7
    head = f" M{back:g} {end[1] - 3.5:g} L{end[0]:g} {end[1]:g} L{back:g} {end[1] + 3.5:g}"
    return f"M{start[0]:g} {start[1]:g}{curve}{head}"


def _cut(text: str, longest: int) -> str:
    """Return a text on one line, of so many characters at most."""
    shown = on_one_line(text[: longest + 1])
    return shown if len(shown) <= longest else shown[: longest - 1] + "…"


def _columns(text: str) -> int:
    """Return the width of a text in narrow characters."""
    return sum(2 if unicodedata.east_asian_width(each) in "WF" else 1 for each in text)

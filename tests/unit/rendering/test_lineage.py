"""Lineage graphs in each format; whatever is in a name, each format is read back with the names in it."""

from __future__ import annotations

import json
import os
import re
import subprocess
from html import unescape
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.described import faults
from toolkit.cli.options import json_text
from toolkit.lineage.graph import EdgeKind, LineageEdge, LineageGraph, Vertex, VertexKind
from toolkit.printable import on_one_line
from toolkit.rendering.document_schemas import DocumentName
from toolkit.rendering.graph_labels import LONGEST
from toolkit.rendering.lineage import (
    difference_lines,
    dot_lines,
    lineage_document,
    mermaid_lines,
    tree_lines,
    without_details,
)

HOSTILE = [
    '</script><script>alert("x")</script>',
    "quotes ' \" ` ''' \"\"\"",
    'bracket [ ] ( ) { } | "] --> evil["x',
    "new\nline\r\n  n1 --> n2\n",
    "right\u202eto left\u2066\u200f",
    "x" * 10_000,
    'back\\slash \\n \\" \\',
    "&lt; &amp; &#34; #34; #quot; %%{init: {}}%% %% comment",
    "end subgraph class click style linkStyle",
    "<br>a<br/>b",
    "nul\x00 escape\x1b[31m bell\x07",
    "half \ud800 character",
    "\N{GREEK SMALL LETTER ALPHA}\N{PILE OF POO}",
    "",
    " ",
    "; // /* */ # <b>",
    "::error::x ##[error]",
]


def vertex(kind: VertexKind, name: str, **facts: str) -> Vertex:
    return Vertex(vertex_id=f"{kind}:{name}", kind=kind, name=name, facts=facts)


def graph(*names: str) -> LineageGraph:
    """A chain of feeds and processes of these names, each with its owner."""
    vertices = [vertex(VertexKind.PROCESS if at % 2 else VertexKind.FEED, name) for at, name in enumerate(names)]
    owners = [vertex(VertexKind.OWNER, name) for name in names]
    edges = [
        LineageEdge(
            source=before.vertex_id,
            target=after.vertex_id,
            kind=EdgeKind.CONSUMES if before.kind is VertexKind.FEED else EdgeKind.PRODUCES,
            facts={"inputs": before.name},
        )
        for before, after in pairwise(vertices)
    ]
    owned = [
        LineageEdge(source=each.vertex_id, target=owner.vertex_id, kind=EdgeKind.OWNED_BY)
        for each, owner in zip(vertices, owners, strict=True)
    ]
    return LineageGraph.of([*vertices, *owners], [*edges, *owned], [vertices[0].vertex_id])


def shortened(text: str) -> str:
    if len(text) > LONGEST:
        text = f"{text[:100]}\N{HORIZONTAL ELLIPSIS}{text[-99:]}"
    return on_one_line(text)


def labels(of: LineageGraph) -> dict[str, str]:
    """The label of each vertex by its number."""
    return {f"n{at}": shortened(f"{each.kind} {each.name}") for at, each in enumerate(of.vertices.values(), 1)}


def ends(of: LineageGraph) -> list[tuple[str, str, str]]:
    numbers = {each: f"n{at}" for at, each in enumerate(of.vertices, 1)}
    return [(numbers[each.source], each.kind, numbers[each.target]) for each in of.edges]


_MERMAID_NODE = re.compile(
    r'  (?P<id>n\d+)(?:\["(?P<data>[^"]*)"\]|\(\["(?P<run>[^"]*)"\]\)|\("(?P<other>[^"]*)"\))(:::[a-z]+)?'
)
_MERMAID_EDGE = re.compile(r'  (?P<source>n\d+) (?:-->|-\.->)\|"(?P<kind>[a-z -]+)"\| (?P<target>n\d+)')
_MERMAID_STYLE = re.compile(r"  classDef [a-z]+ [a-z0-9#:,-]+")
_MERMAID_TEXT = re.compile(r"(?:[A-Za-z0-9 _./:?=,@+-]|#\d+;|<br>)*")


def mermaid_read(lines: list[str]) -> tuple[dict[str, str], list[tuple[str, str, str]]]:
    """Labels and edges of a flowchart, by a grammar that knows no more than what is written here."""
    first, *rest = lines
    assert first == "flowchart LR"
    nodes, edges = {}, []
    for line in rest:
        if node := _MERMAID_NODE.fullmatch(line):
            text = next(each for each in (node["data"], node["run"], node["other"]) if each is not None)
            assert _MERMAID_TEXT.fullmatch(text), text
            nodes[node["id"]] = re.sub(r"#(\d+);", lambda found: chr(int(found[1])), text)
        elif edge := _MERMAID_EDGE.fullmatch(line):
            edges.append((edge["source"], edge["kind"], edge["target"]))
        else:
            assert _MERMAID_STYLE.fullmatch(line), line
    return nodes, edges


_DOT_TEXT = r'"((?:[^"\\\n]|\\[\\"n])*)"'
_DOT_NODE = re.compile(rf"  (n\d+) \[shape=[a-z]+, label={_DOT_TEXT}(?:, [a-z]+=[a-z]+)*\];")
_DOT_EDGE = re.compile(rf"  (n\d+) -> (n\d+) \[label={_DOT_TEXT}(?:, [a-z]+=[a-z]+)*\];")


def dot_read(lines: list[str]) -> tuple[dict[str, str], list[tuple[str, str, str]]]:
    """Labels and edges of a digraph; entities of HTML are read as Graphviz does."""
    assert (lines[:2], lines[-1]) == (["digraph lineage {", "  rankdir=LR;"], "}")
    nodes, edges = {}, []
    for line in lines[2:-1]:
        if node := _DOT_NODE.fullmatch(line):
            nodes[node[1]] = unescape(re.sub(r"\\(.)", lambda found: "\n" if found[1] == "n" else found[1], node[2]))
        else:
            edge = _DOT_EDGE.fullmatch(line)
            assert edge, line
            edges.append((edge[1], edge[3], edge[2]))
    return nodes, edges


@pytest.mark.parametrize("names", [HOSTILE, ["feed", "end"]], ids=["hostile", "plain"])
def test_any_name_is_read_back_from_mermaid_dot_and_json(names: list[str]) -> None:
    of = graph(*names)
    assert mermaid_read(list(mermaid_lines(of))) == (labels(of), ends(of))
    assert dot_read(list(dot_lines(of))) == (labels(of), ends(of))
    document = json.loads(json_text(lineage_document(of, [f"feed:{names[0]}"])))
    assert faults(document, DocumentName.LINEAGE, "graph", strict=True) == []
    assert [each["name"] for each in document["nodes"]] == [each.name for each in of.vertices.values()]
    assert [(each["source"], each["kind"], each["target"]) for each in document["edges"]] == [
        (each.source, each.kind, each.target) for each in of.edges
    ]


def test_any_name_keeps_to_its_line_of_the_tree() -> None:
    of = graph(*HOSTILE)
    lines = [on_one_line(line) for line in tree_lines(of, [f"feed:{HOSTILE[0]}"])]
    assert lines[:3] == [f"feed {HOSTILE[0]}", f"  has owner {HOSTILE[0]}", "downstream"]
    assert len(lines) == len(HOSTILE) + 2
    assert all(line.isprintable() for line in lines)


def test_a_flowchart_of_long_names_stays_below_the_limit_of_mermaid() -> None:
    of = graph(*(f"{at}\n" * 5_000 for at in range(20)))
    assert sum(map(len, mermaid_lines(of))) < 50_000


def diamond() -> LineageGraph:
    """A -> p -> b and c -> q -> d, and a cycle from d to p."""
    names = {"a": VertexKind.FEED, "b": VertexKind.FEED, "c": VertexKind.FEED, "d": VertexKind.FEED}
    vertices = {
        name: vertex(kind, name) for name, kind in {**names, "p": VertexKind.PROCESS, "q": VertexKind.PROCESS}.items()
    }
    pairs = ["ap", "pb", "pc", "bq", "cq", "qd", "dp"]
    edges = [
        LineageEdge(
            source=vertices[each[0]].vertex_id,
            target=vertices[each[1]].vertex_id,
            kind=EdgeKind.PRODUCES if each[0] in "pq" else EdgeKind.CONSUMES,
        )
        for each in pairs
    ]
    return LineageGraph.of(vertices.values(), edges)


def test_the_tree_marks_what_it_has_shown_before() -> None:
    assert list(tree_lines(diamond(), ["feed:b"])) == [
        "feed b",
        "upstream",
        "  <- written by process p",
        "    <- reads feed a",
        "    <- reads feed d",
        "      <- written by process q",
        "        <- reads feed b (see above)",
        "        <- reads feed c",
        "          <- written by process p (see above)",
        "downstream",
        "  -> read by process q",
        "    -> writes feed d",
        "      -> read by process p",
        "        -> writes feed b (see above)",
        "        -> writes feed c",
        "          -> read by process q (see above)",
    ]


def test_the_tree_says_where_it_was_cut() -> None:
    of = LineageGraph.of(diamond().vertices.values(), diamond().edges[:2], ["process:p"])
    assert list(tree_lines(of, ["feed:a"]))[-1] == "  -> read by process p (cut: more than the limit)"


def test_a_chain_of_any_length_is_a_tree() -> None:
    of = graph(*map(str, range(3_000)))
    assert len(list(tree_lines(of, ["feed:0"]))) == 3_002


def test_without_a_start_the_edges_that_leave_each_vertex_are_listed() -> None:
    assert list(tree_lines(diamond(), []))[:4] == [
        "feed a",
        "  read by process p",
        "feed b",
        "  read by process q",
    ]


def test_only_the_start_is_drawn_with_what_describes_it() -> None:
    drawn = without_details(graph("a", "b", "c"), ["feed:a"])
    assert list(drawn.vertices) == ["feed:a", "feed:c", "owner:a", "process:b"]


def test_changes_are_signed_in_text_and_marked_in_drawings() -> None:
    added = vertex(VertexKind.PROCESS, "new", change="added")
    old, gone = vertex(VertexKind.FEED, "old"), vertex(VertexKind.FEED, "gone", change="cut")
    facts = {"inputs": "x", "change": "added"}
    edge = LineageEdge(source=old.vertex_id, target=added.vertex_id, kind=EdgeKind.CONSUMES, facts=facts)
    of = LineageGraph.of([added, old, gone], [edge])
    assert list(difference_lines(of)) == [
        "- feed gone",
        "+ process new",
        "+ feed old read by process new (inputs: x)",
    ]
    drawn = list(mermaid_lines(of))
    assert drawn[1:5] == [
        '  n1["feed gone"]:::cut',
        '  n2["feed old"]',
        '  n3(["process new"]):::added',
        '  n2 -->|"added consumes"| n3',
    ]
    assert mermaid_read(drawn)[0] == labels(of)
    assert "color=green" in "".join(dot_lines(of))


@pytest.mark.extended
def test_mermaid_itself_reads_every_name() -> None:
    """A strict grammar of ours may be as wrong as what it checks: the parser that draws the page reads it too."""
    root = Path(__file__).parents[3]
    place = subprocess.run([root / ".ci/site/node-modules"], capture_output=True, text=True, check=False)
    bundle = Path(place.stdout.strip(), "@mermaid-js/tiny/dist/mermaid.tiny.js")
    if place.returncode or not bundle.is_file():
        if os.environ.get("CI"):
            pytest.fail(f"no Mermaid: {place.stderr}")
        pytest.skip("no Mermaid: .ci/site/node-modules gets it")
    node = subprocess.run([root / ".ci/toolchain", "node"], capture_output=True, text=True, check=True).stdout.strip()
    of = graph(*HOSTILE)
    ran = subprocess.run(
        [node, Path(__file__).with_name("mermaid_labels.mjs"), bundle],
        input="".join(f"{line}\n" for line in mermaid_lines(of)),
        capture_output=True,
        text=True,
        check=True,
    )
    read = json.loads(ran.stdout)
    assert {key: text.strip() for key, text in read["vertices"]} == {k: v.strip() for k, v in labels(of).items()}
    assert [tuple(each) for each in read["edges"]] == ends(of)


@given(st.lists(st.text(st.characters(), max_size=30), min_size=1, max_size=4, unique=True))
@settings(deadline=None)
def test_no_name_can_be_found_that_a_drawing_does_not_keep(names: list[str]) -> None:
    of = graph(*names)
    assert mermaid_read(list(mermaid_lines(of))) == (labels(of), ends(of))
    assert dot_read(list(dot_lines(of))) == (labels(of), ends(of))

"""Walks along a lineage graph."""

from __future__ import annotations

from toolkit.lineage.graph import EdgeKind, LineageEdge, LineageGraph, Vertex, VertexKind


def graph(*edges: tuple[str, str, EdgeKind]) -> LineageGraph:
    names = {name for source, target, _ in edges for name in (source, target)}
    return LineageGraph.of(
        (Vertex(vertex_id=each, kind=VertexKind.FEED, name=each) for each in names),
        (LineageEdge(source=source, target=target, kind=kind) for source, target, kind in edges),
    )


CHAIN = graph(
    ("a", "b", EdgeKind.CONSUMES),
    ("b", "c", EdgeKind.PRODUCES),
    ("c", "d", EdgeKind.CONSUMES),
    ("c", "me", EdgeKind.OWNED_BY),
    ("a", "me", EdgeKind.OWNED_BY),
)


def test_up_and_down_follow_the_flow_alone() -> None:
    assert [*CHAIN.around(["c"], down=False).vertices] == ["a", "b", "c", "me"]
    assert [*CHAIN.around(["c"], up=False).vertices] == ["c", "d", "me"]
    assert [*CHAIN.around(["d"], up=False).vertices] == ["d"]


def test_depth_counts_edges() -> None:
    assert [*CHAIN.around(["d"], depth=1).vertices] == ["c", "d", "me"]


def test_a_limit_says_where_it_stopped() -> None:
    cut = CHAIN.around(["d"], limit=2)
    assert [*cut.vertices] == ["c", "d", "me"]
    assert cut.cut_at == ("c",)
    assert CHAIN.around(["d"]).cut_at == ()


def test_an_edge_without_an_end_is_left_out_and_a_double_one_is_one() -> None:
    edge = LineageEdge(source="a", target="b", kind=EdgeKind.CONSUMES)
    known = [Vertex(vertex_id=each, kind=VertexKind.FEED, name=each) for each in "ab"]
    assert LineageGraph.of(known, [edge, edge, LineageEdge(source="a", target="z", kind=EdgeKind.CONSUMES)]).edges == (
        edge,
    )

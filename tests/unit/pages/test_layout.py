"""The layered layout: nothing overlaps, data flows to the right, and lines keep clear of boxes."""

import random
import time
from itertools import combinations

from hypothesis import given
from hypothesis import strategies as st

from toolkit.pages.layout import Box, Layout, layered

NAMES = [f"v{number}" for number in range(14)]
ENDS = st.sampled_from(NAMES)
EDGES = st.lists(st.tuples(ENDS, ENDS), max_size=40)


def sizes(names: list[str]) -> dict[str, tuple[float, float]]:
    return {name: (60.0 + 7 * (len(name) + number % 5), 30.0 + 18 * (number % 3)) for number, name in enumerate(names)}


def overlap(one: Box, other: Box) -> bool:
    beside = one.x + one.width <= other.x or other.x + other.width <= one.x
    return not beside and one.y + one.height > other.y + 0.01 and other.y + other.height > one.y + 0.01


@given(EDGES)
def test_each_vertex_has_a_place_of_its_own_within_the_drawing(edges: list[tuple[str, str]]) -> None:
    layout = layered(sizes(NAMES), edges)
    assert layout.boxes.keys() == set(NAMES)
    assert {name: (box.width, box.height) for name, box in layout.boxes.items()} == sizes(NAMES)
    assert not [pair for pair in combinations(layout.boxes.values(), 2) if overlap(*pair)]
    for box in layout.boxes.values():
        assert box.x >= -0.01
        assert box.y >= -0.01
        assert box.x + box.width <= layout.width + 0.01
        assert box.y + box.height <= layout.height + 0.01


@given(EDGES)
def test_data_flows_to_the_right_where_there_is_no_cycle(edges: list[tuple[str, str]]) -> None:
    acyclic = [(min(pair, key=NAMES.index), max(pair, key=NAMES.index)) for pair in edges if pair[0] != pair[1]]
    boxes = layered(sizes(NAMES), acyclic).boxes
    assert all(boxes[source].x + boxes[source].width < boxes[target].x for source, target in acyclic)


@given(EDGES)
def test_a_long_line_crosses_each_rank_between_the_boxes(edges: list[tuple[str, str]]) -> None:
    layout = layered(sizes(NAMES), edges)
    for (source, target), points in layout.bends.items():
        onward = layout.boxes[source].x < layout.boxes[target].x
        assert [x for x, _ in points] == sorted((x for x, _ in points), reverse=not onward)
        for (left, y), (right, same) in zip(points[::2], points[1::2], strict=True):
            level = Box(min(left, right), y, abs(right - left), 0.0)
            assert y == same
            assert not [box for box in layout.boxes.values() if overlap(box, level)]


@given(EDGES, st.randoms())
def test_the_same_graph_in_another_order_has_the_same_layout(
    edges: list[tuple[str, str]], chance: random.Random
) -> None:
    mixed, names = [*edges, *edges[:3]], [*NAMES]
    chance.shuffle(mixed)
    chance.shuffle(names)
    known = sizes(NAMES)
    assert layered({name: known[name] for name in names}, mixed) == layered(known, edges)


def crossings(layout: Layout, edges: list[tuple[str, str]]) -> int:
    lines = [(layout.boxes[source].y, layout.boxes[target].y) for source, target in edges]
    return sum((a - c) * (b - d) < 0 for (a, b), (c, d) in combinations(lines, 2))


def test_chains_that_are_named_against_each_other_do_not_cross() -> None:
    edges = [(f"a{number}", f"b{7 - number}") for number in range(8)]
    starts = [("start", f"a{number}") for number in range(8)]
    layout = layered({name: (80.0, 30.0) for edge in [*edges, *starts] for name in edge}, [*starts, *edges])
    assert crossings(layout, edges) == 0


def test_a_vertex_stands_at_the_middle_of_what_it_leads_to() -> None:
    boxes = layered(dict.fromkeys("abcd", (80.0, 30.0)), [("a", "b"), ("a", "c"), ("a", "d")]).boxes
    assert abs(boxes["a"].y - sorted(box.y for box in boxes.values())[2]) < 1


def test_a_late_source_stands_beside_the_vertex_that_reads_it() -> None:
    boxes = layered(dict.fromkeys("abcdz", (80.0, 30.0)), [*zip("abc", "bcd", strict=True), ("z", "d")]).boxes
    assert boxes["z"].x == boxes["c"].x


def test_unconnected_vertices_fill_an_area_and_not_a_column() -> None:
    layout = layered({f"v{number}": (80.0, 30.0) for number in range(400)}, [])
    assert 0.5 < layout.width / layout.height < 4


def test_a_thousand_vertices_take_seconds_and_no_minutes() -> None:
    chance, names = random.Random(3), [f"v{number}" for number in range(1000)]  # noqa: S311 - a graph, no secret
    edges = [(name, names[min(999, number + chance.randint(1, 30))]) for number, name in enumerate(names)] * 2
    edges += [(chance.choice(names), chance.choice(names)) for _ in range(500)]
    before = time.process_time()
    layout = layered(dict.fromkeys(names, (150.0, 29.0)), edges)
    assert time.process_time() - before < 10
    assert len(layout.boxes) == 1000

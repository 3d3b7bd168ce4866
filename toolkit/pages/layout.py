"""Layered layout of a directed graph: data flows from left to right, in ranks, with few crossings and short lines.

It follows Sugiyama: cycles are broken, ranks are longest paths, each rank is ordered by the barycentre of its
neighbours, and heights are a least-squares fit that keeps the order. The same graph gets the same layout.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from math import sqrt
from typing import NamedTuple, TypeAlias

_GAP_X, _GAP_Y = 56.0, 14.0
"""Between two ranks, and between two boxes of one."""
_SWEEPS = 5
_MOST_BENDS = 20_000
"""With more, lines are drawn straight through the ranks between their ends."""
_STIFFNESS = 4.0
"""Weight of a bend against that of a box: a long line is straight."""
_SHAPE = 1.6
"""Width of the drawing by its height, where many unconnected parts leave a choice."""

Edge: TypeAlias = tuple[str, str]
_Node: TypeAlias = str | tuple[str, str, int]
"""A box, or the bend of a line in one of the ranks that it crosses."""
_Near: TypeAlias = Mapping[_Node, Sequence[_Node]]


class Box(NamedTuple):
    """Place of a vertex, by its upper left corner."""

    x: float
    y: float
    width: float
    height: float


@dataclass(kw_only=True, slots=True)
class Layout:
    """Places of the vertices of a graph.

    Attributes:
        width: of all.
        height: of all.
        boxes: by vertex.
        bends: points that the line of a long edge passes, from its source to its target; two in each rank.
    """

    width: float = 0.0
    height: float = 0.0
    boxes: dict[str, Box] = field(default_factory=dict)
    bends: dict[Edge, list[tuple[float, float]]] = field(default_factory=dict)


def layered(sizes: Mapping[str, tuple[float, float]], edges: Iterable[Edge]) -> Layout:
    """Return a layout of all vertices; unconnected parts stand beside and below each other, the tallest first.

    Args:
        sizes: width and height of each vertex.
        edges: from source to target; cycles, loops and duplicates are allowed.
    """
    parts = [_connected_layout(sizes, names, own) for names, own in _connected(sizes, edges)]
    parts.sort(key=lambda each: (-each.height, -each.width, min(each.boxes)))
    area = sum((each.width + _GAP_X) * (each.height + _GAP_Y) for each in parts)
    limit = max([sqrt(area * _SHAPE), *(each.width for each in parts)])
    whole, x, y = Layout(), 0.0, 0.0
    for part in parts:
        if x + part.width > limit:
            x, y = 0.0, whole.height + _GAP_Y
        whole.boxes |= {name: Box(box.x + x, box.y + y, box.width, box.height) for name, box in part.boxes.items()}
        whole.bends |= {edge: [(px + x, py + y) for px, py in points] for edge, points in part.bends.items()}
        whole.width, whole.height = max(whole.width, x + part.width), max(whole.height, y + part.height)
        x += part.width + _GAP_X
    return whole


def _connected(names: Iterable[str], edges: Iterable[Edge]) -> Iterator[tuple[list[str], list[Edge]]]:
    """Yield the vertices of each connected part, sorted, and its edges without loops."""
    part = {name: [name] for name in sorted(names)}
    pairs = sorted({(source, target) for source, target in edges if source != target})
    for source, target in pairs:
        small, large = sorted((part[source], part[target]), key=len)
        if small is not large:
            large += small
            part.update(dict.fromkeys(small, large))
    own: dict[int, list[Edge]] = defaultdict(list)
    for edge in pairs:
        own[id(part[edge[0]])].append(edge)
    for key, members in {id(each): each for each in part.values()}.items():
        yield sorted(members), own[key]


def _connected_layout(sizes: Mapping[str, tuple[float, float]], names: Sequence[str], edges: Sequence[Edge]) -> Layout:
    rank, forward = _ranks(names, edges)
    layers: list[list[_Node]] = [[] for _ in range(max(rank.values()) + 1)]
    for name in names:
        layers[rank[name]].append(name)
    chains = _chains(forward, rank, layers)
    height = {node: sizes[node][1] if isinstance(node, str) else 0.0 for layer in layers for node in layer}
    centre = _centres(layers, chains.values(), height)
    part, sides = Layout(), list[tuple[float, float]]()
    top = min(centre[node] - height[node] / 2 for node in centre)
    part.height = max(centre[node] + height[node] / 2 for node in centre) - top
    for layer in layers:
        x = part.width + (_GAP_X if sides else 0.0)
        for node in layer:
            if isinstance(node, str):
                part.boxes[node] = Box(x, centre[node] - height[node] / 2 - top, *sizes[node])
        part.width = x + max([sizes[node][0] for node in layer if isinstance(node, str)])
        sides.append((x, part.width))
    for source, target in edges:
        bends = [
            node for node in chains.get((source, target), chains.get((target, source), ())) if isinstance(node, tuple)
        ]
        points = [(x, centre[node] - top) for node in bends for x in sides[node[2]]]
        if points:
            part.bends[source, target] = points if (source, target) in chains else points[::-1]
    return part


def _ranks(names: Sequence[str], edges: Sequence[Edge]) -> tuple[dict[str, int], list[Edge]]:
    """Return the length of the longest path to each vertex, and the edges; those that close a cycle are turned round.

    A vertex that nothing leads to has the rank before the nearest vertex that it leads to.
    """
    following: dict[str, list[str]] = defaultdict(list)
    for source, target in edges:
        following[source].append(target)
    place = {name: number for number, name in enumerate(_flow_order(names, following))}
    forward = sorted({(a, b) if place[a] < place[b] else (b, a) for a, b in edges}, key=lambda each: place[each[0]])
    rank, first = dict.fromkeys(names, 0), dict[str, int]()
    for source, target in forward:
        rank[target] = max(rank[target], rank[source] + 1)
    for source, target in forward:
        first[source] = min(first.get(source, rank[target]), rank[target])
    for name in first.keys() - {target for _, target in forward}:
        rank[name] = first[name] - 1
    return rank, forward


def _flow_order(names: Sequence[str], following: Mapping[str, Sequence[str]]) -> list[str]:
    """Return the vertices so that edges lead onward, but for those that close a cycle: a reversed post-order."""
    entered = {target for targets in following.values() for target in targets}
    done: dict[str, None] = {}
    seen: set[str] = set()
    for start in sorted(names, key=lambda each: (each in entered, each)):
        path = [] if start in seen else [(start, iter(following.get(start, ())))]
        seen.add(start)
        while path:
            here, rest = path[-1]
            there = next((each for each in rest if each not in seen), None)
            if there is None:
                done[here] = None
                path.pop()
            else:
                seen.add(there)
                path.append((there, iter(following.get(there, ()))))
    return [*reversed(done)]


def _chains(edges: Sequence[Edge], rank: Mapping[str, int], layers: list[list[_Node]]) -> dict[Edge, list[_Node]]:
    """Return the nodes of each line, and add its bends to the ranks that it crosses."""
    bent = sum(rank[target] - rank[source] - 1 for source, target in edges) <= _MOST_BENDS
    chains: dict[Edge, list[_Node]] = {}
    for source, target in edges:
        crossed = range(rank[source] + 1, rank[target]) if bent else ()
        for number in crossed:
            layers[number].append((source, target, number))
        chains[source, target] = [source, *((source, target, number) for number in crossed), target]
    return chains


def _centres(
    layers: Sequence[list[_Node]], chains: Iterable[Sequence[_Node]], height: Mapping[_Node, float]
) -> dict[_Node, float]:
    """Sort each rank; return the centre of each node, as near to its neighbours as the order of its rank allows."""
    before: dict[_Node, list[_Node]] = defaultdict(list)
    after: dict[_Node, list[_Node]] = defaultdict(list)
    for chain in chains:
        for left, right in pairwise(chain):
            after[left].append(right)
            before[right].append(left)
    sweeps = [(before, layer) for layer in layers] + [(after, layer) for layer in reversed(layers)]
    place = {node: float(number) for layer in layers for number, node in enumerate(layer)}
    for near, layer in sweeps * _SWEEPS:
        wanted = dict(zip(layer, _wanted(layer, near, place), strict=True))
        layer.sort(key=wanted.__getitem__)
        place.update((node, float(number)) for number, node in enumerate(layer))
    centre: dict[_Node, float] = dict.fromkeys(place, 0.0)
    for near, layer in sweeps * _SWEEPS:
        centre.update(zip(layer, _spread(_wanted(layer, near, centre), layer, height), strict=True))
    return centre


def _wanted(layer: Sequence[_Node], near: _Near, place: Mapping[_Node, float]) -> list[float]:
    """Return the mean place of the neighbours of each node, or its own if it has none."""
    around = ([place[each] for each in near.get(node, (node,))] for node in layer)
    return [sum(each) / len(each) for each in around]


def _spread(wanted: Sequence[float], layer: Sequence[_Node], height: Mapping[_Node, float]) -> list[float]:
    """Return the centres nearest to the wanted ones (least squares) that keep order and distance: pooled violators."""
    offsets = [0.0]
    for left, right in pairwise(layer):
        offsets.append(offsets[-1] + (height[left] + height[right]) / 2 + _GAP_Y)
    pools: list[tuple[float, float, int]] = []
    for node, value, offset in zip(layer, wanted, offsets, strict=True):
        mean, weight, count = value - offset, 1.0 if isinstance(node, str) else _STIFFNESS, 1
        while pools and pools[-1][0] >= mean:
            other, other_weight, other_count = pools.pop()
            mean = (mean * weight + other * other_weight) / (weight + other_weight)
            weight, count = weight + other_weight, count + other_count
        pools.append((mean, weight, count))
    means = [mean for mean, _, count in pools for _ in range(count)]
    return [mean + offset for mean, offset in zip(means, offsets, strict=True)]

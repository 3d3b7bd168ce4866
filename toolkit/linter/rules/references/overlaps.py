"""Sites that have names in common, or lie in one another, found in one walk over a tree of names."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from itertools import islice

from toolkit.el.segment import Segment
from toolkit.el.tokens import Token
from toolkit.entities import Repository
from toolkit.linter.meeting import can_meet
from toolkit.linter.once import once
from toolkit.linter.rules.references.sites import Site, sites

_ENOUGH = 3
"""So many others are named for one site; a glob at the top of a file system would meet them all."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Overlaps:
    """What was found about one site.

    Attributes:
        same: others, before it in the order of sites, that can have one and the same name as it.
        around: others that its names lie below.
    """

    site: Site
    same: tuple[Site, ...]
    around: tuple[Site, ...]


@dataclass(slots=True)
class _Node:
    """A place in the tree of names; literal names are found by their text, patterns one by one."""

    literals: dict[str, _Node] = field(default_factory=dict)
    patterns: dict[tuple[Token, ...], tuple[Segment, _Node]] = field(default_factory=dict)
    here: list[tuple[int, Site]] = field(default_factory=list)

    def child(self, segment: Segment) -> _Node:
        if segment.literal is not None:
            if segment.literal not in self.literals:
                self.literals[segment.literal] = _Node()
            return self.literals[segment.literal]
        if segment.tokens not in self.patterns:
            self.patterns[segment.tokens] = (segment, _Node())
        return self.patterns[segment.tokens][1]

    def met_by(self, segment: Segment) -> Iterator[_Node]:
        if segment.literal is None:
            yield from (node for name, node in self.literals.items() if segment.match(name) is not None)
        elif segment.literal in self.literals:
            yield self.literals[segment.literal]
        yield from (node for pattern, node in self.patterns.values() if can_meet(pattern, segment))


@once
def overlaps(repository: Repository) -> tuple[Overlaps, ...]:
    """The sites that have something in common with another one, in the order of sites."""
    stores: dict[tuple[str, ...], list[tuple[int, Site]]] = {}
    for order, site in enumerate(sites(repository)):
        stores.setdefault(site.store, []).append((order, site))
    found = (each for members in stores.values() for each in _in_store(members) if len(members) > 1)
    return tuple(each for _, each in sorted(found, key=lambda pair: pair[0]))


def _in_store(members: list[tuple[int, Site]]) -> Iterator[tuple[int, Overlaps]]:
    keys = tuple(sorted({key for _, site in members for key in site.keys}))
    root = _Node()
    for order, site in members:
        node = root
        for segment in site.by_keys(keys):
            node = node.child(segment)
        node.here.append((order, site))
    for order, site in members:
        found = _found(root, order, site, site.by_keys(keys))
        if found.same or found.around:
            yield order, found


def _found(root: _Node, order: int, site: Site, names: tuple[Segment, ...]) -> Overlaps:
    frontier, around = [root], list[Site]()
    for segment in names:
        around.extend(islice(_others(frontier, site), _ENOUGH))
        frontier = [child for node in frontier for child in node.met_by(segment)]
    same = (other for node in frontier for place, other in node.here if place < order)
    return Overlaps(site=site, same=tuple(islice(same, _ENOUGH)), around=tuple(around[:_ENOUGH]))


def _others(nodes: Iterable[_Node], site: Site) -> Iterator[Site]:
    return (other for node in nodes for _, other in node.here if other.feed is not site.feed)

"""Locations of feeds that can have names in common or contain each other."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import islice

from toolkit.el.fields import Field
from toolkit.el.matching import choices
from toolkit.el.segment import Segment
from toolkit.el.tokens import DateField, Glob, Literal, Token, Variable, glob_regex
from toolkit.entities import Repository
from toolkit.linter.locations import FeedLocation, feed_locations
from toolkit.linter.rule import remembered

Piece = frozenset[str]
"""The characters that one place of a name may have; empty: any."""

Transition = tuple[Piece | None, int]
"""From a place to a later one, or to itself, by one character; None: by no character."""

_ANY: Piece = frozenset()
_DIGITS = frozenset("0123456789")
_DATES: dict[Field, tuple[Piece, ...]] = {
    Field.YEAR: (_DIGITS,) * 4,
    Field.MONTH: (frozenset("01"), _DIGITS),
    Field.DAY: (frozenset("0123"), _DIGITS),
    Field.HOUR: (frozenset("012"), _DIGITS),
    Field.MINUTE: (frozenset("012345"), _DIGITS),
}
_PRINTABLE = [chr(code) for code in range(33, 127)]
MOST_PAIRS = 4_000
"""So many pairs of places are looked at; names that have more (some 60 characters each) count as overlapping."""


def can_overlap(one: Segment, other: Segment) -> bool:
    """Return whether a name exists that conforms to both.

    Exact for names without repeated variables that are not very long; else it may say yes where no such name exists.
    """
    if one.literal is not None:
        return other.match(one.literal) is not None
    if other.literal is not None:
        return one.match(other.literal) is not None
    return _patterns_overlap(one.tokens, other.tokens)


@lru_cache(maxsize=4096)
def _patterns_overlap(one: tuple[Token, ...], other: tuple[Token, ...]) -> bool:
    return pairs_until_apart(_transitions(one), _transitions(other)) is None


def pairs_until_apart(one: Sequence[Sequence[Transition]], other: Sequence[Sequence[Transition]]) -> int | None:
    """Return the number of pairs of places that one text reaches until none reaches both ends; None: one may."""
    seen = {(0, 0)}
    pending = [(0, 0)]
    while pending:
        left, right = pending.pop()
        if (left, right) == (len(one) - 1, len(other) - 1) or len(seen) > MOST_PAIRS:
            return None
        for pair in _next_pairs(left, one[left], right, other[right]):
            if pair not in seen:
                seen.add(pair)
                pending.append(pair)
    return len(seen)


def _next_pairs(
    left: int, one: Sequence[Transition], right: int, other: Sequence[Transition]
) -> Iterator[tuple[int, int]]:
    yield from ((place, right) for piece, place in one if piece is None)
    yield from ((left, place) for piece, place in other if piece is None)
    for piece, place in one:
        yield from ((place, its) for its_piece, its in other if _share(piece, its_piece))


def _share(one: Piece | None, other: Piece | None) -> bool:
    return one is not None and other is not None and (not one or not other or not one.isdisjoint(other))


@lru_cache(maxsize=4096)
def _transitions(tokens: tuple[Token, ...]) -> list[list[Transition]]:
    """For each place in a name the transitions on from it; the last place is the end."""
    transitions: list[list[Transition]] = [[]]
    for token in tokens:
        texts = choices(token)
        if texts is not None:
            _add_choices(transitions, texts)
        elif token == Glob("*"):
            transitions[-1].append((_ANY, len(transitions) - 1))
        elif isinstance(token, Variable):
            _add(transitions, (_ANY,))
            transitions[-1].append((_ANY, len(transitions) - 1))
        else:
            _add(transitions, _pieces(token))
    return transitions


def _add(transitions: list[list[Transition]], pieces: Sequence[Piece]) -> None:
    for piece in pieces:
        transitions[-1].append((piece, len(transitions)))
        transitions.append([])


def _add_choices(transitions: list[list[Transition]], texts: Sequence[str]) -> None:
    """Each text is a branch of its own; they all end at one place, and the name goes on from there."""
    start, ends = len(transitions) - 1, []
    for text in texts:
        transitions[start].append((None, len(transitions)))
        transitions.append([])
        _add(transitions, [frozenset(character) for character in text])
        ends.append(len(transitions) - 1)
    for end in ends:
        transitions[end].append((None, len(transitions)))
    transitions.append([])


def _pieces(token: Token) -> Sequence[Piece]:
    if isinstance(token, Literal):
        return [frozenset(character) for character in token.text]
    if isinstance(token, DateField):
        return _DATES[token.field]
    if isinstance(token, Glob) and token.text != "?":
        listed = re.compile(glob_regex(token.text))
        return (frozenset(character for character in _PRINTABLE if listed.fullmatch(character)),)
    return (_ANY,)


_ENOUGH = 3
"""So many others are named for one location; a glob at the top of a file system would meet them all."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Overlaps:
    """Overlaps of one location with others.

    Attributes:
        same: others, before it in the order of locations, that can have one and the same name as it.
        around: others that its names lie below.
    """

    location: FeedLocation
    same: tuple[FeedLocation, ...]
    around: tuple[FeedLocation, ...]


@dataclass(slots=True)
class _Node:
    """A place in the tree of names; literal names are found by their text, patterns one by one."""

    literals: dict[str, _Node] = field(default_factory=dict)
    patterns: dict[tuple[Token, ...], tuple[Segment, _Node]] = field(default_factory=dict)
    here: list[tuple[int, FeedLocation]] = field(default_factory=list)

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
        yield from (node for pattern, node in self.patterns.values() if can_overlap(pattern, segment))


@remembered
def overlaps(repository: Repository) -> tuple[Overlaps, ...]:
    """The locations that have something in common with another one, in the order of locations."""
    stores: dict[tuple[str, ...], list[tuple[int, FeedLocation]]] = {}
    for order, location in enumerate(feed_locations(repository)):
        stores.setdefault(location.store, []).append((order, location))
    found = (each for members in stores.values() for each in _in_store(members) if len(members) > 1)
    return tuple(each for _, each in sorted(found, key=lambda pair: pair[0]))


def _in_store(members: list[tuple[int, FeedLocation]]) -> Iterator[tuple[int, Overlaps]]:
    keys = tuple(sorted({key for _, location in members for key in location.keys}))
    root = _Node()
    for order, location in members:
        node = root
        for segment in location.by_keys(keys):
            node = node.child(segment)
        node.here.append((order, location))
    for order, location in members:
        found = _found(root, order, location, location.by_keys(keys))
        if found.same or found.around:
            yield order, found


def _found(root: _Node, order: int, location: FeedLocation, names: tuple[Segment, ...]) -> Overlaps:
    frontier, around = [root], list[FeedLocation]()
    for segment in names:
        around.extend(islice(_others(frontier, location), _ENOUGH))
        frontier = [child for node in frontier for child in node.met_by(segment)]
    same = (other for node in frontier for place, other in node.here if place < order)
    return Overlaps(location=location, same=tuple(islice(same, _ENOUGH)), around=tuple(around[:_ENOUGH]))


def _others(nodes: Iterable[_Node], location: FeedLocation) -> Iterator[FeedLocation]:
    return (other for node in nodes for _, other in node.here if other.feed is not location.feed)

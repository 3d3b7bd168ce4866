"""Whether two names of templates can be one and the same name."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import lru_cache

from toolkit.el.fields import Field
from toolkit.el.matching import choices
from toolkit.el.segment import Segment
from toolkit.el.tokens import DateField, Glob, Literal, Token, Variable, glob_regex

Piece = frozenset[str]
"""The characters that one place of a name may have; empty: any."""

Way = tuple[Piece | None, int]
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
"""So many pairs of places are looked at; names that have more (some 60 characters each) count as meeting."""


def can_meet(one: Segment, other: Segment) -> bool:
    """Whether a name exists that conforms to both.

    Exact for names without repeated variables that are not very long; else it may say yes where no such name exists.
    """
    if one.literal is not None:
        return other.match(one.literal) is not None
    if other.literal is not None:
        return one.match(other.literal) is not None
    return _patterns_meet(one.tokens, other.tokens)


@lru_cache(maxsize=4096)
def _patterns_meet(one: tuple[Token, ...], other: tuple[Token, ...]) -> bool:
    return meeting_pairs(_ways(one), _ways(other)) is None


def meeting_pairs(one: Sequence[Sequence[Way]], other: Sequence[Sequence[Way]]) -> int | None:
    """How many pairs of places one text reaches before it is clear that none reaches both ends; None: one may."""
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


def _next_pairs(left: int, one: Sequence[Way], right: int, other: Sequence[Way]) -> Iterator[tuple[int, int]]:
    yield from ((place, right) for piece, place in one if piece is None)
    yield from ((left, place) for piece, place in other if piece is None)
    for piece, place in one:
        yield from ((place, its) for its_piece, its in other if _share(piece, its_piece))


def _share(one: Piece | None, other: Piece | None) -> bool:
    return one is not None and other is not None and (not one or not other or not one.isdisjoint(other))


@lru_cache(maxsize=4096)
def _ways(tokens: tuple[Token, ...]) -> list[list[Way]]:
    """For each place in a name the ways on from it; the last place is the end."""
    ways: list[list[Way]] = [[]]
    for token in tokens:
        texts = choices(token)
        if texts is not None:
            _add_choices(ways, texts)
        elif token == Glob("*"):
            ways[-1].append((_ANY, len(ways) - 1))
        elif isinstance(token, Variable):
            _add(ways, (_ANY,))
            ways[-1].append((_ANY, len(ways) - 1))
        else:
            _add(ways, _pieces(token))
    return ways


def _add(ways: list[list[Way]], pieces: Sequence[Piece]) -> None:
    for piece in pieces:
        ways[-1].append((piece, len(ways)))
        ways.append([])


def _add_choices(ways: list[list[Way]], texts: Sequence[str]) -> None:
    """Each text is a branch of its own; they all end at one place, and the name goes on from there."""
    start, ends = len(ways) - 1, []
    for text in texts:
        ways[start].append((None, len(ways)))
        ways.append([])
        _add(ways, [frozenset(character) for character in text])
        ends.append(len(ways) - 1)
    for end in ends:
        ways[end].append((None, len(ways)))
    ways.append([])


def _pieces(token: Token) -> Sequence[Piece]:
    if isinstance(token, Literal):
        return [frozenset(character) for character in token.text]
    if isinstance(token, DateField):
        return _DATES[token.field]
    if isinstance(token, Glob) and token.text != "?":
        listed = re.compile(glob_regex(token.text))
        return (frozenset(character for character in _PRINTABLE if listed.fullmatch(character)),)
    return (_ANY,)

"""Whether two names of templates can be one and the same name."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache
from itertools import islice, product

from toolkit.el.fields import Field
from toolkit.el.segment import Segment
from toolkit.el.tokens import DateField, Glob, Literal, Token, Variable, glob_regex

_ANY_TEXT = None
"""Any number of any characters."""

Piece = frozenset[str] | None
"""The characters that one place of a name may have; empty: any; None: any text."""

_ANY_CHARACTER: frozenset[str] = frozenset()
_DIGITS = frozenset("0123456789")
_DATES: dict[Field, tuple[Piece, ...]] = {
    Field.YEAR: (_DIGITS,) * 4,
    Field.MONTH: (frozenset("01"), _DIGITS),
    Field.DAY: (frozenset("0123"), _DIGITS),
    Field.HOUR: (frozenset("012"), _DIGITS),
    Field.MINUTE: (frozenset("012345"), _DIGITS),
}
_PRINTABLE = [chr(code) for code in range(33, 127)]
_MOST = 64
"""So many choices of ``{a,b}`` in one name are told apart; what follows them is any text."""


def can_meet(one: Segment, other: Segment) -> bool:
    """Whether a name exists that conforms to both.

    Exact for names without choices and repeated variables; else it may say yes where no such name exists.
    """
    if one.literal is not None:
        return other.match(one.literal) is not None
    if other.literal is not None:
        return one.match(other.literal) is not None
    return _patterns_meet(one.tokens, other.tokens)


@lru_cache(maxsize=4096)
def _patterns_meet(one: tuple[Token, ...], other: tuple[Token, ...]) -> bool:
    return any(_meet(left, right) for left in _forms(one) for right in _forms(other))


@lru_cache(maxsize=4096)
def _forms(tokens: tuple[Token, ...]) -> tuple[tuple[Piece, ...], ...]:
    """The name as pieces, once for each combination of its choices."""
    combinations = list(islice(product(*(list(_choices(token)) for token in tokens)), _MOST + 1))
    if len(combinations) > _MOST:
        return ((_ANY_TEXT,),)
    return tuple(tuple(piece for pieces in each for piece in pieces) for each in combinations)


def _choices(token: Token) -> Iterator[tuple[Piece, ...]]:
    if isinstance(token, Literal):
        yield tuple(frozenset(character) for character in token.text)
    elif isinstance(token, DateField):
        yield _DATES[token.field]
    elif isinstance(token, Variable):
        yield _ANY_CHARACTER, _ANY_TEXT
    else:
        yield from _glob_choices(token)


def _glob_choices(glob: Glob) -> Iterator[tuple[Piece, ...]]:
    if glob.text == "*":
        yield (_ANY_TEXT,)
    elif glob.text == "?":
        yield (_ANY_CHARACTER,)
    elif glob.text.startswith("{"):
        for choice in glob.text[1:-1].split(","):
            yield tuple(frozenset(character) for character in choice)
    else:
        listed = re.compile(glob_regex(glob.text))
        yield (frozenset(character for character in _PRINTABLE if listed.fullmatch(character)),)


def _meet(one: tuple[Piece, ...], other: tuple[Piece, ...]) -> bool:
    """Whether a text exists that both describe: the places in `other` that a prefix of `one` can have reached."""
    reached = _past_any({0}, other)
    for piece in one:
        reached = _past_any(_advanced(reached, piece, other), other)
    return len(other) in reached


def _advanced(reached: set[int], piece: Piece, other: tuple[Piece, ...]) -> set[int]:
    if piece is _ANY_TEXT:
        return set(range(min(reached, default=len(other) + 1), len(other) + 1))
    stays = {place for place in reached if place < len(other) and other[place] is _ANY_TEXT}
    steps = {place + 1 for place in reached if place < len(other) and _share(piece, other[place])}
    return stays | steps


def _past_any(reached: set[int], other: tuple[Piece, ...]) -> set[int]:
    """Any text may be no text."""
    further = set(reached)
    for place in sorted(reached):
        here = place
        while here < len(other) and other[here] is _ANY_TEXT:
            here += 1
            further.add(here)
    return further


def _share(one: frozenset[str], other: Piece) -> bool:
    return other is not _ANY_TEXT and (not one or not other or not one.isdisjoint(other))

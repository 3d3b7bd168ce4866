"""The one place that matches names: whether a name is what the parts of a template say, in time linear in its length.

Templates come from pull requests and names from writers of data, so no name may make matching
slow. A regular expression goes back and tries again wherever a part may end at several places: with one such part that
is linear, with two it is not any more. So a name has at most one.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from functools import lru_cache
from itertools import islice, pairwise
from typing import TypeAlias

from toolkit.el.fields import REGEX, Field
from toolkit.el.tokens import DateField, Glob, Literal, Token, Variable, glob_regex

Texts: TypeAlias = Sequence[str]
"""Texts of a name in the places of its date fields and user variables, in their order."""

Reader: TypeAlias = Callable[[str], Texts | None]
"""From a name to its texts; None when it does not conform."""

_CACHED = 4096


@lru_cache(maxsize=_CACHED)
def reader(tokens: tuple[Token, ...]) -> Reader:
    """Return the reader of a template's names.

    Args:
        tokens: the parts, of which `second_open` finds none.

    Raises:
        re.error: a malformed set of characters.
    """
    fullmatch = regex_of(tokens).fullmatch

    def read(name: str) -> Texts | None:
        match = fullmatch(name)
        return None if match is None else match.groups()

    return read


@lru_cache(maxsize=_CACHED)
def regex_of(tokens: tuple[Token, ...]) -> re.Pattern[str]:
    """The regular expression of parts of which at most one may end at several places; feeds share most of them."""
    seen: dict[Field | str, int] = {}
    pieces: list[str] = []
    groups = 0
    for token in tokens:
        key = key_of(token)
        groups += key is not None
        if key is None:
            pieces.append(_piece(token))
        elif key in seen:
            pieces.append(f"((?:\\{seen[key]}))")
        else:
            seen[key] = groups
            pieces.append(f"({_piece(token)})")
    return re.compile("".join(pieces), re.DOTALL)


def second_open(tokens: Sequence[Token]) -> Token | None:
    """Return the second part that may end at several places of a name; None when there is one at most."""
    return next(islice(filter(_is_open, tokens), 1, None), None)


def key_of(token: Token) -> Field | str | None:
    """Return the date field or variable that a part stands for; None: the part is a literal."""
    if isinstance(token, DateField):
        return token.field
    return token.name if isinstance(token, Variable) else None


def _piece(token: Token) -> str:
    """The regular expression of one part."""
    if isinstance(token, Literal):
        return re.escape(token.text)
    if isinstance(token, Glob):
        return glob_regex(token.text)
    return REGEX[token.field] if isinstance(token, DateField) else "[^/]+"


def choices(token: Token) -> tuple[str, ...] | None:
    """The different texts of ``{one,other}``, in their order; None for any other part."""
    if not isinstance(token, Glob) or not token.text.startswith("{"):
        return None
    return tuple(dict.fromkeys(token.text[1:-1].split(",")))


def _is_open(token: Token) -> bool:
    """Return whether a part that begins at one place of a name can end at several."""
    texts = choices(token)
    if texts is None:
        return isinstance(token, Variable) or (isinstance(token, Glob) and token.text == "*")
    ordered = sorted(texts)  # a text stands right before one that goes on from it, or another such one does
    return any(longer.startswith(text) for text, longer in pairwise(ordered))

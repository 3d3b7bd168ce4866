"""The parts of a path template or partition value: literals, date fields, user variables and globs."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from toolkit.el.errors import ElError
from toolkit.el.fields import Field

_PIECE = re.compile(
    r"(?P<reference>\$\{(?P<name>[^{}]*)\})|(?P<star>\*+)|(?P<one>\?)"
    r"|(?P<set>\[[^\[\]/]+\])|(?P<choice>\{[^{}/]+\})|(?P<odd>[$\[\]{}])|(?P<literal>[^$\[\]{}*?]+)",
    re.DOTALL,
)
_VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_.-]*")
_KNOWN = ", ".join(f"${{{name}}}" for name in Field)

_YEARS = frozenset({"yy", "yyyy"})
"""The year of Java's and Oozie's patterns; taken for a variable it would have no value and mean any name."""


@dataclass(frozen=True, slots=True)
class Literal:
    """Text that stands for itself."""

    text: str


@dataclass(frozen=True, slots=True)
class DateField:
    """A date field such as ``${YEAR}``."""

    field: Field


@dataclass(frozen=True, slots=True)
class Variable:
    """A user variable such as ``${region}``, with its 0-based position in the whole text."""

    name: str
    position: int


@dataclass(frozen=True, slots=True)
class Glob:
    """A glob within one name: ``*``, ``?``, ``[ab]``, ``[!ab]`` or ``{a,b}``."""

    text: str


Token = Literal | DateField | Variable | Glob


def tokenize(text: str, *, whole: str | None = None, offset: int = 0) -> Iterator[Token]:
    """Split a name's template into its parts.

    Args:
        text: one name (between two slashes) or one partition value.
        whole: the text that errors quote, by default `text` itself.
        offset: where `text` begins in `whole`.

    Raises:
        ElError: an unknown or malformed part, with its position in `whole`.
    """
    whole = text if whole is None else whole
    for match in _PIECE.finditer(text):
        yield _token(match, whole, offset + match.start())


def _token(match: re.Match[str], whole: str, position: int) -> Token:
    piece = match.group()
    if match["literal"]:
        return Literal(piece)
    if match["reference"]:
        return _reference(match["name"], whole, position)
    if match["odd"] or piece.startswith("**"):
        expected = (
            "one * for any text within a name" if piece.startswith("*") else "${NAME}, [characters] or {one,other}"
        )
        raise ElError(text=whole, position=position, found=piece, expected=expected)
    return Glob(piece)


def _reference(name: str, whole: str, position: int) -> Token:
    if name in Field.__members__:
        return DateField(Field(name))
    if name.upper() in Field.__members__:
        raise ElError(text=whole, position=position, found=f"${{{name}}}", expected=f"${{{name.upper()}}}")
    if name.casefold() in _YEARS:
        raise ElError(text=whole, position=position, found=f"${{{name}}}", expected="${YEAR}")
    if not _VARIABLE.fullmatch(name):
        expected = f"{_KNOWN} or a variable's name (a letter, then letters, digits, '_', '.', '-')"
        raise ElError(text=whole, position=position, found=f"${{{name}}}", expected=expected)
    return Variable(name, position)


def glob_regex(text: str) -> str:
    """The regular expression of one glob; none of them crosses a slash."""
    if text == "*":
        return "[^/]*"
    if text == "?":
        return "[^/]"
    if text.startswith("{"):
        return "(?:" + "|".join(re.escape(choice) for choice in text[1:-1].split(",")) + ")"
    negated, characters = text[1] in "!^", text[1:-1].lstrip("!^")
    listed = re.sub(r"[\\&~|]", lambda found: "\\" + found.group(), characters)
    return f"[^{listed}/]" if negated else f"[{listed}]"

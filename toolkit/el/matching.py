"""The one place that matches names: whether a name is what the parts of a template say, in time linear in its length.

Templates come from whoever may open a pull request and names from whoever may write data, so no name may make matching
slow. A regular expression goes back and tries again wherever a part may end at several places: with one such part that
is linear, with two it is not any more. Names with two or more are read from their end instead, as sets of places.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from functools import lru_cache
from itertools import pairwise
from typing import TypeAlias

from toolkit.el.fields import REGEX, Field
from toolkit.el.tokens import DateField, Glob, Literal, Token, Variable, glob_regex

Texts: TypeAlias = Sequence[str]
"""What a name has in the places of its date fields and user variables, in their order."""

Reader: TypeAlias = Callable[[str], Texts | None]
"""From a name to its texts; None when it does not conform."""

_CACHED = 4096
_FEW = 2
_SHORT = 64
"""Two parts that may end anywhere in a name of so many characters end at two thousand pairs of places."""


@lru_cache(maxsize=_CACHED)
def reader(tokens: tuple[Token, ...]) -> Reader:
    """Return the reader of a template's names; of several correct readings, the leftmost part gets the longest text.

    Args:
        tokens: the parts, of which `unreadable` refuses none.

    Raises:
        re.error: a malformed set of characters.
    """
    if any(isinstance(token, Variable) for token in _repeated(tokens)):
        return _Evenly(tokens)
    return _by_regex(tokens) if sum(map(_branches, tokens)) <= 1 else Backwards(tokens)


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


def unreadable(tokens: Sequence[Token]) -> DateField | Variable | None:
    """A repeated part that cannot be compared in linear time, since other parts leave open where it stands."""
    for token in _repeated(tokens):
        others = [each for each in tokens if each != token and key_of(each) != key_of(token)]
        if isinstance(token, Variable) and any(_width(each) is None for each in others):
            return token
        if isinstance(token, DateField) and sum(map(_branches, others)) > 1:
            return token
    return None


def key_of(token: Token) -> Field | str | None:
    """Return the date field or variable that a part stands for; None: the part is a literal."""
    if isinstance(token, DateField):
        return token.field
    return token.name if isinstance(token, Variable) else None


def _repeated(tokens: Sequence[Token]) -> Iterator[DateField | Variable]:
    """The second and later ones of the same fields and variables."""
    seen = Counter[Field | str | None]()
    for token in tokens:
        if isinstance(token, DateField | Variable):
            seen[key_of(token)] += 1
            if seen[key_of(token)] > 1:
                yield token


def _by_regex(tokens: tuple[Token, ...]) -> Reader:
    fullmatch = regex_of(tokens).fullmatch

    def read(name: str) -> Texts | None:
        match = fullmatch(name)
        return None if match is None else match.groups()

    return read


def _piece(token: Token) -> str:
    """The regular expression of one part."""
    if isinstance(token, Literal):
        return re.escape(token.text)
    if isinstance(token, Glob):
        return glob_regex(token.text)
    return REGEX[token.field] if isinstance(token, DateField) else "[^/]+"


def _is_open(token: Token) -> bool:
    return isinstance(token, Variable) or (isinstance(token, Glob) and token.text == "*")


def choices(token: Token) -> tuple[str, ...] | None:
    """The different texts of ``{one,other}``, in their order; None for any other part."""
    if not isinstance(token, Glob) or not token.text.startswith("{"):
        return None
    return tuple(dict.fromkeys(token.text[1:-1].split(",")))


def _branches(token: Token) -> bool:
    """Whether a part that begins at some place of a name may end at several."""
    texts = choices(token)
    if texts is None:
        return _is_open(token)
    ordered = sorted(texts)  # a text stands right before one that goes on from it, or another such one does
    return any(longer.startswith(text) for text, longer in pairwise(ordered))


def _width(token: Token) -> int | None:
    """How many characters a part always has; None where that differs."""
    if isinstance(token, Literal):
        return len(token.text)
    if isinstance(token, DateField):
        return 4 if token.field is Field.YEAR else 2
    texts = choices(token)
    if texts is None:
        return None if _is_open(token) else 1
    return len(texts[0]) if len({len(text) for text in texts}) == 1 else None


class _Evenly:
    """Reads names in which one variable stands several times, among parts of known widths: each has its share."""

    def __init__(self, tokens: tuple[Token, ...]) -> None:
        self._parts = [(key_of(each), _width(each), re.compile(_piece(each), re.DOTALL)) for each in tokens]
        self._times = sum(width is None for _, width, _ in self._parts)
        self._fixed = sum(width or 0 for _, width, _ in self._parts)

    def __call__(self, name: str) -> Texts | None:
        share, rest = divmod(len(name) - self._fixed, self._times)
        if rest or share < 1:
            return None
        texts: list[str] = []
        known: dict[Field | str, str] = {}
        at = 0
        for key, width, piece in self._parts:
            end = at + (share if width is None else width)
            text = name[at:end]
            if not piece.fullmatch(text) or (key is not None and known.setdefault(key, text) != text):
                return None
            if key is not None:
                texts.append(text)
            at = end
        return texts


class Backwards:
    """Reads names with several parts that may end at several places.

    From the end of the name on, each part gets the places at which it may begin so that all behind it conforms: at
    most as many as the name is long. Then the name is read from its beginning, and never has to go back.

    With two such parts a short name is read by a regular expression: it is faster, and its steps are few.
    """

    def __init__(self, tokens: tuple[Token, ...]) -> None:
        self._parts = tuple(_parts(tokens))
        self._if_short = _by_regex(tokens) if sum(map(_branches, tokens)) == _FEW else None

    def __call__(self, name: str) -> Texts | None:
        """Return the texts of a name's parts; None: the name does not conform."""
        if self._if_short is not None and len(name) <= _SHORT:
            return self._if_short(name)
        return self.from_its_end(name)

    def from_its_end(self, name: str) -> Texts | None:
        """Return the texts of a name of any length; None: the name does not conform."""
        ends = self.places(name)
        if not ends:
            return None
        texts: list[str] = []
        at = 0
        for part, reached in zip(self._parts, reversed(ends), strict=True):
            at = part.read(name, at, reached, texts)
        return texts

    def places(self, name: str) -> list[Sequence[int]]:
        """Where each part may end, the last part first; nothing when the name does not conform."""
        found: list[Sequence[int]] = []
        places: Sequence[int] = (len(name),)
        for part in reversed(self._parts):
            found.append(places)
            places = part.starts(name, places)
            if not places:
                return []
        return found if places[0] == 0 else []


def _parts(tokens: Sequence[Token]) -> Iterator[_Fixed | _Open | _Choice]:
    """The tokens, those of known widths that stand together as one part."""
    together: list[Token] = []
    for token in tokens:
        if _width(token) is not None:
            together.append(token)
            continue
        if together:
            yield _Fixed(tuple(together))
            together = []
        yield _Open(is_variable=isinstance(token, Variable)) if _is_open(token) else _Choice(choices(token) or ())
    if together:
        yield _Fixed(tuple(together))


class _Fixed:
    """Parts of known widths."""

    def __init__(self, tokens: tuple[Token, ...]) -> None:
        self._width = sum(_width(token) or 0 for token in tokens)
        self._match = regex_of(tokens).match
        self._wherever = re.compile(f"(?={regex_of(tokens).pattern})", re.DOTALL)

    def starts(self, name: str, ends: Sequence[int]) -> Sequence[int]:
        width = self._width
        first = max(ends[0] - width, 0)
        if isinstance(ends, range):
            return [found.start() for found in self._wherever.finditer(name, first, max(ends[-1], 0))]
        return [end - width for end in ends if end >= width and self._match(name, end - width)]

    def read(self, name: str, at: int, _ends: Sequence[int], texts: list[str]) -> int:
        found = self._match(name, at)
        texts.extend(found.groups() if found else ())
        return at + self._width


class _Open:
    """A variable or ``*``: any text without a slash."""

    def __init__(self, *, is_variable: bool) -> None:
        self._is_variable = is_variable
        self._least = 1 if is_variable else 0

    def starts(self, name: str, ends: Sequence[int]) -> Sequence[int]:
        if "/" not in name:
            return range(ends[-1] - self._least + 1)
        found: list[int] = []
        start = 0
        for piece in name.split("/"):
            last = bisect_right(ends, start + len(piece)) - 1
            if last >= 0:
                found.extend(range(start, ends[last] - self._least + 1))
            start += len(piece) + 1
        return found

    def read(self, name: str, at: int, ends: Sequence[int], texts: list[str]) -> int:
        slash = name.find("/", at)
        end = ends[bisect_right(ends, len(name) if slash < 0 else slash) - 1]
        if self._is_variable:
            texts.append(name[at:end])
        return end


class _Choice:
    """One of some texts of different lengths."""

    def __init__(self, choices: tuple[str, ...]) -> None:
        self._choices = choices

    def starts(self, name: str, ends: Sequence[int]) -> Sequence[int]:
        found = {
            end - len(each)
            for each in self._choices
            for end in ends
            if end >= len(each) and name.startswith(each, end - len(each))
        }
        return sorted(found)

    def read(self, name: str, at: int, ends: Sequence[int], _texts: list[str]) -> int:
        fitting = (at + len(each) for each in self._choices if name.startswith(each, at) and at + len(each) in ends)
        return next(fitting)

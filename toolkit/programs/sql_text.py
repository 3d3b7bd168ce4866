"""A script of SQL with places for properties: each text stays within its place, whatever is in it.

Where `${name}` stands says what the text becomes: part of a string between single or double quotes, part of a name
between backticks; elsewhere one number or name, or a filter of partitions as feedctl itself makes them. In comments it
stays as it is. The tokens are those of Spark's lexer.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

from toolkit.errors import InvalidInput
from toolkit.planning.script_references import PLACES_IN, sql_tokens
from toolkit.programs.substitution import UnknownProperty

_WHOLE = {
    "block": re.compile(r"/\*(?s:.)*\*/"),
    "raw": re.compile(r"""[rR](?:'[^']*'|"[^"]*")"""),
    "single": re.compile(r"'(?:[^'\\]|\\(?s:.))*'"),
    "double": re.compile(r'"(?:[^"\\]|\\(?s:.))*"'),
    "name": re.compile(r"`(?:[^`]|``)*`"),
    "dollar": re.compile(r"(\$[A-Za-z]*\$)(?s:.)*\1"),
}
_JOINS = re.compile(r"\w*(?:['\"]|://)")
"""Behind a bare place: its text would be the beginning of a raw string or of an address, and change what follows."""
_NUMBER = re.compile(r"[0-9]+(?:\.[0-9]+)?(?:[eE][0-9]+)?")
_SIGNED = re.compile(r"[+-]" + _NUMBER.pattern)
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*(?:\.[A-Za-z_][A-Za-z0-9_]*)*")
_EQUALS = r"[A-Za-z_][A-Za-z0-9_]*='[^'\\]*'"
_ALL_OF = rf"\({_EQUALS}(?: (?i:and) {_EQUALS})*\)"
_FILTER = re.compile(rf"{_ALL_OF}(?: (?i:or) {_ALL_OF})*")
_FILTER_PROPERTY = re.compile(r"falcon_.*_partition_filter_(?:hive|java)")


class UnusableSql(InvalidInput):
    """A script that is not understood, or in which a property has no place; `line` counts from one."""

    def __init__(self, *, line: int, problem: str) -> None:
        self.line = line
        super().__init__(f"line {line}: {problem}")


@dataclass(frozen=True, kw_only=True, slots=True)
class Statement:
    """A statement as Spark gets it.

    Attributes:
        number: of the statement in its script, from one.
        line: on which it begins, in the script.
        text: with the properties in their places.
        source: as the script has it.
    """

    number: int
    line: int
    text: str
    source: str = ""


def statements(script: str, properties: Mapping[str, str]) -> tuple[Statement, ...]:
    """The statements of a script; what stands behind a BEGIN that opens a statement is one with it, to the end.

    Raises:
        UnusableSql: a string, a name or a comment has no end, or a property does not fit into its place.
        UnknownProperty: a place names none.
    """
    return tuple(_Reader(script, properties).statements())


def without_texts(sql: str) -> str:
    """Return SQL whose texts and comments are left out: a password may be in them."""
    kept = {"comment": " ", "block": " ", **dict.fromkeys(("single", "double", "raw", "dollar"), "'?'")}
    return "".join(kept.get(kind, token[0]) for kind, token in sql_tokens(sql))


class _Reader:
    def __init__(self, script: str, properties: Mapping[str, str]) -> None:
        self._script, self._properties = script, properties
        self._parts: list[str] = []
        self._words: list[str] = []
        self._begin = self._end = self._count = 0

    def statements(self) -> Iterator[Statement]:
        for kind, token in sql_tokens(self._script):
            if kind == "end" and not self._is_compound():
                yield from self._finished()
            else:
                self._take(kind, token)
        yield from self._finished()

    def _take(self, kind: str, token: re.Match[str]) -> None:
        text = token[0]
        self._require_whole(kind, token)
        if kind not in {"comment", "block", "blank"}:
            if not self._words:
                self._begin = token.start()
            self._words.append(text)
            self._end = token.end()
        if kind == "place":
            text = self._bare(token)
        elif kind in {"single", "double", "name", "raw"}:
            text = self._within(kind, token)
        self._parts.append(text)

    def _is_compound(self) -> bool:
        """Return whether the statement is a BEGIN ... END of several, which may have a label."""
        first = [word.upper() for word in self._words[:3]]
        return first[:1] == ["BEGIN"] or (len(first) == 3 and first[1:] == [":", "BEGIN"])  # noqa: PLR2004 - a label

    def _finished(self) -> Iterator[Statement]:
        if self._words:
            self._count += 1
            yield Statement(
                number=self._count,
                line=self._line(self._begin),
                text="".join(self._parts).strip(),
                source=self._script[self._begin : self._end],
            )
        self._parts, self._words = [], []

    def _line(self, place: int) -> int:
        return self._script.count("\n", 0, place) + 1

    def _require_whole(self, kind: str, token: re.Match[str]) -> None:
        text, line = token[0], self._line(token.start())
        if kind == "block" and "/*" in text[2:]:
            raise UnusableSql(line=line, problem="found a comment within a comment, expected the end of the first")
        if kind in _WHOLE and not _WHOLE[kind].fullmatch(text):
            raise UnusableSql(line=line, problem=f"found no end of what begins with {text[:20]!r}")

    def _within(self, kind: str, token: re.Match[str]) -> str:
        encode = _ENCODED[kind]

        def text_of(found: re.Match[str]) -> str:
            if found[1] is None:
                return found[0]  # ``\${name}`` in a string is no place
            name, line = found[1], self._line(token.start() + found.start())
            problem, text = encode(self._text(name, line))
            if problem:
                raise UnusableSql(line=line, problem=f"the property {name} {problem}")
            return text

        return PLACES_IN[kind].sub(text_of, token[0])

    def _bare(self, token: re.Match[str]) -> str:
        name, line = token[0][2:-1], self._line(token.start())
        text = self._text(name, line)
        if _JOINS.match(self._script, token.end()):
            raise UnusableSql(line=line, problem=f"found a quote or :// right behind ${{{name}}}, expected a blank")
        if _NUMBER.fullmatch(text) or _NAME.fullmatch(text):
            return text
        if _SIGNED.fullmatch(text) or _FILTER.fullmatch(text):
            return f"({text})"  # two minus signs would begin a comment; and an OR bind less than what stands around it
        if not text and _FILTER_PROPERTY.fullmatch(name):
            return "(false)"  # an optional input that is missing has no rows
        found = "nothing" if not text else "a text that is neither one number nor one name"
        hint = f"put quotes around it for a text, '${{{name}}}', or backticks for a path or a name"
        raise UnusableSql(line=line, problem=f"the property {name} has {found}; {hint}")

    def _text(self, name: str, line: int) -> str:
        if name not in self._properties:
            raise UnknownProperty(name=name, where=f"line {line}", known=self._properties)
        text = self._properties[name]
        if not text.isascii() and any("\ud800" <= each <= "\udfff" for each in text):
            raise UnusableSql(line=line, problem=f"the property {name} has half a character")
        return text


def _string(text: str) -> tuple[str, str]:
    return "", re.sub(r"[\\'\"\0]", lambda found: r"\u0000" if found[0] == "\0" else "\\" + found[0], text)


def _raw(text: str) -> tuple[str, str]:
    problem = "has a quote or a zero, which a raw string cannot hold" if re.search("['\"\0]", text) else ""
    return problem, text


def _name(text: str) -> tuple[str, str]:
    problem = "is empty, which no name is" if not text else "has a zero, which no name has" if "\0" in text else ""
    return problem, text.replace("`", "``")


_ENCODED: Mapping[str, Callable[[str], tuple[str, str]]] = {
    "single": _string,
    "double": _string,
    "raw": _raw,
    "name": _name,
}
"""Form of a text in each kind of place, or a problem."""

"""Syntax errors of YAML in words: libyaml names its own state, a person needs the line and what to write there."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from toolkit.entities.value_hints import unquoted_hint


@dataclass(frozen=True, kw_only=True, slots=True)
class SyntaxProblem:
    """A syntax error of a file.

    Attributes:
        line: from 1 on; where to correct the file, which may be above the place where reading it stopped.
        column: from 1 on.
        message: what was found and what was expected.
        hint: what to do; may be empty.
    """

    line: int
    column: int
    message: str
    hint: str = ""


@dataclass(frozen=True, kw_only=True, slots=True)
class ParserError:
    """An error as libyaml reports it.

    Attributes:
        problem: its words.
        context: what it was reading; empty: nothing in particular.
        place: line and column of the problem, from 1 on.
        began: line and column of the beginning of what it was reading.
        lines: of the file.
    """

    problem: str
    context: str
    place: tuple[int, int]
    began: tuple[int, int]
    lines: tuple[str, ...]

    def line(self, number: int) -> str:
        """Return a line from 1 on; empty when there is none."""
        return self.lines[number - 1] if 0 < number <= len(self.lines) else ""

    @property
    def before(self) -> str:
        """The text before the problem on its line."""
        return self.line(self.place[0])[: self.place[1] - 1]

    @property
    def character(self) -> str:
        """The character at the problem; empty at the end of a line."""
        return self.line(self.place[0])[self.place[1] - 1 : self.place[1]]

    def above(self) -> str:
        """Return the nearest line above the problem that has content, without blanks around it."""
        texts = (self.line(number).strip() for number in range(self.place[0] - 1, 0, -1))
        return next((text for text in texts if text and not text.startswith("#")), "")

    def at_problem(self, message: str, hint: str = "") -> SyntaxProblem:
        """Return what is wrong where reading stopped."""
        return SyntaxProblem(line=self.place[0], column=self.place[1], message=message, hint=hint)

    def at_start(self, message: str, hint: str = "") -> SyntaxProblem:
        """Return what is wrong with the beginning of what was being read."""
        return SyntaxProblem(line=self.began[0], column=self.began[1], message=message, hint=hint)


def explained(error: ParserError) -> SyntaxProblem:
    """Return the error as a person would describe it; one that is not known keeps the parser's words."""
    explain = _EXPLANATIONS.get(error.problem)
    known = None if explain is None else explain(error)
    if known is not None:
        return known
    context = f"{error.context}: " if error.context else ""
    return error.at_problem(f"{context}{error.problem}", unquoted_hint(error.line(error.place[0])))


def _unexpected_key(error: ParserError) -> SyntaxProblem:
    """Explain what follows an entry of a mapping and is none: a line with another indentation, or more text."""
    if error.before.strip():
        hint = unquoted_hint(error.line(error.place[0])) or "put quotes around the whole value"
        return error.at_problem("found more text behind the end of a value", hint)
    return _other_indentation(error)


def _other_indentation(error: ParserError) -> SyntaxProblem:
    line, column = error.began
    what = "the list" if error.line(line)[column - 1 : column] == "-" else "the keys beside it"
    return error.at_problem(
        f"the line is indented by {_blanks(error.place[1] - 1)}, and {what} from line {line} on by {column - 1}",
        "indent it like the lines that it belongs to, or close a quote or bracket above it",
    )


def _blanks(count: int) -> str:
    return f"{count} blank{'' if count == 1 else 's'}"


def _not_first(error: ParserError) -> SyntaxProblem:
    number = next((at for at, text in enumerate(error.lines, start=1) if text.strip() and text.lstrip()[0] != "#"), 1)
    first = error.line(number)
    if not first.startswith((" ", "\t")):
        return error.at_problem("found more text behind the end of the document", "write all of it as KEY: VALUE")
    message = f"the first key is indented by {_blanks(len(first) - len(first.lstrip()))}, and a key below it by fewer"
    return SyntaxProblem(line=number, column=1, message=message, hint="begin the keys of a file without blanks")


_BARE_KEY = re.compile(r"\s*(?:- )?(?P<key>[a-z_]{1,40})(?:\s*[:=]|\s+[^\s#]).*")
"""A key and its value: a word that stands alone, or has digits in it, may be a secret below its key."""


def _without_colon(error: ParserError) -> SyntaxProblem:
    """Explain a line that was read as a key and has no colon: `frequency hours(1)`, `frequency:hours(1)`."""
    parts = _BARE_KEY.fullmatch(error.line(error.began[0]))
    key = "KEY" if parts is None else parts["key"]
    hint = f"write `{key}: ` and then the value"  # which is not repeated: it may be a secret
    return error.at_start("found no colon with a blank behind it, expected KEY: VALUE", hint)


def _unclosed(opening: str, closing: str) -> Callable[[ParserError], SyntaxProblem]:
    def explain(error: ParserError) -> SyntaxProblem:
        if error.place[0] == error.began[0] and error.character:
            found = f"found {error.character!r} between {opening} and {closing}, expected a comma or {closing}"
            hint = "put quotes around a value with any of , : # [ ] { } in it"
            return error.at_problem(found, unquoted_hint(error.line(error.place[0])) or hint)
        return error.at_start(f"the {opening} is not closed", f"write {closing} where it ends")

    return explain


def _open_quote(error: ParserError) -> SyntaxProblem:
    return error.at_start("the quote is not closed", "write the same quote behind the text")


def _second_colon(error: ParserError) -> SyntaxProblem:
    """Explain a colon with a blank where no key can be: in a value without quotes, or below a value."""
    key, colon, rest = error.before.lstrip(" -").partition(": ")
    if colon and rest.strip():
        found = "found a second colon with a blank behind it on the line"
        return error.at_problem(found, f'put quotes around the value: {key}: "..."')
    if re.match(r"-[^\s-]", error.above()):
        return error.at_problem("found a key below a line that is no list item", "put a blank behind the dash above")
    hint = "indent it like the key above; a key with keys below it has no value of its own"
    return error.at_problem("found a key below a key that has a value already", hint)


def _special_character(error: ParserError) -> SyntaxProblem:
    return error.at_problem(f"found {error.character!r}, which cannot begin a value without quotes", _QUOTES)


_QUOTES = "put quotes around the value"


def _alias(error: ParserError) -> SyntaxProblem:
    sign = error.line(error.began[0])[error.began[1] - 1 : error.began[1]]
    return error.at_start(f"found {sign!r}, which begins an alias or an anchor of YAML", _QUOTES)


def _undefined_alias(error: ParserError) -> SyntaxProblem:
    return error.at_problem("found '*' with a name, an alias of YAML without its anchor", _QUOTES)


def _escape(error: ParserError) -> SyntaxProblem:
    hint = "write paths with /, a backslash as \\\\, or use single quotes"
    return error.at_problem('found a backslash between double quotes that is no escape such as \\n or \\"', hint)


def _dash_behind(error: ParserError) -> SyntaxProblem:
    return error.at_problem(
        "found '-' behind a key on one line", "begin the list on the next line: each item with '- '"
    )


def _no_value(error: ParserError) -> SyntaxProblem:
    if not error.character and error.place[0] == len(error.lines):
        return error.at_problem("found the end of the file, expected a value", "close the [ or { that is open")
    found = repr(error.character) if error.character else "the end of the line"
    return error.at_problem(f"found {found}, expected a value", unquoted_hint(error.line(error.place[0])) or _QUOTES)


_EXPLANATIONS: Mapping[str, Callable[[ParserError], SyntaxProblem]] = {
    "did not find expected key": _unexpected_key,
    "did not find expected '-' indicator": _other_indentation,
    "did not find expected <document start>": _not_first,
    "could not find expected ':'": _without_colon,
    "did not find expected ',' or '}'": _unclosed("{", "}"),
    "did not find expected ',' or ']'": _unclosed("[", "]"),
    "found unexpected end of stream": _open_quote,
    "mapping values are not allowed in this context": _second_colon,
    "found character that cannot start any token": _special_character,
    "did not find expected alphabetic or numeric character": _alias,
    "found undefined alias": _undefined_alias,
    "found unknown escape character": _escape,
    "block sequence entries are not allowed in this context": _dash_behind,
    "did not find expected node content": _no_value,
}

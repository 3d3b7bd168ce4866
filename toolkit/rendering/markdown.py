"""Escaping of texts in markdown: nothing in them means anything to a renderer."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence

from toolkit.printable import on_one_line

_PLAIN = re.compile(r"[^A-Za-z0-9 ,.;:()/%'+=?>-]")
_BACKTICKS = re.compile("`+")
_WORD = re.compile(r"(?P<before>\(?)(?P<word>.*?)(?P<after>[,.;:]*)")


def escaped(text: str) -> str:
    """A text as prose on one line: every character that could be markup, a mention or mathematics is a reference."""
    return _PLAIN.sub(lambda found: f"&#{ord(found.group())};", on_one_line(" ".join(text.split())))


def prose(text: str, *, in_cell: bool = False) -> str:
    """A message as prose on one line: words that could be markup, as names and templates are, stand as code.

    Args:
        text: any text; who reads the markdown itself finds it as it is.
        in_cell: of a table.
    """
    words = (_prose_word(word) for word in on_one_line(" ".join(text.split())).split(" "))
    line = " ".join(words)
    return line.replace("|", r"\|") if in_cell else line


def _prose_word(word: str) -> str:
    parts = _WORD.fullmatch(word)
    if parts is None or not _PLAIN.search(word):
        return word
    before, inner, after = parts["before"], parts["word"], parts["after"]
    if inner.endswith(")") and inner.count(")") > inner.count("("):
        inner, after = inner[:-1], f"){after}"
    return f"{before}{_span(inner)}{after}"


def code(text: str, most: int = 160) -> str:
    """A text as code on one line, fit for a cell of a table; a long one is cut.

    Args:
        text: any text.
        most: characters that are shown.
    """
    line = on_one_line(" ".join(text.split()))
    line = line if len(line) <= most else line[: most - 1] + "\N{HORIZONTAL ELLIPSIS}"
    return _span(line).replace("|", r"\|") if line else ""


def _span(line: str) -> str:
    longest = max((len(run) for run in _BACKTICKS.findall(line)), default=0)
    fence = "`" * (longest + 1)
    padding = " " if line.startswith("`") or line.endswith("`") else ""
    return f"{fence}{padding}{line}{padding}{fence}"


def table(columns: Sequence[str], rows: Iterable[Sequence[str]]) -> Iterator[str]:
    """The lines of a table; the cells are markdown already."""
    yield f"| {' | '.join(columns)} |"
    yield f"|{'|'.join(' --- ' for _ in columns)}|"
    for row in rows:
        yield f"| {' | '.join(row)} |"


def details(summary: str, lines: Iterable[str]) -> Iterator[str]:
    """Lines that the reader unfolds."""
    yield "<details>"
    yield f"<summary>{escaped(summary)}</summary>"
    yield ""
    yield from lines
    yield ""
    yield "</details>"
    yield ""

"""Texts of others inside markdown: nothing in them means anything to whoever renders it."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence

from toolkit.printable import on_one_line

_PLAIN = re.compile(r"[^A-Za-z0-9 ,.;:()/%'+=?>-]")
_BACKTICKS = re.compile("`+")


def escaped(text: str) -> str:
    """A text as prose on one line: every character that could be markup, a mention or mathematics is a reference."""
    return _PLAIN.sub(lambda found: f"&#{ord(found.group())};", on_one_line(" ".join(text.split())))


def code(text: str, most: int = 160) -> str:
    """A text as code on one line, fit for a cell of a table; a long one is cut.

    Args:
        text: any text.
        most: characters that are shown.
    """
    line = on_one_line(" ".join(text.split()))
    line = line if len(line) <= most else line[: most - 1] + "\N{HORIZONTAL ELLIPSIS}"
    if not line:
        return ""
    longest = max((len(run) for run in _BACKTICKS.findall(line)), default=0)
    fence = "`" * (longest + 1)
    padding = " " if line.startswith("`") or line.endswith("`") else ""
    return f"{fence}{padding}{line}{padding}{fence}".replace("|", r"\|")


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

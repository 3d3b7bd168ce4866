"""Tables of text: rich on a terminal, aligned plain columns in a pipe or a log."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from importlib import import_module
from typing import TextIO, TypeAlias

from toolkit.printable import on_one_line

MOST_RICH = 300
"""A longer table is plain on a terminal too: rich takes 0.7 ms for a row, and nobody reads that much on one screen."""

NO_STYLES: Mapping[str, str] = {}

_Writer: TypeAlias = Callable[[Sequence[str], Iterable[Sequence[str]], TextIO, Mapping[str, str]], None]
_TERMINAL = "toolkit.rendering.terminal_table"
"""Loaded for a terminal alone: rich takes longer to load than most commands to answer."""


def write_table(
    columns: Sequence[str], rows: Iterable[Sequence[str]], stream: TextIO, styles: Mapping[str, str] = NO_STYLES
) -> None:
    """Write rows under their headings.

    Args:
        columns: the headings.
        rows: one text for each heading; what is not printable in it does not forge a line or move the cursor.
        stream: where to; a terminal gets a rich table, anything else columns that `awk` and `cut` can read.
        styles: of rich, for cells with just this text; on a terminal only.
    """
    lines = [[on_one_line(text) for text in row] for row in rows]
    if stream.isatty() and len(lines) <= MOST_RICH:
        write_rich: _Writer = import_module(_TERMINAL).write_rich
        write_rich(columns, lines, stream, styles)
    else:
        _write_plain(columns, lines, stream)


def _write_plain(columns: Sequence[str], rows: list[list[str]], stream: TextIO) -> None:
    lines = [[heading.upper() for heading in columns], *rows]
    widths = [max(len(line[at]) for line in lines) for at in range(len(columns))]
    stream.writelines(_aligned(line, widths) for line in lines)


def _aligned(line: Sequence[str], widths: Sequence[int]) -> str:
    return "  ".join(text.ljust(width) for text, width in zip(line, widths, strict=True)).rstrip() + "\n"

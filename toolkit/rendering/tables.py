"""Tables of text: rich on a terminal, aligned plain columns in a pipe or a log."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TextIO

from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.table import Table
from rich.text import Text

MOST_RICH = 300
"""A longer table is plain on a terminal too: rich takes 0.7 ms for a row, and nobody reads that much on one screen."""

NO_STYLES: Mapping[str, str] = {}


def write_table(
    columns: Sequence[str], rows: Iterable[Sequence[str]], stream: TextIO, styles: Mapping[str, str] = NO_STYLES
) -> None:
    """Write rows under their headings.

    Args:
        columns: the headings.
        rows: one text for each heading.
        stream: where to; a terminal gets a rich table, anything else columns that `awk` and `cut` can read.
        styles: of rich, for cells with just this text; on a terminal only.
    """
    lines = [list(row) for row in rows]
    if stream.isatty() and len(lines) <= MOST_RICH:
        _write_rich(columns, lines, stream, styles)
    else:
        _write_plain(columns, lines, stream)


def _write_rich(columns: Sequence[str], rows: list[list[str]], stream: TextIO, styles: Mapping[str, str]) -> None:
    table = Table(*columns, box=SIMPLE_HEAD, pad_edge=False)
    for row in rows:
        table.add_row(*(Text(text, style=styles.get(text, "")) for text in row))
    Console(file=stream).print(table)


def _write_plain(columns: Sequence[str], rows: list[list[str]], stream: TextIO) -> None:
    lines = [[heading.upper() for heading in columns], *rows]
    widths = [max(len(line[at]) for line in lines) for at in range(len(columns))]
    stream.writelines(_aligned(line, widths) for line in lines)


def _aligned(line: Sequence[str], widths: Sequence[int]) -> str:
    return "  ".join(text.ljust(width) for text, width in zip(line, widths, strict=True)).rstrip() + "\n"

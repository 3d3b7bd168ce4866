"""Tables of text: rich on a terminal, aligned plain columns in a pipe or a log."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TextIO

from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.table import Table


def write_table(columns: Sequence[str], rows: Iterable[Sequence[str]], stream: TextIO) -> None:
    """Write rows under their headings.

    Args:
        columns: the headings.
        rows: one text for each heading.
        stream: where to; a terminal gets a rich table, anything else columns that `awk` and `cut` can read.
    """
    if stream.isatty():
        _write_rich(columns, rows, stream)
    else:
        _write_plain(columns, [list(row) for row in rows], stream)


def _write_rich(columns: Sequence[str], rows: Iterable[Sequence[str]], stream: TextIO) -> None:
    table = Table(*columns, box=SIMPLE_HEAD, pad_edge=False)
    for row in rows:
        table.add_row(*(text.replace("[", r"\[") for text in row))
    Console(file=stream).print(table)


def _write_plain(columns: Sequence[str], rows: list[list[str]], stream: TextIO) -> None:
    lines = [[heading.upper() for heading in columns], *rows]
    widths = [max(len(line[at]) for line in lines) for at in range(len(columns))]
    stream.writelines(_aligned(line, widths) for line in lines)


def _aligned(line: Sequence[str], widths: Sequence[int]) -> str:
    return "  ".join(text.ljust(width) for text, width in zip(line, widths, strict=True)).rstrip() + "\n"

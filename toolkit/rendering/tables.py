"""Tables of text, and what stands in their cells: rich on a terminal, aligned plain columns in a pipe or a log."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from enum import StrEnum
from typing import TextIO

from toolkit.ledger.errors import moment
from toolkit.printable import on_one_line


class ResultFormat(StrEnum):
    """The values of `--output` of an action."""

    TEXT = "text"
    """Lines for people."""
    JSON = "json"
    """One document."""
    JSONL = "jsonl"
    """One line for each item, then one for the whole."""


NOTHING = "-"
"""Stands where there is nothing, so that columns can be counted."""

STATUS_STYLES: Mapping[str, str] = {
    "waiting": "dim",
    "ready": "cyan",
    "running": "cyan",
    "succeeded": "green",
    "failed": "bold red",
    "killed": "red",
    "timed_out": "red",
    "suspended": "yellow",
    "skipped": "yellow",
}
"""Styles of statuses, on a terminal."""


def cell(text: object) -> str:
    """A value; what is not printable in it must not forge a line or move the cursor."""
    return NOTHING if text is None or text == "" else on_one_line(str(text))


def moment_cell(instant: datetime | None) -> str:
    """A moment, to the second."""
    return NOTHING if instant is None else moment(instant)


def moment_value(instant: datetime | None) -> str | None:
    """A moment in a JSON document, to the second."""
    return None if instant is None else moment(instant)


MOST_RICH = 300
"""A longer table is plain on a terminal too: rich takes 0.7 ms for a row, and no user reads that much on one screen."""

NO_STYLES: Mapping[str, str] = {}


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
        _write_rich(columns, lines, stream, styles)
    else:
        _write_plain(columns, lines, stream)


def _write_plain(columns: Sequence[str], rows: list[list[str]], stream: TextIO) -> None:
    lines = [[heading.upper() for heading in columns], *rows]
    widths = [max(len(line[at]) for line in lines) for at in range(len(columns))]
    stream.writelines(_aligned(line, widths) for line in lines)


def _aligned(line: Sequence[str], widths: Sequence[int]) -> str:
    return "  ".join(text.ljust(width) for text, width in zip(line, widths, strict=True)).rstrip() + "\n"


def _write_rich(
    columns: Sequence[str], rows: Iterable[Sequence[str]], stream: TextIO, styles: Mapping[str, str]
) -> None:
    from rich.box import SIMPLE_HEAD
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    table = Table(box=SIMPLE_HEAD, pad_edge=False)
    for heading in columns:
        table.add_column(heading, overflow="fold")  # a path that was cut off is of no use
    for row in rows:
        table.add_row(*(Text(text, style=styles.get(text, "")) for text in row))
    Console(file=stream).print(table)

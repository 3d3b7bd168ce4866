"""Tables for a terminal, drawn by rich."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TextIO

from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.table import Table
from rich.text import Text


def write_rich(
    columns: Sequence[str], rows: Iterable[Sequence[str]], stream: TextIO, styles: Mapping[str, str]
) -> None:
    """See `toolkit.rendering.tables.write_table`."""
    table = Table(*columns, box=SIMPLE_HEAD, pad_edge=False)
    for row in rows:
        table.add_row(*(Text(text, style=styles.get(text, "")) for text in row))
    Console(file=stream).print(table)

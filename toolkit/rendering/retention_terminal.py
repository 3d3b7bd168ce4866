"""A retention result for people at a terminal, with a table; elsewhere rich need not be loaded."""

from __future__ import annotations

from io import StringIO
from typing import TYPE_CHECKING

from rich.console import Console
from rich.table import Table
from rich.text import Text

from toolkit.printable import on_one_line
from toolkit.rendering.retention_text import closing_line, feed_lines, title
from toolkit.result import Outcome

if TYPE_CHECKING:
    from toolkit.retention import RetentionResult

_STYLES = {Outcome.DONE: "green", Outcome.PLANNED: "cyan", Outcome.SKIPPED: "yellow", Outcome.FAILED: "bold red"}


def terminal_text(result: RetentionResult, width: int) -> str:
    """The result with a table, as coloured text for a terminal of that width."""
    console = Console(file=StringIO(), force_terminal=True, width=width, highlight=False)
    console.print(Text(on_one_line(title(result)), style="bold"))
    if result.items:
        console.print(_table(result))
    for feed in result.feeds:
        for line in feed_lines(feed):
            console.print(Text(on_one_line(line)))
    for note in result.notes:
        console.print(Text(f"note: {on_one_line(note)}"))
    console.print(Text(closing_line(result), style="bold"))
    written = console.file
    return written.getvalue() if isinstance(written, StringIO) else ""


def _table(result: RetentionResult) -> Table:
    table = Table(box=None, pad_edge=False)
    for heading in ("outcome", "feed", "cluster", "location", "instance", "path", "why"):
        table.add_column(heading, overflow="fold")
    for each in result.items:
        item = each.item
        cells = (item.feed, item.cluster, item.location.value, item.key or item.kind.value, str(item.path))
        why = " ".join(part for part in (each.code, each.message) if part)
        texts = (Text(on_one_line(text)) for text in (*cells, why))
        table.add_row(Text(each.outcome, style=_STYLES[each.outcome]), *texts)
    return table

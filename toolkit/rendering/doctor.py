"""Output of `feedctl doctor`."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import groupby
from typing import TYPE_CHECKING, TextIO

from toolkit.doctor.findings import CheckStatus, worst
from toolkit.rendering.tables import cell, write_table

if TYPE_CHECKING:
    from toolkit.doctor.findings import Checked

_STYLES: Mapping[str, str] = {
    CheckStatus.OK: "green",
    CheckStatus.WARNING: "yellow",
    CheckStatus.FAILED: "bold red",
    CheckStatus.SKIPPED: "dim",
}
_STATUS_WIDTH, _NAME_WIDTH = 9, 24


def write_findings(found: Sequence[Checked], stream: TextIO) -> None:
    """The form for people: a table, and how many checks ended how; on a terminal blocks that fit its width."""
    if stream.isatty():
        _write_blocks(found, stream)
    else:
        _write_rows(found, stream)
    counts = _counts(found)
    stream.write("\n" + ", ".join(f"{count} {status}" for status, count in counts.items() if count) + "\n")


def _write_blocks(found: Sequence[Checked], stream: TextIO) -> None:
    """A block for each thing that was looked at: findings are sentences, too wide for columns beside one another."""
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    console = Console(file=stream, highlight=False)
    for about, group in groupby(found, key=lambda each: each.about):
        console.print(Text(cell(about), style="bold"))
        block = Table.grid(padding=(0, 2, 0, 0))
        block.add_column(no_wrap=True, min_width=_STATUS_WIDTH)
        block.add_column(overflow="fold", max_width=_NAME_WIDTH)
        block.add_column(overflow="fold")
        for each in group:
            status = str(each.finding.status)
            todo = [f"to do: {cell(each.finding.todo)}"] if each.finding.todo else []
            text = "\n".join([cell(each.finding.found), *todo])
            block.add_row(Text(f"  {status}", style=_STYLES[status]), Text(_name(each)), Text(text))
        console.print(block)


def _write_rows(found: Sequence[Checked], stream: TextIO) -> None:
    rows = [
        (each.about, _name(each), str(each.finding.status), cell(each.finding.found), cell(each.finding.todo))
        for each in found
    ]
    write_table(("about", "check", "status", "found", "to do"), rows, stream)


def findings_document(found: Sequence[Checked]) -> dict[str, object]:
    """The JSON form."""
    return {
        "status": worst(found).value,
        "counts": _counts(found),
        "checks": [
            {
                "about": each.about,
                "check": each.name,
                "what": each.finding.what or None,
                "status": each.finding.status.value,
                "found": each.finding.found,
                "todo": each.finding.todo or None,
                "seconds": round(each.seconds, 3),
            }
            for each in found
        ],
    }


def _name(each: Checked) -> str:
    return cell(f"{each.name} {each.finding.what}".rstrip())


def _counts(found: Sequence[Checked]) -> dict[str, int]:
    counts = Counter(each.finding.status for each in found)
    return {status.value: counts[status] for status in CheckStatus}

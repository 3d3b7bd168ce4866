"""The options that several commands share, and how their results are printed."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from enum import StrEnum
from typing import Annotated

import typer

from toolkit.cli.completion import cluster_names
from toolkit.cli.streams import say


class OutputFormat(StrEnum):
    """Output format of a command."""

    TEXT = "text"
    """For people."""
    JSON = "json"
    """One document, with a schema version."""


ClusterName = Annotated[
    str | None, typer.Option("--cluster", metavar="NAME", autocompletion=cluster_names, help="Only this cluster.")
]
OutputAs = Annotated[OutputFormat, typer.Option("--output", help="The format of the result.")]


def json_text(document: Mapping[str, object]) -> str:
    """Return one JSON document as lines, with the version of its schema first."""
    from toolkit.result import SCHEMA_VERSION

    # Not json.dump: it writes each word by itself, which takes longer than all else for a long list.
    text = json.dumps({"schema_version": SCHEMA_VERSION, **document}, indent=2, ensure_ascii=False)
    return f"{text}\n"


def print_json(document: Mapping[str, object]) -> None:
    """Print one JSON document, with the version of its schema first."""
    sys.stdout.write(json_text(document))


def print_answer(output: OutputFormat, document: Mapping[str, object], *lines: str) -> None:
    """Print one JSON document, or lines that say the same."""
    from toolkit.printable import on_one_line

    if output is OutputFormat.JSON:
        print_json(document)
    else:
        for line in lines:
            print(on_one_line(line))


def print_rows(
    output: OutputFormat,
    document: Callable[[], Mapping[str, object]],
    columns: Sequence[str],
    rows: Iterable[Sequence[str]],
    styles: Mapping[str, str] | None = None,
    *,
    nothing: str,
) -> None:
    """Print what was found: its JSON document, or its rows as a table.

    Args:
        output: which of both.
        document: makes the document.
        columns: the headings of the table.
        rows: of the table; not looked at for the document.
        styles: as for `toolkit.rendering.tables.write_table`.
        nothing: what is said, on standard error, of a table without a row.
    """
    from toolkit.rendering.tables import write_table

    if output is OutputFormat.JSON:
        print_json(document())
    else:
        found = list(rows)
        write_table(columns, found, sys.stdout, styles or {})
        if not found:
            say(nothing)

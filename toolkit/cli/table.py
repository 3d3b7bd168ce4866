"""`feedctl table`: looking at tables of metastores."""

from __future__ import annotations

from typing import Annotated

import typer

from toolkit.cli.completion import cluster_names, entity_names
from toolkit.cli.flags import AnswerFlags, flat
from toolkit.cli.options import print_answer

app = typer.Typer(no_args_is_help=True, help="Compare tables of metastores.")


@app.callback()
def table() -> None:
    """Compare tables of metastores."""


@app.command()
@flat
def diff(
    *,
    feed: Annotated[str, typer.Argument(metavar="FEED", autocompletion=entity_names, help="A feed of a table.")],
    first: Annotated[
        str,
        typer.Option("--first", metavar="NAME", autocompletion=cluster_names, help="The cluster that has it first."),
    ],
    second: Annotated[
        str,
        typer.Option("--second", metavar="NAME", autocompletion=cluster_names, help="The cluster that has the copy."),
    ],
    metadata_only: Annotated[
        bool, typer.Option("--metadata-only", help="Compare what the metastores say alone; list no files.")
    ] = False,
    repo: AnswerFlags,
) -> int:
    """Compare a table on two clusters: partitions that are missing, too many or different; 4: something differs.

    Files are compared by names and sizes. 1: the state of a partition is unknown.
    """
    from toolkit.bootstrap.table_diff import DiffOptions, table_diff
    from toolkit.clock import SystemClock
    from toolkit.rendering.table_diff import diff_document, diff_exit, diff_lines
    from toolkit.runs.stop import NeverStopped

    request = DiffOptions(
        feed=feed,
        first=first,
        second=second,
        with_files=not metadata_only,
        repo=repo.request(),
    )
    found = table_diff(request, SystemClock(), NeverStopped())
    document = diff_document(feed, first, second, found)
    print_answer(repo.output, document, *diff_lines(feed, first, second, found))
    return diff_exit(found)

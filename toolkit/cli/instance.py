"""`feedctl instance`: the instances of feeds and processes."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from typing import TYPE_CHECKING, Annotated

import typer

from toolkit.cli.completion import entity_names
from toolkit.cli.options import ClusterName, ConfigRepo, Env, Output, OutputAs, print_json

if TYPE_CHECKING:
    from toolkit.planning.listing import ListedInstance

app = typer.Typer(no_args_is_help=True)


@app.callback()
def instance() -> None:
    """Look at the instances of feeds and processes."""


@app.command("list")
def list_instances(
    name: Annotated[str, typer.Argument(metavar="NAME", autocompletion=entity_names, help="A feed or a process.")],
    start: Annotated[
        str, typer.Option("--start", metavar="INSTANT", help="The first instant; without --end, this one alone.")
    ],
    end: Annotated[
        str | None, typer.Option("--end", metavar="INSTANT", help="The first instant that is left out.")
    ] = None,
    cluster: ClusterName = None,
    config_repo: ConfigRepo = None,
    env: Env = None,
    output: OutputAs = Output.TEXT,
) -> None:
    """List the instances of a feed or process in [start, end), with their paths or partitions."""
    from toolkit.bootstrap import load_repository
    from toolkit.el import parse_instant
    from toolkit.planning.listing import list_instances as listed
    from toolkit.rendering.tables import write_table

    until = None if end is None else parse_instant(end)
    rows = _rows(listed(load_repository(config_repo, env), name, parse_instant(start), until, cluster))
    columns = ("cluster", "instance", "what", "where")
    if output is Output.JSON:
        print_json({"name": name, "instances": [dict(zip(columns, row, strict=True)) for row in rows]})
    else:
        write_table(columns, rows, sys.stdout)


def _rows(instances: Iterator[ListedInstance]) -> Iterator[tuple[str, str, str, str]]:
    from toolkit.el import format_instant

    for each in instances:
        for place in each.places:
            yield each.cluster, format_instant(each.instant), place.role, place.place

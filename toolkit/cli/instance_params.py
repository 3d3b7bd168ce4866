"""`feedctl instance params`: what the workflow of an instance is told, without running it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from toolkit.cli.completion import entity_names
from toolkit.cli.flags import AnswerFlags, flat
from toolkit.cli.options import ClusterName, OutputFormat, print_rows
from toolkit.cli.streams import say

if TYPE_CHECKING:
    from toolkit.entities import Process

Name = Annotated[str, typer.Argument(metavar="PROCESS", autocompletion=entity_names, help="The name of the process.")]
Time = Annotated[str, typer.Option("--time", metavar="INSTANT", help="The nominal time of the instance.")]


@flat
def params(*, name: Name, time: Time, cluster: ClusterName = None, repo: AnswerFlags) -> None:
    """Show the properties that the workflow of an instance gets, as if all its inputs were available."""
    from toolkit.el import parse_instant
    from toolkit.management.locations import chosen_clusters
    from toolkit.planning.process_io import ProcessSite
    from toolkit.process_runner.resolution import resolve_instance
    from toolkit.rendering.instance_params import PARAMS_COLUMNS, params_document, params_rows

    nominal_time = parse_instant(time)
    repository = repo.entities()
    process = repository.process(name)
    sites = [
        ProcessSite(process=process, cluster=repository.cluster(each), feeds=repository.feeds)
        for each in chosen_clusters(repository, process, () if cluster is None else (cluster,))
    ]
    found = [resolve_instance(site, nominal_time, lambda _feed: lambda _instant: True) for site in sites]
    print_rows(
        repo.output,
        lambda: params_document(name, found),
        PARAMS_COLUMNS,
        params_rows(found),
        nothing="the environment may act on none of its clusters",
    )
    if repo.output is OutputFormat.TEXT:
        _say_what_is_assumed(process)


def _say_what_is_assumed(process: Process) -> None:
    from toolkit.planning.process_io import depends_on_availability

    counting = [name for name, each in process.inputs.items() if depends_on_availability(each)]
    if counting:
        say(f"note: {', '.join(counting)} counts the instances that are there; here all of them are taken for there")

"""`feedctl dataset`: what updates and reads each dataset."""

from __future__ import annotations

import sys
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated

import typer

from toolkit.cli.completion import cluster_names
from toolkit.cli.flags import AnswerFlags, RepoFlags, flat
from toolkit.cli.options import print_json, print_rows

if TYPE_CHECKING:
    from datetime import datetime

app = typer.Typer(no_args_is_help=True)


class GraphFormat(StrEnum):
    """Format of a graph."""

    TEXT = "text"
    """For people."""
    MERMAID = "mermaid"
    """A flowchart, for Markdown."""
    DOT = "dot"
    """A digraph of Graphviz."""
    JSON = "json"
    """One document, with a schema version."""


class MissingEnd(StrEnum):
    """End of a dataset that may be missing."""

    PRODUCER = "producer"
    """A process, copy, poll or other system that updates it."""
    CONSUMER = "consumer"
    """A process or copy that reads it."""


_Time = Annotated[
    str | None, typer.Option("--time", metavar="INSTANT", help="Show the next run from here on. Default: now.")
]
_Dataset = Annotated[
    str,
    typer.Argument(
        metavar="DATASET",
        help="A URI, such as s3://bucket/orders or feedctl:feed/clicks?cluster=primary, or the name of a feed.",
    ),
]


@app.callback()
def dataset() -> None:
    """Show datasets: feeds, and data that feedctl does not manage."""


@app.command("list")
@flat
def list_datasets(
    *,
    cluster: Annotated[
        str | None,
        typer.Option("--cluster", metavar="NAME", autocompletion=cluster_names, help="Only feeds on this cluster."),
    ] = None,
    without: Annotated[
        list[MissingEnd] | None,
        typer.Option("--without", metavar="END", help="Only those without a producer or a consumer; repeatable."),
    ] = None,
    time: _Time = None,
    repo: AnswerFlags,
) -> None:
    """List datasets with their producers and consumers, last update and next run; marks name what is missing."""
    from toolkit.bootstrap.datasets import entities_and_updates
    from toolkit.management.datasets import dataset_report
    from toolkit.rendering.datasets import DATASET_COLUMNS, dataset_documents, dataset_rows

    repository, updates = entities_and_updates(repo.request())
    if cluster is not None:
        repository.cluster(cluster)
    report = dataset_report(repository, updates, _instant(time))
    missing = set(without or ())
    found = [
        each
        for each in report.datasets
        if cluster in {None, each.node.cluster}
        and not (MissingEnd.PRODUCER in missing and each.node.has_producer)
        and not (MissingEnd.CONSUMER in missing and each.node.has_consumer)
    ]
    print_rows(
        repo.output,
        lambda: {"datasets": dataset_documents(found)},
        DATASET_COLUMNS,
        dataset_rows(found),
        nothing="no datasets",
    )


@app.command("show")
@flat
def show(*, name: _Dataset, time: _Time = None, repo: AnswerFlags) -> None:
    """Show one dataset, or those of a feed on all clusters: who updates it, who reads it, and when that was."""
    from toolkit.bootstrap.datasets import entities_and_updates
    from toolkit.cli.options import print_answer
    from toolkit.management.datasets import chosen_datasets, dataset_report
    from toolkit.rendering.datasets import dataset_documents, dataset_lines

    repository, updates = entities_and_updates(repo.request())
    found = chosen_datasets(repository, dataset_report(repository, updates, _instant(time)), name)
    lines = [line for each in found for line in dataset_lines(each)]
    print_answer(repo.output, {"datasets": dataset_documents(found)}, *lines)


@app.command("graph")
@flat
def graph(
    *,
    name: Annotated[
        str | None,
        typer.Argument(metavar="DATASET", help="Only what leads to this dataset or from it; as for `show`."),
    ] = None,
    form: Annotated[GraphFormat, typer.Option("--output", help="The format of the graph.")] = GraphFormat.TEXT,
    time: _Time = None,
    repo: RepoFlags,
) -> None:
    """Print the graph of datasets and processes; marked are datasets without a producer or a consumer."""
    from toolkit.bootstrap.datasets import entities_and_updates
    from toolkit.management.datasets import chosen_datasets, dataset_report
    from toolkit.printable import on_one_line
    from toolkit.rendering.dataset_graphs import dot, mermaid
    from toolkit.rendering.datasets import dataset_lines, graph_document

    repository, updates = entities_and_updates(repo.request())
    now = _instant(time)
    report = dataset_report(repository, updates, now)
    if name is not None:
        chosen = [each.node.uri for each in chosen_datasets(repository, report, name)]
        report = dataset_report(repository, updates, now, chosen)
    if form is GraphFormat.JSON:
        print_json(graph_document(report))
        return
    if form is GraphFormat.TEXT:
        lines = [line for each in report.datasets for line in dataset_lines(each)]
    else:
        lines = list(mermaid(report) if form is GraphFormat.MERMAID else dot(report))
    sys.stdout.writelines(f"{on_one_line(line)}\n" for line in lines)


@app.command("gc")
@flat
def collect(
    *,
    keep: Annotated[
        str, typer.Option("--keep", metavar="FREQUENCY", help="Events younger than this stay, for example days(90).")
    ] = "days(90)",
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Show what would be removed, and remove nothing.")] = False,
    repo: AnswerFlags,
) -> None:
    """Remove events that every consumer has read, and what is left of triggers and datasets that left the repo."""
    from toolkit.cli.options import print_answer
    from toolkit.clock import SystemClock
    from toolkit.el import Frequency
    from toolkit.el.frequency import shift
    from toolkit.management.event_gc import collect_garbage
    from toolkit.rendering.events import garbage_document, garbage_lines
    from toolkit.runs.recorder import current_user

    before = shift(SystemClock().now(), Frequency.parse(keep), -1)
    with repo.opened(writing=not dry_run) as (ledger, repository):
        found = collect_garbage(ledger, repository, before, current_user(), is_dry=dry_run)
    print_answer(repo.output, garbage_document(found, is_dry=dry_run), *garbage_lines(found, is_dry=dry_run))


def _instant(text: str | None) -> datetime:
    from toolkit.cli.option_values import instant_of
    from toolkit.clock import SystemClock

    return SystemClock().now() if text is None else instant_of("--time", text)

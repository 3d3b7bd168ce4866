"""`feedctl instance`: the instances of feeds and processes."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

import typer

from toolkit.cli import instance_commands, instance_questions
from toolkit.cli import instance_options as given
from toolkit.cli.options import ClusterName, ConfigRepo, Env, Output, OutputAs, print_json

if TYPE_CHECKING:
    from toolkit.cli.instance_given import Given
    from toolkit.ledger.vocabulary import LifeCycle
    from toolkit.planning.listing import ListedInstance

app = typer.Typer(no_args_is_help=True)
app.command("status")(instance_questions.status)
app.command("running")(instance_questions.running)


@app.callback()
def instance() -> None:
    """Look at the instances of feeds and processes: planned, running and over; pause, end and rerun them."""


@app.command("list")
def list_instances(
    name: given.Name,
    start: given.StartOfList = None,
    end: given.End = None,
    cluster: ClusterName = None,
    life_cycle: given.RecordedCycle = None,
    filter_by: given.FilterBy = None,
    order_by: given.Ordered = given.OrderBy.INSTANCE,
    sort_order: given.Sorted = None,
    offset: given.Offset = 0,
    limit: given.Limit = None,
    all_attempts: given.AllAttempts = False,
    config_repo: ConfigRepo = None,
    env: Env = None,
    output: OutputAs = Output.TEXT,
) -> None:
    """List the instances in [start, end) with their paths or partitions; with --life-cycle, the runs there were."""
    from toolkit.cli.filters import MissingOption
    from toolkit.cli.instance_given import Given

    where = _Where(name, start, end, cluster, config_repo, env, output)
    options = Given(
        filter_by=tuple(filter_by or ()),
        order_by=order_by,
        sort_order=sort_order,
        offset=offset,
        limit=limit,
        all_attempts=all_attempts,
    )
    if life_cycle is not None:
        _print_recorded(where, life_cycle, options)
        return
    if start is None:
        raise MissingOption(option="--start", command="instance list")
    options.require_none()
    _print_planned(where, start)


app.command("summary")(instance_questions.summary)
app.command("logs")(instance_questions.logs)
app.command("dependencies")(instance_questions.dependencies)
app.command("suspend")(instance_commands.suspend)
app.command("resume")(instance_commands.resume)
app.command("kill")(instance_commands.kill)
app.command("rerun")(instance_commands.rerun)


@dataclass(frozen=True, slots=True)
class _Where:
    """What both lists are told, in the order of the options."""

    name: str
    start: str | None
    end: str | None
    cluster: str | None
    config_repo: str | None
    env: str | None
    output: Output


def _print_recorded(where: _Where, life_cycle: LifeCycle, options: Given) -> None:
    from toolkit.cli.instance_filters import asked_range, filters_of, managed_by, view_of
    from toolkit.cli.instance_printing import print_instances
    from toolkit.cli.opened import opened
    from toolkit.management.questions import recorded_instances

    asked, view, clusters = (
        asked_range(where.start, where.end),
        view_of(options),
        filters_of(options.filter_by).clusters,
    )
    with opened(where.config_repo, where.env, writing=False) as (ledger, repository):
        managed = managed_by(repository, where.name, life_cycle, where.cluster, clusters)
        print_instances(recorded_instances(ledger, managed, asked, view), where.output)


def _print_planned(where: _Where, start: str) -> None:
    from toolkit.bootstrap.config import load_repository
    from toolkit.el import parse_instant
    from toolkit.planning.listing import list_instances as listed
    from toolkit.rendering.tables import write_table

    until = None if where.end is None else parse_instant(where.end)
    repository = load_repository(where.config_repo, where.env)
    rows = _rows(listed(repository, where.name, parse_instant(start), until, where.cluster))
    columns = ("cluster", "instance", "what", "where")
    if where.output is Output.JSON:
        print_json({"name": where.name, "instances": [dict(zip(columns, row, strict=True)) for row in rows]})
    else:
        write_table(columns, rows, sys.stdout)


def _rows(instances: Iterator[ListedInstance]) -> Iterator[tuple[str, str, str, str]]:
    from toolkit.el import format_instant

    for each in instances:
        for place in each.places:
            yield each.cluster, format_instant(each.instant), place.role, place.place

"""`feedctl lineage`: what entities, instances and columns are made from, and what is made from them."""

from __future__ import annotations

import shlex
import sys
from enum import StrEnum
from functools import partial
from typing import TYPE_CHECKING, Annotated

import typer

from toolkit.cli.completion import entity_names
from toolkit.cli.flags import AnswerFlags, RepoFlags, flat
from toolkit.cli.lineage_graph import LineageFormat, WalkFlags, print_graph, write_lines
from toolkit.cli.options import ClusterName, print_answer, print_json
from toolkit.cli.streams import say

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from toolkit.entities.feed_cluster import FeedCluster
    from toolkit.entities.repository import Repository
    from toolkit.ledger.database import Ledger
    from toolkit.lineage.instance_lineage import InstanceId

app = typer.Typer(no_args_is_help=True)


class ImpactFormat(StrEnum):
    """Format of an impact."""

    TEXT = "text"
    """A table, for people, and the commands."""
    JSON = "json"
    """One document, with a schema version."""
    COMMANDS = "commands"
    """The commands alone, for a shell."""


_Feed = Annotated[str, typer.Argument(metavar="FEED", autocompletion=entity_names, help="The name of the feed.")]
_Time = Annotated[str, typer.Option("--time", metavar="INSTANT", help="The instance.")]


@app.callback()
def lineage() -> None:
    """Show who makes what from what: entities, instances and columns, and what bad data has reached."""


@app.command("entity")
@flat
def show_entity(
    *,
    name: Annotated[
        str | None,
        typer.Argument(
            metavar="NAME",
            autocompletion=entity_names,
            help="An entity, or owner:X, tag:K=V, group:X, pipeline:X, domain:X or dataset:URI. Default: all entities.",
        ),
    ] = None,
    against: Annotated[
        str | None,
        typer.Option("--against", metavar="REF", help="Only what was added or cut since this branch, tag or commit."),
    ] = None,
    time: Annotated[
        str | None,
        typer.Option("--time", metavar="INSTANT", help="Only feeds and processes that are valid then. Default: all."),
    ] = None,
    walk: WalkFlags,
) -> None:
    """Print the lineage of an entity, from the config repo alone."""
    from toolkit.cli.option_values import instant_of
    from toolkit.lineage.entity_lineage import difference, entity_graph, neighbourhood, start_of
    from toolkit.rendering.lineage import difference_lines

    states, at = list(_states(walk, against)), None if time is None else instant_of("--time", time)
    graphs = [entity_graph(each, at) for each in states]
    start = None if name is None else start_of(name, *graphs)
    up, down = walk.directions
    parts = [neighbourhood(each, start, up=up, down=down, depth=walk.depth, limit=walk.limit) for each in graphs]
    if against is None:
        print_graph(parts[0], [] if start is None else [start], walk, states[0])
    elif walk.form is LineageFormat.TEXT:
        write_lines(difference_lines(difference(*parts)))
    else:
        print_graph(difference(*parts), [], walk, states[-1])


def _states(walk: WalkFlags, against: str | None) -> Iterator[Repository]:
    """Yield the usable entities of the config repo at a commit, if one is given, and those of now."""
    if against is None:
        yield walk.entities()
        return
    from toolkit.config_source import open_base, open_snapshot
    from toolkit.entities.loader import load_all

    location = walk.request().location
    for snapshot in (open_base(location, against), open_snapshot(location)):
        yield load_all(snapshot, walk.env)[0]


@app.command("instance")
@flat
def show_instance(*, feed: _Feed, time: _Time, cluster: ClusterName = None, walk: WalkFlags) -> None:
    """Print the runs and instances that an instance was made from, and those made from it, by the ledger."""
    with walk.opened(writing=False) as (ledger, repository):
        _print_instances(ledger, repository, _instances(ledger, repository, feed, time, cluster), walk)


@app.command("path")
@flat
def show_path(
    *,
    path: Annotated[
        str, typer.Argument(metavar="PATH|URI|PARTITION", help="A path, a URI, or DATABASE.TABLE/KEY=VALUE/...")
    ],
    cluster: ClusterName = None,
    walk: WalkFlags,
) -> None:
    """Print the lineage of the instances that a path belongs to; `feedctl entity lookup` explains which those are."""
    from toolkit.bootstrap.lookup import look_up
    from toolkit.cli.option_values import BadOption
    from toolkit.el import format_instant
    from toolkit.lineage.instance_lineage import InstanceId

    with walk.opened(writing=False) as (ledger, repository):
        found = look_up(repository, path, cluster)
        for problem in found.problems:
            say(f"feedctl: {problem}")
        starts = {
            InstanceId(feed=each.feed, cluster=each.cluster, key=format_instant(instant))
            for each in found.owners
            for span in (each.period.spans if each.period else ())
            for instant in repository.feed(each.feed).instances_on(each.cluster).between(*span)
        }
        if not starts:
            raise BadOption(option="PATH", found=path, expected="part of an instance, see feedctl entity lookup")
        _print_instances(ledger, repository, sorted(starts), walk)


@app.command("impact")
@flat
def show_impact(
    *,
    feed: _Feed,
    time: _Time,
    cluster: ClusterName = None,
    limit: Annotated[int, typer.Option("--limit", metavar="N", min=1, help="At most so many vertices.")] = 2000,
    form: Annotated[ImpactFormat, typer.Option("--output", help="The format of the result.")] = ImpactFormat.TEXT,
    repo: RepoFlags,
) -> None:
    """Print the instances that were made from a bad one, what is still there, and the commands that make it again."""
    from toolkit.lineage.impact import commands_of, impact
    from toolkit.rendering.lineage import impact_document, write_impact

    with repo.opened(writing=False) as (ledger, repository):
        starts = _instances(ledger, repository, feed, time, cluster)
        found = [ledger.read(partial(impact, repository=repository, start=each, limit=limit)) for each in starts]
    cut = sum(len(each.graph.cut_at) for each in found)
    if cut:
        say(f"feedctl: cut at --limit {limit}: {cut} vertices have further edges; more than this was made from it")
    if any(command[1] == "instance" for each in found for command in each.needs):
        say("feedctl: `feedctl instance rerun` orders a copy: have it made before the commands after it are run")
    match form:
        case ImpactFormat.JSON:
            print_json({"impacts": [impact_document(each) for each in found]})
        case ImpactFormat.COMMANDS:
            write_lines(shlex.join(each) for each in commands_of(found))
        case ImpactFormat.TEXT:
            for each in found:
                write_impact(each, sys.stdout)


def _instances(ledger: Ledger, repository: Repository, feed: str, time: str, cluster: str | None) -> list[InstanceId]:
    """Return an instance on a cluster, or on all those of its feed; one of a feed that is gone needs its cluster.

    Raises:
        InvalidInput: neither the feed nor the ledger has such an instance: an empty answer would reassure falsely.
    """
    from toolkit.cli.option_values import BadOption, instant_of
    from toolkit.el import format_instant
    from toolkit.ledger.lineage import known
    from toolkit.lineage.instance_lineage import InstanceId

    instant = instant_of("--time", time)
    grids = {each.name: repository.feed(feed).instances_on(each.name) for each in _clusters(repository, feed, cluster)}
    key = format_instant(instant)
    starts = [InstanceId(feed=feed, cluster=each, key=key) for each in ([cluster] if cluster else grids)]
    in_ledger = ledger.read(partial(known, instances={(feed, each.cluster, key) for each in starts}))
    found = [each for each in starts if each.cluster in in_ledger or instant in grids.get(each.cluster, ())]
    if not found:
        on = f" on {cluster}" if cluster else ""
        raise BadOption(option="--time", found=f"{key}{on}", expected=f"an instance of feed {feed}{on}")
    for each in found:
        if each.cluster not in in_ledger:
            say(f"feedctl: the ledger {ledger.place} has no run and no event of {feed} {key} on {each.cluster}")
    return found


def _clusters(repository: Repository, feed: str, cluster: str | None) -> Iterator[FeedCluster]:
    """Yield the clusters of a feed, or the one of that name; of a feed that is gone there is none."""
    if cluster is None or feed in repository.feeds:
        yield from (each for each in repository.feed(feed).clusters if cluster in {None, each.name})


def _print_instances(ledger: Ledger, repository: Repository, starts: Sequence[InstanceId], walk: WalkFlags) -> None:
    from toolkit.lineage.graph import LineageGraph
    from toolkit.lineage.instance_lineage import instance_graph, start_vertices

    up, down = walk.directions
    read = partial(instance_graph, repository=repository, up=up, down=down, depth=walk.depth, limit=walk.limit)
    parts = [ledger.read(partial(read, start=each)) for each in starts]
    graph = LineageGraph.of(
        (vertex for each in parts for vertex in each.vertices.values()),
        (edge for each in parts for edge in each.edges),
        (cut for each in parts for cut in each.cut_at),
    )
    print_graph(graph, [each for start in starts for each in start_vertices(graph, start)], walk, repository)


@app.command("column")
@flat
def show_column(
    *,
    column: Annotated[
        str,
        typer.Argument(metavar="DB.TABLE.COL", help="A column, also FEED.COL; of a table or feed alone all of them."),
    ],
    walk: WalkFlags,
) -> None:
    """Print the columns that a column is computed from, and those computed from it, by the SQL that has run."""
    from toolkit.lineage.columns import column_graph

    up, down = walk.directions
    read = partial(column_graph, column=column, up=up, down=down, depth=walk.depth, limit=walk.limit)
    with walk.opened(writing=False) as (ledger, repository):
        graph = ledger.read(partial(read, repository=repository))
    names = {column.lower(), column}
    found = [each.vertex_id for each in graph.vertices.values() if names & {each.name, *each.facts.values()}]
    print_graph(graph, found, walk, repository)


@app.command("ship")
@flat
def ship_events(*, repo: AnswerFlags) -> int:
    """Send the events of OpenLineage that wait for their receiver; exit code 4: some still wait or were refused."""
    from toolkit.bootstrap.config import load_settings_of, open_config
    from toolkit.bootstrap.ledgers import spool_file
    from toolkit.cli.option_values import BadOption
    from toolkit.entities.lineage import LineageTransport
    from toolkit.lineage.ship import ship
    from toolkit.lineage.spool import Spool
    from toolkit.result import ExitCode

    request = repo.request()
    snapshot = open_config(request)
    settings = load_settings_of(snapshot, request)
    receiver, hosts = settings.lineage.openlineage, settings.monitoring.allowed_hosts
    if receiver.transport is LineageTransport.NONE:
        raise BadOption(option="repo.yaml", found="no lineage.openlineage", expected="one with a transport")
    spool = Spool(spool_file(snapshot, settings, request.variables))
    found = ship(spool, receiver, hosts, request.variables, patience=receiver.timeout)
    document = {"sent": found.sent, "refused": found.refused, "failure": found.failure}
    reason = [f"the others wait: {found.failure}"] if found.failure else []
    print_answer(repo.output, document, f"{found.sent} events sent, {found.refused} refused", *reason)
    return ExitCode.PARTIAL if found.failure or found.refused else ExitCode.DONE

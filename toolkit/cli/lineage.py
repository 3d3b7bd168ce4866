"""`feedctl lineage`: what entities, instances and columns are made from, and what is made from them."""

from __future__ import annotations

import shlex
import sys
from dataclasses import dataclass
from enum import StrEnum
from functools import partial
from typing import TYPE_CHECKING, Annotated

import typer

from toolkit.cli.completion import entity_names
from toolkit.cli.flags import RepoFlags, flat
from toolkit.cli.options import ClusterName, print_json
from toolkit.cli.streams import say

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from toolkit.entities.repository import Repository
    from toolkit.ledger.database import Ledger
    from toolkit.lineage.graph import LineageGraph
    from toolkit.lineage.instance_lineage import InstanceId

app = typer.Typer(no_args_is_help=True)


class LineageFormat(StrEnum):
    """Format of a lineage graph."""

    TEXT = "text"
    """A tree, for people."""
    MERMAID = "mermaid"
    """A flowchart, for Markdown."""
    DOT = "dot"
    """A digraph of Graphviz."""
    JSON = "json"
    """One document, with a schema version."""


class ImpactFormat(StrEnum):
    """Format of an impact."""

    TEXT = "text"
    """A table, for people, and the commands."""
    JSON = "json"
    """One document, with a schema version."""
    COMMANDS = "commands"
    """The commands alone, for a shell."""


class OnlyKind(StrEnum):
    """Vertices of a lineage graph that are shown."""

    FEEDS = "feeds"
    """Data: feeds, their instances, datasources, datasets and tables."""
    PROCESSES = "processes"
    """Processes and their runs."""


@dataclass(frozen=True, kw_only=True, slots=True)
class WalkFlags(RepoFlags):
    """Extent and format of a lineage graph."""

    up: Annotated[bool, typer.Option("--up", help="Only what it is made from. Default: both directions.")] = False
    down: Annotated[bool, typer.Option("--down", help="Only what is made from it.")] = False
    depth: Annotated[
        int | None, typer.Option("--depth", metavar="N", min=0, help="At most so many edges away. Default: all.")
    ] = None
    limit: Annotated[
        int, typer.Option("--limit", metavar="N", min=1, help="At most so many vertices; a message says where it ends.")
    ] = 2000
    only: Annotated[
        OnlyKind | None, typer.Option("--only", help="Only these; what flows through others becomes one edge.")
    ] = None
    form: Annotated[LineageFormat, typer.Option("--output", help="The format of the graph.")] = LineageFormat.TEXT

    @property
    def ways(self) -> tuple[bool, bool]:
        """Return whether what leads to the start is shown, and what it leads to."""
        return self.up or not self.down, self.down or not self.up


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
    from toolkit.lineage.entity_lineage import difference, neighbourhood, start_of
    from toolkit.rendering.lineage import difference_lines

    graphs = [_entity_graph(each, time) for each in _states(walk, against)]
    start = None if name is None else start_of(name, *graphs)
    up, down = walk.ways
    parts = [neighbourhood(each, start, up=up, down=down, depth=walk.depth, limit=walk.limit) for each in graphs]
    if against is None:
        _print(parts[0], [] if start is None else [start], walk)
    elif walk.form is LineageFormat.TEXT:
        _write(difference_lines(difference(*parts)))
    else:
        _print(difference(*parts), [], walk)


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


def _entity_graph(repository: Repository, time: str | None) -> LineageGraph:
    from toolkit.cli.option_values import instant_of
    from toolkit.lineage.entity_lineage import entity_graph

    return entity_graph(repository, None if time is None else instant_of("--time", time))


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

    up, down = walk.ways
    with walk.opened(writing=False) as (ledger, repository):
        read = partial(column_graph, up=up, down=down, depth=walk.depth, limit=walk.limit)
        graph = ledger.read(partial(read, repository=repository, column=column))
    named = {column.lower(), column}
    start = [
        each for each, found in graph.vertices.items() if not named.isdisjoint({found.name, *found.facts.values()})
    ]
    _print(graph, start, walk)


@app.command("instance")
@flat
def show_instance(*, feed: _Feed, time: _Time, cluster: ClusterName = None, walk: WalkFlags) -> None:
    """Print the runs and instances that an instance was made from, and those made from it, by the ledger."""
    with walk.opened(writing=False) as (ledger, repository):
        _print_instances(ledger, repository, _instances(repository, feed, time, cluster), walk)


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
            raise BadOption(
                option="PATH", found=path, expected="one in an instance of a feed, see feedctl entity lookup"
            )
        _print_instances(ledger, repository, sorted(starts), walk)


@app.command("impact")
@flat
def show_impact(
    *,
    feed: _Feed,
    time: _Time,
    cluster: ClusterName = None,
    limit: Annotated[
        int, typer.Option("--limit", metavar="N", min=1, help="At most so many runs and instances.")
    ] = 2000,
    form: Annotated[ImpactFormat, typer.Option("--output", help="The format of the result.")] = ImpactFormat.TEXT,
    repo: RepoFlags,
) -> None:
    """Print the instances that were made from a bad one, what is still there, and the commands that make it again."""
    from toolkit.lineage.impact import impact
    from toolkit.rendering import lineage as rendering

    with repo.opened(writing=False) as (ledger, repository):
        starts = _instances(repository, feed, time, cluster)
        found = [ledger.read(partial(impact, repository=repository, start=each, limit=limit)) for each in starts]
    cut = sum(len(each.graph.cut_at) for each in found)
    if cut:
        say(f"feedctl: cut at --limit {limit}: {cut} vertices have further edges; more than this was made from it")
    match form:
        case ImpactFormat.JSON:
            print_json({"impacts": [rendering.impact_document(each) for each in found]})
        case ImpactFormat.COMMANDS:
            _write(dict.fromkeys(shlex.join(command) for each in found for command in each.commands))
        case ImpactFormat.TEXT:
            for each in found:
                rendering.write_impact(each, sys.stdout)


def _instances(repository: Repository, feed: str, time: str, cluster: str | None) -> list[InstanceId]:
    """Return an instance on a cluster, or on all those of its feed; one of a feed that is gone needs its cluster."""
    from toolkit.cli.option_values import instant_of
    from toolkit.el import format_instant
    from toolkit.lineage.instance_lineage import InstanceId

    clusters = [cluster] if cluster else [each.name for each in repository.feed(feed).clusters]
    key = format_instant(instant_of("--time", time))
    return [InstanceId(feed=feed, cluster=each, key=key) for each in clusters]


def _print_instances(ledger: Ledger, repository: Repository, starts: Sequence[InstanceId], walk: WalkFlags) -> None:
    from toolkit.lineage.graph import LineageGraph
    from toolkit.lineage.instance_lineage import instance_graph, start_vertices

    up, down = walk.ways
    read = partial(instance_graph, repository=repository, up=up, down=down, depth=walk.depth, limit=walk.limit)
    parts = [ledger.read(partial(read, start=each)) for each in starts]
    graph = LineageGraph.of(
        (vertex for each in parts for vertex in each.vertices.values()),
        (edge for each in parts for edge in each.edges),
        (cut for each in parts for cut in each.cut_at),
    )
    _print(graph, [each for start in starts for each in start_vertices(graph, start)], walk)


def _print(graph: LineageGraph, start: Sequence[str], walk: WalkFlags) -> None:
    from toolkit.rendering import lineage as rendering

    kinds = {OnlyKind.FEEDS: rendering.DATA, OnlyKind.PROCESSES: rendering.RUNS}
    shown = graph if walk.only is None else graph.only(kinds[walk.only])
    if start and walk.form in {LineageFormat.MERMAID, LineageFormat.DOT}:
        shown = rendering.without_details(shown, start)
    _warn_of_cuts(shown, walk)
    match walk.form:
        case LineageFormat.JSON:
            print_json(rendering.lineage_document(shown, start))
        case LineageFormat.MERMAID:
            _write(rendering.mermaid_lines(shown))
        case LineageFormat.DOT:
            _write(rendering.dot_lines(shown))
        case LineageFormat.TEXT:
            _write(rendering.tree_lines(shown, start))


def _warn_of_cuts(graph: LineageGraph, walk: WalkFlags) -> None:
    if graph.cut_at:
        say(f"feedctl: cut at --limit {walk.limit}: {len(graph.cut_at)} vertices have further edges")
    if walk.form is LineageFormat.MERMAID and len(graph.edges) > _MERMAID_EDGES:
        say(f"feedctl: {len(graph.edges)} edges; Mermaid draws more than {_MERMAID_EDGES} only with a larger maxEdges")


_MERMAID_EDGES = 500


def _write(lines: Iterable[str]) -> None:
    from toolkit.printable import on_one_line

    sys.stdout.writelines(f"{on_one_line(line)}\n" for line in lines)

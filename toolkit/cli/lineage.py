"""`feedctl lineage`: what entities, instances and columns are made from, and what is made from them."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from enum import StrEnum
from functools import partial
from typing import TYPE_CHECKING, Annotated

import typer

from toolkit.cli.completion import entity_names
from toolkit.cli.flags import RepoFlags, flat
from toolkit.cli.options import print_json
from toolkit.cli.streams import say

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from toolkit.entities.repository import Repository
    from toolkit.lineage.graph import LineageGraph

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
        extent = partial(column_graph, up=up, down=down, depth=walk.depth, limit=walk.limit)
        graph = ledger.read(lambda tx: extent(tx, repository, column))
    named = {column.lower(), column}
    start = [
        each for each, found in graph.vertices.items() if not named.isdisjoint({found.name, *found.facts.values()})
    ]
    _print(graph, start, walk)


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

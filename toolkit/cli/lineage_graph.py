"""Options of commands that print a lineage graph, and how it is printed."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated

import typer

from toolkit.cli.flags import RepoFlags
from toolkit.cli.options import print_json
from toolkit.cli.streams import say

if TYPE_CHECKING:
    from toolkit.entities.repository import Repository
    from toolkit.lineage.graph import LineageGraph

_MERMAID_EDGES = 500
"""Edges that Mermaid draws unless its page raises `maxEdges`."""


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
    OPENLINEAGE = "openlineage"
    """Events about the feeds and processes of the graph, one JSON document a line."""


class OnlyKind(StrEnum):
    """Vertices of a lineage graph that are shown."""

    FEEDS = "feeds"
    """Data: feeds, their instances, datasources, datasets, tables and columns."""
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
    def directions(self) -> tuple[bool, bool]:
        """Return whether what leads to the start is shown, and what it leads to."""
        return self.up or not self.down, self.down or not self.up


def print_graph(graph: LineageGraph, start: Sequence[str], walk: WalkFlags, repository: Repository) -> None:
    """Print a graph as the options say.

    Args:
        graph: within the limit.
        start: ids of the vertices that were asked for; empty: all.
        walk: options.
        repository: entities that events of OpenLineage describe.
    """
    from toolkit.rendering import lineage as rendering

    kinds = {OnlyKind.FEEDS: rendering.DATA, OnlyKind.PROCESSES: rendering.RUNS}
    shown = graph if walk.only is None else graph.only(kinds[walk.only])
    if start and walk.form in {LineageFormat.MERMAID, LineageFormat.DOT}:
        shown = rendering.without_details(shown, start)
    if graph.cut_at:  # also at vertices that --only leaves out
        say(f"feedctl: cut at --limit {walk.limit}: {len(graph.cut_at)} vertices have further edges")
    match walk.form:
        case LineageFormat.JSON:
            print_json(rendering.lineage_document(shown, start))
        case LineageFormat.MERMAID:
            if len(shown.edges) > _MERMAID_EDGES:
                say(f"feedctl: {len(shown.edges)} edges; Mermaid draws {_MERMAID_EDGES} unless maxEdges is raised")
            write_lines(rendering.mermaid_lines(shown))
        case LineageFormat.DOT:
            write_lines(rendering.dot_lines(shown))
        case LineageFormat.OPENLINEAGE:
            write_lines(_events(shown, repository))
        case LineageFormat.TEXT:
            write_lines(rendering.tree_lines(shown, start))


def write_lines(lines: Iterable[str]) -> None:
    """Write texts to standard output, each in one line."""
    from toolkit.printable import on_one_line

    sys.stdout.writelines(f"{on_one_line(line)}\n" for line in lines)


def _events(graph: LineageGraph, repository: Repository) -> Iterator[str]:
    from toolkit.cli.option_values import BadOption
    from toolkit.clock import SystemClock

    try:
        from toolkit.lineage.openlineage import static_events
    except ModuleNotFoundError as error:
        expected = f"{error.name} for it, which is not installed: pip install 'feedctl[lineage]'"
        raise BadOption(option="--output", found="openlineage", expected=expected) from error
    yield from (json.dumps(each, ensure_ascii=False) for each in static_events(graph, repository, SystemClock().now()))

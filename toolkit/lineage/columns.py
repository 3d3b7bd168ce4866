"""Column lineage from the ledger: what a column is made from, and what is made from it."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from toolkit.errors import InvalidInput
from toolkit.ledger.column_lineage import LineageNode, all_nodes, columns_of, nodes_of, relations_at
from toolkit.ledger.vocabulary import LineageNodeType
from toolkit.lineage.graph import EdgeKind, LineageEdge, LineageGraph, Vertex, VertexKind
from toolkit.planning.feed_columns import table_name

if TYPE_CHECKING:
    from toolkit.entities import Repository
    from toolkit.ledger.database import Transaction

_STORE = re.compile(r"\A[A-Za-z][A-Za-z0-9+.-]*:(?://[^/]*)?(?=/)")


@dataclass(frozen=True, kw_only=True)
class Schemas:
    """Columns of the tables that statements may name.

    Attributes:
        columns: by ``database.table`` or the name of a path feed, in their order, partition keys last; in lower case.
            A table that is not here has unknown columns.
        paths: names of feeds by a path that their data is at or below, without the store.
        database: of tables without one.
    """

    columns: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    paths: Mapping[str, str] = field(default_factory=dict)
    database: str = "default"

    def table_at(self, path: str) -> str:
        """Return the feed with data at a path, or the path itself."""
        bare = at = without_store(path)
        while at and at not in self.paths:
            at = at.rpartition("/")[0]
        return self.paths.get(at, bare)


def without_store(path: str) -> str:
    """Return a path without scheme and authority, and without a slash at its end."""
    return _STORE.sub("", path).rstrip("/")


class UnknownColumn(InvalidInput):
    """No statement of the ledger has the column or table."""

    def __init__(self, *, name: str) -> None:
        self.name = name
        super().__init__(
            f"no recorded statement reads or writes the column or table {name!r}; expected DB.TABLE.COL, DB.TABLE, "
            "FEED.COL or FEED as the last successful run of a step named it"
        )


def column_graph(
    tx: Transaction,
    repository: Repository,
    column: str | None,
    *,
    up: bool = True,
    down: bool = True,
    depth: int | None = None,
    limit: int = 2000,
) -> LineageGraph:
    """Return what a column is made from (up), and what is made from it (down).

    Args:
        tx: of the ledger.
        repository: whose feeds are named at their tables.
        column: ``DB.TABLE.COL`` or ``FEED.COL``; of a table or feed alone, all of its columns; None: all there are.
        up: follow relations against the flow.
        down: follow relations with the flow.
        depth: relations at most; None: all.
        limit: vertices at most; the vertices where it stopped are in `cut_at`.

    Raises:
        UnknownColumn: nothing is known of it.
    """
    start = all_nodes(tx, limit) if column is None else _start(tx, column)
    walk = _Walk(tx=tx, limit=limit, kept={each.node_id: each for each in start})
    for upwards in [each for each, wanted in ((True, up), (False, down)) if wanted]:
        walk.go(start, up=upwards, depth=depth)
    feeds = {table_name(each, on.name): each.name for each in repository.feeds.values() for on in each.clusters}
    return LineageGraph.of((_vertex(each, feeds) for each in walk.kept.values()), walk.edges, walk.cut)


def vertex_id(node: LineageNode) -> str:
    """Return the id of a node in lineage graphs."""
    if node.function:
        return f"function:{node.node_id}"
    return f"column:{node.table}.{node.column}" if node.column else f"table:{node.table}"


def _start(tx: Transaction, text: str) -> list[LineageNode]:
    """Return the nodes that a text names: the shortest table that has such a column, else a table."""
    name = text.lower() if "/" not in text else text
    table, _, column = name.rpartition(".")
    found = nodes_of(tx, table, column) if table and column else []
    for each in (name, text, f"default.{name}") if not found else ():
        found = found or nodes_of(tx, each)
    if not found and table:
        found = nodes_of(tx, text.rpartition(".")[0], column)
    if not found:
        raise UnknownColumn(name=text)
    return found


@dataclass(kw_only=True)
class _Walk:
    """Walk along relations, ring by ring."""

    tx: Transaction
    limit: int
    kept: dict[str, LineageNode]
    edges: list[LineageEdge] = field(default_factory=list)
    cut: set[str] = field(default_factory=set)

    def go(self, start: Iterable[LineageNode], *, up: bool, depth: int | None) -> None:
        """Follow relations from some nodes in one direction."""
        ring, steps = list(start), 0
        seen = {each.node_id for each in ring}
        while ring and (depth is None or steps < depth):
            steps += 1
            following = []
            for source, target, kind, facts in self._nearby(ring, up=up):
                here, there = (target, source) if up else (source, target)
                if there.node_id not in self.kept and len(self.kept) >= self.limit:
                    self.cut.add(vertex_id(here))
                    continue
                self.kept[there.node_id] = there
                self.edges.append(
                    LineageEdge(source=vertex_id(source), target=vertex_id(target), kind=kind, facts=facts)
                )
                if there.node_id not in seen:
                    seen.add(there.node_id)
                    following.append(there)
            ring = following

    def _nearby(
        self, ring: list[LineageNode], *, up: bool
    ) -> Iterable[tuple[LineageNode, LineageNode, EdgeKind, Mapping[str, str]]]:
        """Yield the relations of some nodes; what decides the rows of a table decides each of its columns."""
        for relation, digest in relations_at(self.tx, ring, up=up):
            yield relation.source, relation.target, EdgeKind(relation.kind), {"query": digest}
        if up:
            for each in ring:
                if each.type is LineageNodeType.COLUMN:
                    yield LineageNode(table=each.table), each, EdgeKind.CONDITION, {}
            return
        for each in columns_of(self.tx, {node.table for node in ring if node.type is LineageNodeType.TABLE}):
            yield LineageNode(table=each.table), each, EdgeKind.CONDITION, {}


def _vertex(node: LineageNode, feeds: Mapping[str, str]) -> Vertex:
    facts = {"table": node.table} if node.column else {}
    if node.table in feeds:
        facts["feed"] = feeds[node.table]
    name = node.function or (f"{node.table}.{node.column}" if node.column else node.table)
    return Vertex(vertex_id=vertex_id(node), kind=VertexKind(node.type), name=name, facts=facts)

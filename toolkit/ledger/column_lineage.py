"""Column lineage in the ledger: statements, their nodes and relations, each kept once (BDRE: LINEAGE_QUERY ...)."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property

import sqlalchemy as sa

from toolkit.ledger.database import Transaction, in_chunks
from toolkit.ledger.tables import lineage_node, lineage_query, lineage_relation, lineage_run_query, run
from toolkit.ledger.vocabulary import LineageNodeType, LineageRelationKind

DIRECT = LineageRelationKind.DIRECT
MOST_TEXT = 20_000
"""Characters of a statement that are kept."""
MOST_NAME = 250
"""Characters of the name of a table, column or function: an index of PostgreSQL takes no long ones."""


@dataclass(frozen=True, kw_only=True)
class LineageNode:
    """Table, column or function that a relation begins or ends at.

    Attributes:
        table: ``database.table``, the name of a feed whose data is below a path, or the path itself.
        column: of the table; empty: its rows.
        function: expression that reads no column, such as ``COUNT(*)``; then there is no table.
    """

    table: str = ""
    column: str = ""
    function: str = ""

    @property
    def type(self) -> LineageNodeType:
        """Type of the node."""
        if self.function:
            return LineageNodeType.FUNCTION
        return LineageNodeType.COLUMN if self.column else LineageNodeType.TABLE

    @cached_property
    def node_id(self) -> str:
        """Digest by which the ledger knows the node."""
        return digest_of((self.table, self.column, self.function))

    @property
    def is_storable(self) -> bool:
        """True if each database takes the names."""
        texts = (self.table, self.column, self.function)
        return all(len(each) <= MOST_NAME and each == storable(each) for each in texts)


@dataclass(frozen=True, kw_only=True)
class ColumnRelation:
    """Relation of two nodes; a condition on a table decides which rows it has."""

    source: LineageNode
    target: LineageNode
    kind: LineageRelationKind

    @property
    def key(self) -> tuple[str, str, str]:
        """Identity of the relation within a query."""
        return self.source.node_id, self.target.node_id, self.kind


@dataclass(frozen=True, kw_only=True)
class StatementLineage:
    """Lineage of a statement.

    Attributes:
        type: of the statement, such as ``INSERT``; ``DECLARED`` or ``OPENLINEAGE`` of what a step reports.
        text: of the statement, as far as it is kept.
        relations: sorted.
        unknown: why the columns, or all of the lineage, are not known; empty: they are.
    """

    type: str
    text: str
    relations: tuple[ColumnRelation, ...] = ()
    unknown: str = ""

    @classmethod
    def of(cls, kind: str, text: str, relations: Iterable[ColumnRelation] = (), unknown: str = "") -> StatementLineage:
        """Return the lineage as it can be kept: texts are cut, and relations with unusable names are left out."""
        by_key = {each.key: each for each in relations}
        ordered = [by_key[key] for key in sorted(by_key)]
        kept = tuple(each for each in ordered if each.source.is_storable and each.target.is_storable)
        if len(kept) < len(ordered):
            unknown = unknown or f"a name has over {MOST_NAME} characters, or one that is no text"
        return cls(type=kind[:32], text=storable(text.strip())[:MOST_TEXT], relations=kept, unknown=unknown)

    @cached_property
    def digest(self) -> str:
        """Identity: of the text and of what is known of it, so that a changed schema makes another query."""
        return digest_of((self.type, self.text, *(text for each in self.relations for text in each.key)))


def digest_of(texts: Iterable[str]) -> str:
    """Return the digest of some texts in their order."""
    return hashlib.sha256(json.dumps(list(texts)).encode()).hexdigest()


def storable(text: str) -> str:
    """Return a text that each database takes: without zeros and halves of characters."""
    return text.replace("\0", "").encode("utf-8", "replace").decode()


def record(tx: Transaction, statements: Sequence[StatementLineage], run_id: int, step: str = "") -> None:
    """Keep the lineage of statements; what is known already is not written again.

    Args:
        tx: of the ledger.
        statements: whose relations are kept; one without any is not.
        run_id: that executed them.
        step: of its process.
    """
    known = {each.digest: each for each in statements if each.relations}
    new = known.keys() - _recorded(tx, known)
    relations = [(digest, each) for digest in sorted(new) for each in known[digest].relations]
    nodes = {each.node_id: each for _, relation in relations for each in (relation.source, relation.target)}
    now = tx.now()
    _insert(
        tx,
        lineage_query,
        [{"digest": each, "type": known[each].type, "text": known[each].text, "seen_at": now} for each in sorted(new)],
    )
    _insert(tx, lineage_node, [_node_row(nodes[node_id]) for node_id in sorted(nodes)])
    _insert(tx, lineage_relation, [_relation_row(digest, each) for digest, each in relations])
    rows = [{"run_id": run_id, "step": step[:120], "query_digest": each} for each in sorted(known)]
    _insert(tx, lineage_run_query, rows)


def nodes_of(tx: Transaction, table: str, column: str = "") -> list[LineageNode]:
    """Return the node of a column; without a column, those of a table and of all of its columns."""
    query = _NODES.where(lineage_node.c.table_name == table).order_by(lineage_node.c.column_name)
    return list(tx.rows(LineageNode, query.where(lineage_node.c.column_name == column) if column else query))


def all_nodes(tx: Transaction, limit: int) -> list[LineageNode]:
    """Return the nodes of all statements, so many at most, in the order of their tables."""
    ordered = _NODES.order_by(lineage_node.c.table_name, lineage_node.c.column_name, lineage_node.c.function)
    return list(tx.rows(LineageNode, ordered.limit(limit)))


def columns_of(tx: Transaction, tables: Collection[str]) -> list[LineageNode]:
    """Return the columns of tables that any statement relates."""
    found: list[LineageNode] = []
    for chunk in in_chunks(sorted(tables)):
        is_column = lineage_node.c.column_name != ""
        found += tx.rows(LineageNode, _NODES.where(lineage_node.c.table_name.in_(chunk), is_column))
    return found


def relations_at(tx: Transaction, nodes: Collection[LineageNode], *, up: bool) -> list[tuple[ColumnRelation, str]]:
    """Return the relations to nodes (up) or from them, each with the digest of its query.

    A query that the newest run of its step no longer has is left out.
    """
    source, target = lineage_node.alias("source"), lineage_node.alias("target")
    own = lineage_relation
    query = (
        sa.select(*(each.c[name] for each in (source, target) for name in _NAMES), own.c.kind, own.c.query_digest)
        .join(source, source.c.node_id == own.c.source_node)
        .join(target, target.c.node_id == own.c.target_node)
        .order_by(own.c.source_node, own.c.target_node, own.c.kind, own.c.query_digest)
    )
    found: list[tuple[ColumnRelation, str]] = []
    for chunk in in_chunks(sorted(each.node_id for each in nodes)):
        end = own.c.target_node if up else own.c.source_node
        for row in tx.execute(query.where(end.in_(chunk))):
            ends = (LineageNode(table=row[at], column=row[at + 1], function=row[at + 2]) for at in (0, 3))
            relation = ColumnRelation(source=next(ends), target=next(ends), kind=row[6])
            found.append((relation, row[7]))
    old = _superseded(tx, {digest for _, digest in found})
    return [each for each in found if each[1] not in old]


def _superseded(tx: Transaction, digests: Collection[str]) -> set[str]:
    """Return the queries whose step has run later without them, also those whose runs were pruned since."""
    own, later, later_run = lineage_run_query, lineage_run_query.alias("later"), run.alias("later_run")
    last = sa.select(own.c.query_digest, own.c.step, sa.func.max(own.c.run_id).label("run_id"))
    found: set[str] = set()
    for chunk in in_chunks(sorted(digests)):
        newest = last.where(own.c.query_digest.in_(chunk)).group_by(own.c.query_digest, own.c.step).subquery()
        has_later = sa.exists().where(
            later_run.c.entity == run.c.entity,
            later_run.c.cluster == run.c.cluster,
            later_run.c.run_id > newest.c.run_id,
            later.c.run_id == later_run.c.run_id,
            later.c.step == newest.c.step,
        )
        rows = tx.execute(sa.select(newest.c.query_digest, has_later).join(run, run.c.run_id == newest.c.run_id)).all()
        found |= set(chunk) - {digest for digest, is_old in rows if not is_old}
    return found


_NAMES = ("table_name", "column_name", "function")
_NODES = sa.select(
    lineage_node.c.table_name.label("table"), lineage_node.c.column_name.label("column"), lineage_node.c.function
)


def _recorded(tx: Transaction, digests: Collection[str]) -> set[str]:
    query = sa.select(lineage_query.c.digest)
    return {
        found
        for chunk in in_chunks(sorted(digests))
        for found in tx.execute(query.where(lineage_query.c.digest.in_(chunk))).scalars()
    }


def _insert(tx: Transaction, table: sa.Table, rows: list[dict[str, object]]) -> None:
    """Insert rows in the order of their keys, so that two transactions do not wait for each other."""
    if rows:
        tx.execute(tx.upsert(table).on_conflict_do_nothing(), rows)


def _node_row(node: LineageNode) -> dict[str, object]:
    names = dict(zip(_NAMES, (node.table, node.column, node.function), strict=True))
    return {"node_id": node.node_id, "type": node.type, **names}


def _relation_row(digest: str, relation: ColumnRelation) -> dict[str, object]:
    source, target, kind = relation.key
    return {"query_digest": digest, "source_node": source, "target_node": target, "kind": kind}

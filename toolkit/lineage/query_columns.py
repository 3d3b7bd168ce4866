"""Columns of a query: from which columns of tables each of its columns comes, and which decide its rows.

The query is qualified by sqlglot first; here its scopes are walked, each once. What is not certain raises
`UnknownLineage`, and is never guessed.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from sqlglot import exp
from sqlglot.optimizer.scope import Scope

from toolkit.ledger.column_lineage import LineageNode
from toolkit.ledger.vocabulary import LineageRelationKind

Refs = frozenset[tuple[LineageNode, LineageRelationKind]]
"""Columns, tables and functions that a value comes from, each with what becomes of it."""
NOTHING: Refs = frozenset()
_ORDER = (LineageRelationKind.DIRECT, LineageRelationKind.AGGREGATE, LineageRelationKind.CONDITION)
_UNNAMED = re.compile(r"_col_\d+")
_MOST_FUNCTION = 200
"""Characters of a function's text."""
_CONSTANTS = (
    *(exp.Literal, exp.RawString, exp.National, exp.UnicodeString, exp.HexString, exp.BitString, exp.ByteString),
    exp.JSONPath,
)
"""Expressions that the text of a function leaves out: a property, such as a password, may be in them."""


class UnknownLineage(Exception):  # noqa: N818 - a result for the caller, not a fault
    """The lineage of a statement is not certain."""

    def __init__(self, *, why: str) -> None:
        super().__init__(why)


@dataclass(frozen=True, kw_only=True)
class QueryColumns:
    """Columns and rows of a query or a table.

    Attributes:
        columns: what each comes from, in their order.
        rows: what decides which rows there are; all as conditions.
        opaque: tables of which all columns are among those of the query, without known names.
    """

    columns: Mapping[str, Refs] = field(default_factory=dict)
    rows: Refs = NOTHING
    opaque: tuple[LineageNode, ...] = ()

    @classmethod
    def of_table(cls, name: str, columns: Sequence[str] | None) -> QueryColumns:
        """Return the columns of a table; None: they are not known."""
        table = LineageNode(table=name)
        found = {
            each: frozenset({(LineageNode(table=name, column=each), LineageRelationKind.DIRECT)})
            for each in columns or ()
        }
        rows = frozenset({(table, LineageRelationKind.CONDITION)})
        return cls(columns=found, rows=rows, opaque=(table,) if columns is None else ())

    def column(self, name: str) -> Refs:
        """Return what a column comes from.

        Raises:
            UnknownLineage: it is not known.
        """
        if name in self.columns:
            return self.columns[name]
        if len(self.opaque) == 1:  # it has to be there
            return frozenset({(LineageNode(table=self.opaque[0].table, column=name), LineageRelationKind.DIRECT)})
        raise UnknownLineage(why=f"the column {name} is of no table whose columns are known")

    def renamed(self, names: Sequence[str]) -> QueryColumns:
        """Return the same columns with other names, by their position.

        Raises:
            UnknownLineage: their number is another, or not known.
        """
        if not names:
            return self
        if self.opaque:
            raise UnknownLineage(why=f"SELECT * of {self.opaque[0].table}, whose columns are not known")
        if len(names) != len(self.columns):
            raise UnknownLineage(why=f"found {len(self.columns)} columns, expected {len(names)}")
        return QueryColumns(columns=dict(zip(names, self.columns.values(), strict=True)), rows=self.rows)


def is_unnamed(column: str) -> bool:
    """Return whether sqlglot has named a column, which Spark names by its text or its function."""
    return _UNNAMED.fullmatch(column) is not None


def as_kind(refs: Refs, kind: LineageRelationKind) -> Refs:
    """Return what becomes of values that go on as `kind`: a condition stays one, a function is none."""
    at_least = _ORDER.index(kind)
    is_condition = kind is LineageRelationKind.CONDITION
    return frozenset(
        (node, _ORDER[max(at_least, _ORDER.index(each))]) for node, each in refs if not (is_condition and node.function)
    )


@dataclass(kw_only=True)
class ScopeReader:
    """Reads the scopes of one statement.

    Attributes:
        tables: columns of the tables and temporary views of the statement, by the name that sqlglot has for each.
        read: columns of tables that are named, also where nothing comes of them.
    """

    tables: Mapping[str, QueryColumns]
    read: set[LineageNode] = field(default_factory=set)
    _known: dict[int, QueryColumns] = field(default_factory=dict)

    def query(self, scope: Scope) -> QueryColumns:
        """Return the columns of a query.

        Raises:
            UnknownLineage: they are not certain.
        """
        if id(scope) not in self._known:
            self._known[id(scope)] = (
                self._set(scope) if isinstance(scope.expression, exp.SetOperation) else self._select(scope)
            )
        return self._known[id(scope)]

    def _set(self, scope: Scope) -> QueryColumns:
        left, right = (self.query(each) for each in scope.set_operation_scopes)
        if left.opaque or right.opaque or len(left.columns) != len(right.columns):
            raise UnknownLineage(why=f"{scope.expression.key} of columns that are not known")
        pairs = zip(left.columns.items(), right.columns.values(), strict=True)
        first = scope.set_operation_scopes[0].expression
        if isinstance(first, exp.Query) and len(left.columns) != len(first.selects):
            raise UnknownLineage(why=f"{scope.expression.key} of columns with the same name")
        columns = {name: one | other for (name, one), other in pairs}
        rows = left.rows | right.rows
        if not isinstance(scope.expression, exp.Union) or scope.expression.args.get("distinct"):
            rows = rows.union(*(as_kind(each, LineageRelationKind.CONDITION) for each in columns.values()))
        if not isinstance(scope.expression, exp.Union):  # the values are those of the left side
            columns = dict(left.columns)
        return QueryColumns(columns=columns, rows=rows)

    def _select(self, scope: Scope) -> QueryColumns:
        select = scope.expression
        if isinstance(select, exp.Subquery):
            raise UnknownLineage(why="a query in a form that is not read here")
        if select.args.get("match") or any(
            each.args.get("pivots") for each in select.find_all(exp.Table, exp.Subquery)
        ):
            raise UnknownLineage(why="PIVOT and MATCH_RECOGNIZE are not read here")
        sources = {name: self._source(scope, each) for name, each in self._named(scope).items()}
        rows = NOTHING.union(*(each.rows for each in sources.values()))
        columns: dict[str, Refs] = {}
        opaque: list[LineageNode] = []
        for each in select.expressions:
            if each.is_star:
                opaque += self._starred(each, sources)
            elif isinstance(each, exp.Aliases):
                columns.update(
                    dict.fromkeys([one.name.lower() for one in each.expressions], self._value(scope, each.this))
                )
            elif isinstance(each, exp.QueryTransform):
                columns.update(self._transformed(scope, each))
            else:
                columns[each.alias_or_name.lower()] = self._value(scope, each) or _function(each)
        rows |= self._conditions(scope, columns)
        return QueryColumns(columns=columns, rows=rows, opaque=tuple(opaque))

    @staticmethod
    def _named(scope: Scope) -> Mapping[str, exp.Expr | Scope]:
        """Return the sources of a query by their alias, those of semi joins included."""
        found = {name: source for name, (_, source) in scope.selected_sources.items()}
        return found | {name: scope.sources[name] for name in scope.semi_or_anti_join_tables if name in scope.sources}

    def _source(self, scope: Scope, source: exp.Expr | Scope) -> QueryColumns:
        if isinstance(source, exp.Table):
            found = self.tables.get(source.name.lower())
            if found is None:
                raise UnknownLineage(why=f"the table {source.name} is not known")
            return found
        if not isinstance(source, Scope):
            raise UnknownLineage(why=f"{type(source).__name__} is not read here")
        if not source.is_udtf:
            query = self.query(source)
            alias = source.expression.parent
            named = alias.args.get("alias") if isinstance(alias, exp.Subquery | exp.CTE) else None
            return query.renamed([each.name.lower() for each in named.args.get("columns") or ()] if named else ())
        read = self._value(scope, source.expression) or _function(source.expression)
        named = source.expression.args.get("alias")
        names = [each.name.lower() for each in named.args.get("columns") or ()] if named else []
        return QueryColumns(columns=dict.fromkeys(names, read), rows=as_kind(read, LineageRelationKind.CONDITION))

    def _starred(self, star: exp.Expr, sources: Mapping[str, QueryColumns]) -> Iterator[LineageNode]:
        of = [sources[star.table]] if isinstance(star, exp.Column) and star.table in sources else sources.values()
        for each in of:
            if each.columns and not each.opaque:
                raise UnknownLineage(why="SELECT * in a form that is not read here")
            yield from each.opaque

    def _transformed(self, scope: Scope, program: exp.QueryTransform) -> Iterator[tuple[str, Refs]]:
        read = NOTHING.union(*(self._value(scope, each) for each in program.expressions))
        schema = program.args.get("schema")
        names = [each.name.lower() for each in schema.expressions] if schema is not None else ["key", "value"]
        return ((name, read) for name in names)

    def _conditions(self, scope: Scope, columns: Mapping[str, Refs]) -> Refs:
        select = scope.expression
        parts = [select.args.get(name) for name in ("where", "group", "having", "qualify")]
        joins = [each for each in select.find_all(exp.Join) if each.parent_select is select]  # also in parentheses
        parts += [each.args.get("on") for each in joins]
        if select.args.get("limit") is not None or select.args.get("fetch") is not None:
            parts.append(select.args.get("order"))
        read = [self._value(scope, each, columns) for each in parts if each is not None]
        if select.args.get("distinct") is not None:
            read += columns.values()
        return as_kind(NOTHING.union(*read), LineageRelationKind.CONDITION)

    def _value(self, scope: Scope, expression: exp.Expr, names: Mapping[str, Refs] | None = None) -> Refs:
        """Return what a value comes from; `names`: columns of the query itself, as ORDER BY may use them."""
        if isinstance(expression, exp.Column):
            return self._column(scope, expression, names)
        if isinstance(expression, exp.Query | exp.Subquery):
            return self._nested(scope, expression)
        return NOTHING.union(*(as_kind(self._value(scope, each, names), kind) for each, kind in _parts(expression)))

    def _column(self, scope: Scope, column: exp.Column, names: Mapping[str, Refs] | None) -> Refs:
        name = column.name.lower()
        if isinstance(column.this, exp.Star):
            return NOTHING
        if not column.table:
            if names is not None and name in names:
                return names[name]
            return self._unqualified(scope, name)
        at: Scope | None = scope
        while at is not None:
            if column.table in (named := self._named(at)):
                return self._noted(self._source(at, named[column.table]).column(name))
            at = at.parent
        raise UnknownLineage(why=f"the column {column.table}.{name} is of no table of the statement")

    def _noted(self, refs: Refs) -> Refs:
        self.read.update(node for node, _ in refs if node.column)
        return refs

    def _unqualified(self, scope: Scope, name: str) -> Refs:
        """Return what a column without a table comes from: the only table that has it, or may have it."""
        tables = [each for each in self._named(scope).values() if not (isinstance(each, Scope) and each.is_udtf)]
        sources = [self._source(scope, each) for each in tables]
        for found in ([each for each in sources if name in each.columns], [each for each in sources if each.opaque]):
            if len(found) == 1:
                return self._noted(found[0].column(name))
        raise UnknownLineage(why=f"the column {name} may be of several tables")

    def _nested(self, scope: Scope, expression: exp.Expr) -> Refs:
        """Return what a subquery within an expression comes from: its values, and what decides its rows."""
        inner = expression.unnest() if isinstance(expression, exp.Subquery) else expression
        for each in scope.subquery_scopes:
            if each.expression is inner:
                query = self.query(each)
                if query.opaque:
                    return query.rows
                return query.rows.union(*query.columns.values())
        raise UnknownLineage(why="a subquery in a form that is not read here")


def _parts(expression: exp.Expr) -> Iterator[tuple[exp.Expr, LineageRelationKind]]:
    """Yield the expressions within one, and what becomes of their values."""
    for name, value in expression.args.items():
        for each in value if isinstance(value, list) else [value]:
            if isinstance(each, exp.Expr):
                yield each, _kind(expression, name, each)
    if isinstance(expression, exp.Window) and expression.alias:  # of the WINDOW clause
        select = expression.find_ancestor(exp.Select)
        for each in select.args.get("windows") or () if select is not None else ():
            if each.name == expression.alias:
                yield each, LineageRelationKind.CONDITION


def _kind(outer: exp.Expr, name: str, inner: exp.Expr) -> LineageRelationKind:
    if isinstance(outer, exp.Window) and name != "this":
        return LineageRelationKind.CONDITION
    if isinstance(outer, exp.Case | exp.If) and name == "this":
        return LineageRelationKind.CONDITION
    if (
        isinstance(outer, exp.Exists | exp.Filter)
        and name in {"this", "expression"}
        and not isinstance(inner, exp.AggFunc)
    ):
        return LineageRelationKind.CONDITION
    if isinstance(outer, exp.In) and name == "query":
        return LineageRelationKind.CONDITION
    return LineageRelationKind.AGGREGATE if isinstance(outer, exp.AggFunc) else LineageRelationKind.DIRECT


def _function(expression: exp.Expr) -> Refs:
    """Return the function that makes a value of no column; texts and numbers in it are left out."""
    bare = expression.unalias().copy()
    bare.set("alias", None)
    bare = bare.transform(lambda each: exp.Placeholder() if isinstance(each, _CONSTANTS) else each)
    kind = LineageRelationKind.AGGREGATE if bare.find(exp.AggFunc) else LineageRelationKind.DIRECT
    return frozenset({(LineageNode(function=bare.sql("spark")[:_MOST_FUNCTION]), kind)})

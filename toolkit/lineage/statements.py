"""Column lineage of SQL in Spark's dialect, statement by statement; pure, and slow to import (sqlglot)."""

from __future__ import annotations

import logging
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cached_property

import sqlglot
from sqlglot import exp
from sqlglot.errors import SqlglotError, TokenError
from sqlglot.optimizer.qualify import qualify
from sqlglot.optimizer.scope import build_scope
from sqlglot.schema import MappingSchema

from toolkit.ledger.column_lineage import ColumnRelation, LineageNode, StatementLineage
from toolkit.ledger.vocabulary import LineageRelationKind
from toolkit.lineage.columns import Schemas
from toolkit.lineage.query_columns import QueryColumns, ScopeReader, UnknownLineage, is_unnamed
from toolkit.lineage.script_tables import ScriptTables, is_path, temporary_view
from toolkit.planning.script_references import sql_tokens

logging.getLogger("sqlglot").setLevel(logging.ERROR)  # it warns of each statement that it does not take apart
MOST_SQL = 200_000
"""Characters of a statement that is read; a longer one is unknown."""
_DIRECTORY_FORMAT = re.compile(
    r"(?is)\A(\s*INSERT\s+OVERWRITE\s+(?:LOCAL\s+)?DIRECTORY\s+'(?:[^'\\]|\\.)*')\s*"
    r"USING\s+\w+(?:\s+OPTIONS\s*\((?:[^()'\"]|'(?:[^'\\]|\\.)*'|\"(?:[^\"\\]|\\.)*\")*\))?"
)
"""Beginning of `INSERT OVERWRITE DIRECTORY 'PATH' USING FORMAT OPTIONS (...)`; sqlglot reads no USING there."""
_NO_LINEAGE = (
    *(exp.Use, exp.Set, exp.Drop, exp.Alter, exp.Describe, exp.Show, exp.Uncache, exp.TruncateTable, exp.Analyze),
    *(exp.Cache, exp.Refresh, exp.Comment),
)
_HARMLESS = frozenset({"ADD", "ANALYZE", "CLEAR", "EXPLAIN", "LIST", "MSCK", "REPAIR", "RESET", "SHOW"})
"""First words of statements that sqlglot does not take apart, and that write no data."""


def statement_lineage(sql: str, schemas: Schemas) -> tuple[StatementLineage, ...]:
    """Return the lineage of the statements of a script that write a table or path; temporary views are followed."""
    script = ScriptReader(schemas=schemas)
    begin, found = 0, []
    for kind, token in [*sql_tokens(sql), ("end", None)]:
        if kind == "end":
            found.append(script.read(sql[begin : None if token is None else token.start()]))
            begin = 0 if token is None else token.end()
    return tuple(each for each in found if each is not None)


@dataclass(kw_only=True)
class ScriptReader:
    """Script whose statements are read in their order.

    Attributes:
        schemas: columns of tables.
        columns_read: all columns of tables that the statements name.
    """

    schemas: Schemas
    columns_read: set[LineageNode] = field(default_factory=set)

    @cached_property
    def tables(self) -> ScriptTables:
        """Tables and views as the statements that were read left them."""
        return ScriptTables(schemas=self.schemas)

    def read(self, text: str, source: str | None = None) -> StatementLineage | None:
        """Return the lineage of the next statement; None: it writes nothing that is kept.

        Args:
            text: of the statement, with properties in their places.
            source: what is kept as its text, such as the same without the properties; None: the text.
        """
        kept, kind = text if source is None else source, "UNKNOWN"
        if not text.strip():
            return None
        if len(text) > MOST_SQL:
            return StatementLineage.of(kind, kept, unknown=f"it has over {MOST_SQL} characters")
        try:
            parsed = sqlglot.parse_one(_DIRECTORY_FORMAT.sub(r"\1", text), read="spark")
            kind = parsed.key.upper()
            found = _Statement(script=self).relations(parsed)
        except TokenError:  # its message has a part of the statement, and so the texts of properties
            return StatementLineage.of(kind, kept, unknown="a text or name in it has no end")
        except (SqlglotError, UnknownLineage) as error:
            self.tables.forget(temporary_view(text))
            return StatementLineage.of(kind, kept, unknown=_first_line(error))
        except RecursionError:
            self.tables.forget(temporary_view(text))
            return StatementLineage.of(kind, kept, unknown="it is nested too deeply")
        return None if found is None else StatementLineage.of(kind, kept, *found)


_Relations = tuple[Sequence[ColumnRelation], str]
"""Relations, and why some are not known; empty: they are all."""


@dataclass(kw_only=True)
class _Statement:
    """Statement that is read."""

    script: ScriptReader
    names: set[str] = field(default_factory=set)
    """Names of tables and views in its queries."""

    @property
    def tables(self) -> ScriptTables:
        """Tables and views of the script."""
        return self.script.tables

    def relations(self, parsed: exp.Expr) -> _Relations | None:
        """Return the relations of a statement; None: it has none.

        Raises:
            UnknownLineage: they are not certain.
        """
        readers: Mapping[type[exp.Expr], Callable[..., _Relations | None]] = {
            exp.Insert: self._insert,
            exp.MultitableInserts: self._inserts,
            exp.Create: self._create,
            exp.Merge: self._merge,
            exp.Update: self._change,
            exp.Delete: self._change,
            exp.LoadData: self._load,
        }
        reader = readers.get(type(parsed))
        if reader is not None:
            return reader(parsed)
        self._take_up(parsed)
        return None

    def _load(self, load: exp.LoadData) -> _Relations:
        source = LineageNode(table=self.script.schemas.table_at(load.args["inpath"].name))
        target = LineageNode(table=self.tables.target(load.this))
        return list(_related([(source, LineageRelationKind.DIRECT)], target)), "LOAD DATA moves files"

    def _take_up(self, parsed: exp.Expr) -> None:
        """Take up what a statement that writes nothing does to later ones.

        Raises:
            UnknownLineage: it may write.
        """
        if isinstance(parsed, exp.Cache) and parsed.expression is not None:
            self.tables.define(parsed.this.name.lower(), self._query(parsed.expression), self.names)
        if isinstance(parsed, exp.Query):
            with suppress(UnknownLineage, SqlglotError):
                self._query(parsed)
        if isinstance(parsed, exp.Use):
            self.tables.database = parsed.this.name.lower()
        if isinstance(parsed, exp.Drop):
            for table in parsed.find_all(exp.Table):
                self.tables.drop(table)
        if isinstance(parsed, exp.Alter) and parsed.args.get("kind") == "VIEW":
            self.tables.forget(parsed.this.name.lower())
        is_harmless = isinstance(parsed, exp.Command) and parsed.name.upper().split()[0] in _HARMLESS
        if not (is_harmless or isinstance(parsed, (*_NO_LINEAGE, exp.Query))):
            raise UnknownLineage(why=f"{parsed.key.upper()} is not read here")

    def _insert(self, insert: exp.Insert) -> _Relations:
        query = self._query(insert.expression or insert.args.get("source"), insert.args.get("with_"))
        if isinstance(insert.this, exp.Directory):
            return _written(query, self.script.schemas.table_at(insert.this.name))
        schema = insert.this if isinstance(insert.this, exp.Schema) else None
        table = insert.this if schema is None else schema.this
        name = self.tables.target(table)
        columns = self.tables.table(table)
        if insert.args.get("by_name") or is_path(table):
            return _written(query, name)
        partition = table.args.get("partition")
        keys = [(_key(each), isinstance(each, exp.EQ)) for each in (partition.expressions if partition else ())]
        dynamic = [key for key, is_static in keys if not is_static]
        if schema is not None:
            names = [each.name.lower() for each in schema.expressions]
            names += [key for key in dynamic if key not in names]
        elif columns.opaque:
            return _written(query, name, f"the columns of {name} are not known")
        else:
            static = {key for key, is_static in keys if is_static}
            names = [each for each in columns.columns if each not in static]
        if query.opaque:
            return _written(query, name)
        return _written(query.renamed(names), name)

    def _inserts(self, several: exp.MultitableInserts) -> _Relations:
        found: list[ColumnRelation] = []
        unknown = ""
        for each in several.expressions:
            query = each.expression
            query.set("from_", exp.From(this=several.args["source"].copy()))
            relations, why = self._insert(each)
            found, unknown = [*found, *relations], unknown or why
        return found, unknown

    def _create(self, create: exp.Create) -> _Relations | None:
        schema = create.this if isinstance(create.this, exp.Schema) else None
        table = create.this if schema is None else schema.this
        properties = create.args.get("properties")
        of = list(properties.expressions) if properties is not None else []
        if create.kind not in {"TABLE", "VIEW"} or not isinstance(table, exp.Table):
            return None
        named = [each.name.lower() for each in schema.expressions] if schema is not None else []
        is_temporary = any(isinstance(each, exp.TemporaryProperty) for each in of)
        is_global = any(isinstance(each, exp.GlobalProperty) for each in of)
        name = f"{'global_temp.' * is_global}{table.name.lower()}" if is_temporary else self.tables.name_of(table)
        if create.expression is None:
            self.tables.declare(name, named, of)
            return None
        query = self._query(create.expression, create.args.get("with_"))
        query = query.renamed(named) if create.kind == "VIEW" else query
        if is_temporary:
            self.tables.define(name, query, self.names)
            return None
        if create.kind == "TABLE" and not query.opaque:
            self.tables.declare(name, [] if any(map(is_unnamed, query.columns)) else [*query.columns], of)
        return _written(query, name)

    def _merge(self, merge: exp.Merge) -> _Relations:
        """Read each clause as a query of the target joined with the source."""
        target, using = merge.this, merge.args["using"]
        name = self.tables.target(target)
        found: list[ColumnRelation] = []
        unknown = ""
        for when in merge.args["whens"].expressions:
            then, condition = when.args["then"], when.args.get("condition")
            values = self._assigned(then, target, using)
            query = exp.select(*values).from_(target.copy()).join(using.copy(), on=merge.args["on"].copy())
            columns = self._query(
                query if condition is None else query.where(condition.copy()), merge.args.get("with_")
            )
            if not values:
                columns = QueryColumns(rows=columns.rows)
            relations, why = _written(columns, name)
            found, unknown = [*found, *relations], unknown or why
        return found, unknown

    def _assigned(self, then: exp.Expr, target: exp.Table, using: exp.Expr) -> list[exp.Expr]:
        """Return what a clause of MERGE writes, with the column of the target as its name."""
        if not isinstance(then, exp.Update | exp.Insert):
            return []
        is_star = isinstance(then.this, exp.Star) or any(isinstance(each, exp.Star) for each in then.expressions)
        if is_star:
            columns = self.tables.table(target)
            if columns.opaque:
                return [exp.Column(this=exp.Star(), table=exp.to_identifier(using.alias_or_name))]
            return [exp.column(each, table=using.alias_or_name).as_(each) for each in columns.columns]
        if isinstance(then, exp.Update):
            return [each.expression.copy().as_(each.this.name) for each in then.expressions]
        names, values = then.this.expressions, then.expression.expressions
        if len(names) != len(values):
            raise UnknownLineage(why=f"found {len(values)} values, expected {len(names)}")
        return [value.copy().as_(each.name) for each, value in zip(names, values, strict=True)]

    def _change(self, change: exp.Update | exp.Delete) -> _Relations:
        values = [each.expression.copy().as_(each.this.name) for each in change.expressions]
        query = exp.select(*values).from_(change.this.copy())
        where = change.args.get("where")
        columns = self._query(query if where is None else query.where(where.this.copy()), change.args.get("with_"))
        kept = columns if values else QueryColumns(rows=columns.rows)
        return _written(kept, self.tables.target(change.this))

    def _query(self, query: exp.Expr | None, with_: exp.Expr | None = None) -> QueryColumns:
        """Return the columns of a query, whose tables are named anew so that paths and databases stay as they are."""
        if isinstance(query, exp.Table | exp.Values):
            query = exp.select("*").from_(query.copy())
        if isinstance(query, exp.Subquery):
            query = query.unnest()
        if not isinstance(query, exp.Query):
            raise UnknownLineage(why="it has no query that is read here")
        if with_ is not None and query.args.get("with_") is None:
            query.set("with_", with_.copy())
        tables: dict[str, QueryColumns] = {}
        within = {each.alias.lower() for each in query.find_all(exp.CTE)}
        for table in list(query.find_all(exp.Table)):
            if table.db or table.name.lower() not in within:
                self._rename(table, tables)
        schema = {name: dict.fromkeys(each.columns, "string") for name, each in tables.items() if not each.opaque}
        qualified = qualify(
            query,
            dialect="spark",
            schema=MappingSchema({name: each for name, each in schema.items() if each}, dialect="spark"),
            validate_qualify_columns=False,
            allow_partial_qualification=True,
            quote_identifiers=False,
            identify=False,
        )
        scope = build_scope(qualified)
        if scope is None:
            raise UnknownLineage(why="it has no query that is read here")
        return ScopeReader(tables=tables, read=self.script.columns_read).query(scope)

    def _rename(self, table: exp.Table, tables: dict[str, QueryColumns]) -> None:
        if not isinstance(table.this, exp.Identifier):
            raise UnknownLineage(why=f"the table function {table.this.key} is not read here")
        name = f"feedctl_{len(tables)}"
        tables[name] = self.tables.table(table)
        self.names.add(f"{table.db.lower()}.{table.name.lower()}".lstrip("."))
        alias = table.alias or table.name
        table.set("this", exp.to_identifier(name))
        table.set("db", None)
        table.set("catalog", None)
        if not table.alias:
            table.set("alias", exp.TableAlias(this=exp.to_identifier(alias)))


def _written(query: QueryColumns, table: str, unknown: str = "") -> _Relations:
    """Return the relations of a table that a query is written to; `unknown`: its columns are not related."""
    target = LineageNode(table=table)
    found = list(_related(query.rows, target))
    if query.opaque and not unknown:
        unknown = f"SELECT * of {query.opaque[0].table}, whose columns are not known"
        found += _related(((each, LineageRelationKind.DIRECT) for each in query.opaque), target)
    for name, refs in query.columns.items() if not unknown else ():
        found += () if is_unnamed(name) else _related(refs, LineageNode(table=table, column=name))
    return found, unknown or "a column has no name" * any(map(is_unnamed, query.columns))


def _key(each: exp.Expr) -> str:
    return (each.this if isinstance(each, exp.EQ) else each).name.lower()


def _related(
    sources: Iterable[tuple[LineageNode, LineageRelationKind]], target: LineageNode
) -> Iterator[ColumnRelation]:
    """Yield the relations of a target; a column is no source of itself."""
    return (ColumnRelation(source=each, target=target, kind=kind) for each, kind in sources if each != target)


def _first_line(error: Exception) -> str:
    return str(error).partition("\n")[0][:500] or type(error).__name__

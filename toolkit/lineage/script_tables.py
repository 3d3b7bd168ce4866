"""Tables and temporary views of a script of SQL, as its statements make and replace them."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, field

import sqlglot
from sqlglot import exp
from sqlglot.errors import SqlglotError

from toolkit.lineage.columns import Schemas
from toolkit.lineage.query_columns import QueryColumns, UnknownLineage

_FORMATS = frozenset({"avro", "binaryfile", "csv", "delta", "json", "orc", "parquet", "text"})


def is_path(table: exp.Table) -> bool:
    """Return whether a table is a path, as in ``parquet.`/a` ``."""
    return table.db.lower() in _FORMATS


@dataclass(kw_only=True)
class ScriptTables:
    """Names of a script.

    Attributes:
        schemas: columns of tables.
        database: that `USE` has named last.
    """

    schemas: Schemas
    database: str = ""
    _known: dict[str, QueryColumns | None] = field(default_factory=dict)
    """Columns of temporary views and of tables that the script makes, by name; None: of a view, not known."""
    _places: dict[str, str] = field(default_factory=dict)
    """Feed or path that a table or view is of, by its name."""
    _uses: dict[str, frozenset[str]] = field(default_factory=dict)
    """Names that a temporary view is made from, also those of its views."""

    def name_of(self, table: exp.Table) -> str:
        """Return the name of a table in the ledger, or the feed or path of a path table."""
        if is_path(table):
            return self.schemas.table_at(table.name)
        database = table.db or self.database or self.schemas.database
        bare = f"{database}.{table.name}".lower()
        if bare in self.schemas.columns:  # also in a catalog of Iceberg, whose tables a feed names without it
            return bare
        catalog = "" if table.catalog.lower() in {"", "spark_catalog"} else f"{table.catalog}."
        return f"{catalog}{bare}".lower()

    def target(self, table: exp.Table) -> str:
        """Return the name in the ledger of what is written when a statement writes to a table."""
        name = self._key(table)
        return self._places.get(name) or self.name_of(table)

    def table(self, table: exp.Table) -> QueryColumns:
        """Return the columns of a table or view that a statement names.

        Raises:
            UnknownLineage: it is a view that is not known.
        """
        name = self._key(table)
        found = (
            self._known[name] if name in self._known else QueryColumns.of_table(name, self.schemas.columns.get(name))
        )
        if found is None:
            raise UnknownLineage(why=f"the view {name} is not known")
        return found

    def _key(self, table: exp.Table) -> str:
        name = table.name.lower()
        return name if not table.db and name in self._known else self.name_of(table)

    def define(self, name: str, columns: QueryColumns | None, uses: Collection[str] = ()) -> None:
        """Define a temporary view; views made from one of this name read the new one, so that they are not known."""
        for other in [each for each, of in self._uses.items() if name in of and each != name]:
            self._known[other] = None
        self._known[name] = columns
        self._uses[name] = frozenset(uses).union(*(self._uses.get(each, ()) for each in uses))
        self._places.pop(name, None)

    def forget(self, name: str) -> None:
        """Take a temporary view as not known; no name: nothing."""
        if name:
            self.define(name, None)

    def drop(self, table: exp.Table) -> None:
        """Drop a table or view."""
        name = self._key(table)
        if name in self._uses:
            self.forget(name)
        for each in (self._known, self._places, self._uses):
            each.pop(name, None)

    def declare(self, name: str, named: Sequence[str], properties: Iterable[exp.Expr]) -> None:
        """Keep the columns of a table, or the path of a view over files, that the script makes."""
        path, partitions = "", list[str]()
        for each in properties:
            if isinstance(each, exp.LocationProperty):
                path = each.this.name
            elif isinstance(each, exp.PartitionedByProperty) and isinstance(each.this, exp.Schema):
                partitions = [column.name.lower() for column in each.this.expressions]
            for option in each.find_all(exp.Property):
                path = option.args["value"].name if option.name.lower() == "path" else path
        table = self.schemas.table_at(path) if path else name
        columns = [*named, *(each for each in partitions if each not in named)]
        is_in_order = columns[len(columns) - len(partitions) :] == partitions  # else it depends on the format
        known = columns if columns and is_in_order else self.schemas.columns.get(table)
        self.define(name, QueryColumns.of_table(table, tuple(known) if known else None))
        self._places[name] = table


def temporary_view(text: str) -> str:
    """Return the name of the temporary view that a statement makes, also if it cannot be read; empty: none."""
    try:
        words = [each.text.lower() for each in sqlglot.tokenize(text, read="spark")]
    except SqlglotError:
        return ""
    kinds = [place for place, word in enumerate(words[:8]) if word in {"view", "table"}]
    if not kinds or not (words[0] == "cache" or {"temp", "temporary"} & set(words[: kinds[0]])):
        return ""
    named = [word for word in words[kinds[0] + 1 :] if word not in {"if", "not", "exists"}]
    return f"{'global_temp.' * ('global' in words[: kinds[0]])}{named[0]}" if named else ""

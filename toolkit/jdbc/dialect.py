"""SQL of each database: names, literals, queries and merges; text from outside becomes an identifier or a literal."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, date, datetime
from decimal import Decimal
from itertools import pairwise

from typing_extensions import override

from toolkit.entities.vocabulary import DatasourceType
from toolkit.errors import InvalidInput
from toolkit.jdbc.port import RelationName, RowQuery, TableColumn, Value, ValueRange

_CUT = re.compile(r"numeric|character varying|time|interval")
"""Types whose values PostgreSQL rounds or cuts without a word, to fit a column's limit."""
_MOST_DIGITS, _MOST_SCALE = 65, 30
_LOCK_SECONDS = 1800
_SQL_MODE = "CONCAT(@@SESSION.sql_mode, ',STRICT_ALL_TABLES,NO_AUTO_VALUE_ON_ZERO')"
"""A value that does not fit is an error, and a key 0 stays 0."""
_PART = re.compile(r'"((?:[^"]|"")+)"|([^".]+)')


def parse_table_name(text: str) -> RelationName:
    """Return the parts of ``NAME``, ``SCHEMA.NAME`` or ``"a.b"."c"``; case is kept.

    Raises:
        InvalidInput: it is none of these.
    """
    parts, at = [], 0
    while found := _PART.match(text, at):
        parts.append(found[2] if found[1] is None else found[1].replace('""', '"'))
        at = found.end() + 1
        if text[at - 1 : at] != ".":
            break
    if not parts or at <= len(text) or "\0" in text:
        message = f'{text!r} is no name of a table, expected NAME, SCHEMA.NAME, or parts in double quotes: "a.b"."c"'
        raise InvalidInput(message)
    return RelationName(tuple(parts))


@dataclass(frozen=True, kw_only=True)
class Dialect:
    """SQL of a type of database; this one is the standard's, of which no server was tested.

    Attributes:
        quote_mark: character around identifiers.
        properties: connection properties that keep values exact, under those of the datasource.
        init_statements: statements that each session executes first.
        is_tested: whether tests run on a real server.
    """

    type: DatasourceType = DatasourceType.GENERIC
    quote_mark: str = '"'
    properties: Mapping[str, str] = field(default_factory=dict)
    init_statements: tuple[str, ...] = ()
    is_tested: bool = False

    def quote(self, name: str) -> str:
        """Return an identifier."""
        if "\0" in name or not name:
            message = f"{name!r} is no name in a database"
            raise InvalidInput(message)
        return f"{self.quote_mark}{name.replace(self.quote_mark, self.quote_mark * 2)}{self.quote_mark}"

    def table(self, name: RelationName) -> str:
        """Return the identifier of a table."""
        return ".".join(self.quote(each) for each in name.parts)

    def names(self, names: Iterable[str], of: str = "") -> str:
        """Return identifiers with commas between them, each of the table alias `of`."""
        return ", ".join(f"{of}{self.quote(each)}" for each in names)

    def literal(self, value: Value) -> str:  # noqa: PLR0911 - one for each type of value
        """Return a value as SQL text, where no parameter can stand."""
        if isinstance(value, bool):
            return "TRUE" if value else "FALSE"
        if value is None:
            return "NULL"
        if isinstance(value, int):
            return str(value)
        if isinstance(value, Decimal):
            return format(value, "f")
        if isinstance(value, bytes):
            return self._binary(value)
        if isinstance(value, datetime):
            return self._moment(value)
        if isinstance(value, date):
            return f"DATE '{value.isoformat()}'"
        return self._text(value)

    def select(self, rows: RowQuery) -> str:
        """Return the query with its values as literals."""
        columns = ", ".join(self._read(name, rows.casts.get(name)) for name in rows.columns)
        return f"SELECT {columns} FROM {self.table(rows.table)}{self.where(rows.ranges)}"

    def where(self, ranges: Sequence[ValueRange], also: Sequence[str] = ()) -> str:
        """Return the WHERE clause of ranges and other conditions, or an empty text."""
        conditions = [*also, *(text for each in ranges for text in self._limits(each))]
        return f" WHERE {' AND '.join(conditions)}" if conditions else ""

    def divided(self, column: str, bounds: Sequence[Value]) -> tuple[str, ...]:
        """Return the conditions of rows between bounds; the first has those without a value too."""
        name, texts = self.quote(column), [self.literal(each) for each in bounds]
        if not texts:
            return ("1 = 1",)
        inner = [f"{name} >= {low} AND {name} < {high}" for low, high in pairwise(texts)]
        return (f"({name} < {texts[0]} OR {name} IS NULL)", *inner, f"{name} >= {texts[-1]}")

    def hashed(self, column: str, parts: int) -> tuple[str, ...]:
        """Return the conditions of rows by a hash of a column's text; one alone where the database has no hash."""
        if not self._hash:
            return ("1 = 1",)
        name = self.quote(column)
        texts = [f"{self._hash.format(name)} % {parts} = {each}" for each in range(parts)]
        return (f"({texts[0]} OR {name} IS NULL)", *texts[1:])

    def update_statement(
        self, staging: RelationName, table: RelationName, columns: Sequence[str], key: Sequence[str]
    ) -> str:
        """Return the statement that updates rows of the table from staged rows of the same key."""
        others = [self.quote(each) for each in columns if each not in key]
        values = ", ".join(
            f"{each} = (SELECT s.{each} FROM {self.table(staging)} s WHERE {self._same(key, 't', 's')})"
            for each in others
        )
        there = f"EXISTS (SELECT 1 FROM {self.table(staging)} s WHERE {self._same(key, 't', 's')})"
        return f"UPDATE {self.table(table)} t SET {values} WHERE {there}"

    def insert_statement(
        self, staging: RelationName, table: RelationName, columns: Sequence[str], key: Sequence[str] = ()
    ) -> str:
        """Return the statement that inserts the staged rows, with a key only those whose key the table lacks."""
        missing = f" WHERE NOT EXISTS (SELECT 1 FROM {self.table(table)} t WHERE {self._same(key, 't', 's')})"
        return (
            f"INSERT INTO {self.table(table)} ({self.names(columns)}) "
            f"SELECT {self.names(columns, 's.')} FROM {self.table(staging)} s{missing if key else ''}"
        )

    def upsert_statement(
        self,
        staging: RelationName,  # noqa: ARG002 - the standard's statement is no SQL of many databases
        table: RelationName,  # noqa: ARG002
        columns: Sequence[str],  # noqa: ARG002
        key: Sequence[str],  # noqa: ARG002
    ) -> str | None:
        """Return the one statement that updates and inserts, for a key that is unique; None: there is none."""
        return None

    def staging_statement(
        self, staging: RelationName, table: RelationName, columns: Sequence[str], types: Mapping[str, str] | None = None
    ) -> str:
        """Return the statement that makes an empty table with columns of the same types and without constraints.

        Args:
            staging: the new table.
            table: whose types it has.
            columns: that it has.
            types: types of columns that get another one, as `widened` writes them.
        """
        fields = ", ".join(self._read(each, (types or {}).get(each)) for each in columns)
        return (
            f"{self._create} {self.table(staging)}{self.engine} AS SELECT {fields} FROM {self.table(table)} WHERE 1 = 0"
        )

    def widened(self, column: TableColumn) -> tuple[str, str] | None:  # noqa: ARG002 - the standard's types are not known
        """Return a type without a column's limit of digits or characters, and its own; None: nothing is cut to fit."""
        return None

    def lock_query(self, table: RelationName) -> tuple[str, tuple[Value, ...]]:  # noqa: ARG002 - the standard has none
        """Return the query that waits for the lock of a table, by whichever name, and its values; empty: none.

        It is held until the transaction ends.
        """
        return "", ()

    _create, engine, _hash = "CREATE TABLE", "", ""

    def _same(self, key: Sequence[str], one: str, other: str) -> str:
        return " AND ".join(f"{one}.{self.quote(each)} = {other}.{self.quote(each)}" for each in key)

    def _read(self, name: str, cast: str | None) -> str:
        quoted = self.quote(name)
        return quoted if cast is None else f"CAST({quoted} AS {cast}) AS {quoted}"

    def _limits(self, limits: ValueRange) -> Iterable[str]:
        name = self.quote(limits.column)
        if limits.low is not None:
            yield f"{name} {'>=' if limits.includes_low else '>'} {self.literal(limits.low)}"
        if limits.high is not None:
            yield f"{name} {'<=' if limits.includes_high else '<'} {self.literal(limits.high)}"

    def _text(self, text: str) -> str:
        if "\0" in text:
            message = "a text with a character of number 0 is no value in a database"
            raise InvalidInput(message)
        return "'" + text.replace("'", "''") + "'"

    def _binary(self, value: bytes) -> str:
        return f"X'{value.hex()}'"

    def _moment(self, value: datetime) -> str:
        local = value if value.tzinfo is None else value.astimezone(UTC).replace(tzinfo=None)
        return f"TIMESTAMP '{local.isoformat(' ')}'"


class _Postgres(Dialect):
    """SQL of PostgreSQL."""

    _create, _hash = "CREATE UNLOGGED TABLE", "(hashtext(CAST({} AS text)) & 2147483647)"

    @override
    def update_statement(
        self, staging: RelationName, table: RelationName, columns: Sequence[str], key: Sequence[str]
    ) -> str:
        values = ", ".join(f"{self.quote(each)} = s.{self.quote(each)}" for each in columns if each not in key)
        return (
            f"UPDATE {self.table(table)} AS t SET {values} FROM {self.table(staging)} AS s "
            f"WHERE {self._same(key, 't', 's')}"
        )

    @override
    def upsert_statement(
        self, staging: RelationName, table: RelationName, columns: Sequence[str], key: Sequence[str]
    ) -> str | None:
        values = ", ".join(f"{self.quote(each)} = EXCLUDED.{self.quote(each)}" for each in columns if each not in key)
        then = f"UPDATE SET {values}" if values else "NOTHING"
        return f"{self.insert_statement(staging, table, columns)} ON CONFLICT ({self.names(key)}) DO {then}"

    @override
    def widened(self, column: TableColumn) -> tuple[str, str] | None:
        if column.size is None or not _CUT.match(column.type):
            return None
        inner = ",".join(str(each) for each in (column.size, column.scale) if each is not None)
        base = column.type.removesuffix("[]")
        head, zone, rest = base.partition(" with")
        return column.type, f"{head}({inner}){zone}{rest}{column.type[len(base) :]}"

    @override
    def lock_query(self, table: RelationName) -> tuple[str, tuple[Value, ...]]:
        own = "COALESCE(CAST(CAST(to_regclass(CAST(? AS text)) AS oid) AS text), CAST(? AS text))"
        query = f"SELECT 1 FROM (SELECT pg_advisory_xact_lock(hashtext('feedctl ' || {own}))) AS locked"
        return query, (self.table(table), str(table))

    @override
    def _text(self, text: str) -> str:
        """Return the text; a backslash means itself whatever `standard_conforming_strings` says."""
        plain = super()._text(text)
        return "E" + plain.replace("\\", "\\\\") if "\\" in text else plain

    @override
    def _binary(self, value: bytes) -> str:
        return f"'\\x{value.hex()}'::bytea"

    @override
    def _moment(self, value: datetime) -> str:
        kind = "TIMESTAMP" if value.tzinfo is None else "TIMESTAMPTZ"
        return f"{kind} '{value.isoformat(' ')}'"


class _MySql(Dialect):
    """SQL of MariaDB and MySQL."""

    engine, _hash = " ENGINE=InnoDB", "CRC32({})"

    @override
    def widened(self, column: TableColumn) -> tuple[str, str] | None:
        if column.type in {"datetime", "timestamp", "time"}:
            kind = "time" if column.type == "time" else "datetime"
            return f"{kind}(6)", f"{kind}({column.size or 0})"
        if column.type != "decimal" or column.size is None:
            return None
        scale = column.scale or 0
        more = min(_MOST_SCALE, _MOST_DIGITS - (column.size - scale)) - scale
        return f"decimal({column.size + more},{scale + more})", f"decimal({column.size},{scale})"

    @override
    def lock_query(self, table: RelationName) -> tuple[str, tuple[Value, ...]]:
        # in lower case: whether names differ by case is a setting of the server
        own = "LOWER(CONCAT('feedctl ', COALESCE(?, DATABASE()), '.', ?))"
        schema = table.parts[-2] if len(table.parts) > 1 else None
        return f"SELECT GET_LOCK(SHA2({own}, 224), {_LOCK_SECONDS})", (schema, table.parts[-1])

    @override
    def update_statement(
        self, staging: RelationName, table: RelationName, columns: Sequence[str], key: Sequence[str]
    ) -> str:
        values = ", ".join(f"t.{self.quote(each)} = s.{self.quote(each)}" for each in columns if each not in key)
        return (
            f"UPDATE {self.table(table)} AS t JOIN {self.table(staging)} AS s "
            f"ON {self._same(key, 't', 's')} SET {values}"
        )

    @override
    def _text(self, text: str) -> str:
        """Return the text by its bytes: a backslash means something or not, by the server's sql_mode."""
        return f"CONVERT(X'{text.encode().hex()}' USING utf8mb4)" if text else "''"


def dialect(kind: DatasourceType) -> Dialect:
    """Return the dialect of a type of database; the standard's for those that have none of their own."""
    return _DIALECTS.get(kind) or Dialect(type=kind)


_DIALECTS: Mapping[DatasourceType, Dialect] = {
    DatasourceType.POSTGRES: _Postgres(
        type=DatasourceType.POSTGRES,
        properties={
            "ApplicationName": "feedctl",
            "reWriteBatchedInserts": "true",
            "stringtype": "unspecified",
            "tcpKeepAlive": "true",
        },
        is_tested=True,
    ),
    DatasourceType.MYSQL: _MySql(
        type=DatasourceType.MYSQL,
        quote_mark="`",
        properties={
            "allowLocalInfile": "false",
            "rewriteBatchedStatements": "true",
            "tinyInt1isBit": "false",
            "yearIsDateType": "false",
            "tcpKeepAlive": "true",
        },
        init_statements=(f"SET SESSION time_zone = '+00:00', SESSION sql_mode = {_SQL_MODE}",),
        is_tested=True,
    ),
}

"""A database behind a JDBC driver: the adapter of the port."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from decimal import Decimal
from math import ceil

from typing_extensions import override

from toolkit.entities.vocabulary import DatasourceType
from toolkit.jdbc.definitions import describe
from toolkit.jdbc.dialect import Dialect
from toolkit.jdbc.errors import NoSuchField
from toolkit.jdbc.gateway import CALL_SECONDS, JdbcConnection, JdbcGateway
from toolkit.jdbc.port import (
    Database,
    DatabaseSnapshot,
    JdbcAccess,
    RelationName,
    Row,
    RowQuery,
    ServerInfo,
    Session,
    TableDescription,
    Value,
)

_SAMPLED_ROWS = 30_000
"""Rows by which the bounds of splits are chosen; they need only be about equal."""
_REPEATABLE_READ, _READ_COMMITTED = "TRANSACTION_REPEATABLE_READ", "TRANSACTION_READ_COMMITTED"
_TEXTS = re.compile(r"char|text|uuid|enum|set|bpchar|name|binary|blob|bytea")


class JdbcDatabase(Database):
    """A datasource. Each snapshot and each transaction has a connection of its own.

    Args:
        access: where it is, and as whom.
        dialect: its SQL.
        gateway: the JVM with its driver; closed with the database.
    """

    def __init__(self, access: JdbcAccess, dialect: Dialect, gateway: JdbcGateway) -> None:
        self._access, self._dialect, self._gateway = access, dialect, gateway

    @property
    @override
    def access(self) -> JdbcAccess:
        return self._access

    @override
    def server(self) -> ServerInfo:
        with self._connection(read_only=True, isolation=_READ_COMMITTED) as connection:
            found = connection.query(_SERVERS.get(self._dialect.type, _STANDARD_SERVER), seconds=CALL_SECONDS)[0]
            product, version, user, database, *abilities = ("" if each is None else str(each) for each in found)
            return ServerInfo(
                product=product,
                version=version,
                user=user,
                database=database,
                abilities=tuple(part for each in abilities for part in each.split("\n") if part),
            )

    @override
    @contextmanager
    def snapshot(self) -> Iterator[DatabaseSnapshot]:
        with self._connection(read_only=True, isolation=_REPEATABLE_READ) as connection:
            yield _opened_snapshot(self._dialect, connection)

    @override
    @contextmanager
    def transaction(self, *, read_only: bool = False) -> Iterator[Session]:
        with self._connection(read_only=read_only, isolation=_READ_COMMITTED) as connection:
            if read_only and self._dialect.type is DatasourceType.MYSQL:  # whose driver does not tell the server
                connection.execute("START TRANSACTION READ ONLY", seconds=CALL_SECONDS)
            yield _JdbcSession(self._dialect, connection)
            connection.commit()

    @override
    def close(self) -> None:
        self._gateway.close()

    @contextmanager
    def _connection(self, *, read_only: bool, isolation: str) -> Iterator[JdbcConnection]:
        connection = self._gateway.connect(self._access)
        try:
            connection.begin(read_only=read_only, isolation=isolation)
            yield connection
        finally:
            connection.close()


@dataclass(frozen=True, slots=True)
class _JdbcSession(Session):
    dialect: Dialect
    connection: JdbcConnection

    @override
    def query(self, statement: str, *values: Value) -> Sequence[Row]:
        return self.connection.query(statement, *values)

    @override
    def execute(self, statement: str, *values: Value) -> int:
        return self.connection.execute(statement, *values)

    @override
    def describe(self, table: RelationName) -> TableDescription:
        return describe(self.dialect, self.connection.query, table)


def _opened_snapshot(dialect: Dialect, connection: JdbcConnection) -> _JdbcSnapshot:
    """Take the snapshot; where it has no name, the first statement fixes what is seen."""
    if dialect.type is DatasourceType.POSTGRES:
        ((name,),) = connection.query("SELECT pg_export_snapshot()", seconds=CALL_SECONDS)
        init = (
            "SET TRANSACTION ISOLATION LEVEL REPEATABLE READ READ ONLY; "
            f"SET TRANSACTION SNAPSHOT {dialect.literal(str(name))}"
        )
        return _JdbcSnapshot(dialect, connection, str(name), init)
    if dialect.type is DatasourceType.MYSQL:
        connection.execute("START TRANSACTION WITH CONSISTENT SNAPSHOT, READ ONLY", seconds=CALL_SECONDS)
    return _JdbcSnapshot(dialect, connection, None, None)


@dataclass(frozen=True, slots=True)
class _JdbcSnapshot(DatabaseSnapshot):
    dialect: Dialect
    connection: JdbcConnection
    id: str | None
    init_statement: str | None

    @override
    def describe(self, table: RelationName) -> TableDescription:
        # a lock until the snapshot ends: whoever reads a table that is altered now would get other types, or no rows
        self.connection.query(f"SELECT 1 FROM {self.dialect.table(table)} WHERE 1 = 0")
        return describe(self.dialect, self.connection.query, table)

    @override
    def count(self, rows: RowQuery, *conditions: str) -> tuple[int, ...]:
        counts = ", ".join(["count(*)", *(f"count(CASE WHEN {each} THEN 1 END)" for each in conditions)])
        (found,) = self.connection.query(f"SELECT {counts} FROM {self._source(rows)}")
        return tuple(int(str(each)) for each in found)

    @override
    def estimate(self, rows: RowQuery) -> int | None:
        explained = self.connection.query(f"EXPLAIN {self.dialect.select(rows)}", seconds=CALL_SECONDS)
        if self.dialect.type is DatasourceType.POSTGRES:
            found = re.search(r"rows=(\d+)", str(explained[0][0]))
            return int(found[1]) if found else None
        if self.dialect.type is DatasourceType.MYSQL:
            estimated = str(explained[0][8])  # a number as text, or nothing for a table that is known to be empty
            return int(estimated) if estimated.isdigit() else None
        return None

    @override
    def bounds(self, rows: RowQuery, column: str) -> tuple[Value, Value] | None:
        name = self.dialect.quote(column)
        ((low, high),) = self.connection.query(f"SELECT min({name}), max({name}) FROM {self._source(rows)}")
        return None if low is None else (low, high)

    @override
    def splits(self, rows: RowQuery, column: str, parts: int) -> tuple[str, ...]:
        found = self.describe(rows.table).column(column)
        if found is None:
            raise NoSuchField(about=str(rows.table), detail=f"there is no column {column!r} to split by")
        if parts <= 1:
            return ("1 = 1",)
        if _TEXTS.search(found.type):
            return self.dialect.hashed(column, parts)
        bounds = self._sampled(rows, column, parts)
        if bounds is None:
            extremes = self.bounds(rows, column)
            bounds = () if extremes is None else _uniform(*extremes, parts)
        return self.dialect.divided(column, bounds)

    @override
    def select_text(self, rows: RowQuery) -> str:
        return self.dialect.select(rows)

    def _source(self, rows: RowQuery) -> str:
        return f"{self.dialect.table(rows.table)}{self.dialect.where(rows.ranges)}"

    def _sampled(self, rows: RowQuery, column: str, parts: int) -> Sequence[Value] | None:
        """Return bounds with about as many sampled rows between each two; None: the table cannot be sampled."""
        if self.dialect.type is not DatasourceType.POSTGRES:
            return None
        table = self.dialect.table(rows.table)
        sized = "SELECT relkind, reltuples::bigint FROM pg_class WHERE oid = to_regclass(CAST(? AS text))"
        kind, known = self.connection.query(sized, table, seconds=CALL_SECONDS)[0]
        if kind not in {"r", "m", "p"}:
            return None
        percent = min(100.0, 100.0 * _SAMPLED_ROWS / max(1, int(str(known))))
        name, shares = self.dialect.quote(column), ", ".join(str(each / parts) for each in range(1, parts))
        found = self.connection.query(
            f"SELECT DISTINCT unnest(percentile_disc(ARRAY[{shares}]) WITHIN GROUP (ORDER BY {name})) AS bound "
            f"FROM {table} TABLESAMPLE SYSTEM ({percent:f}) REPEATABLE (1){self.dialect.where(rows.ranges)} ORDER BY 1"
        )
        return [bound for (bound,) in found if bound is not None] or None


def _uniform(low: Value, high: Value, parts: int) -> Sequence[Value]:
    """Return bounds at equal distances; none where values have no distance."""
    if isinstance(low, datetime) and isinstance(high, datetime):
        moments: list[Value] = [low + (high - low) * part / parts for part in range(1, parts)]
        return [each for each in dict.fromkeys(moments) if each != low]
    if isinstance(low, date) and isinstance(high, date):
        days = sorted({(high - low).days * part // parts for part in range(1, parts)} - {0})
        return [low + timedelta(days=each) for each in days]
    if isinstance(low, int | Decimal) and isinstance(high, int | Decimal):
        distance = Decimal(high) - Decimal(low)
        numbers = {ceil(Decimal(low) + distance * part / parts) for part in range(1, parts)}
        return sorted(each for each in numbers if low < each <= high)
    return ()


_STANDARD_SERVER = "SELECT 'database', '', CURRENT_USER, ''"
_SERVERS = {
    DatasourceType.POSTGRES: """
SELECT 'PostgreSQL', current_setting('server_version'), current_user, current_database(),
  CASE WHEN pg_is_in_recovery() THEN 'read only: the server is a standby'
       WHEN current_setting('default_transaction_read_only') = 'on' THEN 'read only by default' END,
  (SELECT 'create tables in ' || string_agg(nspname, ', ' ORDER BY nspname) FROM pg_namespace
   WHERE has_schema_privilege(oid, 'CREATE') AND nspname !~ '^pg_' AND nspname <> 'information_schema')""",
    DatasourceType.MYSQL: """
SELECT IF(VERSION() LIKE '%MariaDB%', 'MariaDB', 'MySQL'), VERSION(), CURRENT_USER(), DATABASE(),
  IF(@@read_only, 'read only: the server is a replica', NULL),
  (SELECT GROUP_CONCAT(DISTINCT LOWER(privilege_type) ORDER BY 1 SEPARATOR ', ') FROM
    (SELECT privilege_type FROM information_schema.schema_privileges WHERE table_schema = DATABASE()
     UNION SELECT privilege_type FROM information_schema.user_privileges WHERE privilege_type <> 'USAGE') granted)""",
}

"""One transaction on the ledger: the connection, the database's clock, typed rows, and long lists in chunks."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from importlib import import_module
from itertools import islice
from typing import TYPE_CHECKING, Any, TypeVar

import sqlalchemy as sa

if TYPE_CHECKING:
    from sqlalchemy.dialects import postgresql, sqlite


T = TypeVar("T")

SIZE = 400
"""Below the 500 selects that SQLite joins with UNION ALL, and the 999 values that an old one takes."""


DatabaseClock = Callable[[sa.Connection], datetime]
"""Reads the clock of the database, which is the one that leases expire by."""


def database_now(connection: sa.Connection) -> datetime:
    """The present instant by the database's own clock, not that of the transaction's beginning."""
    if connection.dialect.name == "sqlite":
        text = connection.exec_driver_sql("SELECT strftime('%Y-%m-%dT%H:%M:%f', 'now')").scalar_one()
        return datetime.fromisoformat(text).replace(tzinfo=UTC)
    found: datetime = connection.exec_driver_sql("SELECT clock_timestamp()").scalar_one()
    return found.astimezone(UTC)


@dataclass(frozen=True, kw_only=True, slots=True)
class Transaction:
    """What the repositories of the ledger work on.

    Attributes:
        connection: within a transaction.
        clock: of the database; only tests give another.
    """

    connection: sa.Connection
    clock: DatabaseClock = database_now

    def now(self) -> datetime:
        """The present instant by the database's clock; read anew with each call."""
        return self.clock(self.connection)

    def execute(self, statement: sa.Executable, rows: list[dict[str, object]] | None = None) -> sa.CursorResult[Any]:
        """Execute a statement, for each of the rows when there are some."""
        return self.connection.execute(statement, rows) if rows is not None else self.connection.execute(statement)

    def rows(self, kind: type[T], statement: sa.Select[Any]) -> Iterator[T]:
        """The rows of a query as values of a dataclass whose fields are named like the columns."""
        return (kind(**row) for row in self.connection.execute(statement).mappings())

    def row(self, kind: type[T], statement: sa.Select[Any]) -> T | None:
        """The first row of a query, typed; None when there is none."""
        found = self.connection.execute(statement).mappings().first()
        return None if found is None else kind(**found)

    def insert(self, table: sa.Table, **values: object) -> int:
        """Insert one row and return its primary key."""
        key = self.connection.execute(sa.insert(table).values(**values)).inserted_primary_key
        if key is None:
            message = f"{table.name} gave no primary key"
            raise RuntimeError(message)
        return int(key[0])

    def upsert(self, table: sa.Table) -> postgresql.Insert | sqlite.Insert:
        """An insert that has ON CONFLICT, in the dialect of the database; the other dialect need not be loaded."""
        dialect = import_module(f"sqlalchemy.dialects.{self.connection.dialect.name}")
        statement: postgresql.Insert | sqlite.Insert = dialect.insert(table)
        return statement

    def locked(self, statement: sa.Select[Any]) -> sa.Select[Any]:
        """The query, made to lock its rows until the transaction ends; SQLite has one writer anyway.

        Rows that refer to the locked ones can still be written (NO KEY UPDATE).
        """
        return statement.with_for_update(key_share=True)


def in_chunks(values: Collection[T], size: int = SIZE) -> Iterator[list[T]]:
    """The values in lists of at most so many, since a statement takes only so many; none when there are none."""
    left = iter(values)
    while chunk := list(islice(left, size)):
        yield chunk

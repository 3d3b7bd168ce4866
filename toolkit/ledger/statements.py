"""Statements that are built once, when their module is loaded, and take their values as parameters.

SQLAlchemy takes four times as long to build a statement anew, and to recognize it, as SQLite takes to execute it.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from functools import lru_cache
from importlib import import_module
from typing import TYPE_CHECKING, Any, Generic, TypeVar

import sqlalchemy as sa
from sqlalchemy.ext.compiler import compiles
from sqlalchemy.sql.compiler import SQLCompiler
from sqlalchemy.sql.functions import FunctionElement

from toolkit.ledger.columns import UtcTime

if TYPE_CHECKING:
    from sqlalchemy.dialects import postgresql, sqlite

S = TypeVar("S", bound=sa.Executable)
R = TypeVar("R", bound=tuple[Any, ...])

NOW = "now"
"""The parameter that a `Timed` statement takes where the database is not to read its own clock."""


class _Clock(FunctionElement[datetime]):
    """The present instant by the database's own clock, as a column of type UtcTime keeps it."""

    name = "database_clock"
    type = UtcTime()
    inherit_cache = True


@compiles(_Clock, "sqlite")
def _on_sqlite(element: _Clock, compiler: SQLCompiler, **options: object) -> str:
    del element, compiler, options
    return "strftime('%Y-%m-%dT%H:%M:%f000Z', 'now')"


@compiles(_Clock, "postgresql")
def _on_postgresql(element: _Clock, compiler: SQLCompiler, **options: object) -> str:
    del element, compiler, options
    return "clock_timestamp()"


class Timed(Generic[S]):
    """A statement that writes down when: by the database's clock, which it reads itself, or by the one of a test.

    Args:
        build: makes the statement with the instant.
    """

    def __init__(self, build: Callable[[sa.ColumnElement[datetime]], S]) -> None:
        self.by_database = build(_Clock())
        self.by_hand = build(sa.bindparam(NOW, type_=UtcTime()))


def locking(statement: sa.Select[R]) -> sa.Select[R]:
    """The query, made to lock its rows until the transaction ends; SQLite has one writer anyway.

    Rows that refer to the locked ones can still be written (NO KEY UPDATE).
    """
    return statement.with_for_update(key_share=True)


def insert_of(dialect: str, table: sa.Table) -> postgresql.Insert | sqlite.Insert:
    """An insert that has ON CONFLICT, in the dialect of the database; the other dialect need not be loaded."""
    statement: postgresql.Insert | sqlite.Insert = import_module(f"sqlalchemy.dialects.{dialect}").insert(table)
    return statement


class InsertOr(sa.Insert):
    """An insert that does something else where another row is in its way, written as both databases understand it.

    Those of SQLAlchemy's dialects are compiled anew with each execution: their clause has no place in its cache.

    Args:
        table: where the row goes.
        otherwise: what follows ON CONFLICT; never with a value.
    """

    inherit_cache = True

    def __init__(self, table: sa.Table, otherwise: str = "DO NOTHING") -> None:
        super().__init__(table)
        self._post_values_clause = sa.text(f"ON CONFLICT {otherwise}")


@lru_cache(maxsize=32)
def if_new(table: sa.Table) -> sa.Insert:
    """An insert of a row that tells it when it was written."""
    return InsertOr(table).returning(table)


def given(column: sa.Column[Any], name: str | None = None) -> sa.BindParameter[Any]:
    """A parameter for a value of a column; not named like the column where that is written at the same time."""
    return sa.bindparam(name or column.name, type_=column.type)

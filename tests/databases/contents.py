"""Rows of a ledger, to compare two states of it and to go back to one."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import sqlalchemy as sa

from toolkit.ledger.tables import metadata

Contents = Mapping[str, list[dict[str, Any]]]
"""Rows by table, in the order of their keys."""


def contents(connection: sa.Connection) -> Contents:
    """Return what a ledger holds."""
    return {table.name: _rows(connection, table) for table in metadata.sorted_tables}


def changed(before: Contents, after: Contents) -> list[str]:
    """The tables that differ."""
    return [name for name in before if before[name] != after[name]]


def restore(engine: sa.Engine, wanted: Contents) -> None:
    """Put back the rows that a ledger had; numbers that were given since are given again."""
    with engine.connect() as connection:
        is_sqlite = connection.dialect.name == "sqlite"
        unchecked = "PRAGMA foreign_keys = OFF" if is_sqlite else "SET session_replication_role = replica"
        checked = "PRAGMA foreign_keys = ON" if is_sqlite else "SET session_replication_role = DEFAULT"
        _outside(connection, unchecked)
        with connection.begin():
            for name in changed(wanted, contents(connection)):
                _refill(connection, metadata.tables[name], wanted[name])
            _reset_numbers(connection)
        _outside(connection, checked)


def _rows(connection: sa.Connection, table: sa.Table) -> list[dict[str, Any]]:
    found = connection.execute(sa.select(table).order_by(*table.primary_key.columns))
    return [dict(row) for row in found.mappings()]


def _refill(connection: sa.Connection, table: sa.Table, rows: list[dict[str, Any]]) -> None:
    connection.execute(sa.delete(table))
    if rows:
        connection.execute(sa.insert(table), rows)


def _reset_numbers(connection: sa.Connection) -> None:
    if connection.dialect.name == "sqlite":
        connection.exec_driver_sql("DELETE FROM sqlite_sequence")  # it counts on from the greatest key that is there
        return
    for table in metadata.sorted_tables:
        key = next(iter(table.primary_key.columns))
        if key is table.autoincrement_column:
            connection.exec_driver_sql(
                f"SELECT setval(pg_get_serial_sequence('{table.name}', '{key.name}'),"  # noqa: S608 - our own names
                f" (SELECT coalesce(max({key.name}), 0) + 1 FROM {table.name}), false)"
            )


def _outside(connection: sa.Connection, statement: str) -> None:
    """Execute outside of a transaction: SQLite ignores this pragma within one."""
    cursor = connection.connection.cursor()
    try:
        cursor.execute(statement)
        connection.connection.commit()
    finally:
        cursor.close()

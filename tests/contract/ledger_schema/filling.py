"""A row for every table of a ledger, whatever its revision: only the database is asked which tables there are."""

from __future__ import annotations

from datetime import UTC, datetime

import sqlalchemy as sa

Rows = dict[str, list[dict[str, object]]]

_NUMBER = 7
_TIME = datetime(2026, 3, 1, 6, 40, tzinfo=UTC)


def fill(connection: sa.Connection) -> None:
    """Insert one row into each table; keys refer to the row of the other table."""
    found = sa.MetaData()
    found.reflect(connection)
    for table in found.sorted_tables:
        if table.name != "alembic_version":
            connection.execute(table.insert().values({each.name: _value(each) for each in table.columns}))


def rows(connection: sa.Connection) -> Rows:
    """Return all rows of all tables but the revision's, by table."""
    found = sa.MetaData()
    found.reflect(connection)
    return {
        table.name: [dict(row) for row in connection.execute(table.select()).mappings()]
        for table in found.sorted_tables
        if table.name != "alembic_version"
    }


def lost(before: Rows, after: Rows) -> list[str]:
    """The rows of before that are not there any more with all their values."""
    return [
        f"{table}: {row}"
        for table, kept in before.items()
        for row in kept
        if not any(row.items() <= each.items() for each in after.get(table, []))
    ]


def _value(column: sa.Column[object]) -> object:
    match column.type:
        case sa.Boolean():
            return True
        case sa.Integer() | sa.Float():
            return _NUMBER
        case sa.DateTime():
            return _TIME
        case sa.LargeBinary():
            return b"x"
        case _:
            return "x"

"""What the revisions build tables of; frozen like them, so nothing here comes from the code of today."""

from __future__ import annotations

from collections.abc import Sequence

import sqlalchemy as sa
from alembic import op

NUMBER = sa.BigInteger().with_variant(sa.Integer(), "sqlite")
TIME = sa.DateTime(timezone=True).with_variant(sa.String(27), "sqlite")
CHOICE = sa.String(16)


def partial_index(name: str, table: str, columns: Sequence[str], *, where: str) -> None:
    """An index over some of the rows."""
    condition = sa.text(where)
    op.create_index(name, table, list(columns), sqlite_where=condition, postgresql_where=condition)


def partial_unique(name: str, table: str, columns: Sequence[str], *, where: str) -> None:
    """A unique index over some of the rows."""
    condition = sa.text(where)
    op.create_index(name, table, list(columns), unique=True, sqlite_where=condition, postgresql_where=condition)


def time_now() -> sa.TextClause:
    """The present instant, as a column of type TIME keeps it."""
    is_sqlite = op.get_context().dialect.name == "sqlite"
    return sa.text("strftime('%Y-%m-%dT%H:%M:%f000Z', 'now')" if is_sqlite else "clock_timestamp()")

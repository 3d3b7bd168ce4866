"""What all tables share."""

from __future__ import annotations

import sqlalchemy as sa

metadata = sa.MetaData(
    naming_convention={
        "ix": "ix_%(table_name)s_%(column_0_N_name)s",
        "uq": "uq_%(table_name)s_%(column_0_N_name)s",
        "fk": "fk_%(table_name)s_%(column_0_name)s",
        "pk": "pk_%(table_name)s",
    }
)
"""Of the whole ledger; every constraint has a name, so that migrations can speak of it."""


def partial_unique(name: str, *columns: str, where: str) -> sa.Index:
    """A unique index over some of the rows, on both databases."""
    return sa.Index(name, *columns, unique=True, sqlite_where=sa.text(where), postgresql_where=sa.text(where))


def partial_index(name: str, *columns: str, where: str) -> sa.Index:
    """An index over some of the rows, so that it stays small while the table grows."""
    return sa.Index(name, *columns, sqlite_where=sa.text(where), postgresql_where=sa.text(where))

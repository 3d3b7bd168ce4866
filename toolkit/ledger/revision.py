"""Which state of the schema a ledger has; the migrations are not needed to tell, and not loaded."""

from __future__ import annotations

import sqlalchemy as sa

REVISIONS = ("0001", "0002")
"""Of the schema, oldest first; each has its file in `toolkit/ledger/migrations/versions`."""
HEAD = REVISIONS[-1]
"""What this feedctl works with."""

version_table = sa.Table(
    "alembic_version",
    sa.MetaData(),
    sa.Column("version_num", sa.String(32), nullable=False),
    sa.PrimaryKeyConstraint("version_num", name="alembic_version_pkc"),
)
"""As Alembic makes it: one row, the revision."""

_NO_TABLE = "42P01"


def stored_revision(connection: sa.Connection) -> str | None:
    """The revision of the ledger; None: there is no ledger in the database. One query.

    The transaction must end after this when there is none: PostgreSQL has broken it off.
    """
    try:
        found = connection.execute(sa.select(version_table.c.version_num)).scalars().all()
    except sa.exc.DBAPIError as error:
        if _is_missing_table(error):
            return None
        raise
    return ", ".join(sorted(found)) or None


def record(connection: sa.Connection, revision: str) -> None:
    """Write a revision down, in the table of that, which is made when it is not there."""
    version_table.create(connection, checkfirst=True)
    connection.execute(sa.delete(version_table))
    connection.execute(sa.insert(version_table).values(version_num=revision))


def _is_missing_table(error: sa.exc.DBAPIError) -> bool:
    return getattr(error.orig, "sqlstate", None) == _NO_TABLE or "no such table" in str(error.orig)

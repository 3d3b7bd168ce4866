"""Schema version of a ledger, and the tables and first rows of a new one.

The tables come from `toolkit.ledger.tables`, as they are now, and not from the migrations, which change ledgers of an
older release and whose library takes longer to load than all else that a command does.
"""

from __future__ import annotations

import sqlalchemy as sa

from toolkit.ledger.database import database_now
from toolkit.ledger.errors import UnusableLedger
from toolkit.ledger.identity import insert_identity
from toolkit.ledger.tables import batch, event_counter, metadata, safe_mode
from toolkit.ledger.vocabulary import BatchKind, BatchState

REVISIONS = ("0014",)
"""Revisions of the schema that were released, oldest first; each but the first has a module in `ledger/migrations`."""
HEAD = REVISIONS[-1]
"""The revision that this feedctl works with."""
UNRELEASED = frozenset(f"{number:04}" for number in range(1, 14))
"""Revisions of before the first release, which nothing upgrades."""

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


SEED_BATCH_ID = 0
"""The batch that stands for no data (BDRE, InitJob: steps without an enqueuing process)."""
COUNTER_ID = 1
"""Key of the one row of `event_counter`."""
SAFE_MODE_ID = 1
"""Key of the one row of `safe_mode`."""


def seed(connection: sa.Connection) -> None:
    """Insert batch 0, the ledger's identity, the counter of events and safe mode, off; the tables must be empty."""
    now = database_now(connection)
    connection.execute(
        sa.insert(batch).values(
            batch_id=SEED_BATCH_ID,
            kind=BatchKind.SEED,
            state=BatchState.PUBLISHED,
            created_at=now,
            published_at=now,
        )
    )
    insert_identity(connection, now)
    connection.execute(sa.insert(event_counter).values(counter_id=COUNTER_ID, last_sequence=0))
    connection.execute(sa.insert(safe_mode).values(safe_mode_id=SAFE_MODE_ID, is_on=False))


def is_empty(connection: sa.Connection) -> bool:
    """Return whether a SQLite database has no tables."""
    return not connection.exec_driver_sql("SELECT EXISTS (SELECT 1 FROM sqlite_master)").scalar_one()


def create_tables(connection: sa.Connection, place: str) -> None:
    """Make all tables with their first rows, unless they exist by now.

    Args:
        connection: to SQLite, within a transaction that may write.
        place: of the ledger, for messages.

    Raises:
        UnusableLedger: the database belongs to another program.
    """
    if stored_revision(connection) is not None:
        return
    if not is_empty(connection):
        found = "is a SQLite file that another program made"
        raise UnusableLedger(place=place, found=found, todo="name a file that is not there yet")
    create_head(connection)


def create_head(connection: sa.Connection) -> None:
    """Create the tables of `HEAD` with their first rows; none of them may be there yet."""
    metadata.create_all(connection, checkfirst=False)
    seed(connection)
    record(connection, HEAD)

"""Makes the tables of a new SQLite ledger in one transaction.

They come from `toolkit.ledger.tables`, as they are now, and not from the migrations, whose library takes longer to load
than all else that a command does; a test holds the two equal.
"""

from __future__ import annotations

import sqlalchemy as sa

from toolkit.ledger.errors import UnusableLedger
from toolkit.ledger.revision import HEAD, record, stored_revision
from toolkit.ledger.seeds import seed
from toolkit.ledger.tables import metadata


def is_empty(connection: sa.Connection) -> bool:
    """Whether a SQLite database has nothing in it."""
    return not connection.exec_driver_sql("SELECT EXISTS (SELECT 1 FROM sqlite_master)").scalar_one()


def create_tables(connection: sa.Connection, place: str) -> None:
    """Make all tables with their first rows, unless somebody has done so by now.

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
    metadata.create_all(connection, checkfirst=False)
    seed(connection)
    record(connection, HEAD)

"""Engines for SQLite and PostgreSQL, under the rules of DESIGN section 6."""

from __future__ import annotations

import sqlite3
from functools import partial

import sqlalchemy as sa

from toolkit.ledger.line import remember_line
from toolkit.ledger.reading import connect_to_read
from toolkit.ledger.same_file import remember_file, require_same_file

BUSY_SECONDS = 10.0
"""So long SQLite waits for another writer before it says that it is busy."""
LOCK_SECONDS = 20
"""So long PostgreSQL waits for a lock. With the tries after it (`database.RETRY_SECONDS`) less than a lease lasts."""
CONNECT_SECONDS = 10
"""So long PostgreSQL may take to answer."""
STATEMENT_SECONDS = 40
"""A statement of ours that takes longer hangs; it is given up before the lease of its run expires."""
_UNLESS_GIVEN = {
    "connect_timeout": CONNECT_SECONDS,
    "application_name": "feedctl",
    "keepalives_idle": 10,
    "keepalives_interval": 5,
    "keepalives_count": 3,
    "tcp_user_timeout": 20_000,
}
"""What the ledger's URL may say otherwise: a server that the network has lost is given up after about 25 seconds."""


def connect(url: sa.URL, *, read_only: bool = False) -> sa.Engine:
    """An engine with one connection at a time, which is made when it is first needed.

    Args:
        url: of a SQLite file or a PostgreSQL database.
        read_only: the database itself refuses every change, so that a dry run cannot make one.
    """
    if url.get_backend_name() != "sqlite":
        return _postgresql(url, read_only)
    return _sqlite_to_read(url.database or "") if read_only else _sqlite(url)


def _sqlite_to_read(path: str) -> sa.Engine:
    """A connection for each transaction: between them nobody is kept from anything, and no state is kept."""
    engine = sa.create_engine("sqlite://", poolclass=sa.NullPool, creator=partial(connect_to_read, path, BUSY_SECONDS))
    sa.event.listen(engine, "begin", lambda connection: connection.exec_driver_sql("BEGIN"))
    return engine


def _sqlite(url: sa.URL) -> sa.Engine:
    path = url.database or ""
    engine = sa.create_engine(
        url,
        pool_size=1,
        max_overflow=0,
        poolclass=sa.QueuePool,
        connect_args={"timeout": BUSY_SECONDS, "check_same_thread": False, "isolation_level": None},
    )

    def prepare(connection: sqlite3.Connection, record: sa.pool.ConnectionPoolEntry) -> None:
        for pragma in ("journal_mode = WAL", "synchronous = FULL", "foreign_keys = ON"):
            connection.execute(f"PRAGMA {pragma}")
        remember_file(path, record.info)

    def begin(connection: sa.Connection) -> None:
        """A writer takes the lock at once: two readers that both want to write would block each other for good."""
        require_same_file(path, connection.info)
        reads = connection.get_execution_options().get("feedctl_reads", False)
        connection.exec_driver_sql("BEGIN" if reads else "BEGIN IMMEDIATE")

    sa.event.listen(engine, "connect", prepare)
    sa.event.listen(engine, "begin", begin)
    return engine


def _postgresql(url: sa.URL, read_only: bool) -> sa.Engine:  # noqa: FBT001 - one private call
    settings = {"statement_timeout": f"{STATEMENT_SECONDS}s", "lock_timeout": f"{LOCK_SECONDS}s", "timezone": "UTC"}
    if read_only:
        settings["default_transaction_read_only"] = "on"
    given = url.normalized_query
    options = [*given.get("options", ()), *(f"-c {name}={value}" for name, value in settings.items())]
    others = {name: value for name, value in _UNLESS_GIVEN.items() if name not in given}
    engine = sa.create_engine(
        url.set(drivername="postgresql+psycopg"),
        isolation_level="READ COMMITTED",  # what is read after a lock must be what its last holder wrote
        pool_size=1,
        max_overflow=0,
        pool_pre_ping=True,
        connect_args={**others, "options": " ".join(options)},
    )
    remember_line(engine)
    return engine

"""Engines for SQLite and PostgreSQL, under the rules of DESIGN section 6.

SQLite makes the files -wal and -shm even to read, and only who may write the database can remove them, so no other user
reads it (`opening.connected`). A connection that writes makes sure that it still has the file that its path names.

A server that is frozen ends no wait by itself: neither keepalives nor its own time limits do, since its kernel still
answers. So another thread may cut the connection.
"""

from __future__ import annotations

import os
import socket
import sqlite3
import time
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

import sqlalchemy as sa

if TYPE_CHECKING:
    from collections.abc import Mapping, MutableMapping


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
"""Defaults that the ledger's URL may change: an unreachable server is given up after about 25 seconds."""


READING, UNHURRIED = "feedctl_reading", "feedctl_unhurried"
"""Execution options of a connection: its transaction writes nothing; it need not be on the disk when it ends."""


def connect(url: sa.URL, *, read_only: bool = False, from_repo: bool = False) -> sa.Engine:
    """An engine with one connection at a time, which is made when it is first needed.

    Args:
        url: of a SQLite file or a PostgreSQL database.
        read_only: the database itself refuses every change, so that a dry run cannot make one.
        from_repo: see `LedgerLocation`.
    """
    if url.get_backend_name() != "sqlite":
        return _postgresql(url, read_only, _only_by_scram(url) if from_repo else {})
    return _sqlite_to_read(url.database or "") if read_only else _sqlite(url)


def _sqlite_to_read(path: str) -> sa.Engine:
    """A connection for each transaction: between them no lock and no state is kept."""
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
        for pragma in ("journal_mode = WAL", f"synchronous = {_LASTING}", "foreign_keys = ON"):
            connection.execute(f"PRAGMA {pragma}")
        record.info[_SYNCHRONOUS] = _LASTING
        remember_file(path, record.info)

    def begin(connection: sa.Connection) -> None:
        """A writer takes the lock at once: two readers that both want to write would block each other for good."""
        require_same_file(path, connection.info)
        options = connection.get_execution_options()
        if READING in options:
            connection.exec_driver_sql("BEGIN")
            return
        _synchronize(connection, _UNHURRIED if UNHURRIED in options else _LASTING)
        connection.exec_driver_sql("BEGIN IMMEDIATE")

    sa.event.listen(engine, "connect", prepare)
    sa.event.listen(engine, "begin", begin)
    return engine


_SYNCHRONOUS, _LASTING, _UNHURRIED = "feedctl_synchronous", "FULL", "NORMAL"


def _synchronize(connection: sa.Connection, wanted: str) -> None:
    """Let commits wait for the disk, or not; only between transactions, and with WAL neither breaks the file."""
    if connection.info.get(_SYNCHRONOUS) != wanted:
        connection.exec_driver_sql(f"PRAGMA synchronous = {wanted}")
        connection.info[_SYNCHRONOUS] = wanted


def _only_by_scram(url: sa.URL) -> dict[str, str]:
    """Return the options by which a server gets a proof of the password, and nothing that libpq finds by itself.

    What is given here, empty texts too, comes neither from PG... variables nor from a service file.
    """
    return {
        "require_auth": "scram-sha-256",
        "gssencmode": "disable",
        "sslcertmode": "disable",
        "passfile": "/dev/null/none",  # there cannot be such a file
        "hostaddr": "",
        "user": url.username or "",
        "password": url.password or "",
        "dbname": url.database or "",
    }


def _postgresql(url: sa.URL, read_only: bool, own: Mapping[str, str]) -> sa.Engine:  # noqa: FBT001 - one private call
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
        connect_args={**others, **own, "options": " ".join(options)},
    )
    sa.event.listen(engine, "begin", _let_commits_wait)
    sa.event.listen(engine, "rollback", _forget_wait)
    sa.event.listen(engine, "checkout", partial(_ping_after_rest, engine.dialect))
    sa.event.listen(engine, "checkin", _note_use)
    remember_connection(engine)
    return engine


_REST_SECONDS = 1.0
"""A connection that rested for longer is asked whether it still works; a job's quick calls would pay for it each."""
_USED = "feedctl_used"


def _note_use(connection: sa.engine.interfaces.DBAPIConnection | None, record: sa.pool.ConnectionPoolEntry) -> None:
    del connection
    record.info[_USED] = time.monotonic()


def _ping_after_rest(
    dialect: sa.Dialect,
    connection: sa.engine.interfaces.DBAPIConnection,
    record: sa.pool.ConnectionPoolEntry,
    proxy: sa.pool.PoolProxiedConnection,
) -> None:
    """Let the pool make a new connection in place of one that the server, or the network, has ended meanwhile."""
    del proxy
    used = record.info.get(_USED)
    if used is None or time.monotonic() - used < _REST_SECONDS:
        return
    try:
        dialect.do_ping(connection)
    except dialect.loaded_dbapi.Error as error:
        raise sa.exc.DisconnectionError from error


def _let_commits_wait(connection: sa.Connection) -> None:
    """Let commits wait for the disk, or return at once: then the server writes within a second (asynchronous commit).

    It holds for the session, since consecutive calls want the same, and is unknown once it may have been rolled back.
    """
    options = connection.get_execution_options()
    if READING in options:
        return
    wanted = "off" if UNHURRIED in options else "on"
    if connection.info.get(_SYNCHRONOUS) != wanted:
        connection.exec_driver_sql(f"SET synchronous_commit = {wanted}")
        connection.info[_SYNCHRONOUS] = wanted


def _forget_wait(connection: sa.Connection) -> None:
    if not connection.invalidated:  # else there is none any more, and what was known of it went with it
        connection.info.pop(_SYNCHRONOUS, None)


def connect_to_read(path: str, patience: float) -> sqlite3.Connection:
    """Return a connection for one transaction, which sees every committed row and refuses every change.

    Args:
        path: of the database; this user may write it, or its -wal and -shm would stay in the way of its owner.
        patience: seconds to wait for a holder of an exclusive lock on the database.

    Raises:
        OperationalError: the file cannot be read.
    """
    file = Path(path).resolve()  # as SQLite, which has its files beside the one that a link leads to
    connection = sqlite3.connect(
        f"{file.as_uri()}?mode=rw", timeout=patience, isolation_level=None, check_same_thread=False, uri=True
    )
    connection.execute("PRAGMA query_only = ON")
    return connection


_FILE_KEY = "feedctl_file"


def remember_file(path: str, info: MutableMapping[object, object]) -> None:
    """Note which file a connection has.

    Args:
        path: of the database; empty: it is in memory.
        info: what SQLAlchemy keeps with the connection.
    """
    info[_FILE_KEY] = _identity(path)


def require_same_file(path: str, info: MutableMapping[object, object]) -> None:
    """Return when the path still names the file that the connection has.

    Raises:
        OperationalError: it does not; an outage, as if the database had gone away.
    """
    if _identity(path) != info.get(_FILE_KEY):
        raise sa.exc.OperationalError(None, None, sqlite3.OperationalError(f"{path} was moved or replaced"))


def _identity(path: str) -> tuple[int, int] | None:
    if not path:
        return None
    try:
        found = Path(path).stat()
    except OSError:
        return None
    return (found.st_dev, found.st_ino)


_CONNECTIONS_KEY = "feedctl_connections"


class _Connection(Protocol):
    """The part of psycopg's connection that is used."""

    @property
    def closed(self) -> bool: ...

    def fileno(self) -> int: ...


def remember_connection(engine: sa.Engine) -> None:
    """Note the connection of an engine, which has one at most, when it is made."""
    connections: list[_Connection] = []

    def remember(connection: _Connection, record: sa.pool.ConnectionPoolEntry) -> None:
        del record
        connections[:] = [connection]

    sa.event.listen(engine, "connect", remember)
    engine.update_execution_options(**{_CONNECTIONS_KEY: connections})


def cut_connection(engine: sa.Engine) -> None:
    """Have those who wait for the server find that it has gone; SQLite, which has no server, goes on.

    Only its socket is shut down: the connection itself belongs to the thread that waits.
    """
    connections: list[_Connection] = engine.get_execution_options().get(_CONNECTIONS_KEY, [])
    for each in connections:
        if not each.closed:
            with suppress(OSError), socket.socket(fileno=os.dup(each.fileno())) as wire:
                wire.shutdown(socket.SHUT_RDWR)

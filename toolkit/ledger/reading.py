"""Connections that read a SQLite ledger and leave nothing behind, whoever reads.

SQLite makes the files -wal and -shm even to read, for whoever reads, and a reader cannot remove them: they would keep
the owner of the ledger from writing. So they are used when they are there, and never made:

- Without a -wal nobody has the ledger open, and all of it is in the database. It is read as a file that does not change
  (`immutable`). A writer that comes meanwhile makes the -wal before anything else, and cannot remove it while the
  `ReadLock` is held: when there is one at the end, what was read may be torn, and is read again.
- With a -wal and a -shm, which the lock keeps there, SQLite reads as usual, but may not make or change the -shm.
"""

from __future__ import annotations

import fcntl
import os
import sqlite3
import time
from contextlib import ExitStack
from pathlib import Path

from toolkit.ledger.read_lock import ReadLock, busy

_HAS_LOCKS = hasattr(fcntl, "F_OFD_SETLK")
"""Only Linux has locks that belong to an open file; elsewhere, on one person's machine, SQLite makes its files."""

_START_SECONDS = 1.0
"""So long a writer that has made its -wal may take to make its -shm: microseconds, unless it is stopped in between."""
_PAUSE = 0.005


class ReadConnection(sqlite3.Connection):
    """A connection for one transaction, as `connect_to_read` makes it.

    Attributes:
        lock: is released when the connection is closed.
        wal: the file that must not appear while it reads; None: it reads as usual.
    """

    lock: ReadLock | None = None
    wal: str | None = None

    def close(self) -> None:
        """Close the connection, and let writers remove their files again."""
        super().close()
        lock, self.lock = self.lock, None
        if lock is not None:
            lock.release()

    def is_overtaken(self) -> bool:
        """Whether a writer came meanwhile, or the file was replaced, so that what was read may be torn."""
        has_moved = self.lock is not None and not self.lock.is_on_current_file()
        return has_moved or (self.wal is not None and os.path.lexists(self.wal))


def connect_to_read(path: str, patience: float) -> ReadConnection:
    """A connection that sees every row that was committed before, and makes no file.

    Args:
        path: of the database.
        patience: so many seconds it waits for whoever has the database for itself.

    Raises:
        OperationalError: the file cannot be opened, or is locked for longer.
    """
    path = os.path.realpath(path)  # as SQLite, which has its files beside the one that a link leads to
    if not _HAS_LOCKS:
        return _open(path, "", patience)
    lock = ReadLock(path, patience)
    with ExitStack() as unfinished:
        unfinished.callback(lock.release)
        connection = _connect(path, patience)
        unfinished.pop_all()
    connection.lock = lock
    return connection


def _connect(path: str, patience: float) -> ReadConnection:
    wal = f"{path}-wal"
    if os.path.lexists(wal):
        _require_shm(path)
        return _open(path, "readonly_shm=1", patience)
    if os.path.lexists(f"{path}-journal"):  # of its first start, or of another program
        raise busy(by=f"whoever made {path}-journal")
    connection = _open(path, "immutable=1", patience)
    connection.wal = wal
    return connection


def _open(path: str, option: str, patience: float) -> ReadConnection:
    return sqlite3.connect(
        f"{Path(path).as_uri()}?mode=ro{option and '&'}{option}",
        timeout=patience,
        isolation_level=None,
        check_same_thread=False,
        factory=ReadConnection,
        uri=True,
    )


def _require_shm(path: str) -> None:
    """Return when the -shm is there; a writer that begins makes it after its -wal.

    Raises:
        OperationalError: it is not; the -wal was copied without it, or its process was killed just then.
    """
    deadline = time.monotonic() + _START_SECONDS
    while not os.path.lexists(f"{path}-shm"):
        if time.monotonic() > deadline:
            raise _lonely(path)
        time.sleep(_PAUSE)


def _lonely(path: str) -> sqlite3.OperationalError:
    error = sqlite3.OperationalError(f"{path}-wal is there without {path}-shm")
    error.sqlite_errorname = "SQLITE_CANTOPEN"
    return error

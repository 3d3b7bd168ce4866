"""A lock with which SQLite's own files are kept where they are while a ledger is read (SQLite, "unix" VFS, WAL).

Whoever has a SQLite database open holds a shared lock on it, and the -wal file is removed under an exclusive one only.
"""

from __future__ import annotations

import fcntl
import os
import sqlite3
import struct
import time
from contextlib import ExitStack

_FIRST = 0x40000000 + 2
_SIZE = 510
"""Bytes of the database that stand for the shared lock (SQLite, os.h: SHARED_FIRST, SHARED_SIZE)."""
_PAUSE = 0.005


class ReadLock:
    """A shared lock on a SQLite database, taken when it is made; it neither needs nor makes a file.

    The lock belongs to the open file and not to the process, so that SQLite's connections in this process cannot drop
    it. The other way round they lose theirs when it is released: a process must not have the ledger open to write.

    Args:
        path: of the database, without links.
        patience: so many seconds it waits for whoever has the database for itself.

    Raises:
        OperationalError: the file cannot be opened, or is locked for longer.
    """

    def __init__(self, path: str, patience: float) -> None:
        self._path = path
        try:
            self._descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
        except OSError as error:
            raise sqlite3.OperationalError(str(error)) from error
        with ExitStack() as unfinished:
            unfinished.callback(self.release)
            self._take(time.monotonic() + patience)
            unfinished.pop_all()

    def release(self) -> None:
        """Give the lock back."""
        os.close(self._descriptor)

    def is_on_current_file(self) -> bool:
        """Whether the path still names the file that is locked."""
        try:
            return os.path.samestat(os.fstat(self._descriptor), os.stat(self._path))  # noqa: PTH116 - same as fstat
        except FileNotFoundError:
            return False

    def _take(self, deadline: float) -> None:
        lock = struct.pack("hhqqi0q", fcntl.F_RDLCK, os.SEEK_SET, _FIRST, _SIZE, 0)
        while True:
            try:
                fcntl.fcntl(self._descriptor, fcntl.F_OFD_SETLK, lock)
            except (BlockingIOError, PermissionError) as error:
                if time.monotonic() > deadline:
                    raise busy() from error
                time.sleep(_PAUSE)
            else:
                return


def busy(by: str = "another process") -> sqlite3.OperationalError:
    """An error like that of SQLite when a database is locked."""
    error = sqlite3.OperationalError(f"database is locked by {by}")
    error.sqlite_errorname = "SQLITE_BUSY"
    return error

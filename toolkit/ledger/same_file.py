"""Whether a SQLite connection still has the file that its path names.

SQLite does not look: after the file was replaced, as by a restored backup, it would read and write the old one, which
nobody else sees, and every lease would be void.
"""

from __future__ import annotations

import sqlite3
from pathlib import Path
from typing import TYPE_CHECKING

import sqlalchemy as sa

if TYPE_CHECKING:
    from collections.abc import MutableMapping

_KEY = "feedctl_file"


def remember_file(path: str, info: MutableMapping[object, object]) -> None:
    """Note which file a connection has.

    Args:
        path: of the database; empty: it is in memory.
        info: what SQLAlchemy keeps with the connection.
    """
    info[_KEY] = _identity(path)


def require_same_file(path: str, info: MutableMapping[object, object]) -> None:
    """Return when the path still names the file that the connection has.

    Raises:
        OperationalError: it does not; an outage, as if the database had gone away.
    """
    if _identity(path) != info.get(_KEY):
        raise sa.exc.OperationalError(None, None, sqlite3.OperationalError(f"{path} was moved or replaced"))


def _identity(path: str) -> tuple[int, int] | None:
    if not path:
        return None
    try:
        found = Path(path).stat()
    except OSError:
        return None
    return (found.st_dev, found.st_ino)

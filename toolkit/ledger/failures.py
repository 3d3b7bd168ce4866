"""Errors of the databases, told apart: unusable now, collided with another transaction, or a bug of ours."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import sqlalchemy as sa

from toolkit.ledger.errors import LedgerConflict, LedgerUnavailable

_SQLITE_CONFLICTS = frozenset({"SQLITE_BUSY", "SQLITE_LOCKED"})
_SQLITE_UNUSABLE = frozenset(
    {
        "SQLITE_CANTOPEN",
        "SQLITE_CORRUPT",
        "SQLITE_FULL",
        "SQLITE_IOERR",
        "SQLITE_NOTADB",
        "SQLITE_PERM",
        "SQLITE_AUTH",
        "SQLITE_READONLY",
        "SQLITE_PROTOCOL",
    }
)
_POSTGRESQL_CONFLICTS = frozenset({"40001", "40P01", "55P03"})
"""Serialization failure, deadlock, lock not available (PostgreSQL, error codes)."""
_POSTGRESQL_UNUSABLE = ("08", "25006", "28", "3D000", "42501", "53", "54", "57", "58", "XX")
"""Beginnings of codes: connection, read-only, password, no such database, no right, resources, shutdown, system."""


@contextmanager
def translated(place: str) -> Iterator[None]:
    """Let errors of the database out as ours; what is neither a conflict nor an outage is a bug and stays as it is.

    Raises:
        LedgerUnavailable: the database cannot be used now.
        LedgerConflict: the transaction collided with another one; all of it was rolled back.
    """
    try:
        yield
    except sa.exc.TimeoutError as error:
        raise LedgerUnavailable(place=place, why=_first_line(error)) from error
    except sa.exc.DBAPIError as error:
        if is_conflict(error):
            raise LedgerConflict(place=place, why=_first_line(error.orig)) from error
        if is_outage(error):
            raise LedgerUnavailable(place=place, why=_first_line(error.orig)) from error
        raise


def is_conflict(error: sa.exc.DBAPIError) -> bool:
    """Whether the same transaction may well succeed when it is tried again at once."""
    sqlite_name, state = _codes(error)
    return sqlite_name in _SQLITE_CONFLICTS or state in _POSTGRESQL_CONFLICTS


def is_outage(error: sa.exc.DBAPIError) -> bool:
    """Whether it is the database's state that failed, and not the statement."""
    sqlite_name, state = _codes(error)
    never_connected = isinstance(error, sa.exc.OperationalError) and not sqlite_name and not state
    unusable = sqlite_name in _SQLITE_UNUSABLE or state.startswith(_POSTGRESQL_UNUSABLE)
    return error.connection_invalidated or never_connected or unusable


def _codes(error: sa.exc.DBAPIError) -> tuple[str, str]:
    """SQLite's primary result code and PostgreSQL's SQLSTATE; empty where the driver gave none."""
    extended = getattr(error.orig, "sqlite_errorname", None) or ""
    return "_".join(extended.split("_")[:2]), getattr(error.orig, "sqlstate", None) or ""


def _first_line(error: BaseException | None) -> str:
    return (str(error).strip().splitlines() or [type(error).__name__])[0]

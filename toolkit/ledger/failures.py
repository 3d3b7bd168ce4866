"""Errors of the databases, told apart: unusable now, collided with another transaction, or a bug of ours."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import sqlalchemy as sa

from toolkit.ledger.errors import LedgerConflict, LedgerUnavailable, UnusableLedger
from toolkit.ledger.location import SQLITE
from toolkit.ledger.sqlite_rights import hindrance

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
_SQLITE_MOMENTS = frozenset({"SQLITE_READONLY_CANTINIT", "SQLITE_READONLY_RECOVERY"})
"""Codes, in full, of what a reader finds while a writer puts the files beside the database in order."""
_SQLITE_FOLDER = frozenset({"SQLITE_CANTOPEN", "SQLITE_READONLY_DIRECTORY"})
"""Codes, in full, of what SQLite says when it needs the files beside the database and can neither use nor make them."""
_FOLDER_WHY = "SQLite needs its files -wal and -shm in the same folder, and may not use or make them"
_FOLDER_TODO = "run `feedctl ledger upgrade` as the user whose ledger it is, which puts them in order"
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
        UnusableLedger: the driver does not understand the options of the URL.
    """
    try:
        yield
    except sa.exc.TimeoutError as error:
        raise LedgerUnavailable(place=place, why=_first_line(error)) from error
    except sa.exc.DBAPIError as error:
        if is_conflict(error):
            raise LedgerConflict(place=place, why=_first_line(error.orig)) from error
        if is_outage(error):
            raise _outage(place, error) from error
        if _is_bad_option(error):
            found = f"cannot be used: {_first_line(error.orig)}"
            raise UnusableLedger(place=place, found=found, todo="correct the options of its URL") from error
        raise


def is_conflict(error: sa.exc.DBAPIError) -> bool:
    """Whether the same transaction may well succeed when it is tried again at once."""
    sqlite_name, state = _codes(error)
    is_moment = _sqlite_name(error) in _SQLITE_MOMENTS
    return is_moment or sqlite_name in _SQLITE_CONFLICTS or state in _POSTGRESQL_CONFLICTS


def is_outage(error: sa.exc.DBAPIError) -> bool:
    """Whether it is the database's state that failed, and not the statement."""
    sqlite_name, state = _codes(error)
    never_connected = isinstance(error, sa.exc.OperationalError) and not sqlite_name and not state
    unusable = sqlite_name in _SQLITE_UNUSABLE or state.startswith(_POSTGRESQL_UNUSABLE)
    return error.connection_invalidated or never_connected or unusable


def _outage(place: str, error: sa.exc.DBAPIError) -> LedgerUnavailable:
    why, name = _first_line(error.orig), _sqlite_name(error)
    found = _rights(place, name)
    if found is not None:
        return LedgerUnavailable(place=place, why=f"{why} ({found[0]})", todo=found[1])
    if name not in _SQLITE_FOLDER:
        return LedgerUnavailable(place=place, why=why)
    return LedgerUnavailable(place=place, why=f"{why} ({_FOLDER_WHY})", todo=_FOLDER_TODO)


def _rights(place: str, sqlite_name: str) -> tuple[str, str] | None:
    """What SQLite does not say: which of its files this user may not write, and what to do."""
    is_of_rights = sqlite_name.startswith(("SQLITE_READONLY", "SQLITE_CANTOPEN"))
    return hindrance(Path(place.removeprefix(SQLITE))) if is_of_rights and place.startswith(SQLITE) else None


def _codes(error: sa.exc.DBAPIError) -> tuple[str, str]:
    """SQLite's primary result code and PostgreSQL's SQLSTATE; empty where the driver gave none."""
    return "_".join(_sqlite_name(error).split("_")[:2]), getattr(error.orig, "sqlstate", None) or ""


def _sqlite_name(error: sa.exc.DBAPIError) -> str:
    """SQLite's extended result code."""
    return getattr(error.orig, "sqlite_errorname", None) or ""


def _is_bad_option(error: sa.exc.DBAPIError) -> bool:
    """Whether the driver refused to connect at all; of a statement, it would be a bug of ours."""
    return isinstance(error, sa.exc.ProgrammingError) and error.statement is None and not any(_codes(error))


def _first_line(error: BaseException | None) -> str:
    return (str(error).strip().splitlines() or [type(error).__name__])[0]

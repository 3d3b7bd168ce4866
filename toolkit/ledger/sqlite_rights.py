"""Who may write the files of a SQLite ledger: the database, and the -wal and -shm that SQLite has beside it."""

from __future__ import annotations

import os
import pwd
import stat
from contextlib import suppress
from pathlib import Path

from toolkit.ledger.errors import LedgerUnavailable

_OTHER_USER = "run as the user whose ledger it is"
_PUT_IN_ORDER = "run `feedctl ledger upgrade` as a user who may write all of them, such as root, which removes these"
_REMOVE = ", or remove them while no feedctl runs, since nothing is in them"


def require_writable(file: Path, place: str) -> None:
    """Refuse to write a ledger whose files are another user's.

    SQLite would notice too late: by then it has made a -wal and a -shm that their owner may not write.

    Args:
        file: of the ledger; it need not be there yet.
        place: of the ledger, for messages.

    Raises:
        LedgerUnavailable: this user may not write one of its files.
    """
    found = hindrance(file)
    if found is not None:
        why, todo = found
        raise LedgerUnavailable(place=place, why=why, todo=todo)


def hindrance(file: Path) -> tuple[str, str] | None:
    """Why this user cannot write a ledger, and what to do; None: nothing is known that is in the way."""
    resolved = file.resolve()
    main = [each for each in (resolved, resolved.parent) if _is_closed(each)]
    beside = [each for each in _beside(resolved) if _is_closed(each)]
    if not main and not beside:
        return None
    named = " and ".join(_named(each) for each in (*main, *beside))
    why = f"this user, {_user(os.geteuid())}, may not write {named}"
    return why, _OTHER_USER if main else _order(resolved)


def _beside(file: Path) -> tuple[Path, Path]:
    return file.with_name(f"{file.name}-wal"), file.with_name(f"{file.name}-shm")


def _is_closed(path: Path) -> bool:
    return path.exists() and not os.access(path, os.W_OK, effective_ids=True)


def _order(file: Path) -> str:
    """What to do about files beside the database; a -wal with rows in it must never be removed by hand."""
    with suppress(OSError):
        if _beside(file)[0].stat().st_size > 0:
            return _PUT_IN_ORDER
    return f"{_PUT_IN_ORDER}{_REMOVE}"


def _named(path: Path) -> str:
    with suppress(OSError):
        found = path.stat()
        return f"{path} (of {_user(found.st_uid)}, mode {stat.S_IMODE(found.st_mode):o})"
    return str(path)


def _user(number: int) -> str:
    try:
        return pwd.getpwuid(number).pw_name
    except KeyError:
        return f"user {number}"

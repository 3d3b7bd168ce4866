"""The folder and the disk of a SQLite ledger."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Iterable, Mapping
from contextlib import suppress
from pathlib import Path

from toolkit.ledger.cluster_mode import cluster_mode
from toolkit.ledger.errors import UnusableLedger
from toolkit.ledger.mounts import Mount, shared_disk

_POSTGRESQL = "set FEEDCTL_LEDGER, or `ledger:` in repo.yaml, to a PostgreSQL database"
_FOLDER_OWNER_ONLY = 0o700
_OWNER_ONLY = 0o600
_OLDEST = (3, 35)
"""The first with RETURNING."""


def refuse_shared(file: Path, place: str, variables: Mapping[str, str], mounts: Iterable[Mount]) -> None:
    """Refuse a file that other machines have a copy of their own of, or share without sharing its locks.

    Args:
        file: of the ledger.
        place: for messages.
        variables: of the environment.
        mounts: that this process sees.

    Raises:
        UnusableLedger: SQLite will not do here (DESIGN section 6).
    """
    container = cluster_mode(variables)
    if container is not None:
        found = f"is a local file, and this run is in {container}: each machine would have a ledger of its own"
        raise UnusableLedger(place=place, found=found, todo=_POSTGRESQL)
    kind = shared_disk(file, mounts)
    if kind is not None:
        found = f"is on a disk of type {kind}, which other machines may share but not its locks"
        raise UnusableLedger(place=place, found=found, todo=f"put it on a local disk, or {_POSTGRESQL}")


def refuse_old_library(place: str, version: tuple[int, ...] = sqlite3.sqlite_version_info) -> None:
    """Refuse a SQLite library that does not understand the ledger's SQL.

    Args:
        place: for messages.
        version: of the library that this Python is linked with.

    Raises:
        UnusableLedger: it is too old.
    """
    if version < _OLDEST:
        found, expected = (".".join(map(str, each)) for each in (version, _OLDEST))
        found = f"needs SQLite {expected} or newer, and this Python has {found}"
        raise UnusableLedger(place=place, found=found, todo=f"use a Python with a newer SQLite, or {_POSTGRESQL}")


def make_place(file: Path, place: str) -> None:
    """Make the folder of a ledger and its empty file, open to nobody else, and have git leave a new folder alone.

    SQLite would make the file by the umask, and gives the -wal and -shm the rights of the database.

    Raises:
        UnusableLedger: the folder cannot be made.
    """
    folder = file.parent
    try:
        if not folder.is_dir():
            folder.mkdir(mode=_FOLDER_OWNER_ONLY, parents=True, exist_ok=True)
            (folder / ".gitignore").write_text("*\n", encoding="ascii")
    except OSError as error:
        todo = "name a file in a folder that the user of this run may write"
        raise UnusableLedger(place=place, found=f"cannot be made: {error}", todo=todo) from error
    with suppress(OSError):  # it is there; or SQLite says why it cannot be made
        os.close(os.open(file, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, _OWNER_ONLY))

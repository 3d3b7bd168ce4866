"""The folder and the disk of a SQLite ledger."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Mapping
from pathlib import Path

from toolkit.ledger.cluster_mode import cluster_mode
from toolkit.ledger.errors import UnusableLedger
from toolkit.ledger.mounts import Mount, shared_disk

_POSTGRESQL = "set FEEDCTL_LEDGER, or `ledger:` in repo.yaml, to a PostgreSQL database"
_OWNER_ONLY = 0o700
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


def make_folder(file: Path, place: str) -> None:
    """Make the folder of a ledger, open to nobody else, and have git leave it alone.

    Raises:
        UnusableLedger: it cannot be made.
    """
    folder = file.parent
    if folder.is_dir():
        return
    try:
        folder.mkdir(mode=_OWNER_ONLY, parents=True, exist_ok=True)
        (folder / ".gitignore").write_text("*\n", encoding="ascii")
    except OSError as error:
        todo = "name a file in a folder that the user of this run may write"
        raise UnusableLedger(place=place, found=f"cannot be made: {error}", todo=todo) from error

"""Whether a file of this machine could be made or changed; nothing is made or written to find out."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

from toolkit.ledger.sqlite_place import Mount, mount_of, own_mounts

Allowed = Callable[[Path, int], bool]
"""As `os.access`."""

_WITHOUT_FILES = frozenset(
    {
        "binfmt_misc",
        "bpf",
        "cgroup",
        "cgroup2",
        "configfs",
        "debugfs",
        "devpts",
        "efivarfs",
        "fusectl",
        "mqueue",
        "proc",
        "pstore",
        "securityfs",
        "sysfs",
        "tracefs",
    }
)
"""Kinds of file systems that show the kernel's state; the permission bits of their folders promise too much."""

_ENTRIES = os.W_OK | os.X_OK


def obstacle_to_making(file: Path, allowed: Allowed = os.access, mounts: Iterable[Mount] | None = None) -> str:
    """Why a file that is not there could not be made, with the folders that are missing; empty: it could.

    Args:
        file: absolute.
        allowed: asks the operating system.
        mounts: None: those of this process.
    """
    folder = next(each for each in Path(os.path.realpath(file)).parents if os.access(each, os.F_OK))
    if not folder.is_dir():
        return f"{folder} is no folder"
    mount = mount_of(folder, own_mounts() if mounts is None else mounts)
    if mount is not None and mount.kind in _WITHOUT_FILES:
        return f"{folder} is on a file system of type {mount.kind}, where no files can be made"
    return "" if allowed(folder, _ENTRIES) else f"nothing can be made in {folder}, which this user may not write to"


def obstacle_to_sqlite(file: Path, allowed: Allowed = os.access) -> str:
    """Why a SQLite file could not be made, or changed when it is there; empty: it could."""
    if not file.exists():
        return obstacle_to_making(file, allowed)
    refused = next((each for each in _parts(file) if not allowed(each, os.W_OK)), None)
    if refused is not None:
        return f"{refused} belongs to {_owner(refused)}, and this user may not write to it"
    return "" if allowed(file.parent, _ENTRIES) else f"this user may not write to its folder {file.parent}"


def _owner(file: Path) -> str:
    try:
        return file.owner()
    except KeyError:
        return f"user {file.stat().st_uid}"


def _parts(file: Path) -> Iterator[Path]:
    """The file, and those that SQLite may have left beside it."""
    yield from (
        each for each in (file, *(file.with_name(f"{file.name}{end}") for end in ("-wal", "-shm"))) if each.exists()
    )

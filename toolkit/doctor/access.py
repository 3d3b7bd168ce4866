"""Write access to directories and files, found without making or writing anything."""

from __future__ import annotations

import grp
import os
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING

from toolkit.ledger.sqlite_place import Mount, mount_of, own_mounts
from toolkit.runs.recorder import current_user

if TYPE_CHECKING:
    from toolkit.storage import FileStatus


_OWNER, _GROUP, _OTHERS = 0o300, 0o030, 0o003
"""To make or remove entries takes the bits to write and to pass through."""


class Access(StrEnum):
    """Permission of a user by permission bits."""

    YES = "yes"
    """They allow it."""
    BY_GROUP = "by_group"
    """The permissions allow it to the group, whose members only the store knows."""
    NO = "no"
    """They do not."""
    UNKNOWN = "unknown"
    """The store has none."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Actor:
    """User that acts on a store.

    Attributes:
        name: of the user, as the store knows it.
        groups: None: only the store knows them.
        is_superuser: permission bits do not bind; False also when only the store knows.
    """

    name: str
    groups: frozenset[str] | None = None
    is_superuser: bool = False


def local_actor() -> Actor:
    """This process on the machine's own files."""
    groups = frozenset(_group_name(number) for number in {os.getegid(), *os.getgroups()})
    return Actor(name=current_user(), groups=groups, is_superuser=os.geteuid() == 0)


def write_access(status: FileStatus, actor: Actor) -> Access:
    """Return whether the actor may make and remove entries in the directory."""
    bits = status.permission
    if bits is None:
        return Access.UNKNOWN
    if actor.is_superuser:
        return Access.YES
    if status.owner == actor.name:
        return _allowed(bits, _OWNER)
    if actor.groups is None:
        both = {_allowed(bits, _GROUP), _allowed(bits, _OTHERS)}
        return both.pop() if len(both) == 1 else Access.BY_GROUP
    return _allowed(bits, _GROUP if status.group in actor.groups else _OTHERS)


def _allowed(bits: int, wanted: int) -> Access:
    return Access.YES if bits & wanted == wanted else Access.NO


def _group_name(number: int) -> str:
    try:
        return grp.getgrgid(number).gr_name
    except KeyError:
        return str(number)


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

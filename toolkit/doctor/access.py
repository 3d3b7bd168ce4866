"""Whether somebody may write into a directory, by its permission bits alone: nothing is written to find out."""

from __future__ import annotations

import grp
import os
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING

from toolkit.runs.identity import current_user

if TYPE_CHECKING:
    from toolkit.storage import FileStatus

_OWNER, _GROUP, _OTHERS = 0o300, 0o030, 0o003
"""To make or remove entries takes the bits to write and to pass through."""


class Access(StrEnum):
    """What permission bits say of somebody."""

    YES = "yes"
    """They allow it."""
    BY_GROUP = "by_group"
    """They allow it to the group, and nobody knows here who is in it: the store does."""
    NO = "no"
    """They do not."""
    UNKNOWN = "unknown"
    """The store has none."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Actor:
    """Who acts on a store.

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
    """Whether the actor may make and remove entries in the directory."""
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

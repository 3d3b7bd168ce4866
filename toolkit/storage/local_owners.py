"""User and group names of the machine; an id without a name is its own name."""

from __future__ import annotations

import grp
import pwd
from functools import lru_cache


@lru_cache(maxsize=1024)
def owner_name(user_id: int) -> str:
    """The name of a user id, or the id itself."""
    try:
        return pwd.getpwuid(user_id).pw_name
    except KeyError:
        return str(user_id)


@lru_cache(maxsize=1024)
def group_name(group_id: int) -> str:
    """The name of a group id, or the id itself."""
    try:
        return grp.getgrgid(group_id).gr_name
    except KeyError:
        return str(group_id)


def user_number(name: str | None) -> int:
    """The id of a user name, or of a number; -1, which changes nothing, for None.

    Raises:
        KeyError: the machine knows no such user.
    """
    if name is None:
        return -1
    return int(name) if name.isdecimal() else pwd.getpwnam(name).pw_uid


def group_number(name: str | None) -> int:
    """The id of a group name, or of a number; -1, which changes nothing, for None.

    Raises:
        KeyError: the machine knows no such group.
    """
    if name is None:
        return -1
    return int(name) if name.isdecimal() else grp.getgrnam(name).gr_gid

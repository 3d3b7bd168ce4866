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

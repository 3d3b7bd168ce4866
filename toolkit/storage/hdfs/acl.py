"""Access control lists of HDFS as texts, the same for both of its protocols."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from toolkit.storage.errors import StorageFailure

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from toolkit.el import CanonicalPath


_ENTRY = re.compile(r"(default:)?(user|group|mask|other):([^:,\s]*):([r-][w-][x-])")
_DEFAULT = "default:"


def full_acl(permission: int, entries: Sequence[str]) -> tuple[str, ...]:
    """The whole list: a NameNode leaves out what the permission bits say, of which the group's are then the mask."""
    access = [entry for entry in entries if not entry.startswith(_DEFAULT)]
    rest = [entry for entry in entries if entry.startswith(_DEFAULT)]
    if access:
        owner, mask, other = (_action(permission >> shift) for shift in (6, 3, 0))
        access = [f"user::{owner}", *access, f"mask::{mask}", f"other::{other}"]
    return (*access, *rest)


def _action(bits: int) -> str:
    return "".join(letter if bits & bit else "-" for letter, bit in (("r", 4), ("w", 2), ("x", 1)))


def acl_parts(path: CanonicalPath, entries: Iterable[str]) -> list[tuple[str, str, str, str]]:
    """Scope, type, name and permissions of each entry.

    Raises:
        StorageFailure: one is no entry.
    """
    parts = []
    for entry in entries:
        found = _ENTRY.fullmatch(entry)
        if found is None:
            raise StorageFailure(path=path, detail=f"{entry!r} is no entry of an access control list")
        parts.append(("default" if found[1] else "access", found[2], found[3], found[4]))
    return parts

"""Bounds, names and loops that every store's removals share."""

from __future__ import annotations

import hashlib
import os
from typing import TYPE_CHECKING

from toolkit.storage.errors import NotDone, OutsideBase, StorageError, Unreachable
from toolkit.storage.port import Deleted

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from toolkit.el import CanonicalPath
    from toolkit.storage.port import FileSystem


_NO_NAMES = frozenset({"", ".", ".."})


def names_below(path: CanonicalPath, below: CanonicalPath) -> list[str]:
    """The names that lead from the base down to the path, at least one.

    Raises:
        OutsideBase: the path is not strictly below the base, or one of its names could lead elsewhere.
    """
    names = path.relative_to(below).split("/") if path.is_within(below) else []
    if not names or not _NO_NAMES.isdisjoint(names):
        raise OutsideBase(path=path, below=below)
    return names


def refuse_outside(path: CanonicalPath, below: CanonicalPath) -> None:
    """Called before anything is asked of the store.

    Raises:
        OutsideBase: see `names_below`.
    """
    names_below(path, below)


ASIDE_PREFIX = ".feedctl-evicting-"
"""A directory under removal has this in front of its name, so that no reader takes it for an instance."""

_LONGEST_NAME = 255
_HASHED = "sha256-"


def aside_name(name: str) -> str:
    """The name that a directory gets while it is removed: always the same for a name, and never too long."""
    aside = ASIDE_PREFIX + name
    if len(os.fsencode(aside)) <= _LONGEST_NAME:
        return aside
    return f"{ASIDE_PREFIX}{_HASHED}{hashlib.sha256(os.fsencode(name)).hexdigest()}"


def name_behind(aside: str) -> str | None:
    """The name that the directory had; None when it was too long to be kept in the aside's name."""
    name = aside.removeprefix(ASIDE_PREFIX)
    is_digest = name.startswith(_HASHED) and len(name) == len(_HASHED) + hashlib.sha256().digest_size * 2
    return None if is_digest else name


def delete_each(system: FileSystem, paths: Iterable[CanonicalPath], below: CanonicalPath) -> Iterator[Deleted]:
    """Delete paths one by one; after an unanswered call the rest is `NotDone`, without a further call."""
    silence: Unreachable | None = None
    for path in paths:
        if silence is not None:
            yield Deleted(path, NotDone(path=path, detail=silence.detail))
            continue
        try:
            system.delete(path, below=below)
        except StorageError as error:
            silence = error if isinstance(error, Unreachable) else None
            yield Deleted(path, error)
        else:
            yield Deleted(path, None)

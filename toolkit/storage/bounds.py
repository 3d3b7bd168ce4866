"""What a removal may touch: only what is strictly below the base that it is given (DESIGN section 5)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from toolkit.storage.errors import OutsideBase

if TYPE_CHECKING:
    from toolkit.el import CanonicalPath

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

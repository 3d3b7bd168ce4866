"""What a walk over a feed's location comes upon."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from toolkit.el import CanonicalPath, PathPeriod
    from toolkit.storage import StorageError

HOLD_FILE = ".feedctl-hold"
"""A file of this name in a feed's base holds everything of the feed; its text is the reason."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Stranger:
    """A name that does not conform to the template, or a symbolic link in an instance's place; it stays.

    Attributes:
        path: where it is; of a key that no path can name, the directory that it would be in.
        is_link: a symbolic link.
        is_unnameable: a key of an object store with ``//``, ``/./`` or ``/../``.
    """

    path: CanonicalPath
    is_link: bool = False
    is_unnameable: bool = False


@dataclass(frozen=True, kw_only=True, slots=True)
class Leftover:
    """An instance that a killed removal left aside; `period` is None when its name was too long to be kept in it."""

    path: CanonicalPath
    period: PathPeriod | None


@dataclass(frozen=True, kw_only=True, slots=True)
class EmptyDirectory:
    """An old directory between base and instances that nothing is in."""

    path: CanonicalPath


@dataclass(frozen=True, kw_only=True, slots=True)
class WholeDirectory:
    """A directory below the base that was listed to its end and holds nothing but instances that were found.

    Attributes:
        path: the directory.
        instances: how many are at and below it; they were found just before, with nothing between them.
    """

    path: CanonicalPath
    instances: int


@dataclass(frozen=True, kw_only=True, slots=True)
class Unreadable:
    """A directory below the base that could not be listed; what is in it stays."""

    path: CanonicalPath
    error: StorageError

"""Ready instances, checked one after the other, for `latest`, `future` and ranges of inputs."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from datetime import datetime
from itertools import takewhile
from typing import TYPE_CHECKING

from toolkit.availability.presence import is_ready
from toolkit.el import NoSuchInstance

if TYPE_CHECKING:
    from toolkit.availability.presence import Presence
    from toolkit.el import CanonicalPath, InstanceSequence
    from toolkit.storage import FileSystem

BLOCK = 256
"""So many instances beside each other are looked for by one listing of the directory that holds them."""


@dataclass(kw_only=True)
class CountedInstances:
    """An `Availability` by the data itself: ask `instant in counted`, in any order; it suits a walk from the newest on.

    The first instance of a directory is asked for itself, which is all that a feed in good health costs. From the
    second one on a listing tells which are there at all, so that gaps cost one listing for each directory, and nothing
    where a directory above it is missing. An answer is given once: later changes are not seen.

    Attributes:
        sequence: the feed's instances; nothing else is ever ready.
        path_of: where an instance is.
        presence: which directories and names are there.
        system: the store.
        flag: the name of the availability flag; empty: the feed has none.
    """

    sequence: InstanceSequence
    path_of: Callable[[datetime], CanonicalPath]
    presence: Presence
    system: FileSystem
    flag: str
    _answers: dict[datetime, bool] = field(default_factory=dict, init=False)
    _listed: dict[tuple[CanonicalPath, int], frozenset[str] | None] = field(default_factory=dict, init=False)

    def __contains__(self, instant: object) -> bool:
        """Return whether an instance may be read.

        Raises:
            StorageError: the store refuses, or does not answer.
            ElError: the instance has no place.
        """
        if not isinstance(instant, datetime) or instant not in self.sequence:
            return False
        if instant not in self._answers:
            self._answers[instant] = self._is_ready(instant)
        return self._answers[instant]

    def _is_ready(self, instant: datetime) -> bool:
        path = self.path_of(instant)
        if self.presence.is_absent(path.parent):
            return False
        at = path.parent, self.sequence.index(instant) // BLOCK
        if at not in self._listed:
            self._listed[at] = None
            ready = is_ready(self.system, path, self.flag)
            if not ready:
                self.presence.note_missing(path.parent)
            return ready
        names = self._listed[at]
        if names is None:
            names = self._listed[at] = frozenset(self.presence.among(path.parent, self._names(instant, path.parent)))
        return path.name in names and (not self.flag or is_ready(self.system, path, self.flag))

    def _names(self, instant: datetime, parent: CanonicalPath) -> set[str]:
        """Return the names of the instances in the same directory and block."""
        position = self.sequence.index(instant)
        first = position - position % BLOCK
        before = self._paths(range(position, first - 1, -1), parent)
        after = self._paths(range(position, first + BLOCK), parent)
        return {path.name for each in (before, after) for path in each}

    def _paths(self, positions: range, parent: CanonicalPath) -> Iterator[CanonicalPath]:
        return takewhile(lambda path: path.parent == parent, self._rendered(positions))

    def _rendered(self, positions: range) -> Iterator[CanonicalPath]:
        for position in positions:
            try:
                yield self.path_of(self.sequence[position])
            except NoSuchInstance:
                return

"""Exchange of the changed files of a unit by renames; what did not change stays where it is (ADR 0077).

The changed files are staged and verified. Then the unit is renamed aside, as `Publication.swap_in` does, changed there,
and renamed back. After each step: what a kill leaves, and what `Exchange.settle` makes of it:

1. The staged files are renamed to ``new``: the old unit.
2. The unit is renamed aside: the old unit, renamed back.
3. Files that change or go are renamed to ``old``, one by one: all of them back, and so the old unit.
4. ``new`` is renamed to ``ready``: from here on all staged files follow, and so the new unit.
5. The staged files are renamed into the unit, one by one: the same.
6. The unit is renamed back: the new unit. Only now the directory of the exchange is removed, with ``old`` in it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING

from toolkit.availability import is_there
from toolkit.storage import EXCHANGE_PREFIX, AlreadyExists, FileKind, NotFound
from toolkit.transfer.trees import below

if TYPE_CHECKING:
    from toolkit.el import CanonicalPath
    from toolkit.storage import FileSystem


@dataclass(frozen=True, kw_only=True)
class Exchange:
    """Exchange of files of one unit by one run. Every call raises StorageError and StopRequested.

    Attributes:
        system: the store; its renames are atomic.
        unit: the final place, under a lease of the run.
        aside: where the unit is while its files are exchanged.
        run: names the directory of the exchange.
    """

    system: FileSystem
    unit: CanonicalPath
    aside: CanonicalPath
    run: str

    @property
    def place(self) -> CanonicalPath:
        """The directory of the exchange, beside the unit."""
        return self.unit.parent.child(f"{EXCHANGE_PREFIX}{self.run}-{self.unit.name}")

    def apply(self, staged: CanonicalPath, dropped: Sequence[str]) -> None:
        """Exchange the files; the caller sees to it that no stop comes in between, and calls `settle` on an error.

        Args:
            staged: the verified files and directories that come, below their names in the unit.
            dropped: names in the unit that go, or are replaced; none is inside another.
        """
        self.system.mkdirs(self._old)
        for parent in sorted({below(self._old, name).parent for name in dropped} - {self._old}):
            self.system.mkdirs(parent)
        self.system.rename(staged, self._new)
        self.system.rename(self.unit, self.aside)
        for name in dropped:
            self.system.rename(below(self.aside, name), below(self._old, name))
        self.system.rename(self._new, self._ready)
        self._move_all(self._ready, self.aside)
        self.system.rename(self.aside, self.unit)

    def settle(self) -> bool | None:
        """Finish or undo an exchange that was interrupted; then the directory of the exchange can be removed.

        Returns:
            Whether the unit has the new files; None: there was no exchange.
        """
        if not is_there(self.system, self.place):
            return None
        is_ready = is_there(self.system, self._ready)
        if is_there(self.system, self.aside):
            if is_there(self.system, self.unit):
                return True  # made anew since, as in `finish_swap`
            self._move_all(self._ready if is_ready else self._old, self.aside)
            self.system.rename(self.aside, self.unit)
        if not is_ready and is_there(self.system, self.unit):
            # A rename of an old file that was not answered may have happened after the look; now none can any more.
            for place, target in list(self._moves(self._old, self.unit)):
                with suppress(AlreadyExists):
                    self.system.rename(place, target)
        return is_ready

    def _move_all(self, source: CanonicalPath, into: CanonicalPath) -> None:
        """Move the content of a directory of the exchange."""
        for place, target in list(self._moves(source, into)):
            self.system.rename(place, target)

    def _moves(self, source: CanonicalPath, into: CanonicalPath) -> Iterator[tuple[CanonicalPath, CanonicalPath]]:
        """Yield what is moved where; a directory that is at both ends stays, and its content is moved."""
        with suppress(NotFound):
            for entry in self.system.list(source):
                place, target = source.child(entry.name), into.child(entry.name)
                if entry.kind is FileKind.DIRECTORY and is_there(self.system, target):
                    yield from self._moves(place, target)
                else:
                    yield place, target

    @property
    def _new(self) -> CanonicalPath:
        return self.place.child("new")

    @property
    def _ready(self) -> CanonicalPath:
        return self.place.child("ready")

    @property
    def _old(self) -> CanonicalPath:
        return self.place.child("old")

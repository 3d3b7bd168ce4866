"""Exchange of the changed files of a unit by renames; what did not change stays where it is (ADR 0077).

The changed files are staged and verified. Then the unit is renamed aside, as `Publication.swap_in` does, changed there,
and renamed back. After each step: what a kill leaves, and what `Exchange.settle` makes of it:

1. The staged files are renamed to ``new``: the old unit.
2. The unit is renamed aside: the old unit, renamed back.
3. Files that change or go are renamed to ``old``, one by one: all of them back, and so the old unit. Then a directory
   is moved to where something comes and nothing went, and back: the same, and perhaps that empty directory in it.
4. ``new`` is renamed to ``ready``: from here on all staged files follow, and so the new unit. Who goes back renames
   it to ``back`` first: a run that is not dead after all, or a rename that was not answered, cannot go forward then.
5. The staged files are renamed into the unit, one by one: the same.
6. The unit is renamed back: the new unit. Only now the directory of the exchange is removed, with ``old`` in it.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING

from toolkit.availability import is_there
from toolkit.storage import (
    EXCHANGE_PREFIX,
    AlreadyExists,
    FileKind,
    NotFound,
    PermissionDenied,
    QuotaExceeded,
    StorageError,
    StorageFailure,
    WrongKind,
    find_status,
)
from toolkit.transfer.errors import NotSettled
from toolkit.transfer.trees import below

if TYPE_CHECKING:
    from toolkit.el import CanonicalPath
    from toolkit.storage import FileSystem

REFUSALS = (AlreadyExists, PermissionDenied, StorageFailure)
"""Answers of a store after which a unit cannot be changed, and perhaps can be replaced as a whole."""


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
        """Exchange the files; the caller sees to it that no stop comes in between, and `settle_after` follows an error.

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
        self._require_room({below(self.aside, name) for name in dropped})
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
        goes_on = self._goes_on()
        if is_there(self.system, self.aside):
            if not is_there(self.system, self.unit):
                self._move_all(self._ready if goes_on else self._old, self.aside)
                self.system.rename(self.aside, self.unit)
            elif is_there(self.system, self.aside):  # else it was renamed back between the two looks
                return True  # made anew since, as in `finish_swap`
        if not goes_on and is_there(self.system, self.unit):
            # A rename of an old file that was not answered may have happened after the look; now none can any more.
            for place, target in list(self._moves(self._old, self.unit)):
                with suppress(AlreadyExists):
                    self.system.rename(place, target)
        return goes_on

    def settle_after(self, cause: StorageError) -> bool:
        """Settle the exchange of this run, which failed; return whether the unit has the new files.

        Raises:
            NotSettled: the store refuses that too, or the unit is still aside.
        """
        try:
            has_new = self.settle()
            if has_new is None and is_there(self.system, self.aside):
                # A run that took this one for dead has removed the exchange, before the unit was put aside.
                self.system.rename(self.aside, self.unit)
            is_settled = is_there(self.system, self.unit) and not is_there(self.system, self.aside)
        except StorageError as error:
            raise NotSettled(path=self.unit, detail=f"{cause}; then: {error}") from cause
        if not is_settled:
            raise NotSettled(path=self.unit, detail=str(cause)) from cause
        return bool(has_new)

    def _goes_on(self) -> bool:
        """Return whether the staged files follow; if that is not decided yet, decide that they do not.

        ``new`` can be renamed once, to ``ready`` or to ``back``. Before it is there, a file ``ready`` bars the one way.
        """
        try:
            self.system.rename(self._new, self._back)
        except (NotFound, AlreadyExists):
            if not is_there(self.system, self._back):
                with suppress(AlreadyExists, WrongKind, QuotaExceeded):  # the unit is not aside, or it is decided
                    self.system.write(self._ready, [b""], overwrite=False)
        found = find_status(self.system, self._ready)
        return found is not None and found.kind is FileKind.DIRECTORY

    def _require_room(self, left: Collection[CanonicalPath]) -> None:
        """Look whether all staged files can follow, as long as there is a way back.

        Args:
            left: what was moved away. Where something could be moved away, something can be put.

        Raises:
            AlreadyExists: there is something that nobody knew of.
            StorageError: the store refuses to put something into a directory, for example by its permissions.
        """
        open_places, probe = {path.parent for path in left}, self.place.child("probe")
        for _, target in list(self._moves(self._new, self.aside)):
            if target not in left and is_there(self.system, target):
                raise AlreadyExists(path=target)
            if target.parent not in open_places:
                open_places.add(target.parent)
                self.system.mkdirs(probe)
                self.system.rename(probe, target.parent.child(self.place.name))
                self.system.rename(target.parent.child(self.place.name), probe)

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
    def _back(self) -> CanonicalPath:
        return self.place.child("back")

    @property
    def _old(self) -> CanonicalPath:
        return self.place.child("old")

"""A hold that appears while a run is at work: what a person does who sees the wrong data go."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Protocol

from typing_extensions import override

from toolkit.actions.guard import HELD, Condition, Refusal
from toolkit.errors import Failed, Unavailable
from toolkit.ledger.errors import LedgerUnavailable
from toolkit.runs.lease import MonotonicClock, machine_clock
from toolkit.storage import StorageError, Unreachable, find_status

if TYPE_CHECKING:
    from toolkit.el import CanonicalPath
    from toolkit.storage import FileSystem

HOLD_FILE = ".feedctl-hold"
"""A file of this name in a feed's base holds everything of the feed; its text is the reason."""

ITEMS_BETWEEN_LOOKS = 50
"""So many items go between two looks: a hold stops soon, and a look costs next to nothing an item."""
SECONDS_BETWEEN_LOOKS = 1.0
"""Nor does more time pass: a run that was paused looks before it goes on."""


class HoldCheckFailed(Failed):
    """It is unknown whether a feed was put on hold, so that nothing more of it goes.

    Args:
        code: of what kept the look from its end.
        why: that, in words.
    """

    def __init__(self, *, code: str, why: str) -> None:
        self.code, self.why = code, why
        super().__init__(f"a hold could not be looked for: {why}")


class NewHolds(Protocol):
    """Holds that were added by command since the run read them."""

    def are_on(self, pairs: Sequence[tuple[str, str]]) -> bool:
        """Return whether a hold is on any of these feeds, each with its cluster.

        Raises:
            Unavailable: it is unknown now.
        """
        ...


class NoNewHolds(NewHolds):
    """No holds can be added by command."""

    @override
    def are_on(self, pairs: Sequence[tuple[str, str]]) -> bool:
        del pairs
        return False


@dataclass(slots=True)
class _Looks:
    """The last look that came to an end: the newest item and the time when it began; and who looks now."""

    item: float = float("-inf")
    at: float = float("-inf")
    looker: int | None = None


@dataclass(kw_only=True)
class HoldWatch(Condition):
    """A `Condition`: knows whether feeds were put on hold since the plan was made; from then on it stays so.

    A look is at all places that are looked at when the plan is made, and at the ledger.

    Safe between threads. While one of them looks the others go on, for as many items and as long as between two looks;
    then they wait for it. So threads that never wait for a look begin at most twice as many items as one would.

    Attributes:
        bases: where a hold file counts.
        pairs: the feeds, each with its cluster, on which a hold of the ledger counts.
        storage: the store that a path is on.
        new_holds: those of the ledger.
        now: seconds of a clock that only goes forward.
    """

    bases: Sequence[CanonicalPath]
    pairs: Sequence[tuple[str, str]]
    storage: Callable[[CanonicalPath], FileSystem]
    new_holds: NewHolds = field(default_factory=NoNewHolds)
    now: MonotonicClock = machine_clock
    _items: int = field(default=0, init=False)
    _looks: _Looks = field(default_factory=_Looks, init=False)
    _is_held: bool = field(default=False, init=False)
    _failure: Refusal | None = field(default=None, init=False)
    _changed: threading.Condition = field(default_factory=threading.Condition, init=False, repr=False)

    @override
    def refusal(self, base: CanonicalPath, *, items: int = 1, must_look: bool = False) -> Refusal | None:
        """Return the refusal of a hold, or of a failed check; a failed check stands for the rest of the run.

        Args:
            base: of what goes; it is looked at first.
            items: so many go; 0: the rest of what goes already.
            must_look: do not rely on an earlier look.
        """
        if self._failure is not None:
            return self._failure
        try:
            return HELD if self.holds(base, items=items, must_look=must_look) else None
        except HoldCheckFailed as error:
            self._failure = Refusal(error.code, f"{error}; run again when it can be")
            return self._failure

    def holds(self, base: CanonicalPath, *, items: int = 1, must_look: bool = False) -> bool:
        """Return whether a hold exists by now; called before items are removed.

        Raises:
            Unreachable: a store does not answer.
            HoldCheckFailed: a base must not be looked at, or the ledger cannot be read.
        """
        looks = self._looks
        with self._changed:
            own, self._items = self._items, self._items + items
            if looks.looker == threading.get_ident():  # a look that waits for a silent store asks before it goes on
                return self._is_held
            while looks.looker is not None and not self._is_held and self._is_due(own, must_look=must_look):
                self._changed.wait()
            if self._is_held or not self._is_due(own, must_look=must_look):
                return self._is_held
            looks.looker = threading.get_ident()
            began = (self._items - max(1, items), self.now())
        return self._look(base, began)

    def _is_due(self, own: int, *, must_look: bool) -> bool:
        """Return whether the holds must be read again before the item with this number begins."""
        looks = self._looks
        times = 1 if looks.looker is None else 2
        is_old = own - looks.item >= times * ITEMS_BETWEEN_LOOKS
        return is_old or (must_look and looks.item < own) or self.now() - looks.at >= times * SECONDS_BETWEEN_LOOKS

    def _look(self, base: CanonicalPath, began: tuple[int, float]) -> bool:
        """Look for a hold; the result is as old as the moment at which the look began."""
        is_held: bool | None = None
        try:
            is_held = any(map(self._has_file, self._places(base))) or self._has_new_hold()
        finally:
            with self._changed:
                self._looks.looker = None
                if is_held is not None:
                    self._looks.item, self._looks.at = began
                    self._is_held = self._is_held or is_held
                self._changed.notify_all()
        return self._is_held

    def _places(self, base: CanonicalPath) -> Iterable[CanonicalPath]:
        """In a base that does not exist there is no hold."""
        return dict.fromkeys((base, *self.bases))

    def _has_file(self, base: CanonicalPath) -> bool:
        try:
            return find_status(self.storage(base), base.child(HOLD_FILE)) is not None
        except Unreachable:
            raise
        except StorageError as error:
            raise HoldCheckFailed(code=error.code, why=str(error)) from error

    def _has_new_hold(self) -> bool:
        try:
            return self.new_holds.are_on(self.pairs)
        except Unavailable as error:
            raise HoldCheckFailed(code=LedgerUnavailable.code, why=str(error)) from error

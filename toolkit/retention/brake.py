"""A hold that appears while a run is deleting: what a person does who sees the wrong data go."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Protocol

from toolkit.errors import Unavailable
from toolkit.retention.findings import HOLD_FILE
from toolkit.retention.presence import is_present
from toolkit.runs.deadline import MonotonicClock, machine_clock

if TYPE_CHECKING:
    from toolkit.el import CanonicalPath
    from toolkit.retention.plan import PlanItem
    from toolkit.retention.targets import FeedTarget
    from toolkit.storage import FileSystem

ITEMS_BETWEEN_LOOKS = 50
"""So many items go between two looks: a hold stops soon, and a look costs next to nothing an item."""
SECONDS_BETWEEN_LOOKS = 1.0
"""Nor does more time pass: a run that was paused looks before it goes on."""


class NewHolds(Protocol):
    """Holds that were added by command since the run read them."""

    def are_on(self, target: FeedTarget) -> bool:
        """Whether one is on the feed, or on one that shares its data.

        Raises:
            Unavailable: nobody can tell now.
        """
        ...


class NoNewHolds:
    """No holds can be added by command."""

    def are_on(self, target: FeedTarget) -> bool:
        """See `NewHolds.are_on`."""
        del target
        return False


@dataclass(kw_only=True)
class Brake:
    """Knows whether a feed was put on hold since the plan was made; from the first time on it stays so for the run.

    Attributes:
        target: the feed.
        storage: the store that a path is on.
        new_holds: those of the ledger.
        now: seconds of a clock that only goes forward.
    """

    target: FeedTarget
    storage: Callable[[CanonicalPath], FileSystem]
    new_holds: NewHolds = field(default_factory=NoNewHolds)
    now: MonotonicClock = machine_clock
    _items: int = field(default=0, init=False)
    _looked_at: dict[CanonicalPath, tuple[int, float]] = field(default_factory=dict, init=False)
    _is_held: bool = field(default=False, init=False)

    def holds(self, item: PlanItem) -> bool:
        """Whether the feed is on hold by now."""
        if not self._is_held and self._must_look(item.base):
            self._is_held = self._has_file(item.base) or self._has_new_hold()
            self._looked_at[item.base] = (self._items, self.now())
        self._items += 1
        return self._is_held

    def _must_look(self, base: CanonicalPath) -> bool:
        if base not in self._looked_at:
            return True
        items, at = self._looked_at[base]
        return self._items - items >= ITEMS_BETWEEN_LOOKS or self.now() - at >= SECONDS_BETWEEN_LOOKS

    def _has_file(self, base: CanonicalPath) -> bool:
        """A base that cannot be looked at counts as held, since nobody knows."""
        return is_present(self.storage(base), base.child(HOLD_FILE)) is not False

    def _has_new_hold(self) -> bool:
        """As with a base that cannot be looked at."""
        try:
            return self.new_holds.are_on(self.target)
        except Unavailable:
            return True

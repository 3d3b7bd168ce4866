"""A hold file that appears while a run is deleting: what a person does who sees the wrong data go."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from toolkit.retention.findings import HOLD_FILE
from toolkit.storage import NotFound, StorageError

if TYPE_CHECKING:
    from toolkit.el import CanonicalPath
    from toolkit.retention.plan import PlanItem
    from toolkit.storage import FileSystem

ITEMS_BETWEEN_LOOKS = 50
"""So many items of one base go between two looks: a hold stops soon, and a look costs next to nothing an item."""


@dataclass(kw_only=True)
class Brake:
    """Knows which feeds were put on hold since the plan was made.

    Attributes:
        storage: the store that a path is on.
    """

    storage: Callable[[CanonicalPath], FileSystem]
    _seen: Counter[CanonicalPath] = field(default_factory=Counter, init=False)
    _held: set[tuple[str, str]] = field(default_factory=set, init=False)

    def holds(self, item: PlanItem) -> bool:
        """Whether the item's feed is on hold by now; from the first time on it stays so for this run."""
        feed = (item.feed, item.cluster)
        if self._seen[item.base] % ITEMS_BETWEEN_LOOKS == 0 and self._is_held(item.base):
            self._held.add(feed)
        self._seen[item.base] += 1
        return feed in self._held

    def _is_held(self, base: CanonicalPath) -> bool:
        """A base that cannot be looked at counts as held, since nobody knows."""
        try:
            self.storage(base).status(base.child(HOLD_FILE))
        except NotFound:
            return False
        except StorageError:
            return True
        return True

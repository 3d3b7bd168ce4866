"""Directories that a killed run emptied and did not come to remove: without a date in its name no walk knows one."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from toolkit.retention.plan import ItemKind, PlanItem
from toolkit.retention.presence import is_present
from toolkit.retention.recording import new_item, settled_item
from toolkit.retention.result import ItemResult
from toolkit.runs.recorder import Step
from toolkit.storage import StorageError

if TYPE_CHECKING:
    from toolkit.el import CanonicalPath
    from toolkit.retention.plan import FeedPlan
    from toolkit.retention.targets import FeedTarget, Location
    from toolkit.runs.active_run import ActiveRun
    from toolkit.storage import FileSystem

_LOG = logging.getLogger(__name__)


@dataclass(frozen=True, kw_only=True)
class Forsaken:
    """Removes the emptied parents of items that a killed run removed.

    Attributes:
        target: the feed.
        plan: of this run; what it has is removed by it, with the directories above.
        run: asked before each removal, and told of it.
        storage: the store that a path is on.
    """

    target: FeedTarget
    plan: FeedPlan
    run: ActiveRun
    storage: Callable[[CanonicalPath], FileSystem]

    def remove(self, gone: Sequence[CanonicalPath]) -> None:
        """Remove the directories above paths at which nothing is any more, as far as they are empty, deepest first.

        One that cannot be removed stays: the next run of the feed that empties it tries again.

        Raises:
            Stopped: the run must not go on; the items stay open, and the next run comes here again.
        """
        above = dict(each for path in gone for each in self._above(path))
        occupied = {item.path for item in self.plan.items}
        # Several of the paths may be in one directory, which is empty only after all that was emptied in it has gone.
        for parent in sorted(above, key=_depth, reverse=True):
            if parent in occupied or not self._is_removed(above[parent], parent):
                occupied.add(parent.parent)

    def _above(self, path: CanonicalPath) -> Iterator[tuple[CanonicalPath, Location]]:
        around = [each for each in self.target.locations if path.is_within(each.base)]
        # One location may be inside another one, and the base of either stays.
        location = max(around, key=lambda each: _depth(each.base), default=None)
        parent = path.parent
        while location is not None and parent.is_within(location.base):
            yield parent, location
            parent = parent.parent

    def _is_removed(self, location: Location, parent: CanonicalPath) -> bool:
        """Whether to look further up: it went, or was gone before, or is only the beginning of keys."""
        self.run.check()
        system = self.storage(parent)
        try:
            if system.remove_if_empty(parent, below=location.base):
                self._tell(location, parent)
                return True
            # A run may have been killed between two of the directories.
            return not system.capabilities.directories or is_present(system, parent) is False
        except StorageError as error:
            _LOG.warning('event=emptied_directory_stays code=%s path="%s"', error.code, parent)
            return False

    def _tell(self, location: Location, parent: CanonicalPath) -> None:
        item = PlanItem.of_directory(ItemKind.EMPTY_DIRECTORY, parent, self.target, location)
        self.run.record(Step(beside=[(new_item(0, item), settled_item(0, ItemResult.done(item)))]))


def _depth(path: CanonicalPath) -> int:
    return path.path.count("/")

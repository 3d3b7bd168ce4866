"""Directories that a killed run emptied and did not come to remove: without a date in its name no walk knows one."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from toolkit.retention.gate import Gate
from toolkit.retention.places import inner_place, root_of
from toolkit.retention.plan import ItemKind, PlanItem
from toolkit.retention.presence import is_present
from toolkit.retention.recording import new_item, settled_item
from toolkit.retention.result import ItemResult
from toolkit.runs.recorder import Step
from toolkit.storage import NotFound, StorageError, Unreachable

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
        run: told of each removal.
        gate: asked before each removal.
        storage: the store that a path is on.
    """

    target: FeedTarget
    plan: FeedPlan
    run: ActiveRun
    gate: Gate
    storage: Callable[[CanonicalPath], FileSystem]

    def remove(self, gone: Sequence[CanonicalPath]) -> frozenset[CanonicalPath]:
        """Remove the directories above paths at which nothing is any more, as far as they are empty, deepest first.

        One that cannot be removed stays: the next run of the feed that empties it tries again.

        Returns:
            Paths above which a directory could not be tried: the feed was put on hold, or its store is silent. They
            have to stay open, since nothing else leads back there.

        Raises:
            Stopped: the run must not go on; all items stay open, and the next run comes here again.
        """
        above = dict(each for path in gone for each in self._above(path))
        occupied = {item.path for item in self.plan.items}
        untried: set[CanonicalPath] = set()
        # Several of the paths may be in one directory, which is empty only after all that was emptied in it has gone.
        for parent in sorted(above, key=_depth, reverse=True):
            is_gone = False if parent in occupied else self._is_gone(above[parent], parent)
            occupied.update([] if is_gone else [parent.parent])
            untried.update([parent] if is_gone is None else [])
        return frozenset(path for path in gone if not untried.isdisjoint(parent for parent, _ in self._above(path)))

    def needed(self, gone: Sequence[CanonicalPath]) -> frozenset[CanonicalPath]:
        """Those of the paths without which an empty directory would not be found again; changes nothing."""
        planned = {item.path for item in self.plan.items}
        known: dict[CanonicalPath, bool | None] = {}

        def leads_back(path: CanonicalPath) -> bool:
            for parent in sorted((parent for parent, _ in self._above(path)), key=_depth, reverse=True):
                if parent not in known:
                    known[parent] = False if parent in planned else self._is_empty(parent)
                if (is_empty := known[parent]) is not None:
                    return is_empty
            return False

        return frozenset(filter(leads_back, gone))

    def _above(self, path: CanonicalPath) -> Iterator[tuple[CanonicalPath, Location]]:
        """The directories on the way to instances that a path is in; the template may be another one by now."""
        around = [each for each in self.target.locations if path.is_within(each.base)]
        # One location may be inside another one, and the base of either stays.
        base = max((each.base for each in around), key=_depth, default=path)
        for location in around:
            ways = _ways(location, path)
            yield from ((parent, location) for parent in ways if parent.is_within(base))

    def _is_gone(self, location: Location, parent: CanonicalPath) -> bool | None:
        """Whether to look further up: it went, or was gone before, or is only the beginning of keys.

        Returns:
            None: nobody can tell now.
        """
        refusal = self.gate.refusal(location.base)
        if self.gate.stopped is not None:
            raise self.gate.stopped
        if refusal is not None:
            return None
        system = self.storage(parent)
        try:
            if system.remove_if_empty(parent, below=location.base):
                self._tell(location, parent)
                return True
        except StorageError as error:
            _LOG.warning('event=emptied_directory_stays code=%s path="%s"', error.code, parent)
            if not isinstance(error, Unreachable):
                return False
            self.gate.note_unanswered(system, location.base)
            return None
        if not system.capabilities.directories:
            return True
        # A run may have been killed between two of the directories.
        found = is_present(system, parent)
        return None if found is None else not found

    def _is_empty(self, parent: CanonicalPath) -> bool | None:
        """None: it is not there. What cannot be listed may be empty."""
        try:
            return next(self.storage(parent).list(parent), None) is None
        except NotFound:
            return None
        except StorageError:
            return True

    def _tell(self, location: Location, parent: CanonicalPath) -> None:
        item = PlanItem.of_directory(ItemKind.EMPTY_DIRECTORY, parent, self.target, location)
        self.run.record(Step(beside=[(new_item(0, item), settled_item(0, ItemResult.done(item)))]))


def _ways(location: Location, path: CanonicalPath) -> Iterator[CanonicalPath]:
    """The directories between a location's base and a path, as far as they can be above instances of the location."""
    place = root_of(location)
    for name in path.parent.relative_to(location.base).split("/") if path.parent.is_within(location.base) else ():
        inner = inner_place(location, place, name) if place.depth < location.last_depth else None
        if inner is None:
            return
        place = inner
        yield place.path


def _depth(path: CanonicalPath) -> int:
    return path.path.count("/")

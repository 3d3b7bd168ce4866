"""A lazy walk over the young instances, newest first, so that only as many are listed as are needed."""

from __future__ import annotations

import heapq
from dataclasses import dataclass, field
from datetime import UTC, datetime
from itertools import count
from typing import TYPE_CHECKING

from toolkit.retention.places import Place, candidate_at, inner_place, own_entry, root_of
from toolkit.storage import FileKind, NotFound

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from toolkit.planning.retention import Candidate
    from toolkit.retention.targets import FeedTarget, Location
    from toolkit.storage import Entry, FileSystem

_UNKNOWN = datetime.max.replace(tzinfo=UTC)


@dataclass(frozen=True, kw_only=True)
class YoungWalk:
    """Finds instances whose time is not before the horizon, whatever the order of the template's fields.

    The place with the latest possible date is always looked into first, so that the first instances found are the
    newest ones, and places that are not needed are never listed.

    Attributes:
        target: the feed on its cluster.
        location: where to look.
        system: the store, which may be read-only.
        check: called before each listing; what it raises ends the walk.
    """

    target: FeedTarget
    location: Location
    system: FileSystem
    check: Callable[[], None]
    _order: Iterator[int] = field(default_factory=count, init=False)

    def candidates(self) -> Iterator[Candidate]:
        """The young instances, those with the latest period first.

        Raises:
            StorageError: a directory cannot be listed. What vanishes in the meantime is passed over.
        """
        waiting = [self._ranked(root_of(self.location), FileKind.DIRECTORY)]
        while waiting:
            _, _, place, kind = heapq.heappop(waiting)
            if place.depth > self.location.last_depth:
                candidate = candidate_at(self.target, self.location, place)
                if candidate.time >= self.target.policy.horizon:
                    yield candidate
            elif kind is FileKind.DIRECTORY:
                for inner, inner_kind in self._young_places(place):
                    heapq.heappush(waiting, self._ranked(inner, inner_kind))

    def _ranked(self, place: Place, kind: FileKind) -> tuple[float, int, Place, FileKind]:
        latest = _UNKNOWN if place.reach is None else place.reach[-1][1]
        return (-latest.timestamp(), next(self._order), place, kind)

    def _young_places(self, place: Place) -> Iterator[tuple[Place, FileKind]]:
        for entry in self._entries(place):
            inner = inner_place(self.location, place, entry.name)
            if inner is None or not inner.ends_after(self.target.policy.horizon):
                continue
            if entry.kind in {FileKind.DIRECTORY, FileKind.FILE}:
                yield inner, entry.kind

    def _entries(self, place: Place) -> Iterator[Entry]:
        self.check()
        literal = self.location.template.segments[place.depth].literal
        try:
            if literal is None:
                yield from self.system.list(place.path)
            elif (entry := own_entry(self.system, place.path, literal)) is not None:
                yield entry
        except NotFound:
            return

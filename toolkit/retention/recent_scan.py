"""A lazy walk over the young instances, newest first, so that only as many are listed as are needed."""

from __future__ import annotations

import heapq
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime
from itertools import count
from operator import itemgetter
from typing import TYPE_CHECKING, TypeAlias

from toolkit.el.pattern import name_reader, start_name
from toolkit.planning.retention import Candidate
from toolkit.retention.walk import PathPrefix, candidates_in, inner_place, own_entry, root_of
from toolkit.storage import Entry, FileKind, NotFound, WrongKind

if TYPE_CHECKING:
    from collections.abc import Callable

    from toolkit.retention.targets import FeedTarget, Location
    from toolkit.storage import FileSystem


_UNKNOWN = datetime.max.replace(tzinfo=UTC)

Dated: TypeAlias = tuple[datetime, Candidate]
"""An instance, and the instant just after the latest one that it stands for."""
_Run: TypeAlias = Iterator[Dated]
"""The instances of one directory, newest first."""
_Waiting: TypeAlias = "tuple[float, int, PathPrefix | Candidate, _Run | None]"
"""Directories for later, newest first; behind an instance the others of its directory wait."""


@dataclass(frozen=True, kw_only=True)
class RecentScan:
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
        waiting: list[_Waiting] = [(0.0, next(self._order), root_of(self.location), None)]
        while waiting:
            _, _, found, run = heapq.heappop(waiting)
            if isinstance(found, Candidate):
                if found.time >= self.target.policy.horizon:
                    yield found
            elif found.depth < self.location.last_depth:
                for place in self._young_places(found):
                    latest = _UNKNOWN if place.reach is None else place.reach[-1][1]
                    heapq.heappush(waiting, (-latest.timestamp(), next(self._order), place, None))
            else:
                run = self._newest_first(found)
            if run is not None:
                self._wait_for_next(run, waiting)

    def _wait_for_next(self, run: _Run, waiting: list[_Waiting]) -> None:
        for latest, candidate in run:
            heapq.heappush(waiting, (-latest.timestamp(), next(self._order), candidate, run))
            return

    def _young_places(self, place: PathPrefix) -> Iterator[PathPrefix]:
        """The directories of a directory that can hold something young."""
        for name, kind, _, _ in self._entries(place):
            inner = inner_place(self.location, place, name) if kind is FileKind.DIRECTORY else None
            if inner is not None and inner.ends_after(self.target.policy.horizon):
                yield inner

    def _newest_first(self, place: PathPrefix) -> _Run:
        """The young instances of a directory; where names sort as dates do, only those wanted are read."""
        entries = list(self._entries(place))
        if self.location.template.pattern.chronological[place.depth]:
            return self._young(place, reversed(entries))
        return iter(sorted(self._young(place, entries), key=itemgetter(0), reverse=True))

    def _young(self, place: PathPrefix, entries: Iterable[Entry]) -> Iterator[Dated]:
        read = name_reader(self.location.template.pattern, place.known, place.depth)
        made, horizon = candidates_in(self.target, self.location, place), self.target.policy.horizon
        for name, kind, _, _ in entries:
            spans = read(name)
            if spans and spans[-1][1] > horizon and (kind is FileKind.DIRECTORY or kind is FileKind.FILE):
                yield spans[-1][1], made(name, spans)

    def _entries(self, place: PathPrefix) -> Iterator[Entry]:
        self.check()
        literal = self.location.template.segments[place.depth].literal
        try:
            if literal is None:
                pattern, horizon = self.location.template.pattern, self.target.policy.horizon
                start = start_name(pattern, place.known, place.depth, horizon)
                yield from self.system.list(place.path, start_from=start)
            elif place.depth < self.location.last_depth and not self.system.capabilities.directories:
                # The name may be an object as well; only a listing tells whether keys are below it.
                yield Entry(literal, FileKind.DIRECTORY)
            elif (entry := own_entry(self.system, place.path, literal)) is not None:
                yield entry
        except (NotFound, WrongKind):  # gone meanwhile, or an object with the name of a directory
            return

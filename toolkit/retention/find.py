"""A pruned walk to the instances that may go: only into dates that can hold something old (DESIGN section 7)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

from toolkit.planning.retention import Candidate
from toolkit.retention.findings import HOLD_FILE, EmptyDirectory, Leftover, Stranger, Unreadable
from toolkit.retention.places import Place, candidate_at, inner_place, own_entry, root_of
from toolkit.storage import (
    ASIDE_PREFIX,
    OWN_PREFIX,
    Entry,
    FileKind,
    NotFound,
    StorageError,
    aside_name,
    name_behind,
)

if TYPE_CHECKING:
    from collections.abc import Callable
    from datetime import datetime

    from toolkit.retention.targets import FeedTarget, Location
    from toolkit.storage import FileSystem

Finding: TypeAlias = Candidate | Stranger | Leftover | EmptyDirectory | Unreadable


@dataclass(frozen=True, kw_only=True)
class OldWalk:
    """Finds what is old enough to go in one location, in the order of the names.

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

    def findings(self) -> Iterator[Finding]:
        """Everything found below the base.

        Raises:
            StorageError: the base itself cannot be listed. Below it such an error is a finding.
        """
        return self._inside(root_of(self.location))

    @property
    def _horizon(self) -> datetime:
        return self.target.policy.horizon

    def _inside(self, place: Place) -> Iterator[Finding]:
        literal = self.location.template.segments[place.depth].literal
        if literal is None:
            return self._listed(place)
        return self._stepped(place, literal)

    def _below(self, place: Place) -> Iterator[Finding]:
        """The findings in a directory below the base: it may vanish or be locked without stopping the rest."""
        try:
            yield from self._inside(place)
        except NotFound:
            return
        except StorageError as error:
            yield Unreadable(path=place.path, error=error)

    def _listed(self, place: Place) -> Iterator[Finding]:
        self.check()
        is_empty = True
        for entry in self.system.list(place.path):
            is_empty = False
            if entry.name.startswith(OWN_PREFIX):
                yield from self._own(place, entry)
                continue
            inner = inner_place(self.location, place, entry.name)
            if inner is None:
                yield Stranger(path=place.path.child(entry.name))
            elif inner.begins_before(self._horizon):
                yield from self._old(inner, entry)
            elif self.location.template.pattern.chronological[place.depth]:
                yield from self._asides_after(place, entry.name)
                break
        if is_empty and self._may_go_empty(place):
            yield EmptyDirectory(path=place.path)

    def _stepped(self, place: Place, literal: str) -> Iterator[Finding]:
        """Below a literal name nothing has to be listed to know what comes next."""
        self.check()
        found = False
        for name in (literal, aside_name(literal)):
            entry = own_entry(self.system, place.path, name)
            if entry is None:
                continue
            found = True
            inner = inner_place(self.location, place, name)
            yield from self._own(place, entry) if inner is None else self._old(inner, entry)
        if not found and self._may_go_empty(place) and next(self.system.list(place.path), None) is None:
            yield EmptyDirectory(path=place.path)

    def _old(self, inner: Place, entry: Entry) -> Iterator[Finding]:
        is_last = inner.depth > self.location.last_depth
        if is_last and entry.kind in {FileKind.DIRECTORY, FileKind.FILE}:
            yield candidate_at(self.target, self.location, inner)
        elif not is_last and entry.kind is FileKind.DIRECTORY:
            yield from self._below(inner)
        else:
            yield Stranger(path=inner.path, is_link=entry.kind is FileKind.SYMLINK)

    def _own(self, place: Place, entry: Entry) -> Iterator[Finding]:
        """Of feedctl's own names an instance left aside is of interest where instances are, and a misplaced hold."""
        if entry.name == HOLD_FILE:
            yield Stranger(path=place.path.child(entry.name))
            return
        is_aside = entry.name.startswith(ASIDE_PREFIX) and entry.kind is FileKind.DIRECTORY
        if not is_aside or place.depth != self.location.last_depth:
            return
        path, name = place.path.child(entry.name), name_behind(entry.name)
        if name is None:
            yield Leftover(path=path, period=None)
            return
        inner = inner_place(self.location, place, name)
        period = None if inner is None else self.location.template.pattern.period(inner.known)
        yield Stranger(path=path) if period is None else Leftover(path=path, period=period)

    def _asides_after(self, place: Place, name: str) -> Iterator[Finding]:
        """Asides that sort after the name at which a listing stopped."""
        if name >= ASIDE_PREFIX or place.depth != self.location.last_depth:
            return
        for entry in self.system.list(place.path, start_from=ASIDE_PREFIX):
            if not entry.name.startswith(ASIDE_PREFIX):
                return
            yield from self._own(place, entry)

    def _may_go_empty(self, place: Place) -> bool:
        """Whether an empty directory goes: one below the base whose date is known, and begins before the horizon.

        Only such directories are entered at all. The one in which the horizon itself lies counts as well: a run that
        takes its last instance removes it too, so that the rerun of a killed run has to.
        """
        return place.path != self.location.base and place.reach is not None

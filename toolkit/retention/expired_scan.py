"""A pruned walk to the instances that may go: only into dates that can hold something old (DESIGN section 7)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from toolkit.actions.hold_watch import HOLD_FILE
from toolkit.actions.staged_unit import STAGING_DIRECTORY, unit_name
from toolkit.el import is_name
from toolkit.el.pattern import name_reader
from toolkit.retention.walk import (
    Directory,
    EmptyDirectory,
    Finding,
    ListingPrefetch,
    PathPrefix,
    PendingDelete,
    Step,
    Unreadable,
    UnrecognizedName,
    candidates_in,
    inner_place,
    own_entry,
    root_of,
)
from toolkit.storage import (
    ASIDE_PREFIX,
    OWN_PREFIX,
    FileKind,
    NotFound,
    StorageError,
    WrongKind,
    aside_name,
    name_behind,
)
from toolkit.threads import worker_pool

if TYPE_CHECKING:
    from collections.abc import Callable
    from datetime import datetime

    from toolkit.el.periods import Span
    from toolkit.retention.targets import FeedTarget, Location
    from toolkit.storage import FileSystem


@dataclass(frozen=True, kw_only=True)
class ExpiredScan:
    """Finds what is old enough to go in one location, in the order of the names.

    Attributes:
        target: the feed on its cluster.
        location: where to look.
        system: the store, which may be read-only.
        check: called before each listing, from any thread; what it raises ends the walk.
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
        capabilities, last = self.system.capabilities, self.location.last_depth
        with worker_pool(1 if self.location.base.is_local else capabilities.parallel, "feedctl-listing") as threads:
            ahead = ListingPrefetch(
                scan=self._scan,
                is_passage=lambda directory: self._literal_in(directory) is not None,
                holds_instances=lambda directory: directory.place.depth == last,
                threads=threads,
                window=2 * capabilities.parallel,
            )
            yield from self._walked(Directory(root_of(self.location)), ahead)

    def _walked(self, root: Directory, ahead: ListingPrefetch) -> Iterator[Finding]:
        entered = [(root, ahead.steps_in(root))]
        while entered:
            directory, steps = entered[-1]
            for step in steps:
                if isinstance(step, Directory):
                    entered.append((step, ahead.steps_in(step)))
                    break
                yield step
            else:
                entered.pop()
                yield from directory.closed(entered[-1][0] if entered else None)

    @property
    def _horizon(self) -> datetime:
        return self.target.policy.horizon

    @property
    def _has_directories(self) -> bool:
        return self.system.capabilities.directories

    @property
    def _goes_at_once(self) -> bool:
        """True if the store removes a directory in one step; elsewhere instances go one by one (ADR 0021)."""
        return self._has_directories and self.system.capabilities.atomic_delete

    def _literal_in(self, directory: Directory) -> str | None:
        """The only name that is of interest in it, if the template says so."""
        return self.location.template.segments[directory.place.depth].literal

    def _scan(self, directory: Directory) -> Iterator[Step]:
        """Yield the content of a directory; below the base one may vanish or be locked without stopping the rest."""
        literal, is_base = self._literal_in(directory), directory.place.path == self.location.base
        directory.is_whole = self._goes_at_once
        try:
            yield from self._listed(directory) if literal is None else self._stepped(directory, literal)
        except NotFound:
            directory.is_whole = False
            if is_base and self._has_directories:
                raise
        except WrongKind:  # an object with the name of a directory
            directory.is_whole = False
            if is_base and self._has_directories:
                raise
            if not is_base:
                yield UnrecognizedName(path=directory.place.path)
        except StorageError as error:
            directory.is_whole = False
            if is_base:
                raise
            yield Unreadable(path=directory.place.path, error=error)

    def _listed(self, directory: Directory) -> Iterator[Step]:
        self.check()
        place, horizon = directory.place, self._horizon
        read = name_reader(self.location.template.pattern, place.known, place.depth)
        made = candidates_in(self.target, self.location, place)
        is_last = place.depth == self.location.last_depth
        seen_twice = None if self._has_directories else SeenTwice()
        is_empty = True
        for name, kind, _, _ in self.system.list(place.path):
            is_empty = False
            spans = read(name)
            if spans and not spans[0][0] < horizon:
                directory.is_whole = False
                if self.location.template.pattern.chronological[place.depth]:
                    yield from self._asides_after(directory, name)
                    break
            elif spans and is_last and (kind is FileKind.DIRECTORY or kind is FileKind.FILE):
                if seen_twice is None or not seen_twice(name, kind):
                    directory.instances += 1
                    yield made(name, spans)
            else:
                yield from self._other(directory, name, kind, spans)
        if is_empty:
            directory.is_whole = False
        if is_empty and self._may_go_empty(place):
            yield EmptyDirectory(path=place.path)

    def _other(self, directory: Directory, name: str, kind: FileKind, spans: tuple[Span, ...] | None) -> Iterator[Step]:
        """A directory on the way to instances, or what is none of the feed's."""
        place = directory.place
        if spans != () and kind is FileKind.DIRECTORY and place.depth < self.location.last_depth:
            inner = inner_place(self.location, place, name)
            if inner is not None:
                yield Directory(inner)
                return
        directory.is_whole = False
        if not is_name(name):
            yield UnrecognizedName(path=place.path, is_unnameable=True)
        elif name.startswith(OWN_PREFIX):
            yield from self._own(place, name, kind)
        else:
            yield UnrecognizedName(path=place.path.child(name), is_link=spans != () and kind is FileKind.SYMLINK)

    def _stepped(self, directory: Directory, literal: str) -> Iterator[Step]:
        """Below a literal name nothing has to be listed to know what comes next; what else is there is not known."""
        self.check()
        directory.is_whole = False
        place, is_last = directory.place, directory.place.depth == self.location.last_depth
        if not self._has_directories and not is_last:
            # The name may be an object as well; only a listing tells whether keys are below it.
            yield from self._other(directory, literal, FileKind.DIRECTORY, place.reach)
            return
        found = False
        for name in (literal, aside_name(literal), *([STAGING_DIRECTORY] if is_last else [])):
            entry = own_entry(self.system, place.path, name)
            if entry is None:
                continue
            found = True
            if is_last and name == literal and entry.kind in {FileKind.DIRECTORY, FileKind.FILE} and place.reach:
                directory.instances += 1
                yield candidates_in(self.target, self.location, place)(name, place.reach)
            else:
                yield from self._other(directory, name, entry.kind, place.reach if name == literal else ())
        if not found and self._may_go_empty(place) and next(self.system.list(place.path), None) is None:
            yield EmptyDirectory(path=place.path)

    def _staged(self, place: PathPrefix) -> Iterator[Finding]:
        """Yield the staged data of old instances, and the files beside it under their names."""
        staging, is_empty = place.path.child(STAGING_DIRECTORY), True
        try:
            for name, kind, _, _ in self.system.list(staging):
                is_empty = False
                behind = name_behind(name) if name.startswith(ASIDE_PREFIX) else name
                inner = inner_place(self.location, place, unit_name(behind)) if behind else None
                is_data = kind is FileKind.DIRECTORY or kind is FileKind.FILE
                if inner is None or not inner.reach or not is_data:
                    yield UnrecognizedName(path=staging.child(name) if is_name(name) else staging)
                elif inner.begins_before(self._horizon):
                    made = candidates_in(self.target, self.location, place)(inner.path.name, inner.reach)
                    yield replace(made, path=staging.child(name), is_staged=True)
        except (NotFound, WrongKind):
            return
        except StorageError as error:
            yield Unreadable(path=staging, error=error)
            return
        # Not the one in which the horizon lies: what is about to write there has found it.
        if is_empty and self._may_go_empty(place) and not place.ends_after(self._horizon):
            yield EmptyDirectory(path=staging)

    def _own(self, place: PathPrefix, name: str, kind: FileKind) -> Iterator[Finding]:
        """Yield the findings about feedctl's own names: asides, staged data, and a misplaced hold file."""
        path = place.path.child(name)
        if name == HOLD_FILE:
            yield UnrecognizedName(path=path)
            return
        if name == STAGING_DIRECTORY and kind is FileKind.DIRECTORY and place.depth == self.location.last_depth:
            yield from self._staged(place)
            return
        is_aside = self._has_directories and name.startswith(ASIDE_PREFIX) and kind is FileKind.DIRECTORY
        if not is_aside or place.depth != self.location.last_depth:
            return
        behind = name_behind(name)
        if behind is None:
            yield PendingDelete(path=path, period=None)
            return
        inner = inner_place(self.location, place, behind)
        period = None if inner is None else self.location.template.pattern.period(inner.known)
        yield UnrecognizedName(path=path) if period is None else PendingDelete(path=path, period=period)

    def _asides_after(self, directory: Directory, name: str) -> Iterator[Finding]:
        """Asides and a staging directory that sort after the name at which a listing stopped."""
        place = directory.place
        if name >= ASIDE_PREFIX or place.depth != self.location.last_depth:
            return
        for own, kind, _, _ in self.system.list(place.path, start_from=ASIDE_PREFIX):
            if not own.startswith(OWN_PREFIX):
                return
            yield from self._own(place, own, kind)

    def _may_go_empty(self, place: PathPrefix) -> bool:
        """Return whether an empty directory is removed: below the base, of a known date that begins before the horizon.

        Only such directories are entered at all. The one in which the horizon itself lies counts as well: a run that
        takes its last instance removes it too, so that the rerun of a killed run has to.
        """
        return self._has_directories and place.path != self.location.base and place.reach is not None


class SeenTwice:
    """Tells, name by name of one listing, whether a directory's name was an object's before.

    Keys are sorted, so that between an object ``a`` and the directory ``a/`` come only names that begin with ``a``:
    few have to be remembered.
    """

    def __init__(self) -> None:
        self._objects: list[str] = []

    def __call__(self, name: str, kind: FileKind) -> bool:
        """Return whether the name was there before; called in the listing's order."""
        while self._objects and not name.startswith(self._objects[-1]):
            self._objects.pop()
        if kind is FileKind.FILE:
            self._objects.append(name)
            return False
        return name in self._objects

"""Parts of a walk over a feed's location: path prefixes, directories listed ahead, findings."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, TypeAlias

from toolkit.el import CanonicalPath, is_name
from toolkit.el.pattern import NOTHING_KNOWN
from toolkit.planning.retention import Candidate, time_within
from toolkit.storage import Entry, find_status

if TYPE_CHECKING:
    from datetime import datetime

    from toolkit.el import PathPeriod
    from toolkit.el.periods import Span
    from toolkit.el.segment import Found
    from toolkit.retention.targets import FeedTarget, Location
    from toolkit.storage import FileSystem, StorageError
    from toolkit.threads import WorkerPool


@dataclass(frozen=True, kw_only=True, slots=True)
class UnrecognizedName:
    """A name that does not conform to the template, or a symbolic link in an instance's place; it stays.

    Attributes:
        path: where it is; of a key that no path can name, the directory that it would be in.
        is_link: a symbolic link.
        is_unnameable: a key of an object store with ``//``, ``/./`` or ``/../``.
    """

    path: CanonicalPath
    is_link: bool = False
    is_unnameable: bool = False


@dataclass(frozen=True, kw_only=True, slots=True)
class PendingDelete:
    """An instance that a killed removal left aside; `period` is None when its name was too long to be kept in it."""

    path: CanonicalPath
    period: PathPeriod | None


@dataclass(frozen=True, kw_only=True, slots=True)
class EmptyDirectory:
    """An old directory between base and instances that nothing is in."""

    path: CanonicalPath


@dataclass(frozen=True, kw_only=True, slots=True)
class WholeDirectory:
    """A directory below the base that was listed to its end and holds nothing but instances that were found.

    Attributes:
        path: the directory.
        instances: how many are at and below it; they were found just before, with nothing between them.
    """

    path: CanonicalPath
    instances: int


@dataclass(frozen=True, kw_only=True, slots=True)
class Unreadable:
    """A directory below the base that could not be listed; what is in it stays."""

    path: CanonicalPath
    error: StorageError


@dataclass(frozen=True, slots=True)
class PathPrefix:
    """A name on the way.

    Attributes:
        path: where it is.
        depth: the index of the segment that names what is in it; one more than the last for an instance.
        known: the fields and variables that the names so far say.
        reach: the instants that anything at or below it stands for; None while the year is not known.
    """

    path: CanonicalPath
    depth: int
    known: Found
    reach: tuple[Span, ...] | None

    def begins_before(self, instant: datetime) -> bool:
        """Return whether anything at or below it can be before the instant."""
        return self.reach is None or self.reach[0][0] < instant

    def ends_after(self, instant: datetime) -> bool:
        """Return whether anything at or below it can be at or after the instant."""
        return self.reach is None or self.reach[-1][1] > instant


def root_of(location: Location) -> PathPrefix:
    """Return the root of every walk of the location; the literal names of the base say nothing about dates."""
    return PathPrefix(location.base, location.template.base_depth, NOTHING_KNOWN, None)


def inner_place(location: Location, place: PathPrefix, name: str) -> PathPrefix | None:
    """The place of a name in a directory; None when the name does not conform or names no date that exists."""
    known = location.template.step(place.known, place.depth, name) if is_name(name) else None
    if known is None:
        return None
    reach = location.template.reach(known)
    if reach == ():
        return None
    return PathPrefix(place.path.child(name), place.depth + 1, known, reach)


def candidates_in(
    target: FeedTarget, location: Location, place: PathPrefix
) -> Callable[[str, tuple[Span, ...]], Candidate]:
    """Makes the instances of a directory, from names that conform and the instants that they stand for."""
    scheme, authority, prefix = place.path.scheme, place.path.authority, f"{place.path.path.removesuffix('/')}/"

    def made(name: str, spans: tuple[Span, ...]) -> Candidate:
        return Candidate(
            location=location.type,
            time=time_within(spans, target.instances),
            first=spans[0][0],
            end=spans[-1][1],
            path=CanonicalPath(scheme, authority, prefix + name),
            base=location.base,
        )

    return made


def own_entry(system: FileSystem, directory: CanonicalPath, name: str) -> Entry | None:
    """The entry of one known name, without a listing; None when there is none."""
    found = find_status(system, directory.child(name))
    return None if found is None else Entry(name, found.kind)


@dataclass(eq=False, slots=True)
class Directory:
    """A directory that a walk enters.

    Attributes:
        place: where it is, and what its names say.
        is_whole: so far nothing was seen in it but instances that may go, and whole directories; set to false by
            whatever else was seen or not looked at.
        instances: found at and below it so far.
        read: gives what is in it when that was listed ahead of time.
    """

    place: PathPrefix
    is_whole: bool = True
    instances: int = 0
    read: Callable[[], list[Step]] | None = None

    def closed(self, above: Directory | None) -> Iterator[WholeDirectory]:
        """Yield the whole directory when all below it was walked, and add it to the directory above.

        Args:
            above: None for the base, which never goes itself.
        """
        if above is None:
            return
        above.instances += self.instances
        if not self.is_whole:
            above.is_whole = False
        elif self.instances:
            yield WholeDirectory(path=self.place.path, instances=self.instances)


Finding: TypeAlias = Candidate | UnrecognizedName | PendingDelete | EmptyDirectory | Unreadable | WholeDirectory
Step: TypeAlias = Finding | Directory
"""Entry of a directory: a finding, or a directory to be entered at this point."""


_LONGEST = 1_000
"""No more steps than this wait in line in one directory."""

Scan = Callable[[Directory], "Iterator[Step]"]


@dataclass(frozen=True, kw_only=True, slots=True)
class ListingPrefetch:
    """Gives what is in directories, in the order of the walk, and has those that come next listed meanwhile.

    Nothing is listed that the walk would not list. An error comes out where the walk reaches its directory.

    Attributes:
        scan: lists one directory.
        is_passage: whether only known names are looked for in a directory, so that it alone leads nowhere.
        holds_instances: whether there is nothing to look ahead to in it.
        threads: None: one directory after the other.
        window: so many directories of one parent are listed ahead.
    """

    scan: Scan
    is_passage: Callable[[Directory], bool]
    holds_instances: Callable[[Directory], bool]
    threads: WorkerPool | None
    window: int

    def steps_in(self, directory: Directory) -> Iterator[Step]:
        """Return the content of a directory, in order."""
        if self.threads is None:
            return self.scan(directory)
        read, directory.read = directory.read, None
        steps = self.scan(directory) if read is None else iter(read())
        return steps if self.holds_instances(directory) else self._ahead(steps, self.threads)

    def _ahead(self, steps: Iterator[Step], threads: WorkerPool) -> Iterator[Step]:
        line: deque[Step] = deque()
        waiting = 0
        for step in steps:
            line.append(step)
            if isinstance(step, Directory):
                waiting += 1
                if step.read is None:
                    step.read = threads.submit(partial(self._read, step)).result
            while waiting >= self.window or len(line) > _LONGEST:
                first = line.popleft()
                waiting -= isinstance(first, Directory)
                yield first
        yield from line

    def _read(self, directory: Directory) -> list[Step]:
        """Everything in a directory; of a passage also what is behind it, or each of them would be waited for."""
        steps = list(self.scan(directory))
        if self.is_passage(directory):
            for step in steps:
                if isinstance(step, Directory):
                    step.read = _known(self._read(step))
        return steps


def _known(steps: list[Step]) -> Callable[[], list[Step]]:
    return lambda: steps

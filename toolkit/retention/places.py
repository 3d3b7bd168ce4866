"""Directories on the way from a location's base to its instances, and what their names say so far."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from toolkit.el import CanonicalPath, is_name
from toolkit.el.pattern import NOTHING_KNOWN
from toolkit.planning.retention import Candidate, time_within
from toolkit.storage import Entry, NotFound

if TYPE_CHECKING:
    from collections.abc import Callable
    from datetime import datetime

    from toolkit.el.periods import Span
    from toolkit.el.segment import Found
    from toolkit.retention.targets import FeedTarget, Location
    from toolkit.storage import FileSystem


@dataclass(frozen=True, slots=True)
class Place:
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
        """Whether anything at or below it can be before the instant."""
        return self.reach is None or self.reach[0][0] < instant

    def ends_after(self, instant: datetime) -> bool:
        """Whether anything at or below it can be at or after the instant."""
        return self.reach is None or self.reach[-1][1] > instant


def root_of(location: Location) -> Place:
    """Where every walk of the location begins; the literal names of the base say nothing about dates."""
    return Place(location.base, location.template.base_depth, NOTHING_KNOWN, None)


def inner_place(location: Location, place: Place, name: str) -> Place | None:
    """The place of a name in a directory; None when the name does not conform or names no date that exists."""
    known = location.template.step(place.known, place.depth, name) if is_name(name) else None
    if known is None:
        return None
    reach = location.template.reach(known)
    if reach == ():
        return None
    return Place(place.path.child(name), place.depth + 1, known, reach)


def candidates_in(target: FeedTarget, location: Location, place: Place) -> Callable[[str, tuple[Span, ...]], Candidate]:
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
    try:
        return Entry(name, system.status(directory.child(name)).kind)
    except NotFound:
        return None

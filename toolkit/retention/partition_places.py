"""Which partitions of a table may go, by where their data are: only what is nobody else's goes (ADR 0045).

Pure: what the metastore has was listed before.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import islice
from typing import TYPE_CHECKING, Generic, NamedTuple, Protocol, TypeVar

from toolkit.retention.plan import names_text

if TYPE_CHECKING:
    from toolkit.el import CanonicalPath

_FEWEST_NAMES = 2
"""A place with fewer names than this is a top-level directory, or a whole store."""
_Owner = TypeVar("_Owner")


class PartitionGroup(NamedTuple):
    """Partitions that go together, since their data are in one directory.

    Attributes:
        root: the directory; all their data are at or below it.
        base: nothing at, beside or above it is touched.
        names: of the partitions.
    """

    root: CanonicalPath
    base: CanonicalPath
    names: tuple[str, ...]


class OwnerOf(Protocol):
    """See `ForeignData.owner_of`."""

    def __call__(self, place: CanonicalPath, *, own: CanonicalPath | None) -> str:
        """In words."""
        ...


class _Placed(NamedTuple):
    name: str
    place: CanonicalPath


@dataclass(frozen=True, kw_only=True, slots=True)
class DividedPartitions:
    """What may go, in the order of the places, and why the rest stays, by name."""

    groups: tuple[PartitionGroup, ...] = ()
    stays: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class PartitionPlaces:
    """Knows whose a place is.

    Attributes:
        table: the table's own directory.
        owner_of: see `ForeignData.owner_of`; it is asked only about what would go.
    """

    table: CanonicalPath
    owner_of: OwnerOf

    def base_of(self, place: CanonicalPath) -> CanonicalPath:
        """What bounds effects on a place."""
        return self.table if place.is_within(self.table) else place.parent

    def against(self, place: CanonicalPath) -> str:
        """Why nothing at a place goes, whatever partitions are there; empty: it may."""
        if _is_broad(self.table):
            return f"the table's own directory {self.table} is a whole store, or a top-level directory"
        if place.is_within(self.table):
            return self.owner_of(place, own=self.table)
        if overlap(place, self.table):
            return f"{place} is, or holds, the directory of the whole table"
        if _is_broad(place):
            return f"{place} is a whole store, or a top-level directory"
        return self.owner_of(place, own=None)

    def divided(self, going: Mapping[str, CanonicalPath], staying: Mapping[str, CanonicalPath]) -> DividedPartitions:
        """Divide what should go into what may and what stays.

        Args:
            going: the place of each partition that is to go.
            staying: the place of every other partition of the table.
        """
        groups: list[PartitionGroup] = []
        stays: dict[str, str] = {}
        for placed in _overlapping(_Placed(*each) for each in (*going.items(), *staying.items())):
            of_group = [each.name for each in placed if each.name in going]
            why = _stayer(placed, staying) or self.against(placed[0].place) if of_group else ""
            if why:
                stays.update(dict.fromkeys(of_group, why))
            elif of_group:
                root = placed[0].place
                groups.append(PartitionGroup(root, self.base_of(root), tuple(of_group)))
        return DividedPartitions(groups=tuple(groups), stays=stays)


def overlap(one: CanonicalPath, other: CanonicalPath) -> bool:
    """Whether two places are one, or one is inside the other."""
    return one == other or one.is_within(other) or other.is_within(one)


def _is_broad(place: CanonicalPath) -> bool:
    return place.path.count("/") < _FEWEST_NAMES


class PlaceIndex(Generic[_Owner]):
    """Finds out of very many places those that another one is, is inside of or holds.

    Args:
        owners: whose each place is.
    """

    def __init__(self, owners: Iterable[tuple[CanonicalPath, _Owner]]) -> None:
        self._owners: dict[CanonicalPath, list[_Owner]] = {}
        for place, owner in owners:
            self._owners.setdefault(place, []).append(owner)
        self._sorted = sorted(self._owners, key=names_text)

    def owners_of(self, place: CanonicalPath) -> Iterator[_Owner]:
        """Whose data are at or above a place, the nearest first, then below it."""
        above = place
        while True:
            yield from self._owners.get(above, ())
            if above == above.parent:
                break
            above = above.parent
        at = bisect_left(self._sorted, names_text(place), key=names_text)  # what is in it follows it at once
        for below in islice(self._sorted, at, None):
            if below.is_within(place):
                yield from self._owners[below]
            elif below != place:
                return


def _overlapping(places: Iterator[_Placed]) -> Iterator[list[_Placed]]:
    """The partitions by the topmost place that theirs is at or below; it is the first one's."""
    group: list[_Placed] = []
    for each in sorted(places, key=lambda placed: (names_text(placed.place), placed.name)):
        if group and not overlap(each.place, group[0].place):
            yield group
            group = []
        group.append(each)
    if group:
        yield group


def _stayer(placed: list[_Placed], staying: Mapping[str, CanonicalPath]) -> str:
    other = next((each for each in placed if each.name in staying), None)
    return "" if other is None else f"data of the partition {other.name}, which stays, are at {other.place}"

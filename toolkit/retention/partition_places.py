"""Which partitions of a table may go, by where their data are: only what is nobody else's goes (ADR 0045).

Pure: what the metastore has was listed before.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from itertools import islice
from typing import TYPE_CHECKING, Generic, NamedTuple, Protocol, TypeVar

from toolkit.retention.plan import names_text

if TYPE_CHECKING:
    from toolkit.el import CanonicalPath

_FEWEST_NAMES = 2
"""A place with fewer names than this is a top-level directory, or a whole store; of buckets one name is enough."""
_HDFS = frozenset({"hdfs", "webhdfs", "swebhdfs", "viewfs"})
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
    """Callable that names the owner of the data at a path; see `ForeignData.owner_of`."""

    def __call__(self, place: CanonicalPath, *, own: CanonicalPath | None) -> str:
        """In words."""
        ...


class _Placed(NamedTuple):
    name: str
    place: CanonicalPath


@dataclass(frozen=True, kw_only=True, slots=True)
class DividedPartitions:
    """Partitions that may go, in the order of the places, and the reasons of the others, by name."""

    groups: tuple[PartitionGroup, ...] = ()
    stays: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class PartitionPlaces:
    """Knows whose a place is.

    Attributes:
        table: the table's own directory.
        owner_of: see `ForeignData.owner_of`; it is asked only about what would go.
        listed: see `PlaceIndex`.
    """

    table: CanonicalPath
    owner_of: OwnerOf
    listed: frozenset[str] = frozenset()

    def base_of(self, place: CanonicalPath) -> CanonicalPath:
        """Return the directory that bounds effects on a place."""
        return self.table if place.is_within(self.table) else place.parent

    def against(self, place: CanonicalPath) -> str:
        """Why nothing at a place goes, whatever partitions are there; empty: it may."""
        if _is_broad(self.table):
            return f"the table's own directory {self.table} is a whole store, or a top-level directory"
        if place.is_within(self.table):
            return self.owner_of(place, own=self.table)
        if why := meeting(place, self.table, self.listed):
            return why
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
        others = PlaceIndex(((place, _Placed(name, place)) for name, place in staying.items()), self.listed)
        for placed in _overlapping(_Placed(*each) for each in going.items()):
            names, root = tuple(each.name for each in placed), placed[0].place
            if why := _stayer(root, others) or self.against(root):
                stays.update(dict.fromkeys(names, why))
            else:
                groups.append(PartitionGroup(root, self.base_of(root), names))
        return DividedPartitions(groups=tuple(groups), stays=stays)


def meeting(place: CanonicalPath, table: CanonicalPath, listed: frozenset[str]) -> str:
    """Return why a place that is not within a table's own directory may have its data all the same; empty: it has not.

    Args:
        place: of a partition.
        table: the directory.
        listed: see `PlaceIndex`.
    """
    if overlap(place, table):
        return f"{place} is, or holds, the directory of the whole table"
    if any(PlaceIndex([(table, table)], listed).owners_of(place)):
        return f"{place} may be in, or hold, the table's own directory {table} by another name"
    return ""


def overlap(one: CanonicalPath, other: CanonicalPath) -> bool:
    """Whether two places are one, or one is inside the other."""
    return one == other or one.is_within(other) or other.is_within(one)


def _is_broad(place: CanonicalPath) -> bool:
    names = 0 if place.path == "/" else place.path.count("/")
    return names < (_FEWEST_NAMES if place.scheme in {"file", *_HDFS} else 1)


class PlaceIndex(Generic[_Owner]):
    """Finds out of very many places those that another one is, is inside of or holds.

    HDFS has many names: NameNode or name service, with or without a port, webhdfs, viewfs. Equal paths there count as
    one place, unless it is sure that their stores are two.

    Args:
        owners: whose each place is.
        listed: authorities of ``hdfs`` of which it is known which store they are.
    """

    def __init__(self, owners: Iterable[tuple[CanonicalPath, _Owner]], listed: frozenset[str]) -> None:
        self._listed = listed
        self._owners: dict[CanonicalPath, list[tuple[CanonicalPath, _Owner]]] = {}
        for place, owner in owners:
            self._owners.setdefault(_any_hdfs(place), []).append((place, owner))
        self._sorted = sorted(self._owners, key=names_text)

    def owners_of(self, place: CanonicalPath) -> Iterator[_Owner]:
        """Yield the owners of data at or above a place, the nearest first, then below it."""
        for near in self._near(_any_hdfs(place)):
            yield from (owner for found, owner in self._owners[near] if self._may_be_one_store(place, found))

    def _near(self, place: CanonicalPath) -> Iterator[CanonicalPath]:
        for above in (place, *_parents(place)):
            if above in self._owners:
                yield above
        at = bisect_left(self._sorted, names_text(place), key=names_text)  # what is in it follows it at once
        for below in islice(self._sorted, at, None):
            if below.is_within(place):
                yield below
            elif below != place:
                return

    def _may_be_one_store(self, one: CanonicalPath, other: CanonicalPath) -> bool:
        return one.root == other.root or not (self._is_listed(one) and self._is_listed(other))

    def _is_listed(self, place: CanonicalPath) -> bool:
        return place.scheme == "hdfs" and place.authority in self._listed


def _parents(place: CanonicalPath) -> Iterator[CanonicalPath]:
    while place != place.parent:
        place = place.parent
        yield place


def _any_hdfs(place: CanonicalPath) -> CanonicalPath:
    """The same path for all places of one path in HDFS."""
    return replace(place, scheme="hdfs", authority="") if place.scheme in _HDFS else place


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


def _stayer(place: CanonicalPath, others: PlaceIndex[_Placed]) -> str:
    other = next(others.owners_of(place), None)
    return "" if other is None else f"data of the partition {other.name}, which stays, are at {other.place}"

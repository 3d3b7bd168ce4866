"""Choice of the partitions that may be deleted, by their locations: no place with another feed's data (ADR 0045).

Pure: what the metastore has was listed before.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple, Protocol

from toolkit.catalog.partition_name import split_name
from toolkit.planning.location_index import HDFS_SCHEMES, LocationIndex
from toolkit.storage import DATA_PREFIX, OWN_PREFIX

if TYPE_CHECKING:
    from toolkit.el import CanonicalPath

_FEWEST_NAMES = 2
"""A place with fewer names than this is a top-level directory, or a whole store; of buckets one name is enough."""


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
        listed: see `LocationIndex`.
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
        if OWN_PREFIX in place.path.split("/"):
            return f"{place} is in a directory of feedctl, as the quarantine is"
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
        others = LocationIndex(((place, _Placed(name, place)) for name, place in staying.items()), self.listed)
        wanted = LocationIndex((place, _Placed(name, place)) for name, place in sorted(going.items()))
        for placed in wanted.overlapping():
            names, root = tuple(each.name for each in placed), placed[0].place
            if why := _stayer(root, others) or self.against(root):
                stays.update(dict.fromkeys(names, why))
            else:
                groups.append(PartitionGroup(root, self.base_of(root), names))
        return DividedPartitions(groups=tuple(groups), stays=stays)


def is_directory_of(place: CanonicalPath, name: str, base: CanonicalPath) -> bool:
    """Return whether a directory is where Hive, Spark or feedctl keeps a partition below its table's directory.

    Spark writes keys in the case of the table's columns, and feedctl puts a replaced partition below a directory of
    its own.
    """
    if not place.is_within(base):
        return False
    below = place.relative_to(base)
    first, _, rest = below.partition("/")
    try:
        found = split_name(rest if first.startswith(DATA_PREFIX) else below)
        return [(key.lower(), value) for key, value in found.items()] == list(split_name(name).items())
    except ValueError:
        return False


def meeting(place: CanonicalPath, table: CanonicalPath, listed: frozenset[str]) -> str:
    """Return why a place that is not within a table's own directory may have its data all the same; empty: it has not.

    Args:
        place: of a partition.
        table: the directory.
        listed: see `LocationIndex`.
    """
    if place.meets(table):
        return f"{place} is, or holds, the directory of the whole table"
    if any(LocationIndex([(table, table)], listed).meeting(place)):
        return f"{place} may be in, or hold, the table's own directory {table} by another name"
    return ""


def _is_broad(place: CanonicalPath) -> bool:
    names = 0 if place.path == "/" else place.path.count("/")
    return names < (_FEWEST_NAMES if place.scheme in {"file", *HDFS_SCHEMES} else 1)


def _stayer(place: CanonicalPath, others: LocationIndex[_Placed]) -> str:
    other = next(others.meeting(place), None)
    return "" if other is None else f"data of the partition {other.name}, which stays, are at {other.place}"

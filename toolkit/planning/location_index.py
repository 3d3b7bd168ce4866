"""Index of locations: who has data at, above or below a path."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Collection, Iterable, Iterator
from dataclasses import replace
from itertools import chain, takewhile
from typing import TYPE_CHECKING, Generic, TypeVar

if TYPE_CHECKING:
    from toolkit.el import CanonicalPath

HDFS_SCHEMES = frozenset({"hdfs", "webhdfs", "swebhdfs", "viewfs"})
_Owner = TypeVar("_Owner")


class LocationIndex(Generic[_Owner]):
    """Finds owners by a path at, above or below their places, out of very many.

    HDFS has many names: NameNode or name service, with or without a port, webhdfs, viewfs. With `listed`, equal paths
    there count as one place, unless it is sure that their stores are two.

    Args:
        owners: each with its place.
        listed: authorities of ``hdfs`` of which it is known which store they are; None: stores are as they are written.
    """

    def __init__(self, owners: Iterable[tuple[CanonicalPath, _Owner]], listed: Collection[str] | None = None) -> None:
        self._listed = listed
        self._owners: dict[CanonicalPath, list[tuple[CanonicalPath, _Owner]]] = {}
        for place, owner in owners:
            self._owners.setdefault(self._key(place), []).append((place, owner))
        self._sorted = sorted(self._owners, key=names_text)

    def at(self, place: CanonicalPath) -> Iterator[_Owner]:
        """Yield the owners of exactly this place."""
        return self._owners_of(place, (self._key(place),))

    def around(self, place: CanonicalPath) -> Iterator[_Owner]:
        """Yield the owners of places above, the nearest first."""
        return self._owners_of(place, _above(self._key(place)))

    def inside(self, place: CanonicalPath) -> Iterator[_Owner]:
        """Yield the owners of places below, in the order of their names."""
        top = self._key(place)
        first = bisect_right(self._sorted, names_text(top), key=names_text)  # what is in it follows it at once
        below = (self._sorted[at] for at in range(first, len(self._sorted)))
        return self._owners_of(place, takewhile(lambda each: each.is_within(top), below))

    def meeting(self, place: CanonicalPath) -> Iterator[_Owner]:
        """Yield the owners of all three: of the place, of those above and of those below."""
        return chain(self.at(place), self.around(place), self.inside(place))

    def overlapping(self) -> Iterator[list[_Owner]]:
        """Yield all owners in groups, each with the topmost place first that the places of the others are at or in."""
        group: list[_Owner] = []
        top: CanonicalPath | None = None
        for place in self._sorted:
            if top is None or not place.is_within(top):
                if group:
                    yield group
                group, top = [], place
            group += [owner for _, owner in self._owners[place]]
        if group:
            yield group

    def _owners_of(self, requested: CanonicalPath, keys: Iterable[CanonicalPath]) -> Iterator[_Owner]:
        for key in keys:
            yield from (owner for place, owner in self._owners.get(key, ()) if self._may_be_one_store(requested, place))

    def _key(self, place: CanonicalPath) -> CanonicalPath:
        is_alias = self._listed is not None and place.scheme in HDFS_SCHEMES
        return replace(place, scheme="hdfs", authority="") if is_alias else place

    def _may_be_one_store(self, one: CanonicalPath, other: CanonicalPath) -> bool:
        return one.root == other.root or not (self._is_listed(one) and self._is_listed(other))

    def _is_listed(self, place: CanonicalPath) -> bool:
        return place.scheme == "hdfs" and self._listed is not None and place.authority in self._listed


def names_text(path: CanonicalPath) -> str:
    """A text that sorts as the path's names do one by one: no name has a NUL in it, which sorts before all else."""
    return str(path).replace("/", "\0")


def _above(place: CanonicalPath) -> Iterator[CanonicalPath]:
    while place != place.parent:
        place = place.parent
        yield place

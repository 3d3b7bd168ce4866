"""Feeds that share data: the instances of one are, hold or lie in those of the other, and go with them.

Two clusters may be on one store, so that a feed may also share data with itself.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import defaultdict
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import chain
from typing import TYPE_CHECKING, NamedTuple

from toolkit.el import parse_instant
from toolkit.el.segment import Segment
from toolkit.el.tokens import Literal
from toolkit.entities import LocationType
from toolkit.errors import InvalidInput
from toolkit.linter.overlap import can_overlap
from toolkit.planning.instance_storage import FeedStorage
from toolkit.retention.partition_places import PlaceIndex
from toolkit.retention.targets import Location, WrittenInstance

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from toolkit.el import CanonicalPath
    from toolkit.entities import Cluster, Feed, Hold


@dataclass(frozen=True, kw_only=True)
class SharedData:
    """One location of a feed on a cluster.

    Attributes:
        feed: name.
        cluster: name.
        location: with the base that a hold file of the feed is in.
        written: that base as the feed has it.
        sample: where the feed's first instance is; a variable without a value stands as its own name.
    """

    feed: str
    cluster: str
    location: Location
    written: CanonicalPath
    sample: CanonicalPath

    @property
    def pair(self) -> tuple[str, str]:
        """The feed and the cluster."""
        return self.feed, self.cluster

    @property
    def is_data(self) -> bool:
        """Whether the instances themselves are there, and not what is known about them."""
        return self.location.type is LocationType.DATA

    @cached_property
    def names(self) -> tuple[Segment, ...]:
        """The segments of its paths, from the root of the store on."""
        base = self.location.base
        literal = (Segment((Literal(name),), name) for name in base.path.split("/") if name)
        return (*literal, *self.location.template.segments[self.location.template.base_depth :])

    def may_meet(self, other: SharedData) -> bool:
        """Whether some path of the one is, or lies in, a path of the other."""
        ends = (self.location.base, other.location.base)
        is_one_store = ends[0].root == ends[1].root
        return is_one_store and all(can_overlap(one, two) for one, two in zip(self.names, other.names, strict=False))


@dataclass(kw_only=True)
class _Index:
    """All locations, by what they are looked for."""

    by_sample: list[SharedData] = field(default_factory=list)
    by_base: dict[CanonicalPath, list[SharedData]] = field(default_factory=lambda: defaultdict(list))
    by_pair: dict[tuple[str, str], list[SharedData]] = field(default_factory=lambda: defaultdict(list))

    @classmethod
    def of(cls, neighbours: Iterable[SharedData]) -> _Index:
        index = cls(by_sample=sorted(neighbours, key=_place))
        for each in index.by_sample:
            index.by_base[each.location.base].append(each)
            index.by_pair[each.pair].append(each)
        return index

    def near(self, own: SharedData) -> Iterator[SharedData]:
        """Yield the data whose first instance is below the base, and those whose base is above the first instance."""
        prefix = f"{str(own.location.base).removesuffix('/')}/"
        for each in self.by_sample[bisect_left(self.by_sample, prefix, key=_place) :]:
            if not _place(each).startswith(prefix):
                break
            yield each
        above = own.sample
        while above != above.parent:
            above = above.parent
            yield from self.by_base.get(above, ())


class _Owner(NamedTuple):
    """Owner of a place in words; a path feed with its location."""

    text: str
    location: Location | None = None


def _is_table(location: Location, table: CanonicalPath, place: CanonicalPath) -> bool:
    """Whether a path feed is the table by another name at a place in the table's directory."""
    return location.base == table and location.has(place)


def _as_written(path: CanonicalPath) -> CanonicalPath:
    return path


@dataclass(frozen=True, kw_only=True)
class SharedDataIndex:
    """Knows where all feeds of a repo are.

    Attributes:
        feeds: all of the repo.
        clusters: all of the repo.
        real: the same path for all that are one directory.
    """

    feeds: Sequence[Feed] = ()
    clusters: Sequence[Cluster] = ()
    real: Callable[[CanonicalPath], CanonicalPath] = _as_written

    def of(self, feed: Feed, cluster: Cluster) -> tuple[SharedData, ...]:
        """Locations that share data with one of this feed on this cluster: of other feeds, or on other clusters."""
        own = self._index.by_pair.get((feed.name, cluster.name), ())
        return tuple(dict.fromkeys(chain.from_iterable(_sharing(each, self._index) for each in own)))

    def losing(self, feed: Feed, cluster: Cluster) -> tuple[tuple[str, str], ...]:
        """The feeds, each with its cluster, that lose data when instances of this feed go: only dated ones ever go."""
        own = (each for each in self._index.by_pair.get((feed.name, cluster.name), ()) if each.location.template.dated)
        found = chain.from_iterable(_sharing(each, self._index) for each in own)
        return tuple(sorted({each.pair for each in found if each.location.template.dated or each.is_data}))

    def meeting(self, feed: Feed, cluster: Cluster) -> tuple[SharedData, ...]:
        """As `of`, for a feed that is none of the repo: what has its name on that cluster counts as any other."""
        own = _locations(feed, cluster, self.real)
        return tuple(dict.fromkeys(chain.from_iterable(_meeting(each, self._index) for each in own)))

    def written_at(self, feed: str, cluster: str, instance_key: str) -> WrittenInstance | None:
        """Return where a run writes an instance of a feed; None: the repo has no such feed, cluster or instance."""
        known = next((each for each in self.feeds if each.name == feed), None)
        on = next((each for each in self.clusters if each.name == cluster), None)
        if known is None or on is None:
            return None
        try:
            there = FeedStorage.of(known, on).at(parse_instant(instance_key))
            own = {each.location.type: each for each in self._index.by_pair.get((feed, cluster), ())}
            places = ((own[kind], on.place(path)) for kind, path in there.paths.items())
            paths = tuple(path.moved(each.written, each.location.base) for each, path in places)
        except (InvalidInput, KeyError):
            return None
        return WrittenInstance(paths=paths, partition=there.partition)

    def feed_at(self, place: CanonicalPath, own: CanonicalPath | None) -> str:
        """Return in words what the repo has at, below or above a place, as written or resolved; empty: nothing.

        That is data of path feeds, archives of feeds, and clusters' directories for feedctl's own work.

        Args:
            place: of a partition.
            own: the table's directory around it. A path feed with the same base is the table by another name where the
                place is an instance of it.
        """
        real = place if own is None else place.moved(own, self.real(own))
        for spelt in dict.fromkeys((place, self.real(place))):
            for each in self._bases.owners_of(spelt):
                if own is None or each.location is None or not _is_table(each.location, self.real(own), real):
                    return each.text
        return ""

    def based_at(self, place: CanonicalPath) -> tuple[tuple[str, str], ...]:
        """The feeds whose data are in a directory, none of them deeper or higher, each with its cluster; sorted."""
        return tuple(sorted({each.pair for each in self._index.by_base.get(self.real(place), ())}))

    @cached_property
    def _bases(self) -> PlaceIndex[_Owner]:
        owners = chain(self._feed_owners(), self._archive_owners(), self._work_owners())
        return PlaceIndex(owners, listed_authorities(self.clusters))

    def _feed_owners(self) -> Iterator[tuple[CanonicalPath, _Owner]]:
        for each in self._index.by_sample:
            owner = _Owner(f"data of the feed {each.feed} on {each.cluster}", each.location)
            yield from ((base, owner) for base in (each.written, each.location.base))

    def _archive_owners(self) -> Iterator[tuple[CanonicalPath, _Owner]]:
        clusters = {each.name: each for each in self.clusters}
        for archived in (feed.archive_on(on.name) for feed in self.feeds for on in feed.clusters):
            there = None if archived is None else clusters.get(archived.clusters[0].name)
            for each in () if archived is None or there is None else _locations(archived, there, self.real):
                owner = _Owner(f"the archive of the feed {each.feed} on {each.cluster}")
                yield from ((base, owner) for base in (each.written, each.location.base))

    def _work_owners(self) -> Iterator[tuple[CanonicalPath, _Owner]]:
        for cluster in self.clusters:
            for name, text in cluster.locations.work.items():
                place, owner = cluster.place(text), _Owner(f"the {name} directory of the cluster {cluster.name}")
                yield from ((base, owner) for base in (place, self.real(place)))

    @cached_property
    def _index(self) -> _Index:
        clusters = {each.name: each for each in self.clusters}
        pairs = ((feed, clusters.get(each.name)) for feed in self.feeds for each in feed.clusters)
        return _Index.of(
            location
            for feed, cluster in pairs
            if cluster is not None
            for location in _locations(feed, cluster, self.real)
        )


def listed_authorities(clusters: Iterable[Cluster]) -> frozenset[str]:
    """The authorities that clusters list for their stores: of the write end point, and names of name services."""
    return frozenset(name for each in clusters for name in (each.place("/").authority, *each.name_services.values()))


def holds_of(pairs: Sequence[tuple[str, str]], feed: Feed, cluster: Cluster, holds: Iterable[Hold]) -> Iterator[Hold]:
    """The holds of neighbours, as holds of the feed that they share data with.

    Args:
        pairs: the neighbours, each with its cluster, sorted.
        feed: loses what they lose.
        cluster: where.
        holds: of all.
    """
    for hold in holds:
        theirs = next((pair for pair in pairs if hold.concerns(*pair)), None)
        if theirs is not None and not hold.concerns(feed.name, cluster.name):
            reason = f"hold of feed {place_of(theirs, cluster.name)}: {hold.reason}"
            yield replace(hold, feed=feed.name, cluster=cluster.name, reason=reason)


def place_of(pair: tuple[str, str], cluster: str) -> str:
    """How messages of a run on the cluster name a feed on another one, or on the same."""
    return pair[0] if pair[1] == cluster else f"{pair[0]} on {pair[1]}"


def _locations(feed: Feed, cluster: Cluster, real: Callable[[CanonicalPath], CanonicalPath]) -> Iterator[SharedData]:
    start = feed.cluster(cluster.name).validity.start
    for kind, template in FeedStorage.of(feed, cluster).templates.items():
        written = cluster.place(template.base)
        base = real(written)
        sample = cluster.place(template.render(start, {name: name for name in template.variables}))
        yield SharedData(
            feed=feed.name,
            cluster=cluster.name,
            location=Location(type=kind, template=template, base=base),
            written=written,
            sample=sample.moved(written, base),
        )


def _sharing(own: SharedData, index: _Index) -> Iterator[SharedData]:
    return (each for each in _meeting(own, index) if each.pair != own.pair)


def _meeting(own: SharedData, index: _Index) -> Iterator[SharedData]:
    for each in index.near(own):
        if own.may_meet(each) or _is_inside(each.sample, own.location) or _is_inside(own.sample, each.location):
            yield each


def _is_inside(sample: CanonicalPath, location: Location) -> bool:
    """Whether the sample, or a directory above it, is an instance of the location."""
    if not sample.is_within(location.base):
        return False
    instance = location.base
    for name in sample.relative_to(location.base).split("/")[: location.last_depth + 1 - location.template.base_depth]:
        instance = instance.child(name)
    # A location without dates is one place, and all below it is in it.
    return instance == location.base or location.template.parse(location.written(instance)) is not None


def _place(neighbour: SharedData) -> str:
    return str(neighbour.sample)

"""Feeds that share data: the instances of one are, hold or lie in those of the other, and go with them.

Two clusters may be on one store, so that a feed may also share data with itself.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import chain
from typing import TYPE_CHECKING, NamedTuple

from toolkit.el import parse_instant
from toolkit.el.segment import Segment
from toolkit.el.tokens import Literal
from toolkit.entities import LocationType
from toolkit.errors import InvalidInput
from toolkit.linter.overlap import can_overlap
from toolkit.planning.instance_storage import FeedStorage, on_clusters
from toolkit.planning.location_index import LocationIndex
from toolkit.retention.targets import Location, WrittenInstance

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from toolkit.el import CanonicalPath
    from toolkit.entities import Cluster, Feed, Hold


@dataclass(frozen=True, kw_only=True)
class SharedData:
    """A location of a feed on a cluster.

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
        """True if the location holds the instances themselves, and not statistics or metadata about them."""
        return self.location.type is LocationType.DATA

    @cached_property
    def names(self) -> tuple[Segment, ...]:
        """The segments of its paths, from the root of the store on."""
        base = self.location.base
        literal = (Segment((Literal(name),), name) for name in base.path.split("/") if name)
        return (*literal, *self.location.template.segments[self.location.template.base_depth :])

    def may_meet(self, other: SharedData) -> bool:
        """Return whether a path of the one can be, or be in, a path of the other."""
        ends = (self.location.base, other.location.base)
        is_one_store = ends[0].root == ends[1].root
        return is_one_store and all(can_overlap(one, two) for one, two in zip(self.names, other.names, strict=False))


class _Owner(NamedTuple):
    """Owner of a place in words; a path feed with its location."""

    text: str
    location: Location | None = None


def _is_table(location: Location, table: CanonicalPath, place: CanonicalPath) -> bool:
    """Return whether a path feed is the table by another name at a place in the table's directory."""
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
        pair = (feed.name, cluster.name)
        found = self._meeting(self._by_pair.get(pair, ()))
        return tuple(each for each in found if each.pair != pair)

    def losing(self, feed: Feed, cluster: Cluster) -> tuple[tuple[str, str], ...]:
        """The feeds, each with its cluster, that lose data when instances of this feed go: only dated ones ever go."""
        pair = (feed.name, cluster.name)
        own = (each for each in self._by_pair.get(pair, ()) if each.location.template.dated)
        found = {each.pair for each in self._meeting(own) if each.location.template.dated or each.is_data}
        return tuple(sorted(found - {pair}))

    def meeting(self, feed: Feed, cluster: Cluster) -> tuple[SharedData, ...]:
        """Do as `of` does for a feed outside the repo: what has its name on that cluster counts as any other."""
        return self._meeting(_locations(feed, cluster, self.real))

    def _meeting(self, locations: Iterable[SharedData]) -> tuple[SharedData, ...]:
        found = (
            each
            for own in locations
            # Either the first instance of the other is below the own base, or its base is above the own first instance.
            for each in chain(self._samples.inside(own.location.base), self._bases.around(own.sample))
            if own.may_meet(each) or _is_inside(each.sample, own.location) or _is_inside(own.sample, each.location)
        )
        return tuple(dict.fromkeys(found))

    def written_at(self, feed: str, cluster: str, instance_key: str) -> WrittenInstance | None:
        """Return where a run writes an instance of a feed; None: the repo has no such feed, cluster or instance."""
        known = next((each for each in self.feeds if each.name == feed), None)
        on = next((each for each in self.clusters if each.name == cluster), None)
        if known is None or on is None:
            return None
        try:
            there = FeedStorage.of(known, on).at(parse_instant(instance_key))
            own = {each.location.type: each for each in self._by_pair.get((feed, cluster), ())}
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
            for each in self._owners.meeting(spelt):
                if own is None or each.location is None or not _is_table(each.location, self.real(own), real):
                    return each.text
        return ""

    def based_at(self, place: CanonicalPath) -> tuple[tuple[str, str], ...]:
        """The feeds whose data are in a directory, none of them deeper or higher, each with its cluster; sorted."""
        return tuple(sorted({each.pair for each in self._bases.at(self.real(place))}))

    @cached_property
    def _owners(self) -> LocationIndex[_Owner]:
        owners = chain(self._feed_owners(), self._archive_owners(), self._work_owners())
        return LocationIndex(owners, listed_authorities(self.clusters))

    def _feed_owners(self) -> Iterator[tuple[CanonicalPath, _Owner]]:
        for each in self._all:
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
    def _all(self) -> tuple[SharedData, ...]:
        pairs = on_clusters(self.feeds, self.clusters)
        return tuple(chain.from_iterable(_locations(feed, cluster, self.real) for feed, cluster in pairs))

    @cached_property
    def _samples(self) -> LocationIndex[SharedData]:
        return LocationIndex((each.sample, each) for each in self._all)

    @cached_property
    def _bases(self) -> LocationIndex[SharedData]:
        return LocationIndex((each.location.base, each) for each in self._all)

    @cached_property
    def _by_pair(self) -> dict[tuple[str, str], list[SharedData]]:
        found: dict[tuple[str, str], list[SharedData]] = defaultdict(list)
        for each in self._all:
            found[each.pair].append(each)
        return found


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
    """Return how messages of a run on the cluster name a feed on another one, or on the same."""
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


def _is_inside(sample: CanonicalPath, location: Location) -> bool:
    """Return whether the sample, or a directory above it, is an instance of the location."""
    if not sample.is_within(location.base):
        return False
    instance = location.base
    for name in sample.relative_to(location.base).split("/")[: location.last_depth + 1 - location.template.base_depth]:
        instance = instance.child(name)
    # A location without dates is one place, and all below it is in it.
    return instance == location.base or location.template.parse(location.written(instance)) is not None

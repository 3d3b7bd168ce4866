"""Feeds that share data: the instances of one are, hold or lie in those of the other, and go with them."""

from __future__ import annotations

from bisect import bisect_left
from collections import defaultdict
from dataclasses import dataclass, field, replace
from itertools import chain
from typing import TYPE_CHECKING

from toolkit.planning.instance_storage import FeedStorage
from toolkit.retention.targets import Location

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from toolkit.el import CanonicalPath
    from toolkit.entities import Cluster, Feed, Hold


@dataclass(frozen=True, kw_only=True, slots=True)
class Neighbour:
    """One location of a feed.

    Attributes:
        feed: name.
        location: with the base that a hold file of the feed is in.
        sample: where the feed's first instance is; a variable without a value stands as its own name.
    """

    feed: str
    location: Location
    sample: CanonicalPath


@dataclass(kw_only=True)
class _Index:
    """All locations of a cluster, by what they are looked for."""

    by_sample: list[Neighbour] = field(default_factory=list)
    by_base: dict[CanonicalPath, list[Neighbour]] = field(default_factory=lambda: defaultdict(list))
    by_feed: dict[str, list[Neighbour]] = field(default_factory=lambda: defaultdict(list))

    @classmethod
    def of(cls, neighbours: Iterable[Neighbour]) -> _Index:
        index = cls(by_sample=sorted(neighbours, key=_place))
        for each in index.by_sample:
            index.by_base[each.location.base].append(each)
            index.by_feed[each.feed].append(each)
        return index

    def near(self, own: Neighbour) -> Iterator[Neighbour]:
        """Those whose first instance is below the base, and those whose base is above the first instance."""
        prefix = f"{str(own.location.base).removesuffix('/')}/"
        for each in self.by_sample[bisect_left(self.by_sample, prefix, key=_place) :]:
            if not _place(each).startswith(prefix):
                break
            yield each
        above = own.sample
        while above != above.parent:
            above = above.parent
            yield from self.by_base.get(above, ())


@dataclass(kw_only=True)
class Neighbourhood:
    """Knows where all feeds of a repo are, cluster by cluster.

    Attributes:
        feeds: all of the repo.
    """

    feeds: Sequence[Feed] = ()
    _by_cluster: dict[str, _Index] = field(default_factory=dict)

    def of(self, feed: Feed, cluster: Cluster) -> tuple[Neighbour, ...]:
        """Locations of other feeds on the cluster that share data with a location of this one."""
        if cluster.name not in self._by_cluster:
            self._by_cluster[cluster.name] = _Index.of(_neighbours(self.feeds, cluster))
        index = self._by_cluster[cluster.name]
        found = chain.from_iterable(_sharing(own, index) for own in index.by_feed.get(feed.name, ()))
        return tuple(dict.fromkeys(found))


def holds_of(neighbours: Iterable[Neighbour], feed: Feed, cluster: Cluster, holds: Iterable[Hold]) -> Iterator[Hold]:
    """The holds of the neighbours, as holds of the feed that they share data with."""
    names = {each.feed for each in neighbours}
    for hold in holds:
        if hold.feed in names and hold.concerns(hold.feed, cluster.name):
            yield replace(hold, feed=feed.name, reason=f"hold of feed {hold.feed}: {hold.reason}")


def _neighbours(feeds: Iterable[Feed], cluster: Cluster) -> Iterator[Neighbour]:
    for feed in feeds:
        if all(each.name != cluster.name for each in feed.clusters):
            continue
        start = feed.cluster(cluster.name).validity.start
        for kind, template in FeedStorage.of(feed, cluster).templates.items():
            base = cluster.place(template.base)
            sample = template.render(start, {name: name for name in template.variables})
            yield Neighbour(
                feed=feed.name,
                location=Location(type=kind, template=template, base=base),
                sample=cluster.place(sample),
            )


def _sharing(own: Neighbour, index: _Index) -> Iterator[Neighbour]:
    for each in index.near(own):
        if each.feed != own.feed and (_is_inside(each.sample, own.location) or _is_inside(own.sample, each.location)):
            yield each


def _is_inside(sample: CanonicalPath, location: Location) -> bool:
    """Whether the sample, or a directory above it, is an instance of the location."""
    if not sample.is_within(location.base):
        return False
    instance = location.base
    for name in sample.relative_to(location.base).split("/")[: location.last_depth + 1 - location.template.base_depth]:
        instance = instance.child(name)
    return location.template.parse(location.written(instance)) is not None


def _place(neighbour: Neighbour) -> str:
    return str(neighbour.sample)

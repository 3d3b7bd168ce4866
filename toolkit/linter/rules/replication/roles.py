"""The sources and targets of a feed, and what they have in common."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime

from toolkit.el import ElError
from toolkit.entities import Cluster, ClusterRole, Feed, FeedCluster, Pointer, Repository
from toolkit.planning.instance_storage import FeedStorage, InstanceStorage

_SAMPLES = 20
"""So many instances tell whether two grids of one frequency ever meet."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Side:
    """A feed on one of its clusters, as a source or a target.

    Attributes:
        index: its position among the feed's clusters.
    """

    feed: Feed
    index: int
    feed_cluster: FeedCluster

    @property
    def name(self) -> str:
        """The cluster's name."""
        return self.feed_cluster.name

    def at(self, *below: str) -> Pointer:
        """The pointer to a value of the feed's cluster."""
        return ("clusters", self.index, *below)

    def cluster(self, repository: Repository) -> Cluster | None:
        """The cluster; None when it cannot be used."""
        return repository.clusters.get(self.name)


def sides(feed: Feed, role: ClusterRole) -> list[Side]:
    """The feed's clusters that have a role."""
    return [
        Side(feed=feed, index=index, feed_cluster=each) for index, each in enumerate(feed.clusters) if each.type is role
    ]


def sources(feed: Feed) -> list[Side]:
    """The clusters that a feed is copied from."""
    return sides(feed, ClusterRole.SOURCE)


def targets(feed: Feed) -> list[Side]:
    """The clusters that a feed is copied to."""
    return sides(feed, ClusterRole.TARGET)


def pairs(feed: Feed) -> Iterator[tuple[Side, Side]]:
    """Every source with every target."""
    receiving = targets(feed)
    for source in sources(feed) if receiving else ():
        for target in receiving:
            yield source, target


def overlap(left: Side, right: Side) -> tuple[datetime, datetime] | None:
    """When both are valid, as [start, end); None: never (Falcon overview, Replication: max of starts, min of ends)."""
    one, other = left.feed_cluster.validity, right.feed_cluster.validity
    start, end = max(one.start, other.start), min(one.end, other.end)
    return (start, end) if start < end else None


def common_instants(source: Side, target: Side) -> list[datetime]:
    """Some of the first instances that both sides have; empty: there is none."""
    both = overlap(source, target)
    if both is None:
        return []
    theirs = source.feed.instances_on(source.name)
    own = target.feed.instances_on(target.name).between(*both)
    return [instant for _, instant in zip(range(_SAMPLES), own, strict=False) if instant in theirs]


def storage_at(side: Side, cluster: Cluster, instant: datetime) -> InstanceStorage | None:
    """Where an instance is on a side; None when its template cannot be rendered."""
    try:
        return FeedStorage.of(side.feed, cluster).at(instant)
    except ElError:
        return None

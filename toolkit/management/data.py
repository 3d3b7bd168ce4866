"""Data of a feed's instances on each of its clusters (Falcon feature list, feed instance listing)."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from itertools import islice
from typing import TYPE_CHECKING

from toolkit.availability import DATA_ERRORS, DataState, FeedInstances, FoundInstance, PathInstances
from toolkit.errors import FeedctlError
from toolkit.management.locations import NEWEST, RequestedRange, Stretch, location_of, stretches_on
from toolkit.storage import NotFound, PermissionDenied

if TYPE_CHECKING:
    from toolkit.entities import Feed

MOST_WEIGHED = 256
"""Greatest number of instances on a cluster for which the files in sub-directories are counted, by one call each."""


@dataclass(frozen=True, kw_only=True, slots=True)
class DataRange:
    """Range of instances to look at.

    Attributes:
        requested: the range.
        now: what is due by then is looked at when the range has no start.
        most: so many on each cluster, and no more; None: all of a range, the ten newest that are due without one.
        states: only what is so is told; empty: everything.
    """

    requested: RequestedRange
    now: datetime
    most: int | None = None
    states: Collection[DataState] = ()


@dataclass(frozen=True, kw_only=True, slots=True)
class ClusterData:
    """Data of instances on one cluster.

    Attributes:
        cluster: name.
        instances: that were looked at; those after which a store failed are not among them.
        problem: why the rest could not be looked at; None: all were.
    """

    cluster: str
    instances: tuple[FoundInstance, ...]
    problem: FeedctlError | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class DataList:
    """Data of a feed's instances."""

    name: str
    clusters: tuple[ClusterData, ...]


def instance_data(
    feed: Feed, clusters: Sequence[str], wanted: DataRange, look_on: Callable[[str], FeedInstances]
) -> DataList:
    """Return the data of a range of instances; a store that fails does not hide the other clusters.

    Args:
        feed: whose instances.
        clusters: where.
        wanted: which instances.
        look_on: what looks at the instances on a cluster.

    Raises:
        OutsideValidity, NotAnInstance: see `locations.stretches`.
        NotImplementedYet: what nothing can look at yet.
    """
    looks: Mapping[str, FeedInstances] = {name: look_on(name) for name in clusters}
    locations = [location_of(feed, name) for name in clusters]
    parts = stretches_on(feed.name, locations, wanted.requested, wanted.now, wanted.most or NEWEST)
    return DataList(
        name=feed.name, clusters=tuple(_on_cluster(each, wanted, looks[each.location.cluster]) for each in parts)
    )


def _on_cluster(part: Stretch, wanted: DataRange, look: FeedInstances) -> ClusterData:
    """The newest first where no start was asked for."""
    instants: Iterator[datetime] = islice(part.instants(), wanted.most)
    if wanted.requested.start is None:
        instants = reversed(list(instants))
    found: list[FoundInstance] = []
    problem: FeedctlError | None = None
    try:
        found.extend(look.look_at(instants))
        if len(found) <= MOST_WEIGHED:
            found = [_weighed(each, look) for each in found]
    except DATA_ERRORS as error:
        problem = error
    instances = tuple(each for each in found if not wanted.states or each.state in wanted.states)
    return ClusterData(cluster=part.location.cluster, instances=instances, problem=problem)


def _weighed(found: FoundInstance, look: FeedInstances) -> FoundInstance:
    """Return an instance with its files and bytes, also where they are in directories below it."""
    if found.files is not None or found.state is DataState.MISSING or not isinstance(look, PathInstances):
        return found
    try:
        files, size = look.content_of(found.instant)
    except (NotFound, PermissionDenied):  # gone since it was looked at, or not to be read: its state is known
        return found
    return replace(found, files=files, bytes=size)

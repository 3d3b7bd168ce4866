"""The instances of an entity in a range, with what belongs to them: for people, and for scripts around feedctl."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime

from toolkit.el import InstanceSequence
from toolkit.entities import Cluster, Environment, Feed, LocationType, Process
from toolkit.entities.repository import Repository
from toolkit.errors import InvalidInput
from toolkit.planning.instance_storage import FeedStorage, partition_name
from toolkit.planning.process_io import NoOutputInstance, ProcessSite, depends_on_availability


class NoInstances(InvalidInput):
    """An entity of a kind that has no instances.

    Args:
        name: the entity.
        kind: its kind.
    """

    def __init__(self, *, name: str, kind: str) -> None:
        self.name, self.kind = name, kind
        super().__init__(f"{name} is a {kind} and has no instances; give the name of a feed or a process")


@dataclass(frozen=True, kw_only=True, slots=True)
class InstancePlace:
    """A path or partition of an instance.

    Args:
        role: what it is to the instance: a location type, or the name of an input or output.
        place: the path, the partition (``ds=2026-03-01/region=us``), or words where only a run can tell.
    """

    role: str
    place: str


@dataclass(frozen=True, kw_only=True, slots=True)
class ListedInstance:
    """An instance on a cluster, with its places."""

    cluster: str
    instant: datetime
    places: tuple[InstancePlace, ...]


def list_instances(
    repository: Repository, name: str, start: datetime, end: datetime | None, cluster: str | None
) -> Iterator[ListedInstance]:
    """The instances of a feed or process, cluster by cluster.

    Args:
        repository: all entities.
        name: of the feed or process.
        start: the first, UTC; without an end this one instance (DESIGN section 8, Ranges).
        end: exclusive, UTC.
        cluster: only there; None: on every cluster of the entity that the environment may act on.

    Raises:
        NoInstances: the entity is of another kind.
        UnknownName: no such entity, or it is not on that cluster.
        NotAnInstance: `start` stands alone and is no instance.
    """
    entity = repository.entity(name)
    if not isinstance(entity, Feed | Process):
        raise NoInstances(name=name, kind=entity.KIND)
    for each in clusters_of(entity, repository.environment, cluster):
        on = repository.cluster(each)
        for instant in _instants(entity.instances_on(each), start, end):
            found = (
                feed_places(entity, on, instant)
                if isinstance(entity, Feed)
                else process_places(ProcessSite(process=entity, cluster=on, feeds=repository.feeds), instant)
            )
            yield ListedInstance(cluster=each, instant=instant, places=tuple(found))


def clusters_of(entity: Feed | Process, environment: Environment | None, wanted: str | None) -> tuple[str, ...]:
    """The clusters of an entity that are wanted, in its order.

    Args:
        entity: a feed or process.
        environment: the clusters that it may not act on are left out; None: all are in.
        wanted: only this one.

    Raises:
        UnknownName: the entity is not on the wanted cluster.
    """
    if wanted is not None:
        return (entity.cluster(wanted).name,)
    return tuple(each.name for each in entity.clusters if environment is None or environment.allows(each.name))


def _instants(sequence: InstanceSequence, start: datetime, end: datetime | None) -> Iterator[datetime]:
    if end is not None:
        return sequence.between(start, end)
    if start not in sequence:
        raise sequence.not_an_instance(start)
    return iter((start,))


def feed_places(feed: Feed, cluster: Cluster, instant: datetime) -> Iterator[InstancePlace]:
    """The paths of a feed instance by location type, or its partition.

    Raises:
        ElError: a template has a variable without a value.
    """
    storage = FeedStorage.of(feed, cluster).at(instant)
    if storage.partition is not None:
        yield InstancePlace(role="partition", place=partition_name(storage.partition))
    yield from (InstancePlace(role=location, place=path) for location, path in storage.paths.items())


def process_places(site: ProcessSite, instant: datetime) -> Iterator[InstancePlace]:
    """Yield the places that a process instance reads and writes, by the name of the input or output.

    Where only a run can tell, and where there is nothing, words stand in the place.

    Raises:
        ElError: an expression cannot be resolved, or a template has a variable without a value.
    """
    for name, each in site.process.inputs.items():
        if depends_on_availability(each):
            yield InstancePlace(role=name, place=f"{each.start} to {each.end} of {each.feed}, by availability")
            continue
        planned = site.input(name, instant)
        places = (*planned.paths(), *map(partition_name, planned.partitions)) or (f"no instance of {each.feed}",)
        yield from (InstancePlace(role=name, place=place) for place in places)
    for name in site.process.outputs:
        yield InstancePlace(role=name, place=_made(site, name, instant))


def _made(site: ProcessSite, name: str, instant: datetime) -> str:
    try:
        storage = site.output(name, instant).instance
    except NoOutputInstance as error:
        return f"no instance of {error.feed} {error.border}"
    return storage.paths.get(LocationType.DATA) or partition_name(storage.partition or {})

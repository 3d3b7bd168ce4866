"""Instances and clusters of a query or a command (Falcon overview, Instance Management; DESIGN section 8).

An entity is acted on in locations, by life cycle and cluster; of each, the instances of [start, end) within validity.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta

from toolkit.el import InstanceSequence, format_instant, parse_instant
from toolkit.entities import ClusterRole, Feed, FeedCluster, Process, Validity
from toolkit.entities.errors import NotInEnvironment
from toolkit.entities.repository import Repository
from toolkit.ledger.vocabulary import LifeCycle
from toolkit.management.errors import EmptyRange, EndWithoutStart, NoState, NoSuchLifeCycle, OutsideValidity
from toolkit.planning.listing import clusters_of


@dataclass(frozen=True, kw_only=True, slots=True)
class ManagedLocation:
    """A cluster, with the other cluster of a copy.

    Attributes:
        cluster: where the runs are.
        counterpart: where a copy comes from; empty: it is no copy.
        sequence: the instances; None: whatever nominal times were recorded, as for eviction.
        validity: when there are instances; of a copy, the overlap of both sides.
    """

    cluster: str
    counterpart: str = ""
    sequence: InstanceSequence | None
    validity: Validity

    def instants(self, start: datetime, end: datetime) -> Iterator[datetime]:
        """The instances of [start, end) that are within the validity, oldest first; none for recorded times alone."""
        if self.sequence is None:
            return iter(())
        return self.sequence.between(max(start, self.validity.start), min(end, self.validity.end))

    def count(self, start: datetime, end: datetime) -> int:
        """Return how many instances [start, end) has within the validity, by arithmetic."""
        if self.sequence is None:
            return 0
        return self.sequence.count(max(start, self.validity.start), min(end, self.validity.end))

    def holds(self, start: datetime, end: datetime) -> bool:
        """Return whether a range lies within the validity."""
        return self.validity.start <= start and end <= self.validity.end


@dataclass(frozen=True, kw_only=True, slots=True)
class ManagedEntity:
    """Subject of a question or a command: an entity, a life cycle and the clusters."""

    entity: Feed | Process
    life_cycle: LifeCycle
    locations: tuple[ManagedLocation, ...]

    @property
    def name(self) -> str:
        """The name of the entity."""
        return self.entity.name

    @property
    def clusters(self) -> tuple[str, ...]:
        """Each cluster once, in the entity's order."""
        return tuple(dict.fromkeys(location.cluster for location in self.locations))

    def without(self, clusters: Collection[str]) -> ManagedEntity:
        """The same elsewhere."""
        return replace(self, locations=tuple(each for each in self.locations if each.cluster not in clusters))


def runnable(repository: Repository, name: str) -> Feed | Process:
    """The feed or process of a name.

    Raises:
        UnknownName: no such entity.
        NoState: it is a cluster or a datasource.
    """
    entity = repository.entity(name)
    if not isinstance(entity, Feed | Process):
        raise NoState(name=name, kind=entity.KIND)
    return entity


def managed_entity(
    repository: Repository,
    name: str,
    life_cycle: LifeCycle | None = None,
    clusters: Collection[str] = (),
    *,
    is_question: bool = False,
) -> ManagedEntity:
    """Return the subject of a question about instances, or of a command to them.

    Args:
        repository: all entities.
        name: of a feed or process.
        life_cycle: None: execution for a process, replication for a feed.
        clusters: where the runs are; empty: on every cluster that the environment may act on.
        is_question: nothing is changed, so that the only life cycle that a feed has will do when none is named.

    Raises:
        NoState: the entity is of another kind.
        UnknownName: no such entity, or it is not on such a cluster.
        NotInEnvironment: the environment may not act on such a cluster.
        NoSuchLifeCycle: nothing of the kind is done with it there.
    """
    entity = runnable(repository, name)
    chosen = chosen_clusters(repository, entity, clusters)
    wanted = life_cycle or default_life_cycle(entity)
    locations = tuple(locations_of(entity, wanted, chosen))
    if not locations:
        known = tuple(life_cycles_of(entity, chosen))
        if is_question and life_cycle is None and len(known) == 1:
            return managed_entity(repository, name, known[0], clusters)
        raise NoSuchLifeCycle(name=name, life_cycle=wanted, clusters=chosen, known=known)
    return ManagedEntity(entity=entity, life_cycle=wanted, locations=locations)


def chosen_clusters(repository: Repository, entity: Feed | Process, wanted: Collection[str]) -> tuple[str, ...]:
    """The clusters of an entity that are meant: those wanted, else all that the environment may act on.

    Raises:
        UnknownName: the entity is not on a cluster that is wanted.
        NotInEnvironment: the environment may not act on it.
    """
    environment = repository.environment
    for name in wanted:
        entity.cluster(name)
        if environment is not None and not environment.allows(name):
            raise NotInEnvironment(what=f"cluster {name}", environment=environment.name, clusters=environment.clusters)
    allowed = clusters_of(entity, environment, None)
    return tuple(name for name in allowed if not wanted or name in wanted)


def clusters_having(entity: Feed | Process, clusters: Sequence[str], instant: datetime) -> Sequence[str]:
    """Return the clusters on which the instance exists by the entity's validity.

    Raises:
        NotAnInstance: it is one on none of them.
    """
    having = [each for each in clusters if instant in entity.instances_on(each)]
    if not having:
        raise entity.instances_on(clusters[0]).not_an_instance(instant)
    return having


def default_life_cycle(entity: Feed | Process) -> LifeCycle:
    """Return the life cycle of a command that names none (Falcon feature list, Instance operations)."""
    return LifeCycle.EXECUTION if isinstance(entity, Process) else LifeCycle.REPLICATION


def life_cycles_of(entity: Feed | Process, clusters: tuple[str, ...]) -> Iterator[LifeCycle]:
    """The life cycles that an entity has on these clusters."""
    return (each for each in LifeCycle if any(locations_of(entity, each, clusters)))


def locations_of(entity: Feed | Process, life_cycle: LifeCycle, clusters: tuple[str, ...]) -> Iterator[ManagedLocation]:
    """The locations of an entity on these clusters; none when it does not have that life cycle there."""
    for name in clusters:
        if isinstance(entity, Process):
            if life_cycle is LifeCycle.EXECUTION:
                yield location_of(entity, name)
        elif life_cycle is LifeCycle.REPLICATION:
            yield from _copies(entity, entity.cluster(name))
        elif life_cycle is LifeCycle.EVICTION:
            if entity.cluster(name).retention is not None:
                yield ManagedLocation(cluster=name, sequence=None, validity=entity.cluster(name).validity)
        elif _exchanges(entity.cluster(name), life_cycle):
            yield location_of(entity, name)


def location_of(entity: Feed | Process, cluster: str) -> ManagedLocation:
    """The instances that an entity has on a cluster, whatever is done with them."""
    return ManagedLocation(
        cluster=cluster, sequence=entity.instances_on(cluster), validity=entity.cluster(cluster).validity
    )


def _exchanges(on_cluster: FeedCluster, life_cycle: LifeCycle) -> bool:
    described = {LifeCycle.IMPORT: on_cluster.import_, LifeCycle.EXPORT: on_cluster.export}
    return described.get(life_cycle) is not None


def _copies(feed: Feed, target: FeedCluster) -> Iterator[ManagedLocation]:
    """A target's location for each source: the instances in the overlap of both validities (Falcon, Replication)."""
    if target.type is not ClusterRole.TARGET:
        return
    own = feed.instances_on(target.name)
    for source in feed.clusters:
        if source.type is not ClusterRole.SOURCE:
            continue
        start = max(source.validity.start, target.validity.start)
        end = min(source.validity.end, target.validity.end)
        first = own.at_or_after(start)
        if first is not None and first < end and first in feed.instances_on(source.name):
            both = Validity(start=first, end=end)
            yield ManagedLocation(cluster=target.name, counterpart=source.name, sequence=own, validity=both)


NEWEST = 10
"""So many of the due instances a question is about that names none (Falcon feature list, numResults)."""

_MINUTE = timedelta(minutes=1)


@dataclass(frozen=True, kw_only=True, slots=True)
class RequestedRange:
    """Range of `--start` and `--end`.

    Attributes:
        start: inclusive; alone it is that one instance. None: the newest that are due.
        end: exclusive.

    Raises:
        EndWithoutStart: only the end was given.
        EmptyRange: the end is not after the start.
    """

    start: datetime | None = None
    end: datetime | None = None

    def __post_init__(self) -> None:
        if self.end is None:
            return
        if self.start is None:
            raise EndWithoutStart
        if self.end <= self.start:
            raise EmptyRange(start=format_instant(self.start), end=format_instant(self.end))

    def __str__(self) -> str:
        if self.start is None:
            return f"the newest {NEWEST} that are due"
        first = format_instant(self.start)
        return first if self.end is None else f"{first} to {format_instant(self.end)}"


@dataclass(frozen=True, kw_only=True, slots=True)
class Stretch:
    """The part of a range on one location.

    Attributes:
        location: where.
        start: inclusive; None: whatever was recorded, from the beginning.
        end: exclusive; None as well.
    """

    location: ManagedLocation
    start: datetime | None = None
    end: datetime | None = None

    def instants(self) -> Iterator[datetime]:
        """Its instances, oldest first; none where only recorded times count."""
        if self.start is None or self.end is None:
            return iter(())
        return self.location.instants(self.start, self.end)

    def instance_keys(self) -> Iterator[str]:
        """The keys of its instances, oldest first."""
        return map(format_instant, self.instants())

    @property
    def count(self) -> int:
        """Return how many instances it has, by arithmetic."""
        return 0 if self.start is None or self.end is None else self.location.count(self.start, self.end)


def stretches(
    managed: ManagedEntity, requested: RequestedRange, now: datetime, newest: int | None = NEWEST
) -> tuple[Stretch, ...]:
    """The parts of a range on the locations of an entity; locations without an instance in it are left out.

    On a cluster with a shorter validity than the range, only the instances within it count.

    Args:
        managed: the entity's locations.
        requested: the range.
        now: what is due by then is what a question means that names no start.
        newest: and so many of them; None: all.

    Raises:
        OutsideValidity: the range lies within the validity on none of the clusters.
        NotAnInstance: the start stands alone and is no instance on any of them.
    """
    return stretches_on(managed.name, managed.locations, requested, now, newest)


def stretches_on(
    name: str,
    locations: Sequence[ManagedLocation],
    requested: RequestedRange,
    now: datetime,
    newest: int | None = NEWEST,
) -> tuple[Stretch, ...]:
    """The parts of a range on some locations of an entity of that name; see `stretches`."""
    if requested.start is None:
        return tuple(each for location in locations if (each := _newest(location, now, newest)) is not None)
    start, end = requested.start, requested.end or next_minute(requested.start)
    _check(name, locations, requested, start, end)
    return tuple(
        Stretch(location=location, start=start, end=end)
        for location in locations
        if location.sequence is None or location.count(start, end)
    )


def key_after(key: str) -> str:
    """The key of the next minute, so the end of a range whose last instance this is."""
    return format_instant(next_minute(parse_instant(key)))


def _check(
    name: str, locations: Sequence[ManagedLocation], requested: RequestedRange, start: datetime, end: datetime
) -> None:
    planned = [location for location in locations if location.sequence is not None]
    holding = [location for location in planned if location.holds(start, end)]
    if planned and not holding:
        validities = {location.cluster: location.validity for location in planned}
        raise OutsideValidity(name=name, requested=str(requested), validities=validities)
    if requested.end is None and planned and not any(location.count(start, end) for location in holding):
        raise next(each.sequence.not_an_instance(start) for each in holding if each.sequence is not None)


def next_minute(instant: datetime) -> datetime:
    """The minute after a whole one; the last that there is has none after it."""
    return instant + _MINUTE if instant < datetime.max.replace(tzinfo=UTC) - _MINUTE else instant


def _newest(location: ManagedLocation, now: datetime, number: int | None) -> Stretch | None:
    """The newest instances of a location that are due; None: there is none yet."""
    if location.sequence is None:
        return Stretch(location=location)
    last = location.sequence.at_or_before(min(now, location.validity.end - _MINUTE))
    if last is None or last < location.validity.start:
        return None
    position = 0 if number is None else max(0, location.sequence.index(last) - number + 1)
    return Stretch(
        location=location, start=max(location.sequence[position], location.validity.start), end=last + _MINUTE
    )

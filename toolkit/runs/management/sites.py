"""Where the instances of an entity are acted on, for each life cycle (Falcon overview, Instance Management)."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass
from datetime import datetime

from toolkit.el import InstanceSequence
from toolkit.entities import ClusterRole, Feed, FeedCluster, Process, Validity
from toolkit.entities.errors import NotInEnvironment
from toolkit.entities.repository import Repository
from toolkit.ledger.vocabulary import LifeCycle
from toolkit.planning.listing import clusters_of
from toolkit.runs.management.errors import NoState, NoSuchLifeCycle


@dataclass(frozen=True, kw_only=True, slots=True)
class Site:
    """One cluster, with the other cluster of a copy.

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
        """How many instances [start, end) has within the validity, by arithmetic."""
        if self.sequence is None:
            return 0
        return self.sequence.count(max(start, self.validity.start), min(end, self.validity.end))

    def holds(self, start: datetime, end: datetime) -> bool:
        """Whether a range lies within the validity."""
        return self.validity.start <= start and end <= self.validity.end


@dataclass(frozen=True, kw_only=True, slots=True)
class ManagedEntity:
    """What a question or a command is about: an entity, and what is done with its instances where."""

    entity: Feed | Process
    life_cycle: LifeCycle
    sites: tuple[Site, ...]

    @property
    def name(self) -> str:
        """Of the entity."""
        return self.entity.name

    @property
    def clusters(self) -> tuple[str, ...]:
        """Each cluster once, in the entity's order."""
        return tuple(dict.fromkeys(site.cluster for site in self.sites))


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
    repository: Repository, name: str, life_cycle: LifeCycle | None = None, clusters: Collection[str] = ()
) -> ManagedEntity:
    """What a question about instances means.

    Args:
        repository: all entities.
        name: of a feed or process.
        life_cycle: None: execution for a process, replication for a feed.
        clusters: where the runs are; empty: on every cluster that the environment may act on.

    Raises:
        NoState: the entity is of another kind.
        UnknownName: no such entity, or it is not on such a cluster.
        NotInEnvironment: the environment may not act on such a cluster.
        NoSuchLifeCycle: nothing of the kind is done with it there.
    """
    entity = runnable(repository, name)
    chosen = chosen_clusters(repository, entity, clusters)
    wanted = life_cycle or default_life_cycle(entity)
    sites = tuple(sites_of(entity, wanted, chosen))
    if not sites:
        raise NoSuchLifeCycle(name=name, life_cycle=wanted, clusters=chosen, known=life_cycles_of(entity, chosen))
    return ManagedEntity(entity=entity, life_cycle=wanted, sites=sites)


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


def default_life_cycle(entity: Feed | Process) -> LifeCycle:
    """What a command means that names no life cycle (Falcon feature list, Instance operations)."""
    return LifeCycle.EXECUTION if isinstance(entity, Process) else LifeCycle.REPLICATION


def life_cycles_of(entity: Feed | Process, clusters: tuple[str, ...]) -> Iterator[LifeCycle]:
    """The life cycles that an entity has on these clusters."""
    return (each for each in LifeCycle if any(sites_of(entity, each, clusters)))


def sites_of(entity: Feed | Process, life_cycle: LifeCycle, clusters: tuple[str, ...]) -> Iterator[Site]:
    """The sites of an entity on these clusters; none when it does not have that life cycle there."""
    for name in clusters:
        if isinstance(entity, Process):
            if life_cycle is LifeCycle.EXECUTION:
                yield _site(entity, name)
        elif life_cycle is LifeCycle.REPLICATION:
            yield from _copies(entity, entity.cluster(name))
        elif life_cycle is LifeCycle.EVICTION:
            if entity.cluster(name).retention is not None:
                yield Site(cluster=name, sequence=None, validity=entity.cluster(name).validity)
        elif _exchanges(entity.cluster(name), life_cycle):
            yield _site(entity, name)


def _site(entity: Feed | Process, cluster: str) -> Site:
    return Site(cluster=cluster, sequence=entity.instances_on(cluster), validity=entity.cluster(cluster).validity)


def _exchanges(on_cluster: FeedCluster, life_cycle: LifeCycle) -> bool:
    described = {LifeCycle.IMPORT: on_cluster.import_, LifeCycle.EXPORT: on_cluster.export}
    return described.get(life_cycle) is not None


def _copies(feed: Feed, target: FeedCluster) -> Iterator[Site]:
    """A target's site for each source: the instances in the overlap of both validities (Falcon, Replication)."""
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
            yield Site(cluster=target.name, counterpart=source.name, sequence=own, validity=both)

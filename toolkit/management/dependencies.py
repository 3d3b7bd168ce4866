"""Dependencies of an instance in both directions (Falcon feature list, Instance operations, dependency)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from enum import StrEnum

from toolkit.el import format_instant
from toolkit.entities import Feed, Process
from toolkit.entities.repository import Repository
from toolkit.entities.vocabulary import Kind
from toolkit.ledger.database import Ledger, Transaction
from toolkit.ledger.events import last_events
from toolkit.ledger.runs.queries import RunFilter, find
from toolkit.ledger.vocabulary import EventKind, LifeCycle, RunStatus
from toolkit.management.locations import ManagedLocation, chosen_clusters, clusters_having, key_after, locations_of
from toolkit.planning.moving_ranges import consumers, producers
from toolkit.planning.process_io import NoOutputInstance, ProcessSite, depends_on_availability

_MINUTE = timedelta(minutes=1)


class Relation(StrEnum):
    """Relation of another instance to the one in question."""

    INPUT = "input"
    """A feed instance that it reads."""
    OUTPUT = "output"
    """A feed instance that it makes."""
    PRODUCER = "producer"
    """The process that makes the instance."""
    CONSUMER = "consumer"
    """The process that reads the instance."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Dependency:
    """An instance that has to do with another one.

    Attributes:
        relation: what it is to that one.
        kind: of the entity.
        name: of the entity.
        cluster: where it is.
        through: the name of the input or output, or the life cycle that brings it about.
        instance_key: None: only a run can tell which, since it goes by availability.
        note: what is to be said instead of a key.
        counterpart: of a copy, where it comes from.
        state: what the ledger knows: of a feed instance what happened to it last, of a run its status. A run that is
            due and was never begun is waiting. None: the ledger has heard nothing of it.
    """

    relation: Relation
    kind: Kind
    name: str
    cluster: str
    through: str
    instance_key: str | None = None
    note: str = ""
    counterpart: str = ""
    life_cycle: LifeCycle | None = None
    state: EventKind | RunStatus | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class InstanceDependencies:
    """The dependencies of one instance, on each of its clusters."""

    name: str
    kind: Kind
    instance_key: str
    dependencies: tuple[tuple[str, tuple[Dependency, ...]], ...]


def instance_dependencies(
    ledger: Ledger, repository: Repository, entity: Feed | Process, clusters: Sequence[str], instant: datetime
) -> InstanceDependencies:
    """Return the instances that an instance is made from, and those made from it.

    Args:
        ledger: knows the states.
        repository: all entities.
        entity: whose instance it is.
        clusters: where; those that do not have this instance are left out.
        instant: the instance.

    Raises:
        NotAnInstance: it is an instance on none of the clusters.
        ElError: an expression of a process cannot be resolved.
        LedgerUnavailable: the ledger cannot be read now.
    """
    having = clusters_having(entity, clusters, instant)
    planned = [(each, tuple(_planned(repository, entity, each, instant))) for each in having]
    found = ledger.read(lambda tx: tuple((cluster, _with_states(tx, each)) for cluster, each in planned))
    return InstanceDependencies(
        name=entity.name, kind=entity.KIND, instance_key=format_instant(instant), dependencies=found
    )


def _planned(repository: Repository, entity: Feed | Process, cluster: str, instant: datetime) -> Iterator[Dependency]:
    if isinstance(entity, Feed):
        yield from brought_by(repository, entity, cluster, instant)
        yield from _consumers(repository, entity, cluster, instant)
        yield from _copied_to(repository, entity, cluster, instant)
        return
    site = ProcessSite(process=entity, cluster=repository.cluster(cluster), feeds=repository.feeds)
    yield from _inputs(site, instant)
    yield from _outputs(site, instant)


def brought_by(repository: Repository, feed: Feed, cluster: str, instant: datetime) -> Iterator[Dependency]:
    """Yield what writes a feed instance on a cluster: process runs, copies, an import; without their states.

    Raises:
        NotAnInstance: the feed has no such instance there.
        ElError: an expression of a process cannot be resolved.
    """
    yield from _producers(repository, feed, cluster, instant)
    yield from _copied_from(feed, cluster, instant)


def _inputs(site: ProcessSite, instant: datetime) -> Iterator[Dependency]:
    for name, each in site.process.inputs.items():
        base = _feed_instance(Relation.INPUT, each.feed, site.cluster.name, name)
        if depends_on_availability(each):
            yield replace(base, note=f"{each.start} to {each.end}, by availability")
            continue
        instants = [found.instant for found in site.input(name, instant).instances]
        yield from (replace(base, instance_key=format_instant(found)) for found in instants)
        if not instants:
            yield replace(base, note="no instance")


def _outputs(site: ProcessSite, instant: datetime) -> Iterator[Dependency]:
    for name, each in site.process.outputs.items():
        base = _feed_instance(Relation.OUTPUT, each.feed, site.cluster.name, name)
        try:
            made = site.output(name, instant).instance.instant
        except NoOutputInstance as error:
            yield replace(base, note=f"no instance {error.border}")
        else:
            yield replace(base, instance_key=format_instant(made))


def _feed_instance(relation: Relation, feed: str, cluster: str, through: str) -> Dependency:
    return Dependency(relation=relation, kind=Kind.FEED, name=feed, cluster=cluster, through=through)


def _producers(repository: Repository, feed: Feed, cluster: str, instant: datetime) -> Iterator[Dependency]:
    for each in producers(feed, cluster, instant, repository.processes.values()):
        runs = _runs_of(repository.process(each.process), cluster, each.instances)
        yield from (_run(Relation.PRODUCER, each.process, cluster, each.output, key) for key in runs)


def _consumers(repository: Repository, feed: Feed, cluster: str, instant: datetime) -> Iterator[Dependency]:
    for each in consumers(feed, cluster, instant, repository.processes.values()):
        if each.instances is None:
            note = "whichever find it available"
            yield replace(_run(Relation.CONSUMER, each.process, cluster, each.input, None), note=note)
            continue
        runs = _runs_of(repository.process(each.process), cluster, each.instances)
        yield from (_run(Relation.CONSUMER, each.process, cluster, each.input, key) for key in runs)


def _runs_of(process: Process, cluster: str, ends: tuple[datetime, datetime]) -> Iterator[str]:
    first, last = ends
    return map(format_instant, process.instances_on(cluster).between(first, last + _MINUTE))


def _run(relation: Relation, process: str, cluster: str, through: str, key: str | None) -> Dependency:
    return Dependency(
        relation=relation,
        kind=Kind.PROCESS,
        name=process,
        cluster=cluster,
        through=through,
        instance_key=key,
        life_cycle=LifeCycle.EXECUTION,
    )


def _copied_from(feed: Feed, cluster: str, instant: datetime) -> Iterator[Dependency]:
    """Yield what writes the instance here besides a process: a copy from a source, an import."""
    for life_cycle in (LifeCycle.REPLICATION, LifeCycle.IMPORT):
        for location in locations_of(feed, life_cycle, (cluster,)):
            yield from _at_location(Relation.PRODUCER, feed, location, life_cycle, instant)


def _copied_to(repository: Repository, feed: Feed, cluster: str, instant: datetime) -> Iterator[Dependency]:
    """Yield what takes the instance from here besides a process: copies to targets, an export."""
    targets = chosen_clusters(repository, feed, ())
    for location in locations_of(feed, LifeCycle.REPLICATION, targets):
        if location.counterpart == cluster:
            yield from _at_location(Relation.CONSUMER, feed, location, LifeCycle.REPLICATION, instant)
    for location in locations_of(feed, LifeCycle.EXPORT, (cluster,)):
        yield from _at_location(Relation.CONSUMER, feed, location, LifeCycle.EXPORT, instant)


def _at_location(
    relation: Relation, feed: Feed, location: ManagedLocation, life_cycle: LifeCycle, instant: datetime
) -> Iterator[Dependency]:
    if any(location.instants(instant, instant + _MINUTE)):
        yield Dependency(
            relation=relation,
            kind=Kind.FEED,
            name=feed.name,
            cluster=location.cluster,
            counterpart=location.counterpart,
            through=life_cycle,
            instance_key=format_instant(instant),
            life_cycle=life_cycle,
        )


def _with_states(tx: Transaction, dependencies: Sequence[Dependency]) -> tuple[Dependency, ...]:
    """Read with one query for each entity, cluster and life cycle, however many instances."""
    keys: dict[tuple[str, str, LifeCycle | None], list[str]] = {}
    for each in dependencies:
        if each.instance_key is not None:
            keys.setdefault((each.name, each.cluster, each.life_cycle), []).append(each.instance_key)
    states = {group: _states(tx, group, sorted(found)) for group, found in keys.items()}
    return tuple(_with_state(each, states) for each in dependencies)


_States = dict[tuple[str, str], EventKind | RunStatus]
"""By counterpart and instance key."""


def _states(tx: Transaction, group: tuple[str, str, LifeCycle | None], keys: list[str]) -> _States:
    name, cluster, life_cycle = group
    if life_cycle is None:
        return {("", key): kind for key, kind in last_events(tx, name, cluster, keys[0], keys[-1]).items()}
    wanted = RunFilter(
        entity=name, life_cycle=life_cycle, clusters=(cluster,), start_key=keys[0], end_key=key_after(keys[-1])
    )
    return {(run.counterpart, run.instance_key): run.status for run in find(tx, wanted)}


def _with_state(each: Dependency, states: dict[tuple[str, str, LifeCycle | None], _States]) -> Dependency:
    if each.instance_key is None:
        return each
    known = states[each.name, each.cluster, each.life_cycle].get((each.counterpart, each.instance_key))
    default = None if each.life_cycle is None else RunStatus.WAITING
    return replace(each, state=known or default)

"""From the entities of an environment to what a scheduler starts, and when (DESIGN sections 7 and 8)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from functools import cached_property
from typing import TYPE_CHECKING, TypeVar
from zlib import crc32

from toolkit.el import Frequency
from toolkit.entities import ClusterRole, Feed, LatePolicy, Process, not_implemented
from toolkit.entities.errors import NotInEnvironment
from toolkit.entities.not_implemented import Area, not_evictable
from toolkit.entities.retention import RetentionStage, yarn_options
from toolkit.errors import InvalidInput
from toolkit.planning.cadence import eviction_cadence
from toolkit.planning.late_schedule import late_schedule, watched_inputs
from toolkit.planning.process_io import ProcessSite, depends_on_availability
from toolkit.planning.replication import routes
from toolkit.schedules.actions import ActionKind, Schedule, ScheduledAction, UnscheduledAction
from toolkit.schedules.timetable import Timetable

if TYPE_CHECKING:
    from toolkit.entities import Cluster, Repository
    from toolkit.entities.repo import Schedules
    from toolkit.errors import InvalidInput

E = TypeVar("E", Feed, Process)

_EPOCH = datetime(2000, 1, 1, tzinfo=UTC)
_AGAIN_MINUTE, _WATCHDOG_MINUTE, _MONITOR_MINUTE = 7, 3, 1
"""Minutes at which few entities have their instances."""
_SPREAD_MINUTES = 60
"""Retention has no time of its own; without this all of it would begin at one."""
_SAMPLE_INSTANCE = 100
"""Inputs of an early instance may lie before the feed's first one, and then say nothing about the cut-off."""

Unsupported = Callable[[ProcessSite], "InvalidInput | None"]
"""Why the process runner cannot run a process yet; None: it can."""

_PULLS = {
    ActionKind.REPLICATION: ActionKind.REPLICATION_AGAIN,
    ActionKind.HIVE_REPLICATION: ActionKind.HIVE_REPLICATION_AGAIN,
}


@dataclass(frozen=True, kw_only=True)
class Scheduler:
    """Makes the schedule of an environment.

    Attributes:
        repository: all entities.
        settings: of the environment, with `entrypoints` and `config_repo`.
        environment: its name.
        unsupported: asked of each process.
    """

    repository: Repository
    settings: Schedules
    environment: str
    unsupported: Unsupported

    def schedule(self, names: Sequence[str]) -> Schedule:
        """Return all scheduled actions, in a stable order.

        Args:
            names: names of clusters; none: all of the environment.

        Raises:
            UnknownName: no such cluster.
            NotInEnvironment: the environment may not act on one.
        """
        allowed = self._allowed()
        clusters = tuple(sorted(set(map(self._checked, names)))) if names else allowed
        found = [each for name in clusters for each in self._on(self.repository.cluster(name))]
        return Schedule(
            repo=self.repository.settings.name or "feedctl",
            environment=self.environment,
            clusters=clusters,
            is_whole=clusters == allowed,
            settings=self.settings,
            actions=(
                *(each for each in found if isinstance(each, ScheduledAction)),
                self._monitor(),
                self._watchdog(),
            ),
            left_out=tuple(each for each in found if isinstance(each, UnscheduledAction)),
        )

    def _allowed(self) -> tuple[str, ...]:
        environment = self.repository.environment
        return tuple(
            name for name in sorted(self.repository.clusters) if environment is None or environment.allows(name)
        )

    def _checked(self, name: str) -> str:
        self.repository.cluster(name)
        if name not in self._allowed():
            raise NotInEnvironment(what=f"cluster {name}", environment=self.environment, clusters=self._allowed())
        return name

    def _on(self, cluster: Cluster) -> Iterator[ScheduledAction | UnscheduledAction]:
        found = [*self._of_feeds(cluster), *self._of_processes(cluster)]
        yield from sorted(found, key=lambda each: each.name)
        kinds = {each.kind for each in found if isinstance(each, ScheduledAction)}
        if ActionKind.PROCESS in kinds:
            what = "processes that wait for inputs, or for a retry"
            yield self._again(ActionKind.PROCESS_AGAIN, cluster, what, ("--all", "--due", "--cluster", cluster.name))
        if any(process.trigger is not None for process in self._processes_on.get(cluster.name, ())):
            yield self._triggers(cluster)
        for kind, again in _PULLS.items():
            if kind in kinds:
                what = "feeds whose source had nothing yet"
                yield self._again(again, cluster, what, ("--all", "--target", cluster.name))
        if ActionKind.DB_EXPORT in kinds:
            what = "exports whose instance was not there yet"
            yield self._again(ActionKind.DB_EXPORT_AGAIN, cluster, what, ("--all", "--cluster", cluster.name))

    def _again(self, kind: ActionKind, cluster: Cluster, what: str, options: tuple[str, ...]) -> ScheduledAction:
        return ScheduledAction(
            kind=kind,
            cluster=cluster.name,
            timetable=_every(self.settings.look_again, _AGAIN_MINUTE),
            command=self._submit(kind, options),
            description=f"look again at {what}, on {cluster.name}",
        )

    def _triggers(self, cluster: Cluster) -> ScheduledAction:
        kind = ActionKind.TRIGGER
        return ScheduledAction(
            kind=kind,
            cluster=cluster.name,
            timetable=_every(self.settings.triggers, 0),
            command=self._submit(kind, ("--due", "--poll", "--cluster", cluster.name)),
            description=f"run what updates of its data start, on {cluster.name}",
        )

    def _monitor(self) -> ScheduledAction:
        return ScheduledAction(
            kind=ActionKind.MONITOR,
            timetable=_every(self.settings.monitor, _MONITOR_MINUTE),
            command=self._feedctl("monitor"),
            description=f"look for late data and send what waits in {self.environment}, {self.settings.monitor}",
        )

    def _watchdog(self) -> ScheduledAction:
        return ScheduledAction(
            kind=ActionKind.WATCHDOG,
            timetable=_every(self.settings.watchdog, _WATCHDOG_MINUTE),
            command=self._feedctl("status", "--stale"),
            takes_time=False,
            description=f"say what has not succeeded in time in {self.environment}",
        )

    def _feedctl(self, *words: str) -> tuple[str, ...]:
        """Return a command of feedctl itself: no JVM is started for it."""
        place = ("--config-repo", self.settings.config_repo or "", "--env", self.environment)
        return (self.settings.feedctl, *words, *place)

    def _submit(self, kind: ActionKind, options: Sequence[str], conf: Sequence[str] = ()) -> tuple[str, ...]:
        own = self.settings
        script = f"{(own.entrypoints or '').rstrip('/')}/{kind.entrypoint}.py"
        place = ("--config-repo", own.config_repo or "", "--env", self.environment)
        if kind.entrypoint in own.without_spark:
            return (own.python, script, *options, *place)
        master = () if own.master is None else ("--master", own.master)
        mode = () if own.deploy_mode is None else ("--deploy-mode", str(own.deploy_mode))
        return (own.spark_submit, *master, *mode, *own.options, *conf, script, *options, *place)

    def _of_feeds(self, cluster: Cluster) -> Iterator[ScheduledAction | UnscheduledAction]:
        for feed in self._feeds_on.get(cluster.name, ()):
            yield from self._retention(feed, cluster)
            yield from self._ingest(feed, cluster)
            yield from self._import(feed, cluster)
            if feed.cluster(cluster.name).type is ClusterRole.TARGET:
                yield self._replication(feed, cluster)
            if feed.cluster(cluster.name).export is not None:
                yield self._db_export(feed, cluster)

    def _of_feed(
        self, kind: ActionKind, feed: Feed, cluster: Cluster, timetable: Timetable, description: str
    ) -> ScheduledAction:
        where, conf = "--target" if kind in _PULLS else "--cluster", _yarn_options(feed, cluster.name, kind)
        return ScheduledAction(
            kind=kind,
            entity=feed.name,
            cluster=cluster.name,
            domain=self._domains.get(feed.name, ""),
            timetable=timetable,
            command=self._submit(kind, ("--feed", feed.name, where, cluster.name), conf),
            description=description,
        )

    def _retention(self, feed: Feed, cluster: Cluster) -> Iterator[ScheduledAction | UnscheduledAction]:
        cadence = eviction_cadence(feed, cluster.name)
        if cadence is None:
            return
        kind = ActionKind.RETENTION
        for value in not_evictable(feed, cluster):
            yield _left_out(kind, feed.name, cluster, value.error(where=f"feed {feed.name}"))
            return
        spread = timedelta(minutes=crc32(f"{feed.name}@{cluster.name}".encode()) % _SPREAD_MINUTES)
        timetable = Timetable(start=_EPOCH + spread, frequency=cadence.frequency)
        description = f"evict what is too old of {feed.name} on {cluster.name}, {cadence.frequency}"
        yield self._of_feed(kind, feed, cluster, timetable, description)

    def _ingest(self, feed: Feed, cluster: Cluster) -> Iterator[ScheduledAction | UnscheduledAction]:
        ingest, kind = feed.cluster(cluster.name).ingest, ActionKind.INGEST
        if ingest is None:
            return
        yield self._compact(feed, cluster)
        if ingest.source is None:
            reason = f"feed {feed.name} has no ingest.source; start it where its records are, with --stdin"
            yield UnscheduledAction(name=f"{kind}.{feed.name}", cluster=cluster.name, reason=reason)
            return
        description = f"commit new records of {feed.name} on {cluster.name}, {self.settings.ingest}"
        yield self._of_feed(kind, feed, cluster, _every(self.settings.ingest, 0), description)

    def _compact(self, feed: Feed, cluster: Cluster) -> ScheduledAction:
        description = f"close instances of {feed.name} on {cluster.name}, {self.settings.compact}"
        return self._of_feed(ActionKind.COMPACT, feed, cluster, _every(self.settings.compact, 2), description)

    def _db_export(self, feed: Feed, cluster: Cluster) -> ScheduledAction:
        start = feed.cluster(cluster.name).validity.start
        timetable = Timetable(start=start, frequency=feed.frequency, timezone=feed.timezone)
        description = f"export {feed.name} of {cluster.name} to a database, {timetable}"
        return self._of_feed(ActionKind.DB_EXPORT, feed, cluster, timetable, description)

    def _import(self, feed: Feed, cluster: Cluster) -> Iterator[ScheduledAction]:
        on, kind = feed.cluster(cluster.name), ActionKind.DB_IMPORT
        if on.import_ is None:
            return
        lag = on.import_.source.extract.delta_lag  # an instance of new rows is due at its end, an instant as well
        timetable = Timetable(start=on.validity.start, frequency=feed.frequency, timezone=feed.timezone, delay=lag)
        yield self._of_feed(kind, feed, cluster, timetable, f"import {feed.name} on {cluster.name}, {timetable}")

    def _replication(self, feed: Feed, cluster: Cluster) -> ScheduledAction | UnscheduledAction:
        kind = ActionKind.HIVE_REPLICATION if feed.is_table else ActionKind.REPLICATION
        for value in not_implemented(feed, Area.REPLICATION, cluster.name):
            return _left_out(kind, feed.name, cluster, value.error(where=f"feed {feed.name}"))
        try:
            found = routes(feed, self.repository.clusters, target=cluster.name)
            slowest = max(found, key=lambda route: route.eligible_at(route.source.on.validity.start))
        except InvalidInput as error:
            return _left_out(kind, feed.name, cluster, error)
        on = slowest.source.on
        timetable = Timetable(start=on.validity.start, frequency=feed.frequency, timezone=feed.timezone, delay=on.delay)
        description = f"pull {feed.name} to {cluster.name}, {timetable}"
        return self._of_feed(kind, feed, cluster, timetable, description)

    def _of_processes(self, cluster: Cluster) -> Iterator[ScheduledAction | UnscheduledAction]:
        for process in self._processes_on.get(cluster.name, ()):
            site = ProcessSite(process=process, cluster=cluster, feeds=self.repository.feeds)
            refusal = self.unsupported(site)
            if refusal is not None:
                yield _left_out(ActionKind.PROCESS, process.name, cluster, refusal)
                continue
            start = process.cluster(cluster.name).validity.start
            timetable = Timetable(start=start, frequency=process.frequency, timezone=process.timezone)
            yield self._of_process(ActionKind.PROCESS, site, timetable, "run what is due of")
            late = late_timetable(site)
            if late is not None:
                yield self._of_process(ActionKind.LATE_CHECK, site, late, "look for late data of")

    def _of_process(self, kind: ActionKind, site: ProcessSite, timetable: Timetable, what: str) -> ScheduledAction:
        process, cluster = site.process.name, site.cluster.name
        return ScheduledAction(
            kind=kind,
            entity=process,
            cluster=cluster,
            domain=site.process.domain or "",
            timetable=timetable,
            command=self._submit(kind, ("--process", process, "--cluster", cluster, "--due")),
            description=f"{what} {process} on {cluster}, {timetable}",
        )

    @cached_property
    def _feeds_on(self) -> Mapping[str, Sequence[Feed]]:
        return _by_cluster([feed for _, feed in sorted(self.repository.feeds.items())])

    @cached_property
    def _processes_on(self) -> Mapping[str, Sequence[Process]]:
        return _by_cluster([process for _, process in sorted(self.repository.processes.items())])

    @cached_property
    def _domains(self) -> Mapping[str, str]:
        """The domain of the first process, by name, that makes a feed."""
        found: dict[str, str] = {}
        for _, process in sorted(self.repository.processes.items()):
            for output in process.outputs.values():
                found.setdefault(output.feed, process.domain or "")
        return found


def _yarn_options(feed: Feed, cluster: str, kind: ActionKind) -> tuple[str, ...]:
    """Return the queue and the priority of a feed's actions; for retention those of its stage win."""
    lifecycle = feed.lifecycle_on(cluster) if kind is ActionKind.RETENTION else None
    stage = RetentionStage() if lifecycle is None else lifecycle.retention_stage
    queue, priority = (str(feed.properties.get(name, "")) for name in ("queueName", "jobPriority"))
    return yarn_options(stage.queue or queue, stage.priority or priority)


def late_timetable(site: ProcessSite) -> Timetable | None:
    """When a process is checked for late data; None: never.

    With the policy `final` once a frequency, when the cut-off of an instance has come; else at each delay, or once a
    frequency where that is less. What only a run can tell (`latest`, `future`) counts as if it had no cut-off.
    """
    process, late = site.process, site.process.late_process
    if late is None or not any(site.feeds[process.inputs[name].feed].late_arrival for name in late.inputs):
        return None
    instances = process.instances_on(site.cluster.name)
    timetable = Timetable(start=instances.start, frequency=process.frequency, timezone=process.timezone)
    if late.policy is LatePolicy.FINAL or late.delay is None:
        cut_off = _cut_off(site, late.inputs, instances[min(_SAMPLE_INSTANCE, len(instances) - 1)])
        return timetable if cut_off is None else replace(timetable, start=cut_off)
    by_delay = replace(timetable, frequency=late.delay)
    return min(timetable, by_delay, key=lambda each: each.seconds)


def _cut_off(site: ProcessSite, late_inputs: Iterable[str], instant: datetime) -> datetime | None:
    if any(depends_on_availability(site.process.inputs[name]) for name in late_inputs):
        return None
    try:
        watched = watched_inputs(site, instant, {})
    except InvalidInput:  # what is wrong with it, its runs say
        return None
    ends = {each.name: each.instances[-1].instant for each in watched if each.instances}
    schedule = late_schedule(site.process, site.feeds, instant, ends)
    return None if schedule is None else max(schedule.cut_off, instant)


def _every(frequency: Frequency, minute: int) -> Timetable:
    return Timetable(start=_EPOCH + timedelta(minutes=minute), frequency=frequency)


def _left_out(kind: ActionKind, entity: str, cluster: Cluster, why: Exception) -> UnscheduledAction:
    return UnscheduledAction(name=f"{kind}.{entity}", cluster=cluster.name, reason=str(why))


def _by_cluster(entities: Iterable[E]) -> dict[str, list[E]]:
    found: dict[str, list[E]] = {}
    for entity in entities:
        for each in entity.clusters:
            found.setdefault(each.name, []).append(entity)
    return found

"""Series that have an SLA: feeds and processes on their clusters, and datasets."""

from __future__ import annotations

from collections.abc import Callable, Container, Iterator, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from functools import cache, cached_property, partial
from typing import TYPE_CHECKING, Self

from typing_extensions import override

from toolkit.el import ElError, OutOfRange, shift
from toolkit.entities.trigger_vocabulary import ScheduleMode
from toolkit.entities.vocabulary import ClusterRole, Order
from toolkit.ledger.sla import SlaKey
from toolkit.ledger.vocabulary import SlaSubject
from toolkit.planning.sla import NoDeadline, SlaMoments, feed_moments, first_open, is_day_off, process_moments

if TYPE_CHECKING:
    from toolkit.el import Frequency, InstanceSequence
    from toolkit.entities import Cluster, Feed, Hold, Process
    from toolkit.entities.calendar import Calendar
    from toolkit.entities.repository import Repository
    from toolkit.entities.sla import FeedSla, ProcessSla

UNMEASURED = (ElError, NoDeadline)
"""Errors of `moments`: an instance that has none is not expected."""


@dataclass(frozen=True, kw_only=True)
class SlaSeries:
    """A series with an SLA.

    Attributes:
        key: its key in the ledger.
    """

    key: SlaKey

    @cached_property
    def sequence(self) -> InstanceSequence:
        """The instances that are expected."""
        return self.instances()

    @property
    def description(self) -> str:
        """Text of the instances and of what tells of them; where it changes, open instances are decided anew."""
        return str(self.sequence)

    def instances(self) -> InstanceSequence:
        """Return the instances of the entity there."""
        raise NotImplementedError

    def moments(self, instant: datetime) -> SlaMoments:
        """Return the moments of an instance.

        Raises:
            ElError, NoDeadline: it has none.
        """
        raise NotImplementedError

    def is_day_off(self, instant: datetime) -> bool:
        """Return whether an instance is not expected, since the calendar leaves out its day."""
        del instant
        return False

    def over_at(self, instant: datetime) -> datetime | None:
        """Return when an instance is not expected any more, whether it came or not; None: never."""
        del instant
        return None

    def first_open(self, now: datetime) -> datetime | None:
        """Return the first instance that a monitor expects which begins now; None: none comes any more."""

        def moments(instant: datetime) -> SlaMoments:
            try:
                return self.moments(instant)
            except UNMEASURED:
                return SlaMoments()

        return first_open(self.sequence, moments, now)


@dataclass(frozen=True, kw_only=True)
class FeedSeries(SlaSeries):
    """A feed on a cluster.

    Attributes:
        feed: the feed.
        cluster: the cluster.
        sla: of the feed there.
        calendar: of its deadline; None: every day counts.
        outputs: returns the feeds that processes write, each with its cluster.
    """

    feed: Feed
    cluster: Cluster
    sla: FeedSla
    calendar: Calendar | None = None
    outputs: Callable[[], Container[tuple[str, str]]] = field(repr=False)

    @override
    def instances(self) -> InstanceSequence:
        return self.feed.instances_on(self.cluster.name)

    @override
    def moments(self, instant: datetime) -> SlaMoments:
        return feed_moments(self.sla, instant, self.feed.timezone, self.calendar)

    @override
    def is_day_off(self, instant: datetime) -> bool:
        return is_day_off(self.sla.deadline, instant, self.calendar)

    @override
    def over_at(self, instant: datetime) -> datetime | None:
        """Return when retention would remove it: nobody waits for data that goes at once."""
        retention = self.feed.cluster(self.cluster.name).retention
        try:
            return None if retention is None else shift(instant, retention.limit, 1, self.feed.timezone)
        except OutOfRange:
            return None

    @property
    @override
    def description(self) -> str:
        retention = self.feed.cluster(self.cluster.name).retention
        kept = "" if retention is None else f"; kept for {retention.limit}"
        return f"{self.sequence}{kept}{'; in storage' if self.is_looked_at else ''}"

    @property
    def has_least_size(self) -> bool:
        """True if an instance with too little data does not count as available."""
        return self.sla.min_rows is not None or self.sla.min_bytes is not None

    @property
    def may_look(self) -> bool:
        """True if storage may have to be asked."""
        return self.has_least_size or self.is_looked_at

    @cached_property
    def is_looked_at(self) -> bool:
        """True if storage tells what is there: no process, copy or ingest of the config repo writes the feed."""
        on_cluster = self.feed.cluster(self.cluster.name)
        if on_cluster.type is ClusterRole.TARGET or on_cluster.import_ is not None or on_cluster.ingest is not None:
            return False
        return self.feed.external or (self.feed.name, self.cluster.name) not in self.outputs()


@dataclass(frozen=True, kw_only=True)
class ProcessSeries(SlaSeries):
    """A process on a cluster.

    Attributes:
        process: the process.
        sla: of the process there.
    """

    process: Process
    sla: ProcessSla

    @override
    def instances(self) -> InstanceSequence:
        return self.process.instances_on(self.key.cluster)

    @override
    def moments(self, instant: datetime) -> SlaMoments:
        return process_moments(self.sla, instant, self.process.timezone)

    @property
    def skips(self) -> bool:
        """True if a skipped instance has ended: a newer one runs in its place."""
        return self.process.order is Order.LAST_ONLY


@dataclass(frozen=True, kw_only=True)
class DatasetSeries(SlaSeries):
    """A dataset of `repo.yaml`.

    Attributes:
        updated_every: longest time between two updates.
    """

    updated_every: Frequency

    @property
    @override
    def description(self) -> str:
        return str(self.updated_every)


@dataclass(frozen=True, kw_only=True, slots=True)
class WatchedSeries:
    """The series of a config repo that have an SLA.

    Attributes:
        by_key: each by its key in the ledger.
        problems: what is wrong with others, which nobody watches.
        allows: whether this monitor watches a cluster; rows of others in the ledger are left alone.
        holds: of `holds.yaml`.
    """

    by_key: Mapping[SlaKey, SlaSeries]
    problems: tuple[str, ...] = ()
    allows: Callable[[str], bool] = field(repr=False, default=lambda _: True)
    holds: tuple[Hold, ...] = ()

    def only(self, entity: str | None, cluster: str | None) -> Self:
        """Return the series of an entity, on a cluster; None: of all, on all."""
        found = {
            key: each
            for key, each in self.by_key.items()
            if entity in (None, key.entity) and cluster in (None, key.cluster)
        }
        return replace(self, by_key=found)


def watched_series(repository: Repository) -> WatchedSeries:
    """Return what a config repo has to watch, on the clusters that its environment allows."""
    environment = repository.environment
    problems: list[str] = []

    def allows(cluster: str) -> bool:
        return environment is None or environment.allows(cluster)

    found = [
        *_feeds(repository, allows, problems),
        *_processes(repository, allows),
        *_datasets(repository),
    ]
    return WatchedSeries(
        by_key={each.key: each for each in found}, problems=tuple(problems), allows=allows, holds=repository.holds
    )


def _feeds(repository: Repository, allows: Callable[[str], bool], problems: list[str]) -> Iterator[FeedSeries]:
    outputs = cache(partial(_outputs, repository))
    for feed in repository.feeds.values():
        for each in feed.clusters:
            sla = feed.sla_on(each.name)
            cluster = repository.clusters.get(each.name)
            if sla is None or cluster is None or not allows(each.name):
                continue
            name = None if sla.deadline is None else sla.deadline.calendar
            calendar = None if name is None else repository.calendars.get(name)
            if name is not None and calendar is None:
                problems.append(
                    f"feed {feed.name} is not watched: there is no calendar {name}; add calendars/{name}.yaml"
                )
                continue
            key = SlaKey(SlaSubject.FEED, feed.name, each.name)
            yield FeedSeries(key=key, feed=feed, cluster=cluster, sla=sla, calendar=calendar, outputs=outputs)


def _processes(repository: Repository, allows: Callable[[str], bool]) -> Iterator[ProcessSeries]:
    """Yield the processes whose instances have a time at which they start; updates of data have none."""
    for process in repository.processes.values():
        if process.schedule is ScheduleMode.NEVER:
            continue
        for each in process.clusters:
            sla = process.sla_on(each.name)
            has_limit = sla is not None and (sla.should_start_in is not None or sla.should_end_in is not None)
            if sla is not None and has_limit and allows(each.name):
                yield ProcessSeries(key=SlaKey(SlaSubject.PROCESS, process.name, each.name), process=process, sla=sla)


def _datasets(repository: Repository) -> Iterator[DatasetSeries]:
    for uri, dataset in repository.datasets.items():
        if dataset.sla is not None:
            yield DatasetSeries(key=SlaKey(SlaSubject.DATASET, uri, ""), updated_every=dataset.sla.updated_every)


def _outputs(repository: Repository) -> frozenset[tuple[str, str]]:
    """Return the feeds that processes write, each with the clusters of the process."""
    return frozenset(
        (output.feed, each.name)
        for process in repository.processes.values()
        for output in process.outputs.values()
        for each in process.clusters
    )

"""Collection of all metrics from the ledger and the config repo."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime

from toolkit import __version__
from toolkit.entities import Feed, Process
from toolkit.entities.repository import Repository
from toolkit.ledger import metrics as figures
from toolkit.ledger import sla
from toolkit.ledger.database import Ledger, Transaction
from toolkit.ledger.errors import LedgerUnavailable
from toolkit.ledger.runs import counters
from toolkit.ledger.state.start_check import current_safe_mode, suspensions
from toolkit.ledger.vocabulary import LifeCycle, RunStatus
from toolkit.management.locations import chosen_clusters
from toolkit.metrics import definitions
from toolkit.metrics.samples import Sample, bounded

_LEVELS = ("low", "high")

_Series = tuple[str, ...]


@dataclass(frozen=True, kw_only=True, slots=True)
class Collected:
    """Metrics at an instant.

    Attributes:
        samples: within the bound.
        folded: number of series beyond it.
        problem: why the ledger could not be read; None: it could.
    """

    samples: tuple[Sample, ...]
    folded: int = 0
    problem: LedgerUnavailable | None = None


def collect(ledger: Ledger, repository: Repository, at: datetime | None, most: int) -> Collected:
    """Collect all metrics; a ledger that cannot be read is a metric too.

    Args:
        ledger: of the runs.
        repository: all entities; the ledger's rows of others are left out.
        at: ages are counted up to then; None: now, by the database's clock.
        most: bound on the number of series.
    """
    try:
        own = ledger.read(lambda tx: list(_Sites.of(repository).samples(tx, at or tx.now())))
    except LedgerUnavailable as problem:
        return without_ledger(problem)
    kept, folded = bounded([*own, _BUILD, Sample(definitions.UP, (), 1)], most - 1, _with_sla(repository))
    return Collected(samples=(*kept, Sample(definitions.SERIES_FOLDED, (), folded)), folded=folded)


_BUILD = Sample(definitions.BUILD, (__version__,), 1)


def without_ledger(problem: LedgerUnavailable) -> Collected:
    """Return the metrics of an installation whose ledger cannot be read."""
    return Collected(samples=(_BUILD, Sample(definitions.UP, (), 0)), problem=problem)


def _with_sla(repository: Repository) -> frozenset[str]:
    """Return the names of the entities with an SLA, which keep series of their own rather than others."""
    entities: list[Feed | Process] = [*repository.feeds.values(), *repository.processes.values()]
    return frozenset(each.name for each in entities if any(each.sla_on(there.name) for there in each.clusters))


@dataclass(frozen=True, kw_only=True, slots=True)
class _Sites:
    """Entities on the clusters that the environment may act on.

    Attributes:
        entities: by name.
        sites: pairs of entity and cluster.
        with_sla: of these, those with an SLA.
        with_quality: of these, feeds that are validated.
    """

    entities: Mapping[str, Feed | Process]
    sites: frozenset[tuple[str, str]]
    with_sla: tuple[tuple[str, str], ...]
    with_quality: tuple[tuple[str, str], ...]

    @classmethod
    def of(cls, repository: Repository) -> _Sites:
        """Return the sites of a config repo; a dataset that is no feed has its URI as its name."""
        entities: dict[str, Feed | Process] = {**repository.feeds, **repository.processes}
        sites = [(name, each) for name, found in entities.items() for each in chosen_clusters(repository, found, ())]
        datasets = [(uri, "") for uri in repository.datasets]
        feeds = {name: found for name, found in entities.items() if isinstance(found, Feed)}
        return cls(
            entities=entities,
            sites=frozenset([*sites, *datasets]),
            with_sla=(*(each for each in sites if entities[each[0]].sla_on(each[1]) is not None), *datasets),
            with_quality=tuple(
                (name, cluster) for name, cluster in sites if name in feeds and feeds[name].quality_on(cluster)
            ),
        )

    def samples(self, tx: Transaction, at: datetime) -> Iterator[Sample]:
        """Yield the samples of all entities, and those of the installation."""
        yield Sample(definitions.COLLECTED, (), at.timestamp())
        yield Sample(definitions.SAFE_MODE, (), current_safe_mode(tx).is_on)
        yield from self._entities(tx)
        yield from self._successes(tx)
        yield from self._other_runs(tx)
        yield from self._data(tx)
        yield from self._slas(tx, at)
        yield from self._alerts(tx)
        yield from _outbox(tx, at)

    def _entities(self, tx: Transaction) -> Iterator[Sample]:
        for name, entity in self.entities.items():
            domain = entity.domain if isinstance(entity, Process) else None
            labels = (name, str(entity.KIND), entity.owner or "", domain or "")
            yield Sample(definitions.ENTITY, labels, 1)
        for each in suspensions(tx):
            if each.entity in self.entities:
                yield Sample(definitions.SUSPENDED, (each.entity, each.cluster), 1)

    def _successes(self, tx: Transaction) -> Iterator[Sample]:
        """Yield when each action succeeded last and how often, and what that run has done as far as it counts it."""
        found = (each for each in figures.last_runs(tx) if self._knows(each.entity, each.cluster))
        last = {each.run_id: each for each in {_subject(each): each for each in found}.values()}
        succeeded: Counter[_Series] = Counter()
        for each in last.values():
            succeeded[each.entity, each.cluster, each.life_cycle.value, RunStatus.SUCCEEDED.value] += each.number
            yield Sample(definitions.LAST_SUCCESS, _subject(each), each.ended_at.timestamp())
            duration = _seconds(each.started_at or each.ended_at, each.ended_at)
            yield Sample(definitions.RUN_DURATION, _subject(each), duration)
        for labels, count in succeeded.items():
            yield Sample(definitions.RUNS, labels, count)
        for run_id, counted in counters.of_runs(tx, _of(last, LifeCycle.REPLICATION)).items():
            yield Sample(definitions.RUN_BYTES, _subject(last[run_id]), counted.get("BYTESCOPIED", 0))
            yield Sample(definitions.RUN_FILES, _subject(last[run_id]), counted.get("COPY", 0))
        evictions = _of(last, LifeCycle.EVICTION)
        evicted = figures.evicted(tx, evictions)
        for run_id in evictions:
            yield Sample(definitions.EVICTED, (last[run_id].entity, last[run_id].cluster), evicted.get(run_id, 0))

    def _other_runs(self, tx: Transaction) -> Iterator[Sample]:
        for each in figures.run_counts(tx):
            if self._knows(each.entity, each.cluster):
                metric = definitions.RUNS if each.status.is_terminal else definitions.RUNS_OPEN
                yield Sample(metric, (each.entity, each.cluster, each.life_cycle.value, each.status.value), each.number)
        for wait in figures.lease_waits(tx):
            if self._knows(wait.entity, wait.cluster):
                yield Sample(definitions.LEASE_WAITS, (wait.entity, wait.cluster, wait.life_cycle.value), wait.number)

    def _knows(self, entity: str, cluster: str) -> bool:
        return (entity, cluster) in self.sites

    def _data(self, tx: Transaction) -> Iterator[Sample]:
        for data in figures.validated(tx, self.with_quality):
            site = (data.feed, data.cluster)
            if data.rows is not None:
                yield Sample(definitions.VALIDATED_ROWS, site, data.rows)
            yield Sample(definitions.VALIDATED_FILES, site, data.files)
            yield Sample(definitions.VALIDATED_BYTES, site, data.bytes)

    def _slas(self, tx: Transaction, at: datetime) -> Iterator[Sample]:
        """Yield what is open of each entity with an SLA, 0 where nothing is."""
        found = {(each.key.entity, each.key.cluster): each for each in sla.backlog(tx)}
        for site in self.with_sla:
            each = found.get(site)
            since = at if each is None or each.behind_since is None else each.behind_since
            yield Sample(definitions.INSTANCES_OPEN, site, 0 if each is None else each.open)
            yield Sample(definitions.INSTANCES_LATE, site, 0 if each is None else each.late)
            yield Sample(definitions.BEHIND, site, _seconds(since, at))
        last = sla.looked_at(tx)
        if last is not None:
            yield Sample(definitions.MONITOR_PASS, (), last.timestamp())

    def _alerts(self, tx: Transaction) -> Iterator[Sample]:
        """Yield alerts; those of no entity of the repo count without an entity."""
        missed = {(each.entity, each.cluster): (each.low, each.high) for each in figures.missed(tx)}
        for site in self.with_sla:
            for level, count in zip(_LEVELS, missed.get(site, (0, 0)), strict=True):
                yield Sample(definitions.MISSED, (*site, level), count)
        counted: dict[_Series, int] = {}
        for each in figures.alert_counts(tx):
            entity = each.entity if self._knows(each.entity, each.cluster) else ""
            labels: _Series = (entity, each.cluster, each.kind.value, each.level.value)
            counted[labels] = counted.get(labels, 0) + each.number
        for labels, count in counted.items():
            yield Sample(definitions.ALERTS_OPEN, labels, count)


def _subject(last: figures.LastRun) -> _Series:
    return (last.entity, last.cluster, last.life_cycle.value, last.counterpart)


def _of(last: Mapping[int, figures.LastRun], life_cycle: LifeCycle) -> list[int]:
    """Return the numbers of the runs of a life cycle."""
    return [run_id for run_id, each in last.items() if each.life_cycle is life_cycle]


def _outbox(tx: Transaction, at: datetime) -> Iterator[Sample]:
    for each in figures.channels(tx):
        channel = (each.channel,)
        yield Sample(definitions.OUTBOX_WAITING, channel, each.waiting)
        yield Sample(definitions.OUTBOX_AGE, channel, 0 if each.oldest is None else _seconds(each.oldest, at))
        yield Sample(definitions.OUTBOX_DEAD, channel, each.dead)
        yield Sample(definitions.OUTBOX_FAILURES, channel, each.failures)


def _seconds(start: datetime, end: datetime) -> float:
    """Return the seconds from one instant to another; clocks that disagree never make it negative."""
    return max(0.0, (end - start).total_seconds())

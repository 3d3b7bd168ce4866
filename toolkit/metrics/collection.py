"""Collection of all metrics from the ledger and the config repo."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from toolkit import __version__
from toolkit.entities import Feed, Process
from toolkit.entities.repository import Repository
from toolkit.ledger import metrics as figures
from toolkit.ledger.database import Ledger, Transaction
from toolkit.ledger.errors import LedgerUnavailable
from toolkit.ledger.vocabulary import LifeCycle, RunStatus
from toolkit.management.locations import chosen_clusters
from toolkit.management.overview import Overview, OverviewRow, overview
from toolkit.metrics import definitions
from toolkit.metrics.samples import Sample, bounded

_FROM_ZERO = (RunStatus.SUCCEEDED, RunStatus.FAILED)
"""Statuses that are counted from zero on: Prometheus sees no increase in a series that begins with 1."""
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
        found = overview(ledger, repository, at)
        own = ledger.read(lambda tx: list(_Sites.of(repository).samples(tx, found)))
    except LedgerUnavailable as problem:
        return without_ledger(problem)
    own += [_BUILD, Sample(definitions.UP, (), 1), Sample(definitions.COLLECTED, (), found.at.timestamp())]
    kept, folded = bounded(own, most - 1, _with_sla(repository))
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

    def samples(self, tx: Transaction, found: Overview) -> Iterator[Sample]:
        """Yield the samples of all entities, and those of the installation."""
        yield from self._entities()
        yield Sample(definitions.SAFE_MODE, (), found.safe_mode.is_on)
        for site in sorted({(row.entity, row.cluster) for row in found.rows if row.suspension is not None}):
            yield Sample(definitions.SUSPENDED, site, 1)
        for row in found.rows:
            yield from _of_action(row, found.at)
        yield from self._last_runs(tx, found.rows)
        yield from self._data(tx)
        yield from self._runs(tx, found.rows)
        yield from self._slas(tx, found.at)
        yield from self._alerts(tx)
        yield from _outbox(tx, found.at)

    def _entities(self) -> Iterator[Sample]:
        for name, entity in self.entities.items():
            domain = entity.domain if isinstance(entity, Process) else None
            labels = (name, str(entity.KIND), entity.owner or "", domain or "")
            yield Sample(definitions.ENTITY, labels, 1)

    def _last_runs(self, tx: Transaction, rows: Sequence[OverviewRow]) -> Iterator[Sample]:
        """Yield what the last runs have done that succeeded, as far as their actions count it."""
        of_run = {row.last_success.run_id: row for row in rows if row.last_success is not None}
        copies = [run_id for run_id, row in of_run.items() if row.life_cycle is LifeCycle.REPLICATION]
        for run_id, counted in figures.copied(tx, copies).items():
            labels = _subject(of_run[run_id])
            yield Sample(definitions.RUN_BYTES, labels, counted.get("BYTESCOPIED", 0))
            yield Sample(definitions.RUN_FILES, labels, counted.get("COPY", 0))
        evictions = {run_id: row for run_id, row in of_run.items() if row.life_cycle is LifeCycle.EVICTION}
        evicted = figures.evicted(tx, evictions)
        for run_id, row in evictions.items():
            yield Sample(definitions.EVICTED, (row.entity, row.cluster), evicted.get(run_id, 0))

    def _data(self, tx: Transaction) -> Iterator[Sample]:
        for data in figures.validated(tx, self.with_quality):
            site = (data.feed, data.cluster)
            if data.rows is not None:
                yield Sample(definitions.VALIDATED_ROWS, site, data.rows)
            yield Sample(definitions.VALIDATED_FILES, site, data.files)
            yield Sample(definitions.VALIDATED_BYTES, site, data.bytes)

    def _runs(self, tx: Transaction, rows: Sequence[OverviewRow]) -> Iterator[Sample]:
        over: dict[_Series, int] = {
            (row.entity, row.cluster, row.life_cycle.value, status.value): 0 for row in rows for status in _FROM_ZERO
        }
        for each in figures.run_counts(tx):
            labels: _Series = (each.entity, each.cluster, each.life_cycle.value, each.status.value)
            if (each.entity, each.cluster) not in self.sites:
                continue
            if each.status.is_terminal:
                over[labels] = each.count
            else:
                yield Sample(definitions.RUNS_OPEN, labels, each.count)
        for labels, count in over.items():
            yield Sample(definitions.RUNS, labels, count)
        for wait in figures.lease_waits(tx):
            if (wait.entity, wait.cluster) in self.sites:
                yield Sample(definitions.LEASE_WAITS, (wait.entity, wait.cluster, wait.life_cycle.value), wait.count)

    def _slas(self, tx: Transaction, at: datetime) -> Iterator[Sample]:
        """Yield what is open of each entity with an SLA, 0 where nothing is."""
        found = {(each.entity, each.cluster): each for each in figures.open_instances(tx)}
        for site in self.with_sla:
            each = found.get(site)
            since = at if each is None or each.late_since is None else each.late_since
            yield Sample(definitions.INSTANCES_OPEN, site, 0 if each is None else each.count)
            yield Sample(definitions.INSTANCES_LATE, site, 0 if each is None else each.late)
            yield Sample(definitions.BEHIND, site, _seconds(since, at))
        last = figures.last_pass(tx)
        if last is not None:
            yield Sample(definitions.MONITOR_PASS, (), last.timestamp())

    def _alerts(self, tx: Transaction) -> Iterator[Sample]:
        """Yield alerts; those of no entity of the repo count without an entity."""
        missed = {(each.entity, each.cluster): (each.low, each.high) for each in figures.missed(tx)}
        for site in self.with_sla:
            for level, count in zip(_LEVELS, missed.get(site, (0, 0)), strict=True):
                yield Sample(definitions.MISSED, (*site, level), count)
        counted: dict[_Series, int] = {}
        for each in figures.open_alerts(tx):
            entity = each.entity if (each.entity, each.cluster) in self.sites else ""
            labels: _Series = (entity, each.cluster, each.kind.value, each.level.value)
            counted[labels] = counted.get(labels, 0) + each.count
        for labels, count in counted.items():
            yield Sample(definitions.ALERTS_OPEN, labels, count)


def _of_action(row: OverviewRow, at: datetime) -> Iterator[Sample]:
    labels, last = _subject(row), row.last_success
    yield Sample(definitions.STALE, labels, 0 if row.stale_since is None else _seconds(row.stale_since, at))
    if last is not None and last.ended_at is not None:
        yield Sample(definitions.LAST_SUCCESS, labels, last.ended_at.timestamp())
        yield Sample(definitions.RUN_DURATION, labels, _seconds(last.started_at or last.ended_at, last.ended_at))


def _subject(row: OverviewRow) -> _Series:
    return (row.entity, row.cluster, row.life_cycle.value, row.counterpart)


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

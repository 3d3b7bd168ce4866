"""Situation of an installation on one screen: clusters, what runs, waits, is late, failed of late and is due next."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from functools import cached_property
from heapq import nsmallest
from operator import attrgetter
from typing import Generic, TypeVar

from toolkit.el import Frequency, shift
from toolkit.entities.repository import Repository
from toolkit.ledger import metrics
from toolkit.ledger.database import Ledger, Transaction
from toolkit.ledger.open_alerts import OpenAlert, open_alerts
from toolkit.ledger.runs.leases import owned
from toolkit.ledger.runs.recent import (
    RunProgress,
    failures_by_site,
    newest_failures,
    open_runs,
    progress_of,
    to_retry,
)
from toolkit.ledger.runs.rows import Run
from toolkit.ledger.sla import looked_at
from toolkit.ledger.vocabulary import AlertKind, AlertLevel, RunStatus
from toolkit.management.next_due import DueAction, next_due
from toolkit.management.overview import Overview, OverviewRow, overview_in, watched_actions

RECENT = timedelta(hours=24)
"""Failures count that long."""
LATE_KINDS = frozenset({AlertKind.SLA, AlertKind.SLA_START, AlertKind.SLA_END, AlertKind.EMPTY})
"""Kinds of alerts about an instance that is late, missing or empty."""

RUNNING, WAITING, LATE, OTHER, FAILED = "running", "waiting", "late", "other", "failed"
_T = TypeVar("_T")


@dataclass(frozen=True, kw_only=True, slots=True)
class FirstRows(Generic[_T]):
    """First rows of a list, and how many there are.

    Attributes:
        rows: in the list's order.
        total: rows that there are.
    """

    rows: tuple[_T, ...]
    total: int


@dataclass(frozen=True, kw_only=True, slots=True)
class RunningRow:
    """Run that goes on.

    Attributes:
        is_owned: whether a living process works on it; jobs that another scheduler runs have none.
    """

    run: Run
    progress: RunProgress
    is_owned: bool


@dataclass(frozen=True, kw_only=True, slots=True)
class ClusterRow:
    """Numbers of a cluster.

    Attributes:
        cluster: its name; empty: alerts that belong to no cluster.
        actions: retentions, replications and processes.
        late: open alerts about late, missing and empty instances.
        alerts: all other open alerts.
        failed: instances that failed in the last 24 hours.
        backlog: instances of processes that are due and have not succeeded.
    """

    cluster: str
    actions: int
    running: int
    waiting: int
    late: int
    alerts: int
    failed: int
    stale: int
    suspended: int
    backlog: int
    holds: int


@dataclass(frozen=True, kw_only=True, slots=True)
class Situation:
    """Situation of an installation.

    Attributes:
        monitored_at: time of the monitor's newest pass; None: there was none.
        waiting: runs that have not begun, are suspended, or are to be tried again.
        alerts: those that are open; high ones first, the oldest first.
        failures: newest attempts of instances that failed in the last 24 hours, the last one first.
    """

    overview: Overview
    monitored_at: datetime | None
    clusters: tuple[ClusterRow, ...]
    running: FirstRows[RunningRow]
    waiting: FirstRows[Run]
    alerts: FirstRows[OpenAlert]
    failures: FirstRows[Run]
    next_due: FirstRows[DueAction]

    def total(self, field: str) -> int:
        """Return the sum of a number over all clusters."""
        return sum(getattr(each, field) for each in self.clusters)


def situation(
    ledger: Ledger,
    repository: Repository,
    at: datetime | None = None,
    names: Collection[str] | None = None,
    *,
    limit: int,
) -> Situation:
    """Return the situation.

    Args:
        ledger: of the runs and alerts.
        repository: all entities.
        at: what is due by then counts; None: now, by the database's clock. Runs and alerts are those of now.
        names: only of these entities; None: of all, with alerts that have no entity.
        limit: so many rows of each list.

    Raises:
        LedgerUnavailable: the ledger cannot be read now.
    """
    watched = tuple(each for each in watched_actions(repository) if names is None or each.subject.entity in names)

    def read(tx: Transaction) -> Situation:
        found = overview_in(tx, watched, repository, at, names)
        reader = _Reader(tx=tx, names=names, limit=limit)
        due = list(next_due(zip(watched, found.rows, strict=True), found.at))
        running, waiting = reader.running(), reader.waiting()
        alerts, failures = reader.alerts(), reader.failures()
        return Situation(
            overview=found,
            monitored_at=looked_at(tx),
            clusters=_clusters(found, repository, reader.counts),
            running=running,
            waiting=waiting,
            alerts=alerts,
            failures=failures,
            next_due=FirstRows(rows=tuple(nsmallest(limit, due, key=attrgetter("due_at"))), total=len(due)),
        )

    return ledger.read(read)


@dataclass(kw_only=True)
class _Reader:
    """Reads the lists of a situation, and counts their rows by cluster."""

    tx: Transaction
    names: Collection[str] | None
    limit: int
    counts: dict[str, Counter[str]] = field(default_factory=dict)

    def running(self) -> FirstRows[RunningRow]:
        found = self._of_names([each for each in self._open if each.status is RunStatus.RUNNING])
        self._count(RUNNING, ((each.cluster, 1) for each in found))
        ids = [each.run_id for each in found[: self.limit]]
        progress, living = progress_of(self.tx, ids), owned(self.tx, ids)
        return FirstRows(
            rows=tuple(
                RunningRow(run=each, progress=progress.get(each.run_id, RunProgress()), is_owned=each.run_id in living)
                for each in found[: self.limit]
            ),
            total=len(found),
        )

    def waiting(self) -> FirstRows[Run]:
        not_begun = [each for each in self._open if each.status is not RunStatus.RUNNING]
        found = self._of_names([*not_begun, *to_retry(self.tx)])
        self._count(WAITING, ((each.cluster, 1) for each in found))
        return FirstRows(rows=tuple(found[: self.limit]), total=len(found))

    def alerts(self) -> FirstRows[OpenAlert]:
        counts = [each for each in metrics.alert_counts(self.tx) if self._takes(each.entity)]
        for each in counts:
            self._count(LATE if each.kind in LATE_KINDS else OTHER, [(each.cluster, each.number)])
        chosen = None if self.names is None else {each.entity for each in counts}
        rows = open_alerts(self.tx, self.limit, chosen)
        return FirstRows(rows=tuple(rows), total=sum(each.number for each in counts))

    def failures(self) -> FirstRows[Run]:
        since = self.tx.now() - RECENT
        counts = {site: n for site, n in failures_by_site(self.tx, since).items() if self._takes(site[0])}
        self._count(FAILED, ((cluster, number) for (_, cluster), number in counts.items()))
        chosen = None if self.names is None else {entity for entity, _ in counts}
        rows = newest_failures(self.tx, since, self.limit, chosen)
        return FirstRows(rows=tuple(rows), total=sum(counts.values()))

    @cached_property
    def _open(self) -> Sequence[Run]:
        return open_runs(self.tx)

    def _takes(self, entity: str) -> bool:
        return self.names is None or entity in self.names

    def _of_names(self, runs: Sequence[Run]) -> list[Run]:
        return [each for each in runs if self._takes(each.entity)]

    def _count(self, what: str, numbers: Iterable[tuple[str, int]]) -> None:
        for cluster, number in numbers:
            self.counts.setdefault(cluster, Counter())[what] += number


def _clusters(found: Overview, repository: Repository, counts: Mapping[str, Counter[str]]) -> tuple[ClusterRow, ...]:
    """Return the clusters of the environment, and others that the ledger has something open of."""
    environment = repository.environment
    own = {name for name in repository.clusters if environment is None or environment.allows(name)}
    rows: dict[str, list[OverviewRow]] = {}
    for row in found.rows:
        rows.setdefault(row.cluster, []).append(row)
    return tuple(_cluster(name, rows.get(name, []), counts.get(name, Counter())) for name in sorted(own | set(counts)))


def _cluster(name: str, rows: Sequence[OverviewRow], counts: Counter[str]) -> ClusterRow:
    return ClusterRow(
        cluster=name,
        actions=len(rows),
        running=counts[RUNNING],
        waiting=counts[WAITING],
        late=counts[LATE],
        alerts=counts[OTHER],
        failed=counts[FAILED],
        stale=sum(each.stale_since is not None for each in rows),
        suspended=len({each.entity for each in rows if each.suspension is not None}),
        backlog=sum(each.backlog or 0 for each in rows),
        holds=sum({each.entity: each.holds for each in rows}.values()),
    )


@dataclass(frozen=True, kw_only=True, slots=True)
class OpenAlerts:
    """Open alerts, as a check from outside reports them.

    Attributes:
        high: number of alerts with level high.
        monitored_at: time of the monitor's newest pass; None: there was none.
        is_monitored: whether that pass is recent enough for the alerts to mean anything.
    """

    alerts: FirstRows[OpenAlert]
    high: int
    monitored_at: datetime | None
    is_monitored: bool

    @property
    def is_fine(self) -> bool:
        """True if no alert is open, and the monitor would have opened one."""
        return self.is_monitored and not self.alerts.total


def check_alerts(
    ledger: Ledger, names: Collection[str] | None, max_age: Frequency, at: datetime | None = None, *, limit: int
) -> OpenAlerts:
    """Return the open alerts.

    Args:
        ledger: that has them.
        names: only of these entities; None: all.
        max_age: the newest pass of the monitor is at most so old.
        at: by this time; None: now, by the database's clock.
        limit: so many rows.

    Raises:
        LedgerUnavailable: the ledger cannot be read now.
    """

    def read(tx: Transaction) -> OpenAlerts:
        alerts, last = _Reader(tx=tx, names=names, limit=limit).alerts(), looked_at(tx)
        counts = [each for each in metrics.alert_counts(tx) if names is None or each.entity in names]
        return OpenAlerts(
            alerts=alerts,
            high=sum(each.number for each in counts if each.level is AlertLevel.HIGH),
            monitored_at=last,
            is_monitored=last is not None and shift(last, max_age, 1) >= (at or tx.now()),
        )

    return ledger.read(read)

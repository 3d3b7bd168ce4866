"""Questions about instances: status, running, list, summary, logs (Falcon overview, Instance Management)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, replace

from toolkit.el import format_instant
from toolkit.ledger.database import Ledger, Transaction
from toolkit.ledger.jobs.current import sites_on_queue
from toolkit.ledger.jobs.rows import QUEUE_KEYS, StepRun
from toolkit.ledger.jobs.steps import LogLine, lines_of, steps_of
from toolkit.ledger.runs.queries import RunFilter, RunOrder, active, find, summary
from toolkit.ledger.runs.rows import Run
from toolkit.ledger.vocabulary import LifeCycle, RunStatus
from toolkit.management.errors import NotRecorded
from toolkit.management.locations import NEWEST, ManagedEntity, ManagedLocation, RequestedRange, Stretch, stretches
from toolkit.management.rows import InstanceRow, View, detailed, instance_rows, recorded_runs, run_filter


@dataclass(frozen=True, kw_only=True, slots=True)
class InstanceList:
    """Instances of an entity.

    Attributes:
        name: of the entity.
        life_cycle: what is done with them; None: whatever it is.
        rows: in the order that was asked for.
        on_queue: clusters on which the process works off the queue, so that its jobs stand for no instance.
    """

    name: str
    life_cycle: LifeCycle | None
    rows: tuple[InstanceRow, ...]
    on_queue: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True, slots=True)
class ClusterSummary:
    """Number of instances of a range by status on a cluster; an instance without a run is waiting."""

    cluster: str
    counts: Mapping[RunStatus, int]


@dataclass(frozen=True, kw_only=True, slots=True)
class InstanceSummary:
    """Number of instances of a range by status."""

    name: str
    life_cycle: LifeCycle
    requested: RequestedRange
    clusters: tuple[ClusterSummary, ...]


def instance_status(ledger: Ledger, managed: ManagedEntity, requested: RequestedRange, view: View) -> InstanceList:
    """The state of each instance of a range; those within the validity without a run are waiting.

    Where a process works off the queue, no instance waits: without a range, its newest jobs are told instead.

    Raises:
        OutsideValidity, NotAnInstance: see `ranges.stretches`.
        NotRecorded: one nominal time was asked for, and nothing is recorded for it.
        LedgerUnavailable: the ledger cannot be read now.
    """

    def read(tx: Transaction) -> InstanceList:
        on_queue = clusters_on_queue(tx, managed)
        planned = managed if requested.start is not None else managed.without(on_queue)
        parts = stretches(planned, requested, tx.now(), newest=view.count_of_newest)
        runs = recorded_runs(tx, managed, parts, all_attempts=view.all_attempts)
        if not runs:
            require_recorded(managed, requested)
        jobs = _newest_jobs(tx, managed, on_queue, view) if requested.start is None else []
        rows = (row for row in (*instance_rows(managed, parts, runs), *map(InstanceRow.of, jobs)) if view.wants(row))
        page = view.page(view.arranged(rows, newest_first=requested.start is None))
        found = detailed(tx, page)
        return InstanceList(name=managed.name, life_cycle=managed.life_cycle, rows=found, on_queue=on_queue)

    return ledger.read(read)


def clusters_on_queue(tx: Transaction, managed: ManagedEntity) -> tuple[str, ...]:
    """The clusters on which the newest job of a process works off the queue."""
    if managed.life_cycle is not LifeCycle.EXECUTION:
        return ()
    sites = sites_on_queue(tx)
    return tuple(cluster for cluster in managed.clusters if (managed.name, cluster) in sites)


def _newest_jobs(tx: Transaction, managed: ManagedEntity, clusters: tuple[str, ...], view: View) -> list[Run]:
    """The jobs on the queue that began last."""
    if not clusters:
        return []
    wanted = replace(_jobs(managed, clusters), all_attempts=view.all_attempts)
    return find(tx, replace(wanted, order_by=RunOrder.START, descending=True, limit=view.count_of_newest))


def _jobs(managed: ManagedEntity, clusters: tuple[str, ...]) -> RunFilter:
    start, end = QUEUE_KEYS
    return RunFilter(
        entity=managed.name, life_cycle=managed.life_cycle, clusters=clusters, start_key=start, end_key=end
    )


def running_instances(
    ledger: Ledger, name: str, clusters: tuple[str, ...], life_cycle: LifeCycle | None, view: View
) -> InstanceList:
    """Return the running instances of an entity (Falcon overview, Instance Management, running).

    Args:
        ledger: of the runs.
        name: of the entity.
        clusters: where.
        life_cycle: None: every one.
        view: its statuses are ignored.

    Raises:
        LedgerUnavailable: the ledger cannot be read now.
    """
    only_running = replace(view, statuses=(RunStatus.RUNNING,))

    def read(tx: Transaction) -> tuple[InstanceRow, ...]:
        there = (run for run in active(tx, name) if run.cluster in clusters and life_cycle in {None, run.life_cycle})
        rows = (row for row in map(InstanceRow.of, there) if only_running.wants(row))
        return detailed(tx, view.page(view.arranged(rows, newest_first=False)))

    return InstanceList(name=name, life_cycle=life_cycle, rows=ledger.read(read))


def recorded_instances(ledger: Ledger, managed: ManagedEntity, requested: RequestedRange, view: View) -> InstanceList:
    """The runs that the ledger has in a range; without a range the newest.

    Raises:
        OutsideValidity, NotAnInstance: see `ranges.stretches`.
        LedgerUnavailable: the ledger cannot be read now.
    """
    is_open = requested.start is None
    parts = (
        tuple(map(_whole, managed.locations))
        if requested.start is None
        else stretches(managed, requested, requested.start)
    )
    if not parts:
        return InstanceList(name=managed.name, life_cycle=managed.life_cycle, rows=())
    limited = replace(view, limit=NEWEST) if is_open and view.limit is None else view
    wanted = limited.narrowing(run_filter(managed, parts, all_attempts=view.all_attempts), newest_first=is_open)

    def read(tx: Transaction) -> tuple[InstanceRow, ...]:
        return detailed(tx, [InstanceRow.of(run) for run in find(tx, wanted)])

    return InstanceList(name=managed.name, life_cycle=managed.life_cycle, rows=ledger.read(read))


def instance_summary(ledger: Ledger, managed: ManagedEntity, requested: RequestedRange) -> InstanceSummary:
    """Return how many instances of a range have which status, by arithmetic; without a range, of all that are due.

    Where a process works off the queue, its jobs are counted then.

    Raises:
        OutsideValidity, NotAnInstance: see `ranges.stretches`.
        LedgerUnavailable: the ledger cannot be read now.
    """

    def read(tx: Transaction) -> tuple[ClusterSummary, ...]:
        on_queue = clusters_on_queue(tx, managed) if requested.start is None else ()
        parts = stretches(managed.without(on_queue), requested, tx.now(), newest=None)
        counted = summary(tx, run_filter(managed, parts)) if parts else []
        counted += summary(tx, _jobs(managed, on_queue)) if on_queue else []
        planned: Counter[str] = Counter(dict.fromkeys(on_queue, 0))
        for part in parts:
            planned[part.location.cluster] += part.count
        return tuple(
            _summary(cluster, number, {each.status: each.count for each in counted if each.cluster == cluster})
            for cluster, number in planned.items()
        )

    clusters = ledger.read(read)
    return InstanceSummary(name=managed.name, life_cycle=managed.life_cycle, requested=requested, clusters=clusters)


def require_recorded(managed: ManagedEntity, requested: RequestedRange) -> None:
    """Refuse a single nominal time of which nothing is recorded, when only recorded ones can be meant.

    Raises:
        NotRecorded: it is so.
    """
    if (
        requested.start is not None
        and requested.end is None
        and all(location.sequence is None for location in managed.locations)
    ):
        key = format_instant(requested.start)
        raise NotRecorded(name=managed.name, life_cycle=managed.life_cycle, key=key, clusters=managed.clusters)


def _summary(cluster: str, planned: int, recorded: Mapping[RunStatus, int]) -> ClusterSummary:
    waiting = max(0, planned - sum(recorded.values())) + recorded.get(RunStatus.WAITING, 0)
    counts = {**recorded, RunStatus.WAITING: waiting}
    return ClusterSummary(cluster=cluster, counts={each: counts[each] for each in RunStatus if counts.get(each)})


def _whole(location: ManagedLocation) -> Stretch:
    return Stretch(location=location)


@dataclass(frozen=True, kw_only=True, slots=True)
class RunLog:
    """Places of the logs of an attempt and of its steps.

    Attributes:
        steps: in the order in which they began.
        lines: what the run wrote down about itself.
    """

    run: Run
    steps: tuple[StepRun, ...]
    lines: tuple[LogLine, ...]


@dataclass(frozen=True, kw_only=True, slots=True)
class InstanceLogs:
    """The logs of the attempts of a range of instances."""

    name: str
    life_cycle: LifeCycle
    logs: tuple[RunLog, ...]


def instance_logs(ledger: Ledger, managed: ManagedEntity, requested: RequestedRange, view: View) -> InstanceLogs:
    """Return the places of the logs of the runs in a range; an instance that never ran has none.

    Raises:
        OutsideValidity, NotAnInstance: see `ranges.stretches`.
        NotRecorded: one nominal time was asked for, and nothing is recorded for it.
        LedgerUnavailable: the ledger cannot be read now.
    """

    def read(tx: Transaction) -> tuple[RunLog, ...]:
        on_queue = clusters_on_queue(tx, managed) if requested.start is None else ()
        jobs = [each for each in _newest_jobs(tx, managed, on_queue, view) if view.wants(InstanceRow.of(each))]
        parts = stretches(managed.without(on_queue), requested, tx.now(), newest=view.count_of_newest)
        if not parts:
            return _logs(tx, jobs)
        wanted = view.narrowing(run_filter(managed, parts, all_attempts=view.all_attempts), newest_first=False)
        runs = find(tx, wanted)
        if not runs and view.wants_all:
            require_recorded(managed, requested)
        return _logs(tx, [*runs, *jobs])

    return InstanceLogs(name=managed.name, life_cycle=managed.life_cycle, logs=ledger.read(read))


def _logs(tx: Transaction, runs: list[Run]) -> tuple[RunLog, ...]:
    ids = [run.run_id for run in runs]
    steps: dict[int, list[StepRun]] = {number: [] for number in ids}
    lines: dict[int, list[LogLine]] = {number: [] for number in ids}
    for step in steps_of(tx, ids):
        steps[step.run_id].append(step)
    for line in lines_of(tx, ids):
        lines[line.run_id].append(line)
    return tuple(RunLog(run=run, steps=tuple(steps[run.run_id]), lines=tuple(lines[run.run_id])) for run in runs)

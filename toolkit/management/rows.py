"""Instances as people see them: what the ledger recorded of each, or that it waits; which are wanted, in which order.

All of a range are read with one query (Falcon feature list, Instance operations).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime

from toolkit.el import format_instant
from toolkit.ledger.database import Transaction
from toolkit.ledger.jobs.steps import steps_of
from toolkit.ledger.runs import counters
from toolkit.ledger.runs.leases import owned
from toolkit.ledger.runs.queries import ACTIVE, RunFilter, RunOrder, find
from toolkit.ledger.runs.rows import Run, RunKey
from toolkit.ledger.runs.status import open_requests
from toolkit.ledger.vocabulary import LifeCycle, RequestKind, RunStatus
from toolkit.management.locations import NEWEST, ManagedEntity, Stretch


@dataclass(frozen=True, kw_only=True, slots=True)
class InstanceRow:
    """An instance on a cluster, or one of its attempts.

    Attributes:
        life_cycle: what is done with it.
        cluster: where.
        counterpart: the other cluster of a copy, else empty.
        instance_key: instance key or nominal time.
        status: within the validity and without a run it is waiting (Falcon overview, Instance Management, status).
        run: None: there is none.
        open_request: the request to its owner that is not carried out yet.
        counted: what its run counted of its work, by name.
        is_owned: whether a living process works on it; None: not looked at, since the run is not active.
        log: where the log of the run is, else that of its newest step; None: unknown, or it was not looked at.
    """

    life_cycle: LifeCycle
    cluster: str
    counterpart: str
    instance_key: str
    status: RunStatus = RunStatus.WAITING
    run: Run | None = None
    open_request: RequestKind | None = None
    is_owned: bool | None = None
    log: str | None = None
    counted: Mapping[str, int] = field(default_factory=dict)

    @classmethod
    def of(cls, run: Run) -> InstanceRow:
        """The row of a recorded attempt."""
        return cls(
            life_cycle=run.life_cycle,
            cluster=run.cluster,
            counterpart=run.counterpart,
            instance_key=run.instance_key,
            status=run.status,
            run=run,
            log=run.log_location,
        )

    @classmethod
    def waiting(cls, key: RunKey) -> InstanceRow:
        """Return the row of an instance without an attempt."""
        return cls(
            life_cycle=key.life_cycle,
            cluster=key.cluster,
            counterpart=key.counterpart,
            instance_key=key.instance_key,
        )

    @property
    def attempt(self) -> int:
        """From 1; 0: no attempt."""
        return 0 if self.run is None else self.run.attempt

    @property
    def started_at(self) -> datetime | None:
        """Start of the attempt."""
        return None if self.run is None else self.run.started_at

    @property
    def ended_at(self) -> datetime | None:
        """When it was over."""
        return None if self.run is None else self.run.ended_at


_Key = str | tuple[int, str] | datetime | None


@dataclass(frozen=True, kw_only=True, slots=True)
class View:
    """A selection of rows, and a page of it.

    Attributes:
        statuses: only these; empty: all.
        sources: only copies from these clusters; empty: all.
        started_after: only what began then or later.
        order: what the rows are sorted by; those of one place by instance, cluster and attempt.
        is_descending: the largest first. None: the newest first when no start was asked for, else the oldest.
        offset: so many rows are passed over.
        limit: at most so many rows; None: all.
        all_attempts: not only the newest of each instance.
    """

    statuses: tuple[RunStatus, ...] = ()
    sources: tuple[str, ...] = ()
    started_after: datetime | None = None
    order: RunOrder = RunOrder.INSTANCE
    is_descending: bool | None = None
    offset: int = 0
    limit: int | None = None
    all_attempts: bool = False

    @property
    def wants_all(self) -> bool:
        """True if no row is excluded."""
        return not self.statuses and not self.sources and self.started_after is None

    @property
    def count_of_newest(self) -> int:
        """Return the number of newest instances that a query without a start is about."""
        return NEWEST if self.limit is None else self.offset + self.limit

    def narrowing(self, wanted: RunFilter, *, newest_first: bool) -> RunFilter:
        """A filter of the ledger, with what the view asks for; see `arranged`."""
        return replace(
            wanted,
            statuses=self.statuses,
            sources=self.sources,
            started_after=self.started_after,
            order_by=self.order,
            descending=newest_first if self.is_descending is None else self.is_descending,
            offset=self.offset,
            limit=self.limit,
        )

    def wants(self, row: InstanceRow) -> bool:
        """Return whether a row is selected."""
        after = self.started_after
        has_status = not self.statuses or row.status in self.statuses
        is_from = not self.sources or row.counterpart in self.sources
        return has_status and is_from and (after is None or (row.started_at is not None and row.started_at >= after))

    def arranged(self, rows: Iterable[InstanceRow], *, newest_first: bool) -> list[InstanceRow]:
        """The rows in order; what has not begun, or is not over, comes last when that is what they are sorted by.

        Args:
            rows: in any order.
            newest_first: unless the view says which way.
        """
        is_descending = newest_first if self.is_descending is None else self.is_descending
        key = _KEYS[self.order]
        natural = sorted(rows, key=_natural)
        known = [row for row in natural if key(row) is not None]
        known.sort(key=lambda row: key(row) or "", reverse=is_descending)
        return known + [row for row in natural if key(row) is None]

    def page(self, rows: list[InstanceRow]) -> tuple[InstanceRow, ...]:
        """The rows of the page."""
        return tuple(rows[self.offset : None if self.limit is None else self.offset + self.limit])


def _natural(row: InstanceRow) -> tuple[tuple[int, str], str, str, int]:
    return _instance(row), row.cluster, row.counterpart, row.attempt


def _instance(row: InstanceRow) -> tuple[int, str]:
    """Instants have one length; the numbers of the batches of jobs on the queue have not."""
    return len(row.instance_key), row.instance_key


_KEYS: dict[RunOrder, Callable[[InstanceRow], _Key]] = {
    RunOrder.INSTANCE: _instance,
    RunOrder.STATUS: lambda row: row.status,
    RunOrder.START: lambda row: row.started_at,
    RunOrder.END: lambda row: row.ended_at,
    RunOrder.CLUSTER: lambda row: row.cluster,
}


def run_filter(managed: ManagedEntity, parts: Sequence[Stretch], *, all_attempts: bool = False) -> RunFilter:
    """The runs of an entity in all stretches of a range, of which there is at least one."""
    starts = [each.start for each in parts if each.start is not None]
    ends = [each.end for each in parts if each.end is not None]
    return RunFilter(
        entity=managed.name,
        life_cycle=managed.life_cycle,
        clusters=tuple(dict.fromkeys(each.location.cluster for each in parts)),
        start_key=format_instant(min(starts)) if starts else None,
        end_key=format_instant(max(ends)) if ends else None,
        all_attempts=all_attempts,
    )


def instance_rows(managed: ManagedEntity, parts: Sequence[Stretch], runs: Iterable[Run]) -> Iterator[InstanceRow]:
    """A row for every recorded run, and one for every planned instance without a run, which waits."""
    recorded = set()
    for run in runs:
        recorded.add((run.cluster, run.counterpart, run.instance_key))
        yield InstanceRow.of(run)
    for part in parts:
        cluster, counterpart = part.location.cluster, part.location.counterpart
        for key in part.instance_keys():
            if (cluster, counterpart, key) not in recorded:
                yield InstanceRow(
                    life_cycle=managed.life_cycle, cluster=cluster, counterpart=counterpart, instance_key=key
                )


def recorded_runs(
    tx: Transaction, managed: ManagedEntity, parts: Sequence[Stretch], *, all_attempts: bool = False
) -> list[Run]:
    """The runs of an entity in all stretches of a range; without a stretch, none."""
    return find(tx, run_filter(managed, parts, all_attempts=all_attempts)) if parts else []


_COUNTING = {LifeCycle.REPLICATION, LifeCycle.EXECUTION}
"""Life cycles whose runs have counters: copies and mirrors."""


def detailed(tx: Transaction, rows: Sequence[InstanceRow]) -> tuple[InstanceRow, ...]:
    """The same rows, with what only a page of them is asked for: owners, and what copies have counted."""
    ids = [row.run.run_id for row in rows if row.run is not None and row.life_cycle in _COUNTING]
    counted = counters.of_runs(tx, ids) if ids else {}
    known = [
        replace(row, counted=counted[row.run.run_id]) if row.run and row.run.run_id in counted else row for row in rows
    ]
    return with_owners(tx, _with_logs(tx, known))


def _with_logs(tx: Transaction, rows: Sequence[InstanceRow]) -> list[InstanceRow]:
    """Return the rows; a run of steps without a log of its own has that of its newest step."""
    ids = [row.run.run_id for row in rows if row.run and row.log is None and row.life_cycle is LifeCycle.EXECUTION]
    logs = {each.run_id: each.log_location for each in steps_of(tx, ids)} if ids else {}
    return [replace(row, log=row.log or logs.get(row.run.run_id)) if row.run else row for row in rows]


def with_owners(tx: Transaction, rows: Sequence[InstanceRow]) -> tuple[InstanceRow, ...]:
    """Return the rows; active ones say whether a process works on them, and what it was requested to do."""
    ids = [row.run.run_id for row in rows if row.run is not None and row.status in ACTIVE]
    if not ids:
        return tuple(rows)
    living, open_request = owned(tx, ids), {each.run_id: each.kind for each in open_requests(tx, ids)}
    active = frozenset(ids)
    return tuple(
        replace(row, is_owned=row.run.run_id in living, open_request=open_request.get(row.run.run_id))
        if row.run is not None and row.run.run_id in active
        else row
        for row in rows
    )

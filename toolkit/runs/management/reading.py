"""What the ledger has of the instances of a range, read with one query for all of them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from toolkit.el import format_instant
from toolkit.ledger.runs.finding import ACTIVE, RunFilter, find
from toolkit.ledger.runs.leases import owned
from toolkit.ledger.runs.requests import open_of
from toolkit.ledger.runs.rows import Run
from toolkit.ledger.transaction import Transaction
from toolkit.runs.management.ranges import Stretch
from toolkit.runs.management.rows import InstanceRow
from toolkit.runs.management.sites import ManagedEntity


def run_filter(managed: ManagedEntity, parts: Sequence[Stretch], *, all_attempts: bool = False) -> RunFilter:
    """The runs of an entity in all stretches of a range, of which there is at least one."""
    starts = [each.start for each in parts if each.start is not None]
    ends = [each.end for each in parts if each.end is not None]
    return RunFilter(
        entity=managed.name,
        life_cycle=managed.life_cycle,
        clusters=tuple(dict.fromkeys(each.site.cluster for each in parts)),
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
        cluster, counterpart = part.site.cluster, part.site.counterpart
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


def with_owners(tx: Transaction, rows: Sequence[InstanceRow]) -> tuple[InstanceRow, ...]:
    """The same rows; those that are active say whether somebody works on them, and what that one was asked."""
    ids = [row.run.run_id for row in rows if row.run is not None and row.status in ACTIVE]
    if not ids:
        return tuple(rows)
    living, asked = owned(tx, ids), {each.run_id: each.kind for each in open_of(tx, ids)}
    active = frozenset(ids)
    return tuple(
        replace(row, is_owned=row.run.run_id in living, asked=asked.get(row.run.run_id))
        if row.run is not None and row.run.run_id in active
        else row
        for row in rows
    )

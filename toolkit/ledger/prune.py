"""Removal of old runs from the ledger, with what hangs on them; what is still there keeps all that it came from.

Of a process, a copy, an import and an export, the first attempt at an instance stays, since it says that there was one,
the first that began and the first success, which SLAs are about, the last success, and all after it. Of other actions
the last success on each cluster stays.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass
from datetime import datetime

import sqlalchemy as sa

from toolkit.ledger.columns import is_one_of
from toolkit.ledger.database import Ledger, Transaction, in_chunks
from toolkit.ledger.runs.queries import OVER
from toolkit.ledger.runs.rows import RUN_KEY
from toolkit.ledger.state.commands import record
from toolkit.ledger.tables import (
    batch,
    event,
    input_fingerprint,
    item,
    lineage_edge,
    lineage_run_query,
    metadata,
    process_log,
    request,
    run,
    run_counter,
    step_run,
)
from toolkit.ledger.vocabulary import EventKind, ItemState, LifeCycle, LineageDirection, RunStatus

HANGING = (item, run_counter, input_fingerprint, lineage_edge, lineage_run_query, request, process_log, step_run)
"""Tables whose rows are removed with their run."""
_BATCH = 500
_NEWEST = 0
_SUCCEEDED = RunStatus.SUCCEEDED
_OF_SLA = (_SUCCEEDED, RunStatus.SKIPPED)
"""Ends of which the first at an instance stays: an SLA is met by it."""
_OF_INSTANCES = (LifeCycle.EXECUTION, LifeCycle.REPLICATION, LifeCycle.IMPORT, LifeCycle.EXPORT)


@dataclass(frozen=True, kw_only=True, slots=True)
class PrunedRuns:
    """Runs that were removed, or that a dry run would remove.

    Attributes:
        runs: their numbers.
        rows: number of rows that hung on them.
        kept: number of old runs that stay because something that is kept was made from what they wrote.
    """

    runs: frozenset[int] = frozenset()
    rows: int = 0
    kept: int = 0


def prune(ledger: Ledger, before: datetime, who: str, *, is_dry: bool) -> PrunedRuns:
    """Remove runs that ended before an instant and that nothing needs any more, some hundred in a transaction.

    Args:
        ledger: open for writing, unless nothing is removed.
        before: only runs that ended earlier, and that a later one followed before it, are removed.
        who: gives the command.
        is_dry: nothing is removed.
    """
    found = PrunedRuns()
    below: int | None = 2**62

    def work(tx: Transaction) -> tuple[PrunedRuns, int | None]:
        old = _old_runs(tx, before, below)
        return _pruned(tx, old, found, is_dry=is_dry), min(old, default=None)

    while below is not None:
        found, below = ledger.read(work) if is_dry else ledger.write(work)
    if not is_dry:
        ledger.write(lambda tx: record(tx, "ledger prune", f"{len(found.runs)} runs", who, changed=bool(found.runs)))
    return found


def _old_runs(tx: Transaction, before: datetime, below: int | None) -> list[int]:
    """Return the next runs below a number that may be removed, the newest first, readers before writers."""
    later = run.alias("later")
    follows = (later.c.run_id > run.c.run_id) & (later.c.ended_at < before) & is_one_of(later.c.status, _SUCCEEDED)
    same_key = sa.and_(*(later.c[name] == run.c[name] for name in RUN_KEY))
    same_subject = sa.and_(*(later.c[name] == run.c[name] for name in RUN_KEY if name != "instance_key"))
    is_of_instance = run.c.life_cycle.in_(_OF_INSTANCES)
    earlier = run.alias("earlier")
    is_before = sa.and_(*(earlier.c[name] == run.c[name] for name in RUN_KEY), earlier.c.run_id < run.c.run_id)
    has_begun_before = run.c.started_at.is_(None) | sa.exists().where(is_before, earlier.c.started_at.is_not(None))
    has_ended_so = run.c.status.not_in(_OF_SLA) | sa.exists().where(is_before, earlier.c.status == run.c.status)
    is_followed = sa.or_(
        sa.and_(
            is_of_instance, run.c.attempt > 1, has_begun_before, has_ended_so, sa.exists().where(same_key, follows)
        ),
        ~is_of_instance & sa.exists().where(same_subject, follows),
    )
    where = (run.c.run_id < below, run.c.status.in_(OVER), run.c.ended_at < before, is_followed, *_unused())
    return list(tx.execute(sa.select(run.c.run_id).where(*where).order_by(run.c.run_id.desc()).limit(_BATCH)).scalars())


def _unused() -> Iterator[sa.ColumnElement[bool]]:
    """Yield conditions: no table names the run but those that are removed with it, or that can do without it.

    What a run has announced names it until `feedctl dataset gc` removes the event.
    """
    for table in metadata.sorted_tables:
        for key in table.foreign_keys:
            if key.column is not run.c.run_id or table in HANGING or table is batch:
                continue
            names_it = [key.parent == run.c.run_id]
            if table is event:
                names_it.append(event.c.kind != EventKind.EVICTED)
            yield ~sa.exists().where(*names_it)
    yield ~sa.exists().where(item.c.run_id == run.c.run_id, item.c.state == ItemState.INTENDED)


def _pruned(tx: Transaction, old: Collection[int], found: PrunedRuns, *, is_dry: bool) -> PrunedRuns:
    """Remove runs, unless one that stays has read what they wrote; add them to what was found before."""
    needed_by: dict[int, set[int]] = {each: set() for each in old}
    for writer, reader in _readers(tx, old):
        needed_by[writer].add(reader)
    gone = set[int]()
    for each in sorted(old, reverse=True):
        if needed_by[each] <= gone | found.runs:
            gone.add(each)
    rows = 0
    for chunk in in_chunks(gone):
        for table in HANGING:
            of_runs = table.c.run_id.in_(chunk)
            rows += tx.execute(sa.select(sa.func.count()).select_from(table).where(of_runs)).scalar_one()
            if not is_dry:
                tx.execute(sa.delete(table).where(of_runs))
        if not is_dry:
            tx.execute(sa.update(event).where(event.c.run_id.in_(chunk)).values(run_id=None))
            tx.execute(sa.update(batch).where(batch.c.source_run_id.in_(chunk)).values(source_run_id=None))
            tx.execute(sa.delete(run).where(run.c.run_id.in_(chunk)))
    kept = found.kept + len(old) - len(gone)
    return PrunedRuns(runs=found.runs | gone, rows=found.rows + rows, kept=kept)


def _readers(tx: Transaction, writers: Collection[int]) -> Iterator[tuple[int, int]]:
    """Yield each run with those that read the versions that it wrote, and with 0 for a version that is the newest."""
    wrote, read, then = lineage_edge, lineage_edge.alias("read"), lineage_edge.alias("next")
    same = [[other.c[name] == wrote.c[name] for name in ("feed", "cluster", "instance_key")] for other in (read, then)]
    is_next = sa.and_(*same[1], then.c.direction == LineageDirection.OUTPUT, then.c.at > wrote.c.at)
    is_reader = sa.and_(*same[0], read.c.direction == LineageDirection.INPUT, read.c.at >= wrote.c.at)
    is_output = wrote.c.direction == LineageDirection.OUTPUT
    for chunk in in_chunks(writers):
        where = (wrote.c.run_id.in_(chunk), is_output)
        of_it = sa.select(wrote.c.run_id, read.c.run_id).join(read, is_reader)
        is_between = sa.exists().where(is_next, then.c.at < read.c.at)
        yield from tx.execute(of_it.where(*where, ~is_between)).tuples()
        newest = sa.select(wrote.c.run_id).where(*where, ~sa.exists().where(is_next))
        yield from ((each, _NEWEST) for each in tx.execute(newest).scalars())

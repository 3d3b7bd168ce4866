"""History of the updates of a trigger: which runs consumed them, and why others started nothing."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from typing import Any

import sqlalchemy as sa

from toolkit.ledger.database import Transaction, in_chunks
from toolkit.ledger.runs.rows import RunKey
from toolkit.ledger.tables import event, run, trigger_cause, trigger_dropped
from toolkit.ledger.triggers import UPDATE_COLUMNS, update_of
from toolkit.planning.triggers import Update


@dataclass(frozen=True, kw_only=True, slots=True)
class UpdateUse:
    """Use of an event by a consumer.

    Attributes:
        sequence: the event.
        process_key: the process instance; empty: the process as a whole.
        run_id: of the run that consumed it; None: it was dropped.
        reason: why it was dropped; empty: it was consumed.
    """

    sequence: int
    process_key: str
    run_id: int | None = None
    reason: str = ""


def newest_updates(tx: Transaction, datasets: Collection[str] | None, last: int, count: int) -> list[Update]:
    """Return the newest events, in order of commit.

    Args:
        tx: the transaction.
        datasets: canonical URIs; None: of all datasets.
        last: only events up to this number.
        count: so many at most.
    """
    wanted = sa.select(*UPDATE_COLUMNS).where(event.c.sequence <= last).order_by(event.c.sequence.desc()).limit(count)
    chunks = [None] if datasets is None else [list(chunk) for chunk in in_chunks(sorted(datasets))]
    found: list[sa.Row[Any]] = []
    for chunk in chunks:
        found += tx.execute(wanted if chunk is None else wanted.where(event.c.dataset.in_(chunk)))
    return [update_of(row) for row in sorted(found, key=lambda row: row.sequence)[-count:]]


def uses(tx: Transaction, consumer: str, of_process: RunKey, sequences: Collection[int]) -> list[UpdateUse]:
    """Return what became of events.

    Args:
        tx: the transaction.
        consumer: the trigger that has read them.
        of_process: of its process on its cluster; the instance does not matter.
        sequences: numbers of the events.
    """
    found: list[UpdateUse] = []
    for chunk in in_chunks(sorted(sequences)):
        found += _consumed(tx, of_process, list(chunk))
        dropped = sa.select(trigger_dropped.c.sequence, trigger_dropped.c.process_key, trigger_dropped.c.reason)
        of_them = dropped.where(trigger_dropped.c.consumer == consumer, trigger_dropped.c.sequence.in_(chunk))
        found += [UpdateUse(**row) for row in tx.execute(of_them).mappings()]
    return sorted(found, key=lambda each: (each.sequence, each.process_key))


def _consumed(tx: Transaction, of_process: RunKey, sequences: list[int]) -> list[UpdateUse]:
    caused = sa.select(trigger_cause.c.sequence, run.c.run_id, run.c.instance_key.label("process_key"))
    joined = caused.join_from(trigger_cause, run, run.c.run_id == trigger_cause.c.run_id)
    of_process_here = (
        run.c.life_cycle == of_process.life_cycle,
        run.c.entity == of_process.entity,
        run.c.cluster == of_process.cluster,
    )
    rows = tx.execute(joined.where(trigger_cause.c.sequence.in_(sequences), *of_process_here)).mappings()
    return [UpdateUse(**row) for row in rows]

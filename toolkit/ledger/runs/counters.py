"""Counters of runs, by the names that users know (Falcon overview, replication metrics)."""

from __future__ import annotations

from collections.abc import Collection, Mapping

import sqlalchemy as sa

from toolkit.ledger.database import Transaction, in_chunks
from toolkit.ledger.runs.queries import Subject, is_about
from toolkit.ledger.statements import InsertOr
from toolkit.ledger.tables import run, run_counter


def replace(tx: Transaction, run_id: int, counted: Mapping[str, int]) -> None:
    """Write down what a run has counted by now, instead of what it had before."""
    if counted:
        rows = ({"run_id": run_id, "name": name, "value": value} for name, value in sorted(counted.items()))
        tx.execute(_COUNTED, list(rows))


_COUNTED = InsertOr(run_counter, "(run_id, name) DO UPDATE SET value = excluded.value")


def of_runs(tx: Transaction, run_ids: Collection[int]) -> dict[int, dict[str, int]]:
    """Return the counters of runs; a run without any is left out."""
    found: dict[int, dict[str, int]] = {}
    for ids in in_chunks(run_ids):
        for run_id, name, value in tx.execute(sa.select(run_counter).where(run_counter.c.run_id.in_(ids))):
            found.setdefault(run_id, {})[name] = value
    return found


def newest(tx: Transaction, subject: Subject, name: str) -> dict[str, int]:
    """Return the counters of the last run of a subject that has one of this name; empty: none has."""
    ids = sa.select(run.c.run_id).join(run_counter, run_counter.c.run_id == run.c.run_id)
    wanted = ids.where(is_about(subject), run_counter.c.name == name).order_by(run.c.run_id.desc()).limit(1)
    found = [run_id for (run_id,) in tx.execute(wanted)]
    return next(iter(of_runs(tx, found).values()), {})

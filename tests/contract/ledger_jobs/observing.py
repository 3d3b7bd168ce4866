"""A ledger as the model has it: numbers of batches and runs are their places in the order of making."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

import sqlalchemy as sa

from tests.contract.ledger_jobs.model import Model
from tests.contract.ledger_jobs.model_rows import rows_of
from toolkit.ledger.database import Ledger, Transaction
from toolkit.ledger.tables import archive, batch, event, process, queue, run, step, step_run

_QUEUE_KEY = re.compile(r"batch-(\d+)")

Rows = list[tuple[object, ...]]


@dataclass(frozen=True)
class Seen:
    """Everything that can be compared; rows of queue and archive in no order."""

    batches: Rows
    queue: Rows
    archive: Rows
    runs: Rows
    step_runs: Rows
    events: Rows


@dataclass(frozen=True)
class Places:
    """From the numbers of a ledger to places in the order of making, and back."""

    batches: Mapping[int, int]
    runs: Mapping[int, int]

    @classmethod
    def of(cls, tx: Transaction) -> Places:
        batches = tx.execute(sa.select(batch.c.batch_id).order_by(batch.c.batch_id)).scalars()
        runs = tx.execute(sa.select(run.c.run_id).order_by(run.c.run_id)).scalars()
        return cls(
            batches={number: place for place, number in enumerate(batches)},
            runs={number: place for place, number in enumerate(runs)},
        )

    def batch_id(self, place: int) -> int:
        return next(number for number, at in self.batches.items() if at == place)

    def run_id(self, place: int) -> int:
        return next(number for number, at in self.runs.items() if at == place)

    def key(self, text: str) -> str:
        found = _QUEUE_KEY.fullmatch(text)
        return f"batch-{self.batches[int(found[1])]}" if found else text


def seen(ledger: Ledger) -> Seen:
    """Return what a ledger has."""
    return ledger.read(_seen)


def expected(model: Model) -> Seen:
    """Return what the model says that a ledger should have."""
    return Seen(
        batches=[(each.state, each.producer, each.marking, each.run) for each in model.batches],
        queue=sorted(rows_of(model.queue), key=str),
        archive=sorted(rows_of(model.archive), key=str),
        runs=[
            (each.process, each.key, each.attempt, each.mode, each.status, each.target, each.is_forced, each.marking)
            for each in model.runs
        ],
        step_runs=[(each.run, each.step, each.attempt, each.status) for each in model.step_runs],
        events=list(model.events),
    )


def _seen(tx: Transaction) -> Seen:
    places = Places.of(tx)
    producers = sa.select(batch.c.state, process.c.name, batch.c.marking, batch.c.source_run_id)
    batches = tx.execute(
        producers.outerjoin(process, process.c.process_id == batch.c.process_id).order_by(batch.c.batch_id)
    )
    runs = tx.execute(
        sa.select(
            run.c.entity,
            run.c.instance_key,
            run.c.attempt,
            run.c.mode,
            run.c.status,
            run.c.target_batch_id,
            run.c.is_forced,
            run.c.target_marking,
        ).order_by(run.c.run_id)
    )
    attempts = tx.execute(
        sa.select(step_run.c.run_id, step.c.name, step_run.c.attempt, step_run.c.status)
        .join(step, step.c.step_id == step_run.c.step_id)
        .order_by(step_run.c.step_run_id)
    )
    events = tx.execute(sa.select(event.c.kind, event.c.feed, event.c.instance_key).order_by(event.c.sequence))
    return Seen(
        batches=[(state, name, marking, places.runs.get(of)) for state, name, marking, of in batches],
        queue=_rows(tx, queue, places),
        archive=_rows(tx, archive, places),
        runs=[
            (entity, places.key(key), attempt, mode, status, places.batches.get(target), forced, marking)
            for entity, key, attempt, mode, status, target, forced, marking in runs
        ],
        step_runs=[(places.runs[of], name, attempt, status) for of, name, attempt, status in attempts],
        events=[tuple(each) for each in events],
    )


def _rows(tx: Transaction, table: sa.Table, places: Places) -> Rows:
    columns = (table.c.source_batch_id, table.c.target_batch_id, table.c.state, table.c.marking)
    wanted = (
        sa.select(process.c.name, step.c.name, *columns)
        .join(step, step.c.step_id == table.c.step_id)
        .join(process, process.c.process_id == step.c.process_id)
    )
    found = [
        (of, name, places.batches[source], places.batches.get(target), state, marking)
        for of, name, source, target, state, marking in tx.execute(wanted)
    ]
    return sorted(found, key=str)

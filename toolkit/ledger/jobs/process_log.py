"""What runs write down about themselves, and their steps, for one run or many (BDRE, PROCESS_LOG)."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from datetime import datetime

import sqlalchemy as sa

from toolkit.ledger.jobs.resume import step_runs
from toolkit.ledger.jobs.rows import StepRun
from toolkit.ledger.registry.registration import Site, UnknownStep
from toolkit.ledger.runs.finding import get
from toolkit.ledger.tables import process_log, step, step_run
from toolkit.ledger.transaction import Transaction, in_chunks


@dataclass(frozen=True, kw_only=True, slots=True)
class LogLine:
    """One entry.

    Attributes:
        step: None: about the run as a whole.
        category: for example ``import`` or ``data-quality``.
    """

    log_id: int
    run_id: int
    step: str | None
    category: str
    message: str
    logged_at: datetime


def write(tx: Transaction, run_id: int, category: str, message: str, *, step_name: str | None = None) -> LogLine:
    """Write an entry; a run that is over may still be written about.

    Args:
        tx: the transaction.
        run_id: the run that says it.
        category: for example ``import`` or ``data-quality``.
        message: what it says.
        step_name: the step that it is about; None: the run as a whole.

    Raises:
        UnknownRun: there is no such run.
        UnknownStep: the run's process never had such a step.
    """
    owner = get(tx, run_id)
    step_id = (
        None
        if step_name is None
        else _step_id(tx, owner.process_id, Site(name=owner.entity, cluster=owner.cluster), step_name)
    )
    now = tx.now()
    number = tx.insert(process_log, run_id=run_id, step_id=step_id, category=category, message=message, logged_at=now)
    return LogLine(log_id=number, run_id=run_id, step=step_name, category=category, message=message, logged_at=now)


def read(tx: Transaction, run_id: int, category: str | None = None) -> tuple[LogLine, ...]:
    """The entries of a run, in the order of writing; of one category, or all.

    Raises:
        UnknownRun: there is no such run.
    """
    get(tx, run_id)
    columns = [process_log.c[each] for each in ("log_id", "run_id", "category", "message", "logged_at")]
    wanted = (
        sa.select(*columns, step.c.name.label("step"))
        .outerjoin(step, step.c.step_id == process_log.c.step_id)
        .where(process_log.c.run_id == run_id)
        .order_by(process_log.c.log_id)
    )
    if category is not None:
        wanted = wanted.where(process_log.c.category == category)
    return tuple(tx.rows(LogLine, wanted))


def _step_id(tx: Transaction, process_id: int | None, site: Site, name: str) -> int:
    of_process = sa.select(step.c.name, step.c.step_id).where(step.c.process_id == process_id)
    known: dict[str, int] = dict(tx.execute(of_process.order_by(step.c.position)).tuples().all())
    if name not in known:
        raise UnknownStep(site=site, step=name, known=tuple(known))
    return known[name]


def steps_of(tx: Transaction, run_ids: Collection[int]) -> list[StepRun]:
    """The attempts at steps of these runs, in the order in which they began."""
    of_chunks = (step_runs().where(step_run.c.run_id.in_(chunk)) for chunk in in_chunks(run_ids))
    return [found for statement in of_chunks for found in tx.rows(StepRun, statement)]


def lines_of(tx: Transaction, run_ids: Collection[int]) -> list[LogLine]:
    """What these runs wrote down, in the order of writing."""
    columns = [process_log.c[each] for each in ("log_id", "run_id", "category", "message", "logged_at")]
    written = (
        sa.select(*columns, step.c.name.label("step"))
        .outerjoin(step, step.c.step_id == process_log.c.step_id)
        .order_by(process_log.c.log_id)
    )
    of_chunks = (written.where(process_log.c.run_id.in_(chunk)) for chunk in in_chunks(run_ids))
    return [found for statement in of_chunks for found in tx.rows(LogLine, statement)]

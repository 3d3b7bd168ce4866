"""The steps of many runs, and what those runs wrote down about themselves, with one query for each."""

from __future__ import annotations

from collections.abc import Collection

import sqlalchemy as sa

from toolkit.ledger.jobs.outcomes import step_runs
from toolkit.ledger.jobs.process_log import LogLine
from toolkit.ledger.jobs.rows import StepRun
from toolkit.ledger.parts import in_parts
from toolkit.ledger.tables import process_log, step, step_run
from toolkit.ledger.transaction import Transaction


def steps_of(tx: Transaction, run_ids: Collection[int]) -> list[StepRun]:
    """The attempts at steps of these runs, in the order in which they began."""
    of_parts = (step_runs().where(step_run.c.run_id.in_(part)) for part in in_parts(run_ids))
    return [found for statement in of_parts for found in tx.rows(StepRun, statement)]


def lines_of(tx: Transaction, run_ids: Collection[int]) -> list[LogLine]:
    """What these runs wrote down, in the order of writing."""
    columns = [process_log.c[each] for each in ("log_id", "run_id", "category", "message", "logged_at")]
    written = (
        sa.select(*columns, step.c.name.label("step"))
        .outerjoin(step, step.c.step_id == process_log.c.step_id)
        .order_by(process_log.c.log_id)
    )
    of_parts = (written.where(process_log.c.run_id.in_(part)) for part in in_parts(run_ids))
    return [found for statement in of_parts for found in tx.rows(LogLine, statement)]

"""How the attempts at a batch went, step by step."""

from __future__ import annotations

from dataclasses import dataclass

import sqlalchemy as sa

from toolkit.ledger.jobs.resume import Outcomes, StepOutcome
from toolkit.ledger.runs.rows import Run
from toolkit.ledger.tables import run, step, step_run
from toolkit.ledger.transaction import Transaction
from toolkit.ledger.vocabulary import RunStatus


@dataclass(frozen=True, kw_only=True, slots=True)
class Chain:
    """The attempts at one batch.

    Attributes:
        earlier: the outcomes of the attempts before.
        own: the outcomes within the newest attempt.
        running: the names of the steps that run now.
    """

    earlier: Outcomes
    own: Outcomes
    running: tuple[str, ...]


def chain_of(tx: Transaction, job: Run) -> Chain:
    """How the steps went in a job and in the attempts at the same batch before it; an old batch's do not count."""
    wanted = (
        sa.select(step_run.c.step_id, step_run.c.run_id, step_run.c.status, step.c.name)
        .join(run, run.c.run_id == step_run.c.run_id)
        .join(step, step.c.step_id == step_run.c.step_id)
        .where(run.c.target_batch_id == job.target_batch_id, run.c.process_id == job.process_id)
        .order_by(step_run.c.step_run_id)
    )
    earlier: dict[int, StepOutcome] = {}
    own: dict[int, StepOutcome] = {}
    running = []
    for step_id, run_id, status, name in tx.execute(wanted):
        (own if run_id == job.run_id else earlier)[step_id] = StepOutcome(run_id=run_id, status=status)
        running += [name] if status is RunStatus.RUNNING else []
    return Chain(earlier=earlier, own=own, running=tuple(running))


def step_runs() -> sa.Select[tuple[object, ...]]:
    """All attempts at steps with the names of the steps, in the order in which they began."""
    return (
        sa.select(*step_run.c, step.c.name.label("step"))
        .join(step, step.c.step_id == step_run.c.step_id)
        .order_by(step_run.c.step_run_id)
    )

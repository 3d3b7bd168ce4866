"""How the attempts at a batch went, step by step, and so which steps a job has to run.

Pure but for one query (BDRE, last recoverable sub-process; DESIGN section 8).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import sqlalchemy as sa

from toolkit.ledger import tables
from toolkit.ledger.registry.reading import RegisteredStep
from toolkit.ledger.runs.rows import Run
from toolkit.ledger.tables import run, step_run
from toolkit.ledger.transaction import Transaction
from toolkit.ledger.vocabulary import RunStatus


@dataclass(frozen=True, kw_only=True, slots=True)
class StepOutcome:
    """How the newest attempt at a step ended, among the jobs that try to make one batch.

    Attributes:
        run_id: the job; a later job has a higher number.
    """

    run_id: int
    status: RunStatus


Outcomes = Mapping[int, StepOutcome]
"""By step number; a step that never began is not there."""


def steps_to_run(
    steps: Sequence[RegisteredStep], outcomes: Outcomes, *, is_forced: bool = False
) -> tuple[RegisteredStep, ...]:
    """The first step whose success does not count, and all that follow it.

    A success counts when the step is recoverable and no earlier step was run again in a later job.

    Args:
        steps: the live ones, in their order.
        outcomes: of the earlier attempts at the same batch.
        is_forced: nothing counts.
    """
    if is_forced:
        return tuple(steps)
    newest_run = 0
    for position, step in enumerate(steps):
        outcome = outcomes.get(step.step_id)
        if outcome is None or not _counts(step, outcome, newest_run):
            return tuple(steps[position:])
        newest_run = outcome.run_id
    return ()


def not_done(
    steps: Sequence[RegisteredStep], earlier: Outcomes, own: Outcomes, *, is_forced: bool = False
) -> tuple[RegisteredStep, ...]:
    """The steps that keep a job from being halted.

    Args:
        steps: the live ones, in their order.
        earlier: outcomes of the earlier attempts at the same batch.
        own: outcomes within the job.
        is_forced: nothing that succeeded earlier counts.
    """
    due = {step.step_id for step in steps_to_run(steps, earlier, is_forced=is_forced)}
    return tuple(step for step in steps if not _is_done(step.step_id, due, own))


def _counts(step: RegisteredStep, outcome: StepOutcome, newest_run: int) -> bool:
    return step.is_recoverable and outcome.status is RunStatus.SUCCEEDED and outcome.run_id >= newest_run


def _is_done(step_id: int, due: set[int], own: Outcomes) -> bool:
    if step_id in own:
        return own[step_id].status is RunStatus.SUCCEEDED
    return step_id not in due


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
        sa.select(step_run.c.step_id, step_run.c.run_id, step_run.c.status, tables.step.c.name)
        .join(run, run.c.run_id == step_run.c.run_id)
        .join(tables.step, tables.step.c.step_id == step_run.c.step_id)
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
        sa.select(*step_run.c, tables.step.c.name.label("step"))
        .join(tables.step, tables.step.c.step_id == step_run.c.step_id)
        .order_by(step_run.c.step_run_id)
    )

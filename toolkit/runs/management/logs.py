"""Where the logs of instances are (Falcon overview, Instance Management, status; feature list, logs)."""

from __future__ import annotations

from dataclasses import dataclass

from toolkit.ledger.database import Ledger
from toolkit.ledger.jobs.process_log import LogLine, lines_of, steps_of
from toolkit.ledger.jobs.rows import StepRun
from toolkit.ledger.runs.finding import find
from toolkit.ledger.runs.rows import Run
from toolkit.ledger.transaction import Transaction
from toolkit.ledger.vocabulary import LifeCycle
from toolkit.runs.management.questions import require_recorded
from toolkit.runs.management.ranges import AskedRange, stretches
from toolkit.runs.management.reading import run_filter
from toolkit.runs.management.sites import ManagedEntity
from toolkit.runs.management.viewing import View


@dataclass(frozen=True, kw_only=True, slots=True)
class RunLog:
    """Where the log of an attempt is, and those of its steps.

    Attributes:
        steps: in the order in which they began.
        lines: what the run wrote down about itself.
    """

    run: Run
    steps: tuple[StepRun, ...]
    lines: tuple[LogLine, ...]


@dataclass(frozen=True, kw_only=True, slots=True)
class InstanceLogs:
    """The logs of the attempts of a range of instances."""

    name: str
    life_cycle: LifeCycle
    logs: tuple[RunLog, ...]


def instance_logs(ledger: Ledger, managed: ManagedEntity, asked: AskedRange, view: View) -> InstanceLogs:
    """Where the logs are of what ran in a range; what never ran has none.

    Raises:
        OutsideValidity, NotAnInstance: see `ranges.stretches`.
        NotRecorded: one nominal time was asked for, and nothing is recorded for it.
        LedgerUnavailable: the ledger cannot be read now.
    """

    def read(tx: Transaction) -> tuple[RunLog, ...]:
        parts = stretches(managed, asked, tx.now(), newest=view.count_of_newest)
        if not parts:
            return ()
        wanted = view.narrowing(run_filter(managed, parts, all_attempts=view.all_attempts), newest_first=False)
        runs = find(tx, wanted)
        if not runs and view.wants_all:
            require_recorded(managed, asked)
        return _logs(tx, runs)

    return InstanceLogs(name=managed.name, life_cycle=managed.life_cycle, logs=ledger.read(read))


def _logs(tx: Transaction, runs: list[Run]) -> tuple[RunLog, ...]:
    ids = [run.run_id for run in runs]
    steps: dict[int, list[StepRun]] = {number: [] for number in ids}
    lines: dict[int, list[LogLine]] = {number: [] for number in ids}
    for step in steps_of(tx, ids):
        steps[step.run_id].append(step)
    for line in lines_of(tx, ids):
        lines[line.run_id].append(line)
    return tuple(RunLog(run=run, steps=tuple(steps[run.run_id]), lines=tuple(lines[run.run_id])) for run in runs)

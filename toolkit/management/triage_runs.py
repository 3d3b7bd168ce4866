"""Runs that instances of triage wait for, as the ledger has them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from toolkit.errors import Skipped
from toolkit.ledger.jobs.steps import steps_of
from toolkit.ledger.runs.leases import owned
from toolkit.ledger.runs.queries import newest
from toolkit.ledger.runs.rows import Run, RunKey
from toolkit.ledger.state import start_check
from toolkit.ledger.validations import newest_of
from toolkit.ledger.vocabulary import LifeCycle, RunStatus, ValidationState

if TYPE_CHECKING:
    from toolkit.ledger.database import Transaction
    from toolkit.ledger.jobs.rows import StepRun
    from toolkit.management.dependencies import Dependency

BEGUN = {
    RunStatus.RUNNING: "runs",
    RunStatus.SUCCEEDED: "has succeeded",
    RunStatus.FAILED: "has failed",
    RunStatus.KILLED: "was killed",
    RunStatus.SUSPENDED: "is suspended",
    RunStatus.TIMED_OUT: "has timed out",
}
"""Words for the status of an attempt that has begun."""
_HELD = frozenset({ValidationState.BLOCKED, ValidationState.UNKNOWN, ValidationState.REJECTED})
"""States of a validation with which nothing is published."""


@dataclass(frozen=True, kw_only=True, slots=True)
class TriageRun:
    """State of a run in the ledger.

    Attributes:
        run: the newest attempt; None: there is none.
        is_owned: whether a living process works on it.
        obstacle: why the next attempt may not start; None: it may.
        steps: of the newest attempt, in the order in which they began.
    """

    run: Run | None
    is_owned: bool
    obstacle: str | None
    steps: Sequence[StepRun]

    @property
    def log(self) -> str | None:
        """Place of the log of the run, else that of its newest step."""
        own = None if self.run is None else self.run.log_location
        return own or next((each.log_location for each in reversed(self.steps)), None)

    def commands(self, what: Dependency) -> tuple[str, ...]:
        """Return the command that prints the log of the newest step; none of a run without steps."""
        if not self.steps:
            return ()
        which = f"--time {what.instance_key} --cluster {what.cluster} --step {self.steps[-1].step}"
        return (f"run `feedctl instance logs {what.name} {which}`",)


def triage_run(tx: Transaction, what: Dependency) -> TriageRun:
    """Read the newest attempt of a run, and whether the next one may start."""
    key = RunKey(
        life_cycle=what.life_cycle or LifeCycle.EXECUTION,
        entity=what.name,
        cluster=what.cluster,
        instance_key=what.instance_key or "",
        counterpart=what.counterpart,
    )
    run, obstacle = newest(tx, key), None
    ids = [] if run is None else [run.run_id]
    try:
        start_check.check(tx, what.name, what.cluster)
    except Skipped as skipped:
        obstacle = str(skipped)
    steps = steps_of(tx, ids) if what.life_cycle is LifeCycle.EXECUTION else []
    return TriageRun(run=run, is_owned=bool(owned(tx, ids)), obstacle=obstacle, steps=steps)


def why_begun(run: Run, what: Dependency, *, is_owned: bool) -> str | None:
    """Return why an attempt that has begun did not bring what is waited for; None: as far as known, it did."""
    words = f"attempt {run.attempt} {BEGUN[run.status]}"
    if run.status is RunStatus.SUCCEEDED:
        return f"{words}, and what it makes is not ready" if what.through else None
    if run.status is RunStatus.RUNNING and not is_owned and run.mode is None:
        words = f"attempt {run.attempt} was begun, but its process no longer runs"
    return f"{words}: {run.reason}" if run.reason else words


def blocked(tx: Transaction, what: Dependency) -> str:
    """Return why the quality of an instance blocks it, with the command and the page; empty: it does not."""
    for each in newest_of(tx, what.name, cluster=what.cluster, instance_key=what.instance_key):
        if each.state in _HELD and not each.is_by_hand:
            found = f"it is blocked by its quality ({each.state}: {each.reason})"
            page = f"; page: {each.page}" if each.page else ""
            return f"{found}; run `feedctl quality show {what.name} --time {what.instance_key}`{page}"
    return ""

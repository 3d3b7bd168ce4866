"""Errors that prevent a run; each keeps its facts, so that it can be rendered as JSON too."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from toolkit.errors import Failed, InvalidInput, Skipped
from toolkit.ledger.errors import moment
from toolkit.ledger.runs.rows import Run, RunKey
from toolkit.ledger.vocabulary import RequestKind


class UnknownRun(InvalidInput):
    """The ledger has no run of this number.

    Args:
        run_id: as given.
    """

    code = "unknown_run"

    def __init__(self, *, run_id: int) -> None:
        self.run_id = run_id
        super().__init__(f"the ledger has no run {run_id}; `feedctl instance list` shows the runs of an entity")


class RunIsActive(Skipped):
    """The same key runs already, or is paused in the middle.

    Args:
        run: the attempt that is active.
    """

    code = "run_is_active"

    def __init__(self, *, run: Run) -> None:
        self.run = run
        begun = f"begun at {moment(run.started_at)} by {_owner(run)}"
        todo = "wait until it is over, or end it with `feedctl instance kill`"
        super().__init__(f"{run} is {run.status}, {begun}; {todo}")


class RunMeanwhile(Skipped):
    """The instance has run since its start was decided; it is not run once more.

    Args:
        run: the attempt that is over by now.
    """

    code = "run_meanwhile"

    def __init__(self, *, run: Run) -> None:
        self.run = run
        super().__init__(f"{run} is {run.status}: {_owner(run)} has run it meanwhile")


class RunIsOrdered(Skipped):
    """A person has ordered the same, and it has not begun yet; a run for another cause leaves that order alone.

    Args:
        run: the attempt that was ordered.
    """

    code = "run_is_ordered"

    def __init__(self, *, run: Run) -> None:
        self.run = run
        super().__init__(f"{run} is {run.status}: {_owner(run)} has ordered it; it starts with the next `--due` run")


class TooManyRun(Skipped):
    """Error for an entity with as many active runs on a cluster as its limit allows.

    Args:
        key: what should have begun.
        most: so many may be.
        under_way: so many are.
    """

    code = "too_many_run"

    def __init__(self, *, key: RunKey, most: int, under_way: int) -> None:
        self.key, self.most, self.under_way = key, most, under_way
        super().__init__(f"{key}: {under_way} others are under way and at most {most} may be (parallel); wait for one")


class InstanceSuspended(Skipped):
    """The instance was suspended before it started.

    Args:
        run: the attempt that is suspended.
    """

    code = "instance_suspended"

    def __init__(self, *, run: Run) -> None:
        self.run = run
        why = f": {run.reason}" if run.reason else ""
        super().__init__(f"{run} is suspended{why}; `feedctl instance resume` lets it start")


class InstanceKilled(Skipped):
    """The instance was killed before it started.

    Args:
        run: the attempt that was killed.
    """

    code = "instance_killed"

    def __init__(self, *, run: Run) -> None:
        self.run = run
        why = f": {run.reason}" if run.reason else ""
        super().__init__(f"{run} was killed before it began{why}; `feedctl instance rerun` starts it")


class NotTerminal(Skipped):
    """A rerun was asked for what is not over yet, or never ran.

    Args:
        key: what should run again.
        run: its newest attempt, None when there is none.
    """

    code = "not_terminal"

    def __init__(self, *, key: RunKey, run: Run | None) -> None:
        self.key, self.run = key, run
        found = f"is {run.status}" if run else "has not run yet"
        super().__init__(f"{key} {found}; only what is over can run again, and nothing was changed")


class RunIsOver(Skipped):
    """A command was meant for the owner of a run that is over.

    Args:
        run: the run.
        kind: what was asked.
    """

    code = "run_is_over"

    def __init__(self, *, run: Run, kind: RequestKind) -> None:
        self.run, self.kind = run, kind
        super().__init__(f"{run} is {run.status}: no process is left to {kind}; nothing was changed")


HELD_BY = " is held by "
"""Text in the reason of each run that was skipped because another run held its lease, and in no other reason."""


class LeaseHeld(Skipped):
    """Another run holds what this one needs.

    Args:
        resource: what is held.
        holder: the run that holds it.
        since: when it took it.
        until: when its lease expires unless its owner gives another sign of life.
    """

    code = "lease_held"

    def __init__(self, *, resource: str, holder: Run, since: datetime, until: datetime) -> None:
        self.resource, self.holder, self.since, self.until = resource, holder, since, until
        held = f"{resource}{HELD_BY}{holder}, {_owner(holder)}, since {moment(since)}"
        todo = "wait until it is over, or end it with `feedctl instance kill`"
        super().__init__(f"{held}; its lease expires at {moment(until)} unless it is renewed; {todo}")


class LeaseLost(Failed):
    """A run no longer owns what it works on; it must start no further effect (DESIGN section 6, Lease).

    Args:
        run: the run as the ledger has it now.
        expired_at: when its lease expired; None: it has none.
    """

    code = "lease_lost"

    def __init__(self, *, run: Run, expired_at: datetime | None = None) -> None:
        self.run, self.expired_at = run, expired_at
        why = f": {run.reason}" if run.reason else ""
        found = f"it expired at {moment(expired_at)}" if expired_at else f"the run is {run.status}{why}"
        super().__init__(f"{run} no longer holds its lease ({found}); nothing more may be touched, start it again")


class ItemNotIntended(Failed):
    """An outcome was reported for items that are not open: never intended, or settled before.

    Args:
        run_id: the run.
        positions: of these items.
    """

    code = "item_not_intended"

    def __init__(self, *, run_id: int, positions: Sequence[int]) -> None:
        self.run_id, self.positions = run_id, tuple(positions)
        named = ", ".join(map(str, self.positions[:10]))
        super().__init__(f"run {run_id} has no open item at {named}; an outcome is recorded once, after the intent")


def _owner(run: Run) -> str:
    where = f" on {run.host}" if run.host else ""
    process = f" (process {run.pid})" if run.pid else ""
    return f"{run.who}{where}{process}"

"""Tests of what stands in a run's way says what was found and what to do."""

from __future__ import annotations

from datetime import timedelta

import pytest

from tests.unit.ledger.runs.samples import NOON, a_run
from toolkit.errors import Failed, FeedctlError, InvalidInput, Skipped
from toolkit.ledger.runs.errors import (
    InstanceKilled,
    InstanceSuspended,
    ItemNotIntended,
    LeaseHeld,
    LeaseLost,
    NotTerminal,
    RunIsActive,
    RunIsOver,
    UnknownRun,
)
from toolkit.ledger.vocabulary import RequestKind, RunStatus

KEY = "eviction of clicks on primary for 2026-03-20T12:00Z"
RUN = f"run 12 ({KEY}, attempt 2)"
SINCE = "since 2026-03-20T12:00:00Z; its lease expires at 2026-03-20T12:01:00Z unless it is renewed"
WAIT = "wait until it is over, or end it with `feedctl instance kill`"
STOP = "nothing more may be touched, start it again"

BARE = a_run(host=None, pid=None)
SUSPENDED = a_run(RunStatus.SUSPENDED, reason="look first")
KILLED = a_run(RunStatus.KILLED, reason="its owner died")
UNTIL = NOON + timedelta(seconds=60)

MESSAGES: list[tuple[FeedctlError, str]] = [
    (
        RunIsActive(run=a_run()),
        f"{RUN} is running, begun at 2026-03-20T12:00:00Z by ada on edge1 (process 4711); {WAIT}",
    ),
    (RunIsActive(run=BARE), f"{RUN} is running, begun at 2026-03-20T12:00:00Z by ada; {WAIT}"),
    (InstanceSuspended(run=SUSPENDED), f"{RUN} is suspended: look first; `feedctl instance resume` lets it start"),
    (
        InstanceKilled(run=KILLED),
        f"{RUN} was killed before it began: its owner died; `feedctl instance rerun` starts it",
    ),
    (
        NotTerminal(key=a_run().key, run=a_run()),
        f"{KEY} is running; only what is over can run again, and nothing was changed",
    ),
    (
        LeaseHeld(resource="evict/clicks", holder=a_run(), since=NOON, until=UNTIL),
        f"evict/clicks is held by {RUN}, ada on edge1 (process 4711), {SINCE}; {WAIT}",
    ),
    (
        LeaseLost(run=a_run(), expired_at=NOON),
        f"{RUN} no longer holds its lease (it expired at 2026-03-20T12:00:00Z); {STOP}",
    ),
    (LeaseLost(run=KILLED), f"{RUN} no longer holds its lease (the run is killed: its owner died); {STOP}"),
    (
        RunIsOver(run=KILLED, kind=RequestKind.SUSPEND),
        f"{RUN} is killed: no process is left to suspend; nothing was changed",
    ),
    (UnknownRun(run_id=7), "the ledger has no run 7; `feedctl instance list` shows the runs of an entity"),
    (
        ItemNotIntended(run_id=7, positions=range(12)),
        "run 7 has no open item at 0, 1, 2, 3, 4, 5, 6, 7, 8, 9; an outcome is recorded once, after the intent",
    ),
]


@pytest.mark.parametrize(("error", "message"), MESSAGES, ids=[type(error).__name__ for error, _ in MESSAGES])
def test_an_error_says_what_was_found_and_what_to_do(error: FeedctlError, message: str) -> None:
    assert str(error) == message


def test_each_error_has_a_code_of_its_own_and_leads_to_an_exit_code() -> None:
    codes = {type(error): getattr(error, "code", None) for error, _ in MESSAGES}
    assert None not in codes.values()
    assert len(set(codes.values())) == len(codes)
    assert all(issubclass(kind, (Skipped, Failed, InvalidInput)) for kind in codes)

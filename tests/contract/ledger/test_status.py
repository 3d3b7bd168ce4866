"""The status of a run changes as TRANSITIONS says, or not at all."""

from __future__ import annotations

from itertools import product

import pytest

from tests.contract.ledger.samples import alone, begun, changed, found, key, owned, started
from tests.databases.ledgers import START, HandClock
from toolkit.ledger.database import Ledger
from toolkit.ledger.errors import IllegalTransition
from toolkit.ledger.runs import status
from toolkit.ledger.runs.errors import UnknownRun
from toolkit.ledger.runs.rows import Run
from toolkit.ledger.vocabulary import TRANSITIONS, RequestKind, RunStatus

_PATHS = {
    RunStatus.RUNNING: (),
    RunStatus.SUSPENDED: (RunStatus.SUSPENDED,),
    RunStatus.WAITING: (RunStatus.SUSPENDED, RunStatus.WAITING),
    RunStatus.READY: (RunStatus.SUSPENDED, RunStatus.READY),
    RunStatus.SUCCEEDED: (RunStatus.SUCCEEDED,),
    RunStatus.FAILED: (RunStatus.FAILED,),
    RunStatus.KILLED: (RunStatus.KILLED,),
    RunStatus.TIMED_OUT: (RunStatus.TIMED_OUT,),
    RunStatus.SKIPPED: (RunStatus.SUSPENDED, RunStatus.WAITING, RunStatus.SKIPPED),
}
"""How a run that has begun gets to each status."""


def _led_to(ledger: Ledger, wanted: RunStatus, instance: str) -> Run:
    run = begun(ledger, key(instance))
    for each in _PATHS[wanted]:
        run = changed(ledger, run, each)
    assert run.status is wanted
    return run


def test_every_legal_change_is_made_and_every_other_one_changes_nothing(ledger: Ledger) -> None:
    for number, (old, new) in enumerate(product(RunStatus, RunStatus)):
        run = _led_to(ledger, old, f"2026-03-20T{number // 60:02}:{number % 60:02}Z")
        if new in TRANSITIONS[old]:
            assert changed(ledger, run, new).status is new
            continue
        with pytest.raises(IllegalTransition, match=f"is {old} and cannot become {new}; nothing was changed"):
            changed(ledger, run, new, reason="never seen")
        assert found(ledger, run) == run


def test_a_run_that_ends_has_its_time_reason_and_exit_code(clocked_ledger: Ledger, hand_clock: HandClock) -> None:
    run = begun(clocked_ledger)
    hand_clock.forward(5)
    ended = clocked_ledger.write(
        lambda tx: status.change(tx, run.run_id, RunStatus.FAILED, reason="disk full", exit_code=1)
    )
    assert (ended.started_at, ended.ended_at) == (START, hand_clock.now)
    assert (ended.reason, ended.exit_code) == ("disk full", 1)


def test_a_run_that_ends_gives_back_its_leases_and_closes_its_requests(ledger: Ledger) -> None:
    run = started(ledger).run
    ledger.write(lambda tx: status.ask_owner(tx, run.run_id, RequestKind.SUSPEND, "bob"))
    changed(ledger, run, RunStatus.SUCCEEDED)
    assert not owned(ledger, run)
    assert ledger.read(lambda tx: status.open_requests(tx, [run.run_id])) == []
    assert started(ledger, key("2026-03-21T12:00Z")).run.status is RunStatus.RUNNING


def test_a_run_that_is_suspended_keeps_its_leases(ledger: Ledger) -> None:
    run = started(ledger, wanted=alone("evict/clicks")).run
    changed(ledger, run, RunStatus.SUSPENDED)
    assert owned(ledger, run)


@pytest.mark.parametrize("before", [RunStatus.WAITING, RunStatus.READY, RunStatus.RUNNING])
def test_a_resume_leads_back_to_where_it_was_suspended(ledger: Ledger, before: RunStatus) -> None:
    run = _led_to(ledger, before, "2026-03-20T12:00Z")
    suspended = changed(ledger, run, RunStatus.SUSPENDED, reason="look first")
    assert (suspended.suspended_from, suspended.reason) == (before, "look first")
    resumed = ledger.write(lambda tx: status.resume(tx, run.run_id))
    assert (resumed.status, resumed.suspended_from, resumed.reason) == (before, None, None)


def test_what_is_not_suspended_cannot_be_resumed(ledger: Ledger) -> None:
    run = begun(ledger)
    with pytest.raises(IllegalTransition):
        ledger.write(lambda tx: status.resume(tx, run.run_id))
    assert found(ledger, run) == run


def test_a_run_that_is_not_there_cannot_change(ledger: Ledger) -> None:
    with pytest.raises(UnknownRun, match="no run 77"):
        ledger.write(lambda tx: status.change(tx, 77, RunStatus.KILLED))
    with pytest.raises(UnknownRun):
        ledger.write(lambda tx: status.resume(tx, 77))

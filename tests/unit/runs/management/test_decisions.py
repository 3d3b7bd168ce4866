"""What each command does to an instance in each state."""

from __future__ import annotations

import pytest

from toolkit.ledger.vocabulary import RequestKind, RunStatus
from toolkit.runs.management.decisions import Deed, InstanceCommand, InstanceState, decide

SUSPEND, RESUME, KILL, RERUN = InstanceCommand
OVER = [status for status in RunStatus if status.is_terminal]


def deed(command: InstanceCommand, state: InstanceState) -> Deed:
    return decide(command, state).deed


def state(status: RunStatus | None, *, owned: bool = False, asked: RequestKind | None = None) -> InstanceState:
    return InstanceState(status=status, is_owned=owned, asked=asked)


@pytest.mark.parametrize(
    ("status", "owned", "expected"),
    [
        (None, False, Deed.SUSPEND_AHEAD),
        (RunStatus.WAITING, False, Deed.SUSPEND_AHEAD),
        (RunStatus.READY, False, Deed.SUSPEND_AHEAD),
        (RunStatus.RUNNING, True, Deed.ASK),
        (RunStatus.RUNNING, False, Deed.SUSPEND),
        (RunStatus.SUSPENDED, False, Deed.NOTHING),
        *((status, False, Deed.NOTHING) for status in OVER),
    ],
)
def test_suspend_pauses_what_is_not_over(status: RunStatus | None, owned: bool, expected: Deed) -> None:  # noqa: FBT001
    assert deed(SUSPEND, state(status, owned=owned)) is expected


@pytest.mark.parametrize("status", [None, *(each for each in RunStatus if each is not RunStatus.SUSPENDED)])
def test_resume_changes_nothing_that_is_not_suspended(status: RunStatus | None) -> None:
    decision = decide(RESUME, state(status))
    assert decision.deed is Deed.NOTHING
    assert decision.why == f"it is {status or 'waiting'}: only a suspended instance can be resumed"


def test_resume_leads_back_to_where_it_was() -> None:
    ahead = InstanceState(status=RunStatus.SUSPENDED, suspended_from=RunStatus.READY)
    assert deed(RESUME, ahead) is Deed.RESUME
    job = InstanceState(status=RunStatus.SUSPENDED, suspended_from=RunStatus.RUNNING, is_job=True)
    assert deed(RESUME, job) is Deed.RESUME


def test_resume_asks_an_owner_that_waits() -> None:
    paused = InstanceState(status=RunStatus.SUSPENDED, suspended_from=RunStatus.RUNNING, is_owned=True)
    assert deed(RESUME, paused) is Deed.ASK


def test_resume_lets_the_next_start_take_what_a_dead_owner_left() -> None:
    orphan = InstanceState(status=RunStatus.SUSPENDED, suspended_from=RunStatus.RUNNING)
    assert deed(RESUME, orphan) is Deed.REQUEUE


def test_resume_takes_back_a_pause_that_the_owner_has_not_made_yet() -> None:
    assert deed(RESUME, state(RunStatus.RUNNING, owned=True, asked=RequestKind.SUSPEND)) is Deed.ASK


@pytest.mark.parametrize(
    ("status", "owned", "expected"),
    [
        (None, False, Deed.KILL_AHEAD),
        (RunStatus.WAITING, False, Deed.KILL),
        (RunStatus.READY, False, Deed.KILL),
        (RunStatus.RUNNING, True, Deed.ASK),
        (RunStatus.RUNNING, False, Deed.KILL),
        (RunStatus.SUSPENDED, True, Deed.ASK),
        (RunStatus.SUSPENDED, False, Deed.KILL),
        *((status, False, Deed.NOTHING) for status in OVER),
    ],
)
def test_kill_ends_what_is_not_over(status: RunStatus | None, owned: bool, expected: Deed) -> None:  # noqa: FBT001
    assert deed(KILL, state(status, owned=owned)) is expected


@pytest.mark.parametrize("status", OVER)
def test_rerun_takes_what_is_over(status: RunStatus) -> None:
    assert deed(RERUN, state(status)) is Deed.RERUN


@pytest.mark.parametrize("status", [None, *(each for each in RunStatus if not each.is_terminal)])
def test_rerun_changes_nothing_that_is_not_over(status: RunStatus | None) -> None:
    assert deed(RERUN, state(status)) is Deed.NOTHING


def test_an_owner_that_has_been_asked_is_not_asked_again() -> None:
    decision = decide(KILL, state(RunStatus.RUNNING, owned=True, asked=RequestKind.KILL))
    assert (decision.deed, decision.why) == (Deed.NOTHING, "its owner has been asked to kill already")


def test_safe_mode_allows_what_calms_things_down() -> None:
    assert [command for command in InstanceCommand if command.is_safe] == [SUSPEND, KILL]

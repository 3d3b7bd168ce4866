"""Tests of what each command does to an instance in each state."""

from __future__ import annotations

import pytest

from toolkit.ledger.vocabulary import RequestKind, RunStatus
from toolkit.management.decisions import CommandEffect, InstanceCommand, InstanceState, decide

SUSPEND, RESUME, KILL, RERUN = InstanceCommand
OVER = [status for status in RunStatus if status.is_terminal]


def effect(command: InstanceCommand, state: InstanceState) -> CommandEffect:
    return decide(command, state).effect


def state(status: RunStatus | None, *, owned: bool = False, open_request: RequestKind | None = None) -> InstanceState:
    return InstanceState(status=status, is_owned=owned, open_request=open_request)


@pytest.mark.parametrize(
    ("status", "owned", "expected"),
    [
        (None, False, CommandEffect.SUSPEND_AHEAD),
        (RunStatus.WAITING, False, CommandEffect.SUSPEND_AHEAD),
        (RunStatus.READY, False, CommandEffect.SUSPEND_AHEAD),
        (RunStatus.RUNNING, True, CommandEffect.ASK),
        (RunStatus.RUNNING, False, CommandEffect.SUSPEND),
        (RunStatus.SUSPENDED, False, CommandEffect.NOTHING),
        *((status, False, CommandEffect.NOTHING) for status in OVER),
    ],
)
def test_suspend_pauses_what_is_not_over(status: RunStatus | None, owned: bool, expected: CommandEffect) -> None:  # noqa: FBT001
    assert effect(SUSPEND, state(status, owned=owned)) is expected


@pytest.mark.parametrize("status", [None, *(each for each in RunStatus if each is not RunStatus.SUSPENDED)])
def test_resume_changes_nothing_that_is_not_suspended(status: RunStatus | None) -> None:
    decision = decide(RESUME, state(status))
    assert decision.effect is CommandEffect.NOTHING
    assert decision.why == f"it is {status or 'waiting'}: only a suspended instance can be resumed"


def test_resume_leads_back_to_where_it_was() -> None:
    ahead = InstanceState(status=RunStatus.SUSPENDED, suspended_from=RunStatus.READY)
    assert effect(RESUME, ahead) is CommandEffect.RESUME
    job = InstanceState(status=RunStatus.SUSPENDED, suspended_from=RunStatus.RUNNING, is_job=True)
    assert effect(RESUME, job) is CommandEffect.RESUME


def test_resume_asks_an_owner_that_waits() -> None:
    paused = InstanceState(status=RunStatus.SUSPENDED, suspended_from=RunStatus.RUNNING, is_owned=True)
    assert effect(RESUME, paused) is CommandEffect.ASK


def test_resume_lets_the_next_start_take_what_a_dead_owner_left() -> None:
    orphan = InstanceState(status=RunStatus.SUSPENDED, suspended_from=RunStatus.RUNNING)
    assert effect(RESUME, orphan) is CommandEffect.REQUEUE


def test_resume_takes_back_a_pause_that_the_owner_has_not_made_yet() -> None:
    assert effect(RESUME, state(RunStatus.RUNNING, owned=True, open_request=RequestKind.SUSPEND)) is CommandEffect.ASK


@pytest.mark.parametrize(
    ("status", "owned", "expected"),
    [
        (None, False, CommandEffect.KILL_AHEAD),
        (RunStatus.WAITING, False, CommandEffect.KILL),
        (RunStatus.READY, False, CommandEffect.KILL),
        (RunStatus.RUNNING, True, CommandEffect.ASK),
        (RunStatus.RUNNING, False, CommandEffect.KILL),
        (RunStatus.SUSPENDED, True, CommandEffect.ASK),
        (RunStatus.SUSPENDED, False, CommandEffect.KILL),
        *((status, False, CommandEffect.NOTHING) for status in OVER),
    ],
)
def test_kill_ends_what_is_not_over(status: RunStatus | None, owned: bool, expected: CommandEffect) -> None:  # noqa: FBT001
    assert effect(KILL, state(status, owned=owned)) is expected


@pytest.mark.parametrize("status", OVER)
def test_rerun_takes_what_is_over(status: RunStatus) -> None:
    assert effect(RERUN, state(status)) is CommandEffect.RERUN


@pytest.mark.parametrize("status", [None, *(each for each in RunStatus if not each.is_terminal)])
def test_rerun_changes_nothing_that_is_not_over(status: RunStatus | None) -> None:
    assert effect(RERUN, state(status)) is CommandEffect.NOTHING


def test_an_owner_that_has_been_asked_is_not_asked_again() -> None:
    decision = decide(KILL, state(RunStatus.RUNNING, owned=True, open_request=RequestKind.KILL))
    assert (decision.effect, decision.why) == (CommandEffect.NOTHING, "its owner has been asked to kill already")


def test_safe_mode_allows_what_calms_things_down() -> None:
    assert [command for command in InstanceCommand if command.is_safe] == [SUSPEND, KILL]

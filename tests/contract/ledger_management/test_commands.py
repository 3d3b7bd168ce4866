"""Commands to instances, on both databases."""

from __future__ import annotations

import pytest

from tests.contract.ledger.samples import alone, begun, key, owned, started
from tests.contract.ledger_management.commands import AT, give, last_commands, one
from tests.unit.management.repo import managed
from tests.unit.management.runs import eviction, execution
from toolkit.ledger.database import Ledger
from toolkit.ledger.runs import attempts, items, queries, status
from toolkit.ledger.runs.items import NewItem
from toolkit.ledger.runs.rows import Origin, Run, RunKey
from toolkit.ledger.state import start_check
from toolkit.ledger.state.start_check import SafeModeIsOn
from toolkit.ledger.vocabulary import LifeCycle, RequestKind, RunStatus
from toolkit.management.decisions import InstanceCommand
from toolkit.management.errors import NotRecorded

SUSPEND, RESUME, KILL, RERUN = InstanceCommand
KEY = key(AT, entity="count_job", life_cycle=LifeCycle.EXECUTION)


def newest(ledger: Ledger, of: RunKey = KEY) -> Run | None:
    return ledger.read(lambda tx: queries.newest(tx, of))


def question_of(ledger: Ledger, run: Run) -> list[RequestKind]:
    return [each.kind for each in ledger.read(lambda tx: status.open_requests(tx, [run.run_id]))]


def test_a_waiting_instance_is_suspended_and_resumed(ledger: Ledger) -> None:
    assert one(ledger, SUSPEND) == ("waiting", "suspended", True)
    assert one(ledger, SUSPEND) == ("suspended", "suspended", False)
    assert one(ledger, RESUME) == ("suspended", "waiting", True)
    assert one(ledger, RESUME) == ("waiting", "waiting", False)


def test_a_suspended_instance_says_who_and_why(ledger: Ledger) -> None:
    give(ledger, SUSPEND)
    run = newest(ledger)
    assert run is not None
    assert (run.reason, run.who) == ("suspended by ada: because", "ada")


def test_a_ready_instance_is_suspended_and_ready_again(ledger: Ledger) -> None:
    execution(ledger, AT, RunStatus.FAILED)
    give(ledger, RERUN)
    assert one(ledger, SUSPEND) == ("ready", "suspended", True)
    assert one(ledger, RESUME) == ("suspended", "ready", True)


@pytest.mark.parametrize("command", [SUSPEND, KILL])
def test_the_owner_of_a_running_instance_is_asked(ledger: Ledger, command: InstanceCommand) -> None:
    run = started(ledger, KEY, alone("run/count_job")).run
    assert one(ledger, command) == ("running", "running", True)
    assert question_of(ledger, run) == [RequestKind(command)]
    assert one(ledger, command) == ("running", "running", False)
    assert owned(ledger, run)


def test_a_resume_takes_back_the_pause_that_was_asked_for(ledger: Ledger) -> None:
    run = started(ledger, KEY, alone("run/count_job")).run
    give(ledger, SUSPEND)
    assert one(ledger, RESUME) == ("running", "running", True)
    assert question_of(ledger, run) == [RequestKind.RESUME]


def test_without_a_living_owner_the_state_changes_at_once(ledger: Ledger) -> None:
    begun(ledger, KEY)
    assert one(ledger, SUSPEND) == ("running", "suspended", True)
    assert one(ledger, RESUME) == ("suspended", "ready", True)
    begun(ledger, KEY)
    assert one(ledger, KILL) == ("running", "killed", True)
    run = newest(ledger)
    assert run is not None
    assert run.reason == "killed by ada: because"


def test_what_an_owner_left_open_when_it_died_suspended_stays_with_its_own_attempt(ledger: Ledger) -> None:
    item = NewItem(position=0, kind="instance:data", path="file:///a", instance_key=AT)
    dead = begun(ledger, KEY)
    ledger.write(lambda tx: items.intend(tx, dead.run_id, [item]))
    give(ledger, SUSPEND)
    give(ledger, RESUME)
    left = ledger.read(lambda tx: items.unsettled(tx, KEY.life_cycle, KEY.entity, KEY.cluster))
    assert [each.run_id for each in left] == [dead.run_id]
    following = begun(ledger, KEY)
    assert (dead.attempt, following.attempt) == (1, 2)
    ledger.write(lambda tx: items.intend(tx, following.run_id, [item]))


def test_what_never_ran_can_be_killed_and_rerun(ledger: Ledger) -> None:
    assert one(ledger, KILL) == ("waiting", "killed", True)
    assert one(ledger, KILL) == ("killed", "killed", False)
    assert one(ledger, RERUN) == ("killed", "ready", True)
    assert one(ledger, KILL) == ("ready", "killed", True)


@pytest.mark.parametrize("status", [RunStatus.SUCCEEDED, RunStatus.FAILED, RunStatus.KILLED, RunStatus.TIMED_OUT])
def test_what_is_over_is_rerun_and_not_suspended_or_resumed(ledger: Ledger, status: RunStatus) -> None:
    execution(ledger, AT, status)
    for command in (SUSPEND, RESUME):
        assert one(ledger, command) == (status, status, False)
    assert one(ledger, RERUN) == (status, "ready", True)
    assert one(ledger, RERUN) == ("ready", "ready", False)
    run = newest(ledger)
    assert run is not None
    assert (run.attempt, run.is_forced) == (2, False)


def test_a_skipped_instance_can_be_rerun(ledger: Ledger) -> None:
    ledger.write(lambda tx: attempts.skip(tx, KEY, Origin(who="cron"), "suspended"))
    assert one(ledger, RERUN) == ("skipped", "ready", True)


def test_a_forced_rerun_starts_at_the_first_step(ledger: Ledger) -> None:
    execution(ledger, AT, RunStatus.FAILED)
    assert one(ledger, RERUN, is_forced=True) == ("failed", "ready", True)
    run = newest(ledger)
    assert run is not None
    assert run.is_forced


def test_a_running_instance_is_not_rerun(ledger: Ledger) -> None:
    begun(ledger, KEY)
    (answer,) = give(ledger, RERUN)
    assert (answer.is_changed, answer.why) == (False, "it is running: only what is over can be rerun, so kill it first")
    assert one(ledger, RERUN) == ("running", "running", False)


def test_a_range_is_dealt_with_in_order_each_instance_by_its_own_state(ledger: Ledger) -> None:
    execution(ledger, AT)
    execution(ledger, "2026-03-05T01:00Z", RunStatus.RUNNING)
    answers = give(ledger, KILL, "2026-03-05T00:00Z", "2026-03-05T04:00Z")
    assert [(each.key.instance_key[11:13], each.before, each.after) for each in answers] == [
        ("00", "waiting", "killed"),
        ("01", "running", "killed"),
        ("02", "succeeded", "succeeded"),
        ("03", "waiting", "killed"),
    ]


def test_a_long_range_is_dealt_with_to_its_end(ledger: Ledger) -> None:
    answers = give(ledger, SUSPEND, "2026-03-01T01:00Z", "2026-03-12T00:00Z")
    assert len(answers) == 11 * 24 - 1
    assert all(each.is_changed for each in answers)
    again = give(ledger, SUSPEND, "2026-03-01T01:00Z", "2026-03-12T00:00Z")
    assert not any(each.is_changed for each in again)
    assert len(last_commands(ledger, 99)) == 2 * 3


def test_commands_to_evictions_are_about_recorded_ones(ledger: Ledger) -> None:
    eviction(ledger, "2026-03-05T02:07Z", RunStatus.RUNNING)
    evictions = managed("clicks", LifeCycle.EVICTION)
    (answer,) = give(ledger, KILL, "2026-03-05T00:00Z", "2026-03-06T00:00Z", of=evictions)
    assert (answer.key.instance_key, answer.after) == ("2026-03-05T02:07Z", "killed")
    with pytest.raises(NotRecorded):
        give(ledger, KILL, AT, of=evictions)


def test_a_command_is_recorded_with_who_gave_it_and_whether_it_changed_anything(ledger: Ledger) -> None:
    detail = f"{AT} on primary (1 instances: {AT} to {AT}): because"
    give(ledger, KILL)
    assert last_commands(ledger) == [("instance kill", "execution of count_job", "ada", True, detail)]
    give(ledger, KILL)
    assert last_commands(ledger) == [("instance kill", "execution of count_job", "ada", False, detail)]


def test_a_command_that_finds_no_instance_is_recorded_too(ledger: Ledger) -> None:
    assert give(ledger, KILL, "2026-03-05T02:01Z", "2026-03-05T02:59Z") == ()
    assert [(command, changed) for command, _, _, changed, _ in last_commands(ledger)] == [("instance kill", False)]


@pytest.mark.parametrize("command", [RESUME, RERUN])
def test_safe_mode_refuses_what_starts_something(ledger: Ledger, command: InstanceCommand) -> None:
    ledger.write(lambda tx: start_check.switch_safe_mode(tx, on=True, who="ops", reason="upgrade"))
    with pytest.raises(SafeModeIsOn, match=r"switched on by ops at .*: upgrade"):
        give(ledger, command)
    assert last_commands(ledger) == []


def test_safe_mode_allows_to_suspend_and_to_kill(ledger: Ledger) -> None:
    ledger.write(lambda tx: start_check.switch_safe_mode(tx, on=True, who="ops", reason="upgrade"))
    assert one(ledger, SUSPEND) == ("waiting", "suspended", True)
    assert one(ledger, KILL) == ("suspended", "killed", True)

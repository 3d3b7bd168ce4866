"""`feedctl instance suspend|resume|kill|rerun` over a ledger."""

from __future__ import annotations

import pytest

from tests.unit.cli.running import Feedctl
from tests.unit.management.runs import execution
from toolkit.ledger.database import Ledger
from toolkit.ledger.runs.queries import newest
from toolkit.ledger.runs.rows import RunKey
from toolkit.ledger.state import commands
from toolkit.ledger.vocabulary import LifeCycle, RunStatus
from toolkit.runs.recorder import current_user

pytestmark = pytest.mark.usefixtures("repo")

JOB = "clicks_hourly_job"
AT = "2026-03-20T02:00Z"


def test_a_command_says_what_it_did_to_each_instance(feedctl: Feedctl, cli_ledger: Ledger) -> None:
    execution(cli_ledger, AT, name=JOB)
    ran = feedctl("instance", "suspend", JOB, "--start", AT, "--end", "2026-03-20T04:00Z", "--reason", "late input")
    assert ran.code == 0
    assert [row[:5] for row in ran.rows[:3]] == [
        ["CLUSTER", "INSTANCE", "WAS", "IS", "CHANGED"],
        ["primary", AT, "succeeded", "succeeded", "no"],
        ["primary", "2026-03-20T03:00Z", "waiting", "suspended", "yes"],
    ]
    assert ran.out.splitlines()[-1] == "1 of 2 changed"


@pytest.mark.usefixtures("cli_ledger")
def test_a_command_in_the_wrong_state_changes_nothing_and_exits_0(feedctl: Feedctl) -> None:
    ran = feedctl("instance", "resume", JOB, "--start", AT, "--output", "json")
    assert ran.code == 0
    document = ran.document
    assert (document["command"], document["changed"]) == ("resume", 0)
    (answer,) = document["instances"]
    assert (answer["was"], answer["is"], answer["changed"]) == ("waiting", "waiting", False)
    assert answer["why"] == "it is waiting: only a suspended instance can be resumed"


def test_rerun_makes_a_forced_attempt_ready(feedctl: Feedctl, cli_ledger: Ledger) -> None:
    execution(cli_ledger, AT, RunStatus.FAILED, name=JOB)
    assert feedctl("instance", "rerun", JOB, "--start", AT, "--force").code == 0
    key = RunKey(life_cycle=LifeCycle.EXECUTION, entity=JOB, cluster="primary", instance_key=AT)
    run = cli_ledger.read(lambda tx: newest(tx, key))
    assert run is not None
    assert (run.status, run.attempt, run.is_forced, run.who) == (RunStatus.READY, 2, True, current_user())


def test_commands_are_recorded_with_the_user(feedctl: Feedctl, cli_ledger: Ledger) -> None:
    feedctl("instance", "kill", JOB, "--start", AT, "--reason", "wrong")
    (recorded,) = cli_ledger.read(lambda tx: commands.recent(tx, 9))
    assert (recorded.command, recorded.who, recorded.has_changed) == ("instance kill", current_user(), True)


def test_only_what_failed_can_be_rerun(feedctl: Feedctl, cli_ledger: Ledger) -> None:
    execution(cli_ledger, AT, name=JOB)
    execution(cli_ledger, "2026-03-20T03:00Z", RunStatus.FAILED, name=JOB)
    day = ("--start", "2026-03-20T00:00Z", "--end", "2026-03-21T00:00Z")
    ran = feedctl("instance", "rerun", JOB, *day, "--filter-by", "STATUS:failed")
    assert [row[1:5] for row in ran.rows[1:-1]] == [["2026-03-20T03:00Z", "failed", "ready", "yes"]]


@pytest.mark.usefixtures("cli_ledger")
def test_safe_mode_refuses_reruns_with_exit_code_5_and_the_reason(feedctl: Feedctl) -> None:
    feedctl("admin", "safe-mode", "on", "--reason", "upgrade of the NameNode")
    ran = feedctl("instance", "rerun", JOB, "--start", AT)
    assert (ran.code, ran.out) == (5, "")
    assert "upgrade of the NameNode" in ran.err
    assert feedctl("instance", "kill", JOB, "--start", AT).code == 0

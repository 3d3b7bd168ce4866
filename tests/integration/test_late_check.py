"""Checks for late data over a real config repo, a disk and a SQLite ledger: what came late runs again, once."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Mapping
from contextlib import AbstractContextManager, ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from entrypoints import late_check
from tests.described import faults
from tests.e2e.commands import BIN, ROOT
from tests.e2e.retention_process import environment
from tests.integration.process_runs import KEYS, ONLY, Runs, changes, outcomes, steps
from tests.testbed.running import ending
from toolkit.actions.guard import Guard
from toolkit.bootstrap import action_context
from toolkit.cli import main
from toolkit.cli.boundary import run_app
from toolkit.process_runner.planner import ProcessPlanner
from toolkit.process_runner.steps import StepRunner
from toolkit.rendering.document_schemas import DocumentName
from toolkit.runs.errors import AuditUnusable, LeaseExpired, RunKilled, Stopped

LATE = "late_process: {policy: backoff, delay: hours(1), inputs: {clicks: workflows/late.sh}}"
ARRIVAL = "availability_flag: _SUCCESS\nlate_arrival: {cut_off: hours(6)}"
FIRST, LAST = "2026-03-01T01:00Z", "2026-03-01T06:00Z"
"""The first check of the instance of midnight, and the last one."""


@dataclass(frozen=True, kw_only=True)
class Lateness(Runs):
    """Runs of a process, and checks for data that came late for them."""

    def write_late(
        self,
        workflow: str = ONLY,
        scripts: Mapping[str, str] | None = None,
        *,
        late: str | None = None,
        more: str = LATE,
    ) -> None:
        """Write the repo, with a late workflow that leaves a trace of its own unless it has another text."""
        own = {"count": self.making()} if scripts is None else scripts
        text = late if late is not None else self.making("late")
        self.write(workflow, {**own, "late": text}, more=more, flag=ARRIVAL)

    def check(self, *more: str, at: str = FIRST) -> tuple[int, dict[str, Any]]:
        """The exit code and the result of a check of what is due."""
        file = self.directory / "check.json"
        file.unlink(missing_ok=True)
        os.environ["FEEDCTL_LOG_DIR"] = str(self.directory / "logs")
        arguments = self.arguments(*(more or ("--due",)), time=at)
        code = run_app(late_check.app, [*arguments, "--result-file", str(file)])
        return code, json.loads(file.read_text()) if file.exists() else {}

    def begin_check(self) -> AbstractContextManager[subprocess.Popen[bytes]]:
        """A check in a process of its own, which ends with the block at the latest."""
        arguments = [sys.executable, "entrypoints/late_check.py", *self.arguments("--due", time=FIRST)]
        logs = {"FEEDCTL_LOG_DIR": str(self.directory / "logs")}
        env = os.environ | logs
        return ending(subprocess.Popen(arguments, cwd=ROOT, env=env, stdout=subprocess.DEVNULL))

    def kill_check(self, by: signal.Signals) -> None:
        """Begin a check, and end its process while the late workflow runs."""
        before = len(self.output())
        with self.begin_check() as checking:
            while len(self.output()) == before:
                assert checking.poll() is None
                time.sleep(0.05)
            checking.send_signal(by)
            checking.wait(timeout=60)

    def drop(self, name: str = "part-1", key: str = KEYS[0]) -> Path:
        """Let a file come late."""
        path = self.at("clicks", key) / name
        path.write_text("late\n")
        return path

    def checks(self) -> list[tuple[str, str]]:
        """Return those that the ledger has: time and verdict."""
        found = self.query("SELECT due_at, verdict FROM late_check ORDER BY due_at")
        return [(str(at)[11:16], verdict) for at, verdict in found]


@pytest.fixture
def runs(tmp_path: Path) -> Lateness:
    found = Lateness(directory=tmp_path)
    found.write_late()
    found.fill(KEYS[0])
    return found


def test_a_late_file_is_named_and_its_instance_alone_runs_again_by_the_late_workflow(runs: Lateness) -> None:
    runs.fill(KEYS[1])
    assert runs.run("--due", time=KEYS[1])[0] == 0
    runs.drop()
    code, result = runs.check(at="2026-03-01T02:00Z")
    assert code == 0
    assert runs.output() == [f"{KEYS[0]} count", f"{KEYS[1]} count", f"{KEYS[0]} late"]
    late = [each["late"] for each in result["instances"] if each["late"] is not None]
    assert [each["inputs"][0]["added"] for each in late] == [["part-1"]]
    assert late[0]["cause"] == "clicks of 2026-03-01T00:00Z: added part-1; +1 files, +5 bytes"
    assert runs.checks() == [("01:00", "late"), ("02:00", "unchanged")]
    assert runs.events() == [("available", "00"), ("available", "01")]  # it made the same: emit is on_change
    assert runs.query("SELECT cause FROM run WHERE attempt = 2") == [(f"late data: {late[0]['cause']}",)]


def test_what_has_not_changed_runs_no_second_time_and_each_check_is_made_once(runs: Lateness) -> None:
    assert runs.run()[0] == 0
    assert runs.check()[0] == 0
    assert runs.checks() == [("01:00", "unchanged")]
    runs.drop()
    code, result = runs.check()
    assert (code, [note for each in result["instances"] for note in each["notes"]]) == (0, ["no check is due"])
    assert runs.check(at=LAST)[0] == 0
    assert runs.checks() == [("01:00", "unchanged"), ("06:00", "late")]
    runs.drop("part-2")
    assert runs.check(at="2026-03-02T00:00Z")[0] == 0
    assert runs.output() == [f"{KEYS[0]} count", f"{KEYS[0]} late"]


def test_a_result_has_every_key_that_is_described_and_no_other(runs: Lateness) -> None:
    assert runs.run()[0] == 0
    results = [runs.check()[1]]
    runs.drop()
    results += [runs.check(*arguments, at=LAST)[1] for arguments in (("--due", "--dry-run"), ("--due",))]
    late = [each["late"] is None for result in results for each in result["instances"]]
    assert [fault for each in results for fault in faults(each, DocumentName.PROCESS_RUN, "result", strict=True)] == []
    assert late == [True, False, False]


def test_a_dry_run_says_what_would_run_and_changes_nothing(runs: Lateness) -> None:
    assert runs.run()[0] == 0
    runs.drop()
    code, result = runs.check("--due", "--dry-run")
    (instance,) = result["instances"]
    assert (code, instance["late"]["inputs"][0]["added"]) == (0, ["part-1"])
    assert (runs.checks(), runs.output()) == ([], [f"{KEYS[0]} count"])


@pytest.mark.parametrize("is_killed", [True, pytest.param(False, marks=pytest.mark.extended)])
def test_a_late_run_that_dies_is_made_again_and_one_that_ended_is_not(runs: Lateness, is_killed: bool) -> None:  # noqa: FBT001
    assert runs.run()[0] == 0
    runs.drop()
    runs.write_late(late=runs.saying("begun", "sleep 60"))
    runs.kill_check(signal.SIGKILL if is_killed else signal.SIGTERM)
    assert runs.checks() == []
    runs.write_late()
    assert runs.check()[0] == 0
    assert (runs.checks(), runs.output()[1:]) == ([("01:00", "late")], [f"{KEYS[0]} begun", f"{KEYS[0]} late"])
    assert runs.check()[0] == 0
    assert len(runs.output()) == 3


@pytest.mark.extended
def test_a_late_run_that_dies_again_and_again_is_given_up_until_the_next_check(runs: Lateness) -> None:
    assert runs.run()[0] == 0
    runs.drop()
    runs.write_late(late=runs.saying("begun", "sleep 60"))
    for _ in range(3):
        runs.kill_check(signal.SIGTERM)
    assert (runs.checks(), len(runs.output())) == ([], 4)
    code, result = runs.check()
    (failure,) = (each["failure"] for each in result["instances"] if each["failure"])
    assert (code, failure["code"], runs.checks()) == (1, "late_run_killed", [("01:00", "late")])
    assert "added part-1" in failure["message"]
    assert (runs.check()[0], len(runs.output())) == (0, 4)
    runs.write_late()
    assert runs.check(at=LAST)[0] == 0
    assert (runs.checks()[1:], runs.output()[4:]) == ([("06:00", "late")], [f"{KEYS[0]} late"])


def test_a_late_run_that_failed_is_retried_by_its_policy_with_the_processs_own_workflow(runs: Lateness) -> None:
    retried = f"{LATE}\nretry: {{policy: periodic, delay: minutes(1), attempts: 1}}"
    runs.write_late(more=retried, late="exit 3")
    assert runs.run()[0] == 0
    runs.drop()
    assert runs.check()[0] == 1
    runs.change("UPDATE run SET retry_at = '2026-01-01T00:00:00.000000Z' WHERE retry_at IS NOT NULL")
    assert runs.run("--due")[0] == 0
    assert runs.output() == [f"{KEYS[0]} count"] * 2
    assert runs.check(at=LAST)[0] == 0
    assert runs.checks() == [("01:00", "late"), ("06:00", "unchanged")]


def test_the_instance_says_why_it_ran_again(runs: Lateness, capsys: pytest.CaptureFixture[str]) -> None:
    assert runs.run()[0] == 0
    runs.drop()
    assert runs.check()[0] == 0
    capsys.readouterr()
    repo = str(runs.directory / "repo")
    assert main.main(["instance", "status", "count", "--start", KEYS[0], "--config-repo", repo]) == 0
    assert "late data: clicks of 2026-03-01T00:00Z: added part-1" in capsys.readouterr().out


def test_what_a_run_had_read_counts_also_when_its_rerun_went_on_in_the_middle(runs: Lateness) -> None:
    runs.write_late(steps("read", "count"), {"read": runs.saying("read"), "count": "exit 3"})
    assert runs.run()[0] == 4
    runs.drop()
    runs.write_late(steps("read", "count"), {"read": runs.saying("read"), "count": runs.making()})
    assert runs.run()[0] == 0
    assert runs.check()[0] == 0
    assert runs.output() == [f"{KEYS[0]} {step}" for step in ("read", "count", "late")]


@pytest.mark.extended
def test_a_late_run_that_somebody_kills_does_not_come_back_by_the_same_check(runs: Lateness) -> None:
    assert runs.run()[0] == 0
    runs.drop()
    runs.write_late(late=runs.saying("begun", "sleep 60"))
    repo = str(runs.directory / "repo")
    with runs.begin_check() as checking:
        while len(runs.output()) < 2:
            assert checking.poll() is None
            time.sleep(0.05)
        assert main.main(["instance", "kill", "count", "--start", KEYS[0], "--config-repo", repo]) == 0
        assert checking.wait(timeout=60) != 0
    assert runs.checks() == [("01:00", "late")]
    assert runs.check()[0] == 0
    assert len(runs.output()) == 2


@pytest.mark.parametrize("other", [RunKilled(who="alice"), Stopped(reason="received SIGTERM")])
def test_of_a_late_run_that_is_ended_between_two_batches_the_check_is_noted_if_a_user_killed_it(
    runs: Lateness, monkeypatch: pytest.MonkeyPatch, other: Stopped
) -> None:
    """The late workflow has ended and its flag is not written yet."""
    assert runs.run()[0] == 0
    runs.drop()
    runs.write_late(late=f"rm -f {runs.at('counts', KEYS[0])}/_SUCCESS\n{runs.making('late')}")
    may_begin = Guard.may_begin

    def ended(self: Guard) -> bool:
        if len(runs.output()) == 2:
            self.stop(other)
        return may_begin(self)

    monkeypatch.setattr(Guard, "may_begin", ended)
    code, result = runs.check()
    assert (code, outcomes(result), changes(result)) == (
        143,
        [("main", "done", None)],
        [("flag", "skipped", "stopped")],
    )
    assert runs.checks() == ([("01:00", "late")] if isinstance(other, RunKilled) else [])
    monkeypatch.undo()
    assert runs.check()[0] == 0
    assert len(runs.output()) == (2 if isinstance(other, RunKilled) else 3)


@pytest.mark.parametrize("where", [(StepRunner, "_look_before"), (ProcessPlanner, "plan")])
@pytest.mark.parametrize("other", [RunKilled(who="alice"), LeaseExpired(why="cut off")])
def test_of_a_late_run_that_is_ended_before_its_first_batch_the_check_is_noted_if_a_user_killed_it(
    runs: Lateness, monkeypatch: pytest.MonkeyPatch, other: Stopped, where: tuple[type, str]
) -> None:
    """While it is planned, or while its inputs are listed."""
    assert runs.run()[0] == 0
    runs.drop()

    def ended(*_: object) -> None:
        raise other

    monkeypatch.setattr(*where, ended)
    assert runs.check()[0] != 0
    is_over = isinstance(other, RunKilled)
    assert runs.checks() == ([("01:00", "late")] if is_over else [])
    monkeypatch.undo()
    assert runs.check()[0] == 0
    assert len(runs.output()) == (1 if is_over else 2)


@pytest.mark.parametrize("waits", [False, True])
def test_a_rerun_that_a_person_has_ordered_is_left_to_the_next_process_run(runs: Lateness, *, waits: bool) -> None:
    assert runs.run()[0] == 0
    runs.drop()
    order = ["instance", "rerun", "count", "--start", KEYS[0], "--force", "--config-repo", f"{runs.directory}/repo"]
    assert main.main(order) == 0
    flag = runs.at("clicks", KEYS[0]) / "_SUCCESS"
    if waits:  # the order has begun once, and waits for its input
        flag.unlink()
        assert runs.run("--due")[0] == 75
        flag.touch()
    code, result = runs.check()
    assert (code, result["instances"][0]["skipped"]["code"]) == (5, "run_is_ordered"), result
    assert runs.statuses()[1:] == [("00", 2, "waiting" if waits else "ready")]
    assert (runs.output(), runs.checks()) == ([f"{KEYS[0]} count"], [])
    assert runs.run("--due")[0] == 0
    assert runs.output()[1:] == [f"{KEYS[0]} count"]
    assert runs.check()[0] == 0
    assert (runs.output()[2:], runs.checks()) == ([], [("01:00", "unchanged")])


@pytest.mark.slow
@pytest.mark.extended
def test_spark_submit_finds_late_data(runs: Lateness, java_home: Path) -> None:
    assert runs.run()[0] == 0
    runs.drop()
    command = [str(BIN / "spark-submit"), "entrypoints/late_check.py", *runs.arguments("--due", time=FIRST)]
    logs = {"FEEDCTL_LOG_DIR": str(runs.directory / "logs")}
    printed = subprocess.check_output(command, cwd=ROOT, env=environment(java_home) | logs, text=True)
    assert json.loads(printed)["instances"][0]["late"]["inputs"][0]["added"] == ["part-1"]
    assert runs.output()[1:] == [f"{KEYS[0]} late"]


@pytest.mark.extended
def test_of_several_checks_at_once_one_runs_what_is_late(runs: Lateness) -> None:
    assert runs.run()[0] == 0
    runs.drop()
    runs.write_late(late=runs.making("late") + "\nsleep 1")
    with ExitStack() as stack:
        checks = [stack.enter_context(runs.begin_check()) for _ in range(4)]
        assert {each.wait() for each in checks} <= {0, 5}
    assert runs.output()[1:] == [f"{KEYS[0]} late"]
    assert runs.checks() == [("01:00", "late")]


def test_a_late_run_that_fails_is_noted_with_its_check_and_the_next_check_tries_again(runs: Lateness) -> None:
    assert runs.run()[0] == 0
    runs.drop()
    runs.write_late(late="exit 3")
    assert runs.check()[0] == 1
    assert runs.checks() == [("01:00", "late")]
    runs.write_late()
    assert runs.check(at="2026-03-01T03:00Z")[0] == 0
    assert runs.output()[1:] == [f"{KEYS[0]} late"]


def test_a_late_workflow_stands_for_all_steps(runs: Lateness) -> None:
    runs.write_late(steps("read", "count"), {"read": runs.saying("read"), "count": runs.making()})
    assert runs.run()[0] == 0
    runs.drop()
    assert runs.check()[0] == 0
    assert runs.output() == [f"{KEYS[0]} {step}" for step in ("read", "count", "late")]
    assert runs.check(at=LAST)[0] == 0
    assert runs.checks() == [("01:00", "late"), ("06:00", "unchanged")]


def test_a_late_workflow_without_its_end_stands_for_no_step_of_the_processs_own(runs: Lateness) -> None:
    runs.write_late(steps("read", "count"), {"read": runs.saying("read"), "count": runs.making()})
    assert runs.run()[0] == 0
    runs.drop()
    made, aside = runs.at("counts", KEYS[0]).parent, runs.directory / "aside"
    runs.write_late(
        steps("read", "count"),
        {"read": runs.saying("read"), "count": runs.making()},
        late=runs.saying("late", f"mv {made} {aside}\nln -s {made} {made}"),  # a loop: neither there nor missing
    )
    assert runs.check()[0] != 0
    made.unlink()
    aside.rename(made)
    assert runs.run()[0] == 0
    assert runs.output()[2:] == [f"{KEYS[0]} {step}" for step in ("late", "read", "count")]


def test_an_instance_that_is_being_written_anew_waits_and_its_check_stays_due(runs: Lateness) -> None:
    assert runs.run()[0] == 0
    runs.drop()
    (runs.at("clicks", KEYS[0]) / "_SUCCESS").unlink()
    assert runs.check()[0] == 75
    assert runs.checks() == []
    (runs.at("clicks", KEYS[0]) / "_SUCCESS").touch()
    assert runs.check()[0] == 0
    assert (runs.checks(), runs.output()[1:]) == ([("01:00", "late")], [f"{KEYS[0]} late"])


def test_an_optional_input_that_was_there_but_not_yet_whole_is_late_data_once_its_flag_comes(runs: Lateness) -> None:
    made = f"mkdir -p {runs.directory}/data/counts/$(basename $counts)\ntouch {runs.at('counts', KEYS[0])}/part-0"
    runs.write_late(scripts={"count": runs.saying("count", made)}, late=runs.saying("late", made))
    process = runs.directory / "repo/processes/count.yaml"
    process.write_text(process.read_text().replace('end: "now(0,0)"}', 'end: "now(0,0)", optional: true}'))
    flag = runs.at("clicks", KEYS[0]) / "_SUCCESS"
    flag.unlink()
    assert runs.run()[0] == 0
    assert runs.check()[0] == 0
    assert runs.output() == [f"{KEYS[0]} count"]
    flag.touch()
    assert runs.check(at="2026-03-01T03:00Z")[0] == 0
    assert runs.output()[1:] == [f"{KEYS[0]} late"]
    assert runs.check(at=LAST)[0] == 0
    assert runs.checks() == [("01:00", "unchanged"), ("03:00", "late"), ("06:00", "unchanged")]


def test_what_is_gone_cannot_run_again_and_is_said_aloud(runs: Lateness) -> None:
    assert runs.run()[0] == 0
    for file in runs.at("clicks", KEYS[0]).iterdir():
        file.unlink()
    code, result = runs.check()
    assert (code, [each["failure"]["code"] for each in result["instances"] if each["failure"]]) == (1, ["input_gone"])
    assert (runs.checks(), len(runs.output())) == ([("01:00", "gone")], 1)


def test_one_instance_is_looked_at_before_its_check_is_due(runs: Lateness) -> None:
    assert runs.run()[0] == 0
    runs.drop()
    assert runs.check("--cluster", "primary", at=KEYS[0])[0] == 0
    assert runs.output()[1:] == [f"{KEYS[0]} late"]


def test_what_cannot_be_checked_is_refused(runs: Lateness, capsys: pytest.CaptureFixture[str]) -> None:
    assert runs.check("--cluster", "primary", at=KEYS[0])[0] == 2
    assert "has not succeeded with late_process yet" in capsys.readouterr().err
    runs.write_late(more="")
    assert runs.check()[0] == 2
    assert "process count has no late_process" in capsys.readouterr().err
    assert runs.check("--all", "--due")[0] == 0


def test_in_safe_mode_and_in_a_dry_run_nothing_is_noted_and_the_check_stays_due(runs: Lateness) -> None:
    assert runs.run()[0] == 0
    assert runs.check("--dry-run", at=KEYS[0])[0] == 0
    assert main.main(["admin", "safe-mode", "on", "--reason", "upgrade", *runs.repo]) == 0
    assert runs.check("--allow-dirty", at=KEYS[0])[0] == 5
    assert runs.checks() == []
    assert main.main(["admin", "safe-mode", "off", *runs.repo]) == 0
    assert runs.check(at=FIRST)[0] == 0
    assert runs.checks() == [("01:00", "unchanged")]


def test_before_the_envelope_is_open_nothing_is_noted(runs: Lateness, monkeypatch: pytest.MonkeyPatch) -> None:
    def unusable(_: object) -> None:
        raise AuditUnusable(place="/audit.jsonl", why="No space left on device")

    assert runs.run()[0] == 0
    monkeypatch.setattr(action_context, "opened_envelope", unusable)
    assert runs.check()[0] == 1
    assert runs.checks() == []

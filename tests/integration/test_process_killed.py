"""Runs of a process that end before their time: by a kill of the runner, a signal, a command."""

from __future__ import annotations

import os
import random
import signal
import time
from pathlib import Path
from typing import Any

import pytest

from tests.integration.process_runs import KEYS, Runs, outcomes, steps
from toolkit.cli.main import main
from toolkit.programs.supervisor import parent_of

FOR_EVER = "sleep 600 & sleep 600\n"
NAMES = ("first", "second", "third")


@pytest.fixture
def counting(tmp_path: Path) -> Runs:
    """A process of three steps, of which the second one never ends as long as a file is there."""
    runs = Runs(directory=tmp_path)
    runs.fill(*KEYS[:4])
    (tmp_path / "hang").touch()
    hangs = f"if test -f {tmp_path}/hang; then echo $$ > {tmp_path}/pid; {FOR_EVER} fi"
    beside = f"if kill -0 $(cat {tmp_path}/pid) 2> {os.devnull}; then {runs.saying('beside-another')} fi"
    scripts = {
        "first": runs.saying("first"),
        "second": runs.saying("second", f"{hangs}\n{beside}"),
        "third": runs.making("third"),
    }
    runs.write(steps(*NAMES), scripts, more="retry: {policy: periodic, delay: minutes(1), attempts: 2}")
    return runs


def words(runs: Runs) -> list[str]:
    """Return what ran, in its order."""
    return [line.split()[1] for line in runs.output()]


def goes_on(counting: Runs) -> None:
    """The next run takes over, begins with the step that had not ended, and leaves nothing behind."""
    (counting.directory / "hang").unlink()
    code, result = counting.run("--due")
    assert (code, [step for step, _, _ in outcomes(result)]) == (0, ["second", "third"])
    assert words(counting) == ["first", "second", "second", "third"]
    assert counting.statuses() == [("00", 1, "killed"), ("00", 2, "succeeded")]
    assert counting.query("SELECT count(*) FROM item WHERE state = 'intended'") == [(0,)]
    assert counting.alive() == []


def test_after_a_kill_of_the_runner_its_step_is_ended_and_the_next_run_goes_on(counting: Runs) -> None:
    with counting.started() as run:
        counting.until("second", run)
        assert counting.alive() != []
        run.kill()
        run.communicate()
    goes_on(counting)


def test_what_lives_on_of_a_step_that_is_no_longer_in_the_config_is_ended_before_another_begins(counting: Runs) -> None:
    with counting.started() as run:
        counting.until("second", run)
        alive = counting.alive()
        (supervisor,) = (pid for pid in alive if parent_of(str(pid)) not in alive)
        os.kill(supervisor, signal.SIGSTOP)
        run.kill()
        run.communicate()
        os.kill(supervisor, signal.SIGKILL)
        assert counting.alive() != [], "of both that would have ended it nobody is left"
    scripts = {"first": counting.saying("first"), "third": counting.making("third")}
    counting.write(steps(*scripts), scripts)
    (counting.directory / "repo/workflows/second.sh").unlink()
    code, result = counting.run("--due")
    assert (code, [step for step, _, _ in outcomes(result)], counting.alive()) == (0, ["third"], [])


def test_a_signal_ends_the_step_with_all_that_it_started_and_there_is_no_retry(counting: Runs) -> None:
    with counting.started() as run:
        counting.until("second", run)
        run.send_signal(signal.SIGTERM)
        out, err = run.communicate(timeout=120)
        assert run.returncode == 143, (out, err)
    assert (counting.alive(), counting.statuses()) == ([], [("00", 1, "killed")])
    assert counting.query("SELECT retry_at FROM run") == [(None,)]
    (counting.directory / "hang").unlink()
    assert (counting.run("--due")[0], words(counting)) == (0, ["first", "second"])
    assert counting.run()[0] == 0
    assert words(counting) == ["first", "second", "second", "third"]


def test_a_command_kills_an_instance_at_the_heartbeat_of_its_owner(counting: Runs) -> None:
    with counting.started() as run:
        counting.until("second", run)
        repo = str(counting.directory / "repo")
        assert main(["instance", "kill", "count", "--start", KEYS[0], "--config-repo", repo]) == 0
        out, err = run.communicate(timeout=120)
        assert run.returncode == 143, (out, err)
    assert (counting.alive(), counting.statuses()) == ([], [("00", 1, "killed")])
    assert counting.query("SELECT status FROM step_run ORDER BY step_run_id") == [("succeeded",), ("killed",)]
    (counting.directory / "hang").unlink()
    assert (counting.run("--due")[0], words(counting)) == (0, ["first", "second"])


@pytest.mark.extended
def test_a_command_lets_an_instance_rest_before_its_next_step(counting: Runs) -> None:
    hang = counting.directory / "hang"
    scripts = {
        "first": counting.saying("first"),
        "second": counting.saying("second", f"while test -f {hang}; do sleep 0.1; done"),
        "third": counting.making("third"),
    }
    counting.write(steps(*NAMES), scripts)
    with counting.started() as run:
        counting.until("second", run)
        requested = ("count", "--start", KEYS[0], "--config-repo", str(counting.directory / "repo"))
        assert main(["instance", "suspend", *requested]) == 0
        time.sleep(2)  # the request has come by a heartbeat, and the step goes on
        assert counting.statuses() == [("00", 1, "running")]
        hang.unlink()
        deadline = time.monotonic() + 120
        while counting.statuses() != [("00", 1, "suspended")]:
            assert time.monotonic() < deadline
            time.sleep(0.1)
        assert words(counting) == ["first", "second"]
        assert main(["instance", "resume", *requested]) == 0
        out, err = run.communicate(timeout=120)
        assert run.returncode == 0, (out, err)
    assert (words(counting), counting.statuses()) == (["first", "second", "third"], [("00", 1, "succeeded")])


@pytest.mark.extended
def test_the_step_of_a_frozen_runner_has_ended_before_another_begins_and_the_thawed_one_touches_nothing(
    counting: Runs,
) -> None:
    with counting.started() as run:
        counting.until("second", run)
        run.send_signal(signal.SIGSTOP)
        (counting.directory / "hang").unlink()
        deadline = time.monotonic() + 120
        code, result = 5, dict[str, Any]()
        while code == 5:
            assert time.monotonic() < deadline
            time.sleep(0.2)
            code, result = counting.run()
        assert (code, [step for step, _, _ in outcomes(result)]) == (0, ["second", "third"])
        run.send_signal(signal.SIGCONT)
        run.communicate(timeout=60)
        assert run.returncode != 0
    assert words(counting) == ["first", "second", "second", "third"]
    assert (counting.statuses(), counting.events()) == (
        [("00", 1, "killed"), ("00", 2, "succeeded")],
        [("available", "00")],
    )


@pytest.mark.extended
def test_runners_that_are_killed_at_any_moment_leave_the_right_state(tmp_path: Path) -> None:
    killed_rounds(tmp_path, 2, seed=1)


def killed_rounds(directory: Path, rounds: int, seed: int) -> None:
    """Kill a runner at a random moment, and let the next one go on; each step succeeds once for each instance."""
    chance = random.Random(seed)  # noqa: S311 - moments, not secrets
    for number in range(rounds):
        runs = Runs(directory=directory / str(number))
        runs.directory.mkdir()
        runs.fill(KEYS[0])
        scripts = {name: runs.saying(f"{name}-begun", f"sleep 0.3\n{runs.saying(name)}") for name in NAMES}
        scripts["third"] = f"{scripts['third']}\n{runs.making('made')}"
        runs.write(steps(*NAMES), scripts)
        with runs.started() as run:
            time.sleep(chance.uniform(0.5, 3.5))
            run.kill()
            run.communicate()
        code, _ = runs.run("--due")
        assert code == 0, f"seed {seed}, round {number}"
        done = [word for word in words(runs) if word in NAMES]
        assert sorted(set(done)) == sorted(NAMES)
        succeeded = runs.query("SELECT step_id, count(*) FROM step_run WHERE status = 'succeeded' GROUP BY step_id")
        assert [count for _, count in succeeded] == [1, 1, 1], f"seed {seed}, round {number}"
        assert runs.statuses()[-1][2] == "succeeded"
        assert (runs.alive(), runs.events()) == ([], [("available", "00")])

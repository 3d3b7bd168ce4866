"""Tests of what kills of the runner, its supervisor, or both leave of a step: nothing, or what the next run can end."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest

from tests.testbed.running import ending
from tests.unit.programs.calls import a_call, a_script
from toolkit.programs.left_over import end_processes, processes_of

ROOT = Path(__file__).parents[4]
RUNNER = """
import sys
from pathlib import Path
from tests.unit.programs.calls import a_call, never
from toolkit.programs.command import CommandEngine

directory = Path(sys.argv[1])
CommandEngine().run(a_call(directory, directory / "step.sh", grace_seconds=0.3), lambda mark: None, never)
"""
STUBBORN = "trap '' TERM; (setsid sh -c \"trap '' TERM; sleep 300; sleep 300\" &); touch ready; sleep 300; sleep 300"


@pytest.fixture
def runner(tmp_path: Path) -> Iterator[subprocess.Popen[bytes]]:
    with started_runner(tmp_path) as started:
        yield started


@contextmanager
def started_runner(directory: Path) -> Iterator[subprocess.Popen[bytes]]:
    """One that runs a step which ignores SIGTERM, and a daemon of it; its end is that of all."""
    a_script(directory, STUBBORN)
    with subprocess.Popen([sys.executable, "-c", RUNNER, directory], cwd=ROOT) as started:
        try:
            _until((directory / "ready").exists)
            yield started
        finally:
            started.kill()
            end_processes(a_call(directory, "x").log, grace_seconds=0.1)


def test_a_killed_runner_takes_its_step_with_it(tmp_path: Path, runner: subprocess.Popen[bytes]) -> None:
    log = a_call(tmp_path, "x").log
    _until(lambda: len(processes_of(log)) >= 5)  # supervisor, step, daemon and their sleeps

    runner.kill()
    runner.wait()

    _until(lambda: not processes_of(log))
    assert "the step was ended: its runner is gone" in log.read_text()


def test_a_killed_supervisor_ends_the_step_as_failed_and_leaves_nothing(
    tmp_path: Path, runner: subprocess.Popen[bytes]
) -> None:
    log = a_call(tmp_path, "x").log

    os.kill(_supervisor(log), signal.SIGKILL)

    assert runner.wait(timeout=60) == 0, "the engine returned"
    assert not processes_of(log)


def test_what_is_left_when_both_were_killed_is_found_and_ended(tmp_path: Path, runner: subprocess.Popen[bytes]) -> None:
    log = a_call(tmp_path, "x").log
    supervisor = _supervisor(log)
    runner.send_signal(signal.SIGSTOP)

    os.kill(supervisor, signal.SIGKILL)
    runner.kill()
    runner.wait()
    assert processes_of(log), "the daemon lives on"

    assert end_processes(log, grace_seconds=0.2) == frozenset()
    assert not processes_of(log)


def test_steps_of_others_are_left_alone(tmp_path: Path) -> None:
    env = {"FEEDCTL_STEP": f"{tmp_path}/a.log", "PATH": os.environ["PATH"]}
    with ending(subprocess.Popen(["sleep", "300"], env=env)) as other:
        assert end_processes(tmp_path / "b.log", grace_seconds=0.1) == frozenset()
        assert other.poll() is None
        assert end_processes(tmp_path / "a.log", grace_seconds=5.0) == frozenset()
        assert other.wait(timeout=60) == -signal.SIGTERM


@pytest.mark.extended
@pytest.mark.parametrize("seed", range(5))
def test_whichever_of_them_is_killed_nothing_is_left_after_the_next_run_looked(
    tmp_path: Path, runner: subprocess.Popen[bytes], seed: int
) -> None:
    kill_some(tmp_path, runner, random.Random(seed))  # noqa: S311 - whom to kill


def kill_some(directory: Path, runner: subprocess.Popen[bytes], rng: random.Random) -> None:
    """Kill one to three processes of a step, its supervisor and its runner, and look what is left."""
    log = a_call(directory, "x").log
    for _ in range(rng.randint(1, 3)):
        victims = sorted({*processes_of(log), runner.pid})
        with suppress(ProcessLookupError):
            os.kill(rng.choice(victims), signal.SIGKILL)
        time.sleep(rng.choice([0.0, 0.05, 0.3]))
    if rng.random() < 0.5 and runner.poll() is None:
        runner.terminate()  # this one has no handler: it dies of it
    assert end_processes(log, grace_seconds=0.2) == frozenset()
    assert not processes_of(log)
    assert runner.wait(timeout=30) in {0, -signal.SIGKILL, -signal.SIGTERM}, "one that lives sees the end of its step"


def _supervisor(log: Path) -> int:
    (found,) = (pid for pid in processes_of(log) if b"supervisor.py" in Path(f"/proc/{pid}/cmdline").read_bytes())
    return found


def _until(holds: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 120
    while not holds():
        assert time.monotonic() < deadline
        time.sleep(0.02)

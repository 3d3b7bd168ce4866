"""What kills of the runner, its supervisor, or both leave of a step: nothing, or what the next run can end."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.unit.process_runner.engines.calls import a_call, a_script
from toolkit.process_runner.engines.left_over import end_processes, processes_of

ROOT = Path(__file__).parents[4]
RUNNER = """
import sys
from pathlib import Path
from tests.unit.process_runner.engines.calls import a_call, never
from toolkit.process_runner.engines.command import CommandEngine

directory = Path(sys.argv[1])
CommandEngine().run(a_call(directory, directory / "step.sh", grace_seconds=0.3), lambda mark: None, never)
"""
STUBBORN = "trap '' TERM; (setsid sh -c \"trap '' TERM; sleep 300; sleep 300\" &); touch ready; sleep 300; sleep 300"


@pytest.fixture
def runner(tmp_path: Path) -> subprocess.Popen[bytes]:
    """One that runs a step which ignores SIGTERM, and a daemon of it."""
    a_script(tmp_path, STUBBORN)
    started = subprocess.Popen([sys.executable, "-c", RUNNER, tmp_path], cwd=ROOT)
    _until((tmp_path / "ready").exists)
    return started


def test_a_killed_runner_takes_its_step_with_it(tmp_path: Path, runner: subprocess.Popen[bytes]) -> None:
    log = a_call(tmp_path, "x").log
    assert len(processes_of(log)) >= 4, "supervisor, step, daemon and their sleeps"

    runner.kill()
    runner.wait()

    _until(lambda: not processes_of(log))
    assert "the step was ended: its runner is gone" in log.read_text()


def test_a_killed_supervisor_ends_the_step_as_failed_and_leaves_nothing(
    tmp_path: Path, runner: subprocess.Popen[bytes]
) -> None:
    log = a_call(tmp_path, "x").log

    os.kill(_supervisor(log), signal.SIGKILL)

    assert runner.wait(timeout=20) == 0, "the engine returned"
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
    with subprocess.Popen(
        ["sleep", "300"], env={"FEEDCTL_STEP": f"{tmp_path}/a.log", "PATH": os.environ["PATH"]}
    ) as other:
        assert end_processes(tmp_path / "b.log", grace_seconds=0.1) == frozenset()
        assert other.poll() is None
        assert end_processes(tmp_path / "a.log", grace_seconds=5.0) == frozenset()
        assert other.wait(timeout=1) == -signal.SIGTERM


def _supervisor(log: Path) -> int:
    (found,) = (pid for pid in processes_of(log) if b"supervisor.py" in Path(f"/proc/{pid}/cmdline").read_bytes())
    return found


def _until(holds: object) -> None:
    deadline = time.monotonic() + 20
    while not holds():  # type: ignore[operator]  # any condition
        assert time.monotonic() < deadline
        time.sleep(0.02)

"""Running a process through the real spark-submit: each exit code, and a run whose JVM and driver are killed."""

from __future__ import annotations

import json
import os
import signal
import subprocess
from contextlib import AbstractContextManager
from pathlib import Path

import pytest

from tests.e2e.commands import BIN, ROOT
from tests.e2e.retention_process import environment
from tests.integration.process_runs import KEYS, Runs, outcomes, steps
from tests.testbed.running import ending

pytestmark = [pytest.mark.slow]


def submitted(
    runs: Runs, java_home: Path, *more: str, time: str = KEYS[0]
) -> AbstractContextManager[subprocess.Popen[str]]:
    """A run that spark-submit starts; it ends with the block at the latest."""
    command = [str(BIN / "spark-submit"), str(ROOT / "entrypoints/process.py"), *runs.arguments(*more, time=time)]
    known = {**environment(java_home), "FEEDCTL_LOG_DIR": str(runs.directory / "logs")}
    streams = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    return ending(subprocess.Popen(command, env=known, text=True, start_new_session=True, **streams))  # type: ignore[call-overload]


def test_spark_submit_runs_an_instance_once_and_exits_75_while_its_input_is_not_there(
    tmp_path: Path, java_home: Path
) -> None:
    runs = Runs(directory=tmp_path)
    runs.write()
    runs.fill(KEYS[0])
    with submitted(runs, java_home) as run:
        out, err = run.communicate(timeout=120)
        assert run.returncode == 0, err
    assert outcomes(json.loads(out)) == [("main", "done", None)]
    code, _ = runs.run("--due", time=KEYS[1])
    assert (code, runs.statuses()) == (75, [("00", 1, "succeeded"), ("01", 1, "waiting")])
    assert runs.output() == [f"{KEYS[0]} count"]


@pytest.mark.extended
def test_a_run_whose_jvm_and_driver_are_killed_goes_on_where_it_was(tmp_path: Path, java_home: Path) -> None:
    runs = Runs(directory=tmp_path)
    runs.fill(KEYS[0])
    (tmp_path / "hang").touch()
    scripts = {
        "first": runs.saying("first"),
        "second": runs.saying("second", f"if test -f {tmp_path}/hang; then sleep 600; fi"),
        "third": runs.making("third"),
    }
    runs.write(steps(*scripts), scripts)
    with submitted(runs, java_home) as run:
        runs.until("second", run, seconds=60)
        os.killpg(run.pid, signal.SIGKILL)
        run.communicate()
    (tmp_path / "hang").unlink()
    with submitted(runs, java_home, "--due") as again:
        out, err = again.communicate(timeout=120)
        assert again.returncode == 0, err
    assert [step for step, _, _ in outcomes(json.loads(out))] == ["second", "third"]
    assert (runs.alive(), runs.statuses()) == ([], [("00", 1, "killed"), ("00", 2, "succeeded")])

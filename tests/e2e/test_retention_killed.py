"""The JVM killed, the Python driver killed, and both, in the middle of an eviction (DESIGN section 1)."""

from __future__ import annotations

import os
import signal
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.e2e.retention_process import Repo, command, environment, plain
from tests.liveness import is_alive
from tests.testbed.running import ending

pytestmark = pytest.mark.slow

_INSTANCES, _FILES = 1440, 4
_DEADLINE_SECONDS = 60


def _filled(directory: Path) -> Repo:
    repo = Repo.make(directory)
    repo.fill("2026/03/01", _INSTANCES, _FILES)
    repo.fill("2026/03/19", 2)
    return repo


def _python_driver(jvm: int) -> int:
    """The driver is a child of one of the JVM's threads."""
    for task in Path(f"/proc/{jvm}/task").iterdir():
        for child in (task / "children").read_text().split():
            if b"retention.py" in Path(f"/proc/{child}/cmdline").read_bytes():
                return int(child)
    pytest.fail("spark-submit has no Python driver")


def _wait_until(happened: Callable[[], bool]) -> None:
    deadline = time.monotonic() + _DEADLINE_SECONDS
    while not happened():
        assert time.monotonic() < deadline, "it did not happen in time"
        time.sleep(0.002)


@contextmanager
def _in_the_middle(repo: Repo, java_home: Path, log: Path) -> Iterator[tuple[subprocess.Popen[bytes], int]]:
    """A run by spark-submit that has removed some of the instances, and its Python driver."""
    result = f"--result-file={log}"
    with ending(
        subprocess.Popen(
            command(repo, "--feed", "clicks", "--output", "json", result),
            env=environment(java_home),
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            start_new_session=True,
        )
    ) as jvm:
        _wait_until(lambda: not (repo.data / "clicks/2026/03/01/01").exists())
        yield jvm, _python_driver(jvm.pid)


@pytest.mark.parametrize(
    "killed",
    ["jvm", pytest.param("driver", marks=pytest.mark.extended), pytest.param("both", marks=pytest.mark.extended)],
)
def test_a_killed_run_has_no_later_effect_and_a_rerun_at_once_finishes(
    tmp_path: Path, java_home: Path, killed: str
) -> None:
    repo, log = _filled(tmp_path), tmp_path / "result.json"
    of_an_uninterrupted_run = [each for each in repo.tree() if "2026/03/01" not in each]
    with _in_the_middle(repo, java_home, log) as (jvm, driver):
        for pid in {"jvm": [jvm.pid], "driver": [driver], "both": [jvm.pid, driver]}[killed]:
            os.kill(pid, signal.SIGKILL)
        _wait_until(lambda: not is_alive(driver))
        after_the_kill = repo.tree()
        assert "clicks/2026/03/01/23/59/part-0" in after_the_kill, "the run was over before it was killed"
        assert jvm.wait(timeout=_DEADLINE_SECONDS) != 0
        assert repo.tree() == after_the_kill
    assert log.exists() is (killed == "jvm")
    if killed == "jvm":
        assert '"status": "failed"' in log.read_text()
        assert '"type": "ParentLost"' in log.read_text()
    rerun = plain(repo, "--feed", "clicks")  # at once: nobody waits for the lease of an owner that is gone
    assert rerun.returncode == 0, rerun.stderr
    assert repo.tree() == of_an_uninterrupted_run


@pytest.mark.extended
def test_the_driver_told_to_stop_reports_what_was_done_and_exits_143(tmp_path: Path, java_home: Path) -> None:
    repo, log = _filled(tmp_path), tmp_path / "result.json"
    with _in_the_middle(repo, java_home, log) as (jvm, driver):
        os.kill(driver, signal.SIGTERM)
        out, err = jvm.communicate(timeout=_DEADLINE_SECONDS)
    assert jvm.returncode == 143, err
    assert b'"status": "killed"' in out
    assert b'"outcome": "done"' in out
    assert b'"code": "stopped"' in out
    assert b"received SIGTERM" in err

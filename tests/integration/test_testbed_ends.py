"""That a test bed is one for all workers of a run, and ends with the run however it ends."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.liveness import is_alive
from tests.testbed.client import Testbed
from tests.testbed.controller import Controller

_ROOT = Path(__file__).resolve().parents[2]
_SECONDS = 60
_TESTS = """
import os, time, pathlib, pytest
@pytest.mark.parametrize("number", [0, 1])
def test_waits(testbed, number):
    told = pathlib.Path(__file__).with_name(f"told{number}")
    server, directory = testbed.facts("s3")["moto_pid"], testbed.controller.directory
    told.with_suffix(".new").write_text(f"{server} {directory} {os.getpid()}")
    told.with_suffix(".new").rename(told)
    time.sleep(SECONDS)
"""

pytestmark = pytest.mark.slow


@contextmanager
def running_tests(directory: Path, *, seconds: float) -> Iterator[subprocess.Popen[bytes]]:
    """A run of pytest with two workers, each of which asks for S3."""
    (directory / "test_it.py").write_text(_TESTS.replace("SECONDS", str(seconds)))
    options = ("-p", "tests.testbed.fixtures", "-p", "no:cacheprovider", "-n", "2", "-q", "test_it.py")
    with subprocess.Popen(
        [sys.executable, "-m", "pytest", *options],
        cwd=directory,
        env={**os.environ, "PYTHONPATH": str(_ROOT), "PYTEST_ADDOPTS": "", "PYTHONFAULTHANDLER": "1"},
        stdout=subprocess.DEVNULL,
        start_new_session=True,
    ) as process:
        try:
            yield process
        finally:
            process.kill()


def reported(directory: Path) -> tuple[int, Path]:
    """The server's process and the directory that both workers tell, which must be the same."""
    files = [directory / "told0", directory / "told1"]
    wait_until(lambda: all(file.exists() for file in files))
    (first, second) = (file.read_text().split() for file in files)
    assert first[:2] == second[:2]
    assert first[2] != second[2]
    return int(first[0]), Path(first[1])


def wait_until(condition: Callable[[], bool], left: Callable[[], object] = lambda: "") -> None:
    deadline = time.monotonic() + _SECONDS
    while not condition():
        assert time.monotonic() < deadline, left()
        time.sleep(0.02)


def left_of(server: int, directory: Path) -> str:
    """Return the server and files that a supervisor has left, and its log."""
    log = directory / "supervisor.log"
    files = [str(each) for each in directory.rglob("*")]
    return f"server alive: {is_alive(server)}; files: {files}; log: {log.read_text() if log.exists() else 'none'}"


@pytest.mark.parametrize(
    "number",
    [
        pytest.param(signal.SIGKILL, marks=pytest.mark.extended),
        *(pytest.param(each, marks=pytest.mark.soak) for each in (signal.SIGINT, signal.SIGTERM)),
    ],
)
def test_a_run_that_is_ended_leaves_no_server_and_no_directory(tmp_path: Path, number: signal.Signals) -> None:
    with running_tests(tmp_path, seconds=600) as run:
        server, directory = reported(tmp_path)
        assert directory.is_dir()
        run.send_signal(number)
        wait_until(lambda: not is_alive(server) and not directory.exists(), lambda: left_of(server, directory))


@pytest.mark.soak
def test_a_run_that_comes_to_its_end_has_ended_its_servers_itself(tmp_path: Path) -> None:
    with running_tests(tmp_path, seconds=0.5) as run:
        server, directory = reported(tmp_path)
        try:
            assert run.wait(_SECONDS) == 0
        except subprocess.TimeoutExpired:
            os.killpg(run.pid, signal.SIGABRT)  # each of its processes writes where it hangs
            run.wait(_SECONDS)
            time.sleep(1)  # its workers write too
            raise
    assert not is_alive(server)
    assert not directory.exists()


@pytest.mark.extended
def test_servers_end_when_their_supervisor_is_killed() -> None:
    with owner_of_servers() as owner:
        testbed = Testbed(controller=Controller.of(owner))
        server = int(testbed.facts("s3")["moto_pid"])
        os.kill(parent(server), signal.SIGKILL)
        wait_until(lambda: not is_alive(server) and not listens(testbed.controller))
        assert int(testbed.facts("s3")["moto_pid"]) != server
        testbed.end()
    assert not testbed.controller.directory.exists()


@contextmanager
def owner_of_servers() -> Iterator[int]:
    """A process that does nothing."""
    with subprocess.Popen(["sleep", "600"]) as owner:
        try:
            yield owner.pid
        finally:
            owner.kill()


def listens(controller: Controller) -> bool:
    with socket.socket(socket.AF_UNIX) as probe:
        return probe.connect_ex(controller.address) == 0


def parent(pid: int) -> int:
    return int(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[1])

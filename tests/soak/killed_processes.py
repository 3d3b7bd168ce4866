"""The processes of a run that spark-submit started, and their deaths."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Iterator
from pathlib import Path

from tests.liveness import is_alive

_DEADLINE_SECONDS = 90.0


def driver_of(jvm: int, script: str) -> int | None:
    """The Python driver is a child of one of the JVM's threads; None before it was started, or after it ended."""
    return next((child for child in _children(jvm) if script.encode() in _command(child)), None)


def python_workers(jvm: int) -> list[int]:
    """The Python of the tasks that the JVM's executors have: children of a daemon that is one of the JVM's."""
    daemons = [child for child in _children(jvm) if b"pyspark.daemon" in _command(child)]
    return [worker for daemon in daemons for worker in _children(daemon)]


def all_below(pid: int) -> list[int]:
    """Return all descendants of a process, each child before its own children."""
    return [each for child in _children(pid) for each in (child, *all_below(child))]


def validators_of(jvm: int) -> list[int]:
    """Return the processes that validate for a run: spark-submit, its Python, and those between them and the run."""
    return [each for each in all_below(jvm) if b"quality/spark_job.py" in _command(each)]


def kill_of_driver(jvm: int, script: str, *, is_jvm: bool, is_python: bool) -> int | None:
    """Kill one of the two that a run is made of, or both; the driver, which may still be about to end."""
    driver = driver_of(jvm, script)
    if is_jvm or driver is None:
        kill(jvm)
    if is_python and driver is not None:
        kill(driver)
    return driver


def kill(pid: int) -> None:
    """Kill a process, unless it is gone."""
    try:
        os.kill(pid, signal.SIGKILL)
    except ProcessLookupError:
        return


def wait_for_death(*pids: int | None) -> None:
    """Return when none of them lives; None is nobody."""
    deadline = time.monotonic() + _DEADLINE_SECONDS
    for pid in pids:
        while pid is not None and is_alive(pid):
            assert time.monotonic() < deadline, f"process {pid} lives on after the kill"
            time.sleep(0.01)


def _children(pid: int) -> Iterator[int]:
    try:
        for task in Path(f"/proc/{pid}/task").iterdir():
            yield from map(int, (task / "children").read_text().split())
    except OSError:
        return


def _command(pid: int) -> bytes:
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes()
    except OSError:
        return b""

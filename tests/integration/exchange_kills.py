"""Kills of entrypoints that exchange rows with a database: the driver, one of its JVMs, or the connections."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Collection
from pathlib import Path

import psycopg

from tests.databases.datasources import PostgresData, variables
from tests.e2e.commands import ROOT
from tests.short_leases import short_leases
from tests.testbed.running import ending
from toolkit.result import ExitCode

_DEADLINE_SECONDS, _LEASE_SECONDS = 600.0, 5.0
_LATER: Collection[int] = {ExitCode.SKIPPED.value, ExitCode.TERMINATED.value}


def started(entrypoint: str, *arguments: str) -> subprocess.Popen[str]:
    """Start an entrypoint in a session of its own with its JVMs; a lease is over soon after its owner."""
    return subprocess.Popen(
        [sys.executable, "-m", f"entrypoints.{entrypoint}", *arguments],
        cwd=ROOT,
        env={**variables(), "SPARK_LOCAL_IP": "127.0.0.1", **short_leases(_LEASE_SECONDS)},
        start_new_session=True,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )


def _java(group: int) -> list[int]:
    """Return the JVMs of a process group or of its children's."""
    found = []
    for each in Path("/proc").iterdir():
        if each.name.isdigit():
            try:
                is_own = group in {os.getsid(int(each.name)), os.getpgid(int(each.name))}
                if is_own and "java" in (each / "cmdline").read_text().split("\0")[0]:
                    found.append(int(each.name))
            except OSError:  # it ended meanwhile
                continue
    return found


def _strike(target: str, run: subprocess.Popen[str], data: PostgresData) -> None:
    """Kill the driver, one of its JVMs, or the connections of the database."""
    if target == "driver":
        os.kill(run.pid, signal.SIGKILL)
    elif target == "java":
        for each in random.sample(found := _java(run.pid), min(1, len(found))):
            os.kill(each, signal.SIGKILL)
    else:
        with psycopg.connect(data.url, autocommit=True) as connection:
            connection.execute(
                "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = 'exchange' AND datname = %s",
                (data.database,),
            )


def struck(start: Callable[[], subprocess.Popen[str]], data: PostgresData, target: str, pause: float) -> None:
    """Start a run, strike after a pause, and wait for its end and that of its JVMs."""
    with ending(start()) as run:
        time.sleep(pause)
        _strike(target, run, data)
        run.communicate(timeout=_DEADLINE_SECONDS)
        for each in _java(run.pid):  # of a driver that is gone: they end by themselves, only later
            os.kill(each, signal.SIGKILL)


def finished(start: Callable[[], subprocess.Popen[str]]) -> None:
    """Run until no lease of the run before is in the way; it must succeed then."""
    deadline = time.monotonic() + _DEADLINE_SECONDS
    while True:
        with ending(start()) as run:
            output, _ = run.communicate(timeout=_DEADLINE_SECONDS)
        if run.returncode not in _LATER or time.monotonic() > deadline:
            break
        time.sleep(1)
    assert run.returncode == 0, output

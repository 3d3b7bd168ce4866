"""Kills of entrypoints that exchange rows with a database: of the driver, a JVM, an executor, or the database."""

from __future__ import annotations

import os
import random
import secrets
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Collection, Sequence
from pathlib import Path
from typing import Any

import psycopg

from tests.databases.datasources import PostgresData, variables
from tests.e2e.commands import ROOT
from tests.short_leases import short_leases
from tests.testbed.running import ending
from tests.testbed.spark import SparkStandalone
from tests.testbed.waiting import becomes_true, state
from toolkit.result import ExitCode

_DEADLINE_SECONDS, _LEASE_SECONDS, _LONGEST_PAUSE = 600.0, 5.0, 25.0
_LATER: Collection[int] = {ExitCode.SKIPPED.value, ExitCode.TERMINATED.value}


def command(entrypoint: str, spark: SparkStandalone | None = None) -> list[str]:
    """Return the command of an entrypoint: Spark in its own process, or on a cluster by ``spark-submit``."""
    if spark is None:
        return [sys.executable, "-m", f"entrypoints.{entrypoint}"]
    return [str(spark.home / "bin/spark-submit"), *spark.submit_options, str(ROOT / f"entrypoints/{entrypoint}.py")]


def environment(spark: SparkStandalone | None = None) -> dict[str, str]:
    """Return the environment of `command`; a lease is over soon after its owner."""
    known = {**variables(), "SPARK_LOCAL_IP": "127.0.0.1", **short_leases(_LEASE_SECONDS)}
    return known if spark is None else {**known, **spark.environment, "PYSPARK_PYTHON": sys.executable}


def started(entrypoint: str, spark: SparkStandalone | None, *arguments: str) -> subprocess.Popen[str]:
    """Start an entrypoint in a session of its own with its JVMs."""
    return subprocess.Popen(
        [*command(entrypoint, spark), *arguments],
        cwd=ROOT,
        env=environment(spark),
        start_new_session=True,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )


def _executors(spark: SparkStandalone) -> list[int]:
    """Return the processes of a cluster's executors."""
    known: Any = state(spark.web, "/json/")
    workers = [f"spark://Worker@127.0.0.1:{each['port']}" for each in known.get("workers", ())]
    found = []
    for each in Path("/proc").iterdir():
        try:
            line = (each / "cmdline").read_text() if each.name.isdigit() else ""
        except OSError:  # it ended meanwhile
            continue
        if "CoarseGrainedExecutorBackend" in line and any(worker in line for worker in workers):
            found.append(int(each.name))
    return found


def _kill_executor(run: subprocess.Popen[str], spark: SparkStandalone) -> None:
    """Kill one executor as soon as there is one, unless the run ends before."""
    deadline = time.monotonic() + _DEADLINE_SECONDS
    while not (found := _executors(spark)) and run.poll() is None and time.monotonic() < deadline:
        time.sleep(0.05)
    for each in random.sample(found, min(1, len(found))):
        os.kill(each, signal.SIGKILL)


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


def _strike(target: str, run: subprocess.Popen[str], data: PostgresData, spark: SparkStandalone | None) -> None:
    """Kill the driver, one of its JVMs, an executor, the database itself, or its connections."""
    if target == "driver" and spark is not None:
        os.killpg(run.pid, signal.SIGKILL)  # spark-submit's JVM is the parent of the driver's Python
    elif target == "driver":
        os.kill(run.pid, signal.SIGKILL)
    elif target == "java":
        becomes_true(lambda: bool(_java(run.pid)) or run.poll() is not None, seconds=_DEADLINE_SECONDS)
        for each in random.sample(found := _java(run.pid), min(1, len(found))):
            os.kill(each, signal.SIGKILL)
    elif target == "executor" and spark is not None:
        _kill_executor(run, spark)
    elif target == "server":
        data.server.kill()
        data.server.start()
    else:
        with psycopg.connect(data.url, autocommit=True) as connection:
            connection.execute(
                "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = 'exchange' AND datname = %s",
                (data.database,),
            )


def struck(
    start: Callable[[], subprocess.Popen[str]],
    data: PostgresData,
    target: str,
    is_time: Callable[[], bool],
    spark: SparkStandalone | None,
) -> bool:
    """Start a run, strike when it is time, wait for its end and that of its JVMs; return whether it failed by that."""
    deadline = time.monotonic() + _DEADLINE_SECONDS
    with ending(start()) as run:
        while not (has_ended := _ends(run, 0.02)) and not is_time():
            assert time.monotonic() < deadline
        if not has_ended:
            _strike(target, run, data, spark)
            run.communicate(timeout=_DEADLINE_SECONDS)
        for each in _java(run.pid):  # of a driver that is gone: they end by themselves, only later
            os.kill(each, signal.SIGKILL)
    return run.returncode != 0


def _ends(run: subprocess.Popen[str], seconds: float) -> bool:
    """Return whether a run ends in so many seconds; its output is read, so that it never waits for a reader."""
    try:
        run.communicate(timeout=seconds)
    except subprocess.TimeoutExpired:
        return False
    return True


def after(pause: float) -> Callable[[], bool]:
    """Return what says whether so many seconds have gone since now."""
    end = time.monotonic() + pause
    return lambda: time.monotonic() > end


def rounds(kill: Callable[[str, float], bool], targets: Sequence[str]) -> None:
    """Kill thirty runs, or as many as ``FEEDCTL_ROUNDS`` says, after random pauses, and print each with the seed."""
    seed = int(os.environ.get("FEEDCTL_SEED") or secrets.randbelow(10**9))
    chance = random.Random(seed)  # noqa: S311 - no secret
    for number in range(int(os.environ.get("FEEDCTL_ROUNDS") or 30)):
        target, pause = chance.choice(targets), chance.uniform(1, _LONGEST_PAUSE)
        has_failed = kill(target, pause)
        print(f"FEEDCTL_SEED={seed} round {number + 1}: {target} after {pause:.1f} s, failed: {has_failed}", flush=True)  # noqa: T201


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

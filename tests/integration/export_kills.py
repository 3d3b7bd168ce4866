"""Exports that are killed at random moments: no half instance, no double row, and no staging table after the next."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import psycopg
import pyarrow as pa
import pyarrow.parquet as pq

from tests.databases.datasources import PostgresData, variables
from tests.databases.export_repo import T1, ExportRepo
from tests.e2e.commands import ROOT
from tests.short_leases import short_leases
from tests.testbed.running import ending
from toolkit.result import ExitCode

ROWS = 40_000
_DEADLINE_SECONDS, _LEASE_SECONDS = 600.0, 5.0
_LATER = {ExitCode.SKIPPED.value, ExitCode.TERMINATED.value}


def filled(repo: ExportRepo) -> None:
    """Write an instance with many rows, half of which the table has already."""
    place = repo.files / T1[:10]
    place.mkdir(parents=True)
    ids = pa.array(range(1, ROWS + 1), pa.int32())
    days = pa.array(["2026-03-01"] * ROWS).cast(pa.date32())
    table = pa.table({"id": ids, "day": days, "note": pa.array(["new"] * ROWS)})
    for number in range(4):
        part = table.slice(number * ROWS // 4, ROWS // 4)
        pq.write_table(part, place / f"part-{number}.parquet")
    (place / "_SUCCESS").touch()
    repo.data.run("TRUNCATE orders")
    repo.data.run(f"INSERT INTO orders SELECT g, '2026-03-01', 'old' FROM generate_series(1, {ROWS // 2}) g")  # noqa: S608


def started(repo: ExportRepo) -> subprocess.Popen[str]:
    """Start the entrypoint in a group of its own with its JVMs; a lease is over soon after its owner."""
    command = [sys.executable, "-m", "entrypoints.db_export", "--config-repo", str(repo.path), "--allow-dirty"]
    return subprocess.Popen(
        [*command, "--feed", "orders", "--time", T1, "--start", T1],
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


def state(repo: ExportRepo) -> str:
    """Return whether the table has none or all of the instance.

    Raises:
        AssertionError: it has a part of it, or a row twice.
    """
    found = [tuple(row) for row in repo.data.rows("SELECT note, count(*) FROM orders GROUP BY note ORDER BY note")]
    assert found in ([("old", ROWS // 2)], [("new", ROWS)]), found
    return str(found[0][0])


def kill_and_finish(repo: ExportRepo, data: PostgresData, target: str, pause: float) -> None:
    """Start an export, strike after a pause, see that it is none or all, and export until it is done."""
    with ending(started(repo)) as run:
        time.sleep(pause)
        _strike(target, run, data)
        run.communicate(timeout=_DEADLINE_SECONDS)
        for each in _java(run.pid):  # of a driver that is gone: they end by themselves, only later
            os.kill(each, signal.SIGKILL)
    state(repo)
    deadline = time.monotonic() + _DEADLINE_SECONDS
    while True:
        with ending(started(repo)) as run:
            output, _ = run.communicate(timeout=_DEADLINE_SECONDS)
        if run.returncode not in _LATER or time.monotonic() > deadline:
            break
        time.sleep(1)
    assert run.returncode == 0, output
    assert state(repo) == "new"
    assert repo.tables() == {"orders", "feedctl_export"}

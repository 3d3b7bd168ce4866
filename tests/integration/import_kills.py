"""Imports that are killed at random moments: nothing half is visible, and the next run makes the instance whole."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import psycopg

from tests.databases.datasources import PostgresData, variables
from tests.e2e.commands import ROOT
from tests.short_leases import short_leases
from tests.testbed.running import ending
from tests.unit.exchange.import_site import ImportSite

ROWS = 30_000
NOMINAL = "2026-03-03T00:00Z"
_NOT_YET = {5, 143}
_DEADLINE_SECONDS, _LEASE_SECONDS = 600.0, 5.0


def _started(site: ImportSite) -> subprocess.Popen[str]:
    """Start the entrypoint, in a group of its own with its JVMs; a lease is over soon after its owner."""
    command = [sys.executable, "-m", "entrypoints.db_import", "--config-repo", str(site.root / "repo")]
    chosen = ["--feed", "customers", "--time", NOMINAL, "--start", NOMINAL]
    known = {**variables(), "SPARK_LOCAL_IP": "127.0.0.1", **short_leases(_LEASE_SECONDS)}
    return subprocess.Popen(
        [*command, *chosen],
        cwd=ROOT,
        env=known,
        start_new_session=True,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )


def _java(group: int) -> list[int]:
    """Return the JVMs of a process group."""
    found = []
    for each in Path("/proc").iterdir():
        if each.name.isdigit():
            try:
                if os.getpgid(int(each.name)) == group and "java" in (each / "cmdline").read_text().split("\0")[0]:
                    found.append(int(each.name))
            except OSError:  # it ended meanwhile
                continue
    return found


def _strike(target: str, run: subprocess.Popen[str], data: PostgresData) -> None:
    """Kill the driver with its JVMs, one JVM alone, or the connections of the database."""
    if target == "driver":
        os.killpg(run.pid, signal.SIGKILL)
    elif target == "java":
        for each in random.sample(_java(run.pid), min(1, len(_java(run.pid)))):
            os.kill(each, signal.SIGKILL)
    else:
        with psycopg.connect(data.url, autocommit=True) as connection:
            connection.execute(
                "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = 'exchange' AND datname = %s",
                (data.database,),
            )


def kill_and_finish(site: ImportSite, data: PostgresData, target: str, pause: float) -> None:
    """Start an import, strike after a pause, see that nothing half is visible, and import until it is done."""
    with ending(_started(site)) as run:
        time.sleep(pause)
        _strike(target, run, data)
        run.communicate(timeout=_DEADLINE_SECONDS)
    assert is_whole(site)
    deadline = time.monotonic() + _DEADLINE_SECONDS
    while True:
        with ending(_started(site)) as run:
            output, _ = run.communicate(timeout=_DEADLINE_SECONDS)
        if run.returncode not in _NOT_YET or time.monotonic() > deadline:
            break
        time.sleep(1)
    assert run.returncode == 0, output
    assert site.names("2026-03-03")
    assert is_whole(site)
    assert site.left() == []
    assert site.ledger("select count(*) from item where state = 'intended'") == [(0,)]


def is_whole(site: ImportSite) -> bool:
    """Return whether the instance is absent, or has each row once."""
    import pyarrow.parquet as pq  # noqa: PLC0415 - an extra

    if not site.names("2026-03-03"):
        return True
    files = [each for each in site.place("2026-03-03").iterdir() if each.suffix == ".parquet"]
    ids = [value for each in files for value in pq.ParquetFile(each).read(columns=["id"])["id"].to_pylist()]
    return sorted(ids) == list(range(1, ROWS + 1)) and (site.place("2026-03-03") / "_SUCCESS").exists()


def filled(data: PostgresData) -> None:
    """Fill the table."""
    data.run("CREATE TABLE customers AS SELECT g AS id, repeat('x', 100) AS note FROM generate_series(1, 30000) g")

"""`feedctl instance status` of a month of a minutes(5) process, as a whole process, with very many runs recorded."""

from __future__ import annotations

import os
import subprocess
import tempfile
import time
from collections.abc import Callable, Mapping
from contextlib import closing
from datetime import UTC, datetime, timedelta
from pathlib import Path
from statistics import median

import sqlalchemy as sa

from benchmarks import ledger_filling as filling
from benchmarks.whole_process import PROGRAMS
from tests.databases.graphs import CLUSTER

ROUNDS = 5
PROCESSES = 10
_LAST = datetime(2026, 4, 2, tzinfo=UTC)
_MONTH = ["--start", "2026-03-01T00:00Z", "--end", "2026-04-01T00:00Z"]
_INSTANCES = 31 * 24 * 12
_REPO = {
    "repo.yaml": "name: bench\nowners: [data@example.com]\n",
    f"clusters/{CLUSTER}.yaml": f"kind: cluster\nname: {CLUSTER}\ncolo: colo1\n"
    'interfaces: {write: {endpoint: "hdfs://nn1:8020", version: "3.4"}}\n',
    "workflows/job.sql": "SELECT 1;\n",
}


def of_a_month(databases: Mapping[str, Callable[[str], sa.URL]], runs: int, goal: float) -> bool:
    """Prints the seconds on each database; whether all are below the goal."""
    print(f"feedctl instance status of {_INSTANCES:,} instances, {runs:,} runs in the ledger, whole processes")
    with tempfile.TemporaryDirectory() as name:
        repo = _written(Path(name))
        urls = {database: _filled(make("runs"), runs) for database, make in databases.items()}
        requested = [(database, output) for database in urls for output in ("text", "json")]
        rounds = [[_seconds(repo, urls[database], output) for database, output in requested] for _ in range(ROUNDS + 1)]
    found = [median(times) for times in zip(*rounds[1:], strict=True)]
    for (database, output), each in zip(requested, found, strict=True):
        print(f"  {database:12} --output {output:6} {each:6.2f} s")
    print(f"  goal: under {goal:.0f} s")
    return all(each < goal for each in found)


def _filled(url: sa.URL, runs: int) -> sa.URL:
    with closing(filling.registered(url)) as ledger:
        each = runs // PROCESSES
        for number in range(PROCESSES):
            filling.record_runs(ledger, _name(number), each, _LAST - each * timedelta(minutes=5))
        filling.settle(ledger)
    return url


def _written(repo: Path) -> Path:
    """A config repo with the processes."""
    files = {**_REPO, **{f"processes/{_name(number)}.yaml": _process(_name(number)) for number in range(PROCESSES)}}
    for name, text in files.items():
        (repo / name).parent.mkdir(parents=True, exist_ok=True)
        (repo / name).write_text(text)
    return repo


def _name(number: int) -> str:
    return f"every_five_minutes_{number}"


def _process(name: str) -> str:
    return f"""\
kind: process
name: {name}
clusters: [{{name: {CLUSTER}, validity: {{start: 2000-01-01T00:00Z, end: 2099-01-01T00:00Z}}}}]
parallel: 1
order: FIFO
frequency: minutes(5)
workflow: {{engine: spark_sql, path: workflows/job.sql}}
"""


def _seconds(repo: Path, url: sa.URL, output: str) -> float:
    """The wall-clock time of one whole process, which must tell of each instance that it succeeded."""
    command = [str(PROGRAMS / "feedctl"), "instance", "status", _name(PROCESSES // 2), *_MONTH, "--output", output]
    environment = {**os.environ, "FEEDCTL_LEDGER": url.render_as_string().replace("+psycopg", "")}
    began = time.perf_counter()
    reported = subprocess.run(
        [*command, "--config-repo", str(repo)], env=environment, check=True, stdout=subprocess.PIPE, text=True
    )
    taken = time.perf_counter() - began
    assert reported.stdout.lower().count("succeeded") >= _INSTANCES
    return taken

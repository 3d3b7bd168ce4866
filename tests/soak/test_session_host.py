"""Kills of a shared application, of its steps and of its runner; and what a thousand steps leave in one.

`FEEDCTL_ROUNDS` and `FEEDCTL_STEPS` say how many.
"""

from __future__ import annotations

import json
import os
import random
import re
import signal
import subprocess
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.e2e.spark_site import SparkSite
from tests.integration.process_runs import KEYS
from tests.integration.validated_runs import ValidatedRuns
from tests.soak.chance import seeded
from toolkit.cli.main import main
from toolkit.entities import SparkAttributes, Workflow
from toolkit.programs import shared_session
from toolkit.programs.left_over import processes_of
from toolkit.programs.opening import opened_engines
from toolkit.programs.port import StepCall

pytestmark = pytest.mark.soak

ROUNDS = int(os.environ.get("FEEDCTL_ROUNDS") or 20)
STEPS = int(os.environ.get("FEEDCTL_STEPS") or 1000)
INSTANCES = 3
_PATIENCE_SECONDS = 1200
"""For what takes a minute on a quiet machine: these loops run beside other work."""
COUNT = """CREATE TABLE read USING text LOCATION '${clicks}';
SELECT if(value LIKE 'exit%', java_method('java.lang.System', 'exit', 3), 'goes on') FROM read;
INSERT OVERWRITE DIRECTORY '${counts}' USING json SELECT '${nominalTime}' AS at, count(*) AS lines FROM read"""
SUITE = """expectations:
  - {type: expect_column_values_to_be_between, kwargs: {column: lines, min_value: 1}}
  - {type: expect_column_values_to_be_unique, kwargs: {column: lines}}
"""


@pytest.fixture
def temporary(monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Return a directory for temporary files of this test alone; its path is short."""
    with tempfile.TemporaryDirectory(dir="/tmp", ignore_cleanup_errors=True) as name:
        monkeypatch.setenv("TMPDIR", name)
        monkeypatch.setattr(tempfile, "tempdir", name)
        yield Path(name)


@pytest.mark.parametrize("whom", ["host", "step", "runner"])
def test_each_instance_is_made_and_validated_once_whoever_is_killed(
    tmp_path: Path, temporary: Path, java_home: Path, monkeypatch: pytest.MonkeyPatch, whom: str
) -> None:
    monkeypatch.setenv("JAVA_HOME", str(java_home))
    monkeypatch.setenv("SPARK_LOCAL_IP", "127.0.0.1")
    chance = seeded()
    for number in range(ROUNDS):
        runs = ValidatedRuns(directory=tmp_path / f"{whom}{number}")
        write(runs)
        (runs.directory / "bin/spark-submit").unlink()
        begun = time.monotonic()
        killed(runs, whom, chance)
        run_on(runs)
        require_whole(runs, temporary)
        print(f"round {number + 1} of {ROUNDS}, {whom}: {time.monotonic() - begun:.0f} s", flush=True)  # noqa: T201


def write(runs: ValidatedRuns) -> None:
    """Write a process whose instances share an application, and their inputs."""
    runs.directory.mkdir()
    spark = "{master: 'local[2]', conf: {spark.ui.enabled: false, spark.sql.shuffle.partitions: 1}}"
    workflow = f"workflow: {{engine: spark_sql, path: workflows/count.sql, spark: {spark}}}"
    runs.write(workflow, more="parallel: 2", flag="")
    (runs.directory / "repo/workflows/count.sql").write_text(COUNT)
    (runs.directory / "repo/expectations/counts.yaml").write_text(SUITE)
    runs.fill(*KEYS[:INSTANCES])


def killed(runs: ValidatedRuns, whom: str, chance: random.Random) -> None:
    """Run all instances, and kill someone at a moment after the application is up."""
    bad = chance.choice(KEYS[:INSTANCES])
    if whom == "step":
        (runs.at("clicks", bad) / "part-0").write_text("exit\n")
    with runs.started("--due", time=KEYS[INSTANCES - 1]) as run:
        deadline = time.monotonic() + _PATIENCE_SECONDS
        while run.poll() is None and "feedctl: application" not in "".join(map(text_of, hosts(runs))):
            assert time.monotonic() < deadline
            time.sleep(0.05)
        if whom != "step":
            time.sleep(chance.uniform(0, 8))
            victims = {run.pid} if whom == "runner" else of_application(runs, chance)
            for pid in victims:
                kill(pid)
        run.communicate(timeout=_PATIENCE_SECONDS)
    if whom == "step":
        runs.fill(bad)


def hosts(runs: ValidatedRuns) -> list[Path]:
    return list(runs.directory.glob("logs/*/count/primary/session/*/host.log"))


def text_of(log: Path) -> str:
    return log.read_text(errors="replace")


def of_application(runs: ValidatedRuns, chance: random.Random) -> set[int]:
    """Return the JVM of an application, its Python, its supervisor, or some of them."""
    there = sorted(pid for log in hosts(runs) for pid in processes_of(log))
    return set(chance.sample(there, chance.randint(1, len(there)))) if there else set()


def kill(pid: int) -> None:
    try:
        os.kill(pid, signal.SIGKILL)
    except ProcessLookupError:
        return


def run_on(runs: ValidatedRuns) -> None:
    """Run again until each instance has succeeded; those that are left share an application."""
    os.environ["FEEDCTL_LOG_DIR"] = str(runs.directory / "logs")
    deadline = time.monotonic() + _PATIENCE_SECONDS
    command = ["backfill", "count", *runs.repo, "--start", KEYS[0], "--end", KEYS[INSTANCES], "--keep-going"]
    while len(runs.query("SELECT DISTINCT instance_key FROM run WHERE status = 'succeeded'")) < INSTANCES:
        assert time.monotonic() < deadline, runs.statuses()
        if code := main(command):
            print(runs.statuses(), code)  # noqa: T201
            time.sleep(1)  # the lease of the dead has not run out


def require_whole(runs: ValidatedRuns, temporary: Path) -> None:
    """Each instance was made from its input, validated and announced once; nothing else is left."""
    for key in KEYS[:INSTANCES]:
        rows = "".join(each.read_text() for each in runs.at("counts", key).glob("part-*"))
        assert json.loads(rows)["lines"] == 1
    announced = [hour for kind, hour in runs.events() if kind == "available"]
    assert sorted(announced) == [key[11:13] for key in KEYS[:INSTANCES]]
    succeeded = runs.query("SELECT instance_key, count(*) FROM run WHERE status = 'succeeded' GROUP BY instance_key")
    assert sorted(succeeded) == [(key, 1) for key in KEYS[:INSTANCES]]
    assert {key for (key,) in runs.query("SELECT instance_key FROM verdict WHERE state = 'passed'")} == set(
        KEYS[:INSTANCES]
    )
    deadline = time.monotonic() + _PATIENCE_SECONDS
    while runs.alive():
        assert time.monotonic() < deadline, runs.alive()
        time.sleep(0.1)
    assert not list(temporary.glob("feedctl-session-*"))


SCRIPT = """CREATE TEMPORARY VIEW v AS SELECT id, id % 7 AS k FROM range(${n}, ${n} + 1000);
CREATE TEMPORARY FUNCTION f${n}(a INT) RETURNS INT RETURN a + 1;
CREATE TABLE t${n} USING json LOCATION '${place}' AS SELECT k, count(*) AS c FROM v GROUP BY k;
CACHE TABLE c AS SELECT * FROM t${n}; SET feedctl.n = ${n};
SELECT sum(f${n}(c)) FROM c"""


def test_an_application_does_not_grow_with_its_steps(
    tmp_path: Path, temporary: Path, java_home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(shared_session, "_MOST_STEPS", STEPS + 1)
    del temporary
    figures: list[tuple[int, float, int, float]] = []
    with opened_engines() as engines:
        site = SparkSite(engines=engines, directory=tmp_path, java_home=java_home)
        for number in range(STEPS):
            end, _ = site.run(step(site, number))
            assert end.succeeded, (number, end)
            if number % max(STEPS // 20, 1) == 0 or number == STEPS - 1:
                figures.append((number, *figures_of(tmp_path)))
                print("step {}: heap {:.1f} MB, {} threads, Python {:.0f} MB".format(*figures[-1]), flush=True)  # noqa: T201
    assert len(list(tmp_path.glob("logs/ledger/count/primary/session/*"))) == 1
    settled = figures[len(figures) // 4]  # what is loaded and compiled once is there
    last = figures[-1]
    steps = last[0] - settled[0]
    grown = (last[1] - settled[1]) * 1024 / steps, (last[3] - settled[3]) * 1024 / steps
    print(f"a step: {grown[0]:.1f} KB of heap, {grown[1]:.1f} KB of Python's memory")  # noqa: T201
    assert grown[0] < 100, figures  # 500 steps: 50 MB
    assert last[2] < settled[2] + 20, figures


def step(site: SparkSite, number: int) -> StepCall:
    """Return a step with everything that a session could leave behind."""
    place = str(site.directory / "tables" / str(number))
    conf = {"spark.ui.enabled": False, "spark.sql.shuffle.partitions": 1}
    workflow = Workflow(spark=SparkAttributes(conf=conf))
    return site.call(SCRIPT, workflow=workflow, properties={"n": str(number), "place": place})


def figures_of(directory: Path) -> tuple[float, int, float]:
    """Return the live heap of the application in MB, the threads of its JVM, and the memory of its Python in MB."""
    (log,) = directory.glob("logs/ledger/count/primary/session/*/host.log")
    commands = {pid: Path(f"/proc/{pid}/cmdline").read_bytes() for pid in processes_of(log)}
    (jvm,) = (pid for pid, command in commands.items() if b"SparkSubmit" in command)
    (python,) = (pid for pid, command in commands.items() if b"session_host.py" in command and pid != jvm)
    shown = subprocess.run(["jcmd", str(jvm), "GC.class_histogram"], capture_output=True, text=True, check=True)
    (total,) = re.findall(r"^Total\s+\d+\s+(\d+)", shown.stdout, re.MULTILINE)
    return int(total) / 2**20, int(status(jvm, "Threads")), int(status(python, "VmRSS").split()[0]) / 1024


def status(pid: int, name: str) -> str:
    lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    return next(line.partition(":")[2].strip() for line in lines if line.startswith(f"{name}:"))

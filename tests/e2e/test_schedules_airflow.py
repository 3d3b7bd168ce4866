"""Airflow 3 runs what `feedctl export airflow` writes: real retention, and a process whose input comes late."""

from __future__ import annotations

import os
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from benchmarks.peers.airflow_peer import NoPeer, airflow_python
from tests.e2e.commands import BIN, ROOT
from tests.e2e.tiny_repo import NOMINAL_TIME, TinyRepo, make_tiny_repo
from toolkit.cli.main import main

DAG = "feedctl.prod.local"
AT = "2026-03-20T12:00:00+00:00"
MOST_SECONDS = 500
PROCESS = """\
kind: process
name: count
domain: web
frequency: days(1)
clusters: [{name: local, validity: {start: 2026-03-20T00:00Z, end: 2099-01-01T00:00Z}}]
inputs:
  clicks: {feed: clicks, start: "today(0,0)", end: "today(0,0)"}
workflow: {engine: command, path: workflows/count.sh}
"""
SECTION = f"""\
schedules:
  entrypoints: {ROOT / "entrypoints"}
  config_repo: REPO
  spark_submit: {BIN / "spark-submit"}
  feedctl: {BIN / "feedctl"}
  look_again: minutes(1)
"""

pytestmark = [pytest.mark.soak, pytest.mark.slow, pytest.mark.timeout(3 * MOST_SECONDS)]


class Airflow:
    """Airflow's command, on a database and a folder of DAGs of the test's own."""

    def __init__(self, home: Path, dags: Path, java_home: Path) -> None:
        self.python = airflow_python()
        self.environment = {
            "PATH": f"{BIN}:{os.environ['PATH']}",
            "HOME": os.environ.get("HOME", "/"),
            "JAVA_HOME": str(java_home),
            "SPARK_LOCAL_IP": "127.0.0.1",
            "AIRFLOW_HOME": str(home),
            "AIRFLOW__CORE__DAGS_FOLDER": str(dags),
            "AIRFLOW__CORE__LOAD_EXAMPLES": "False",
            "PYTHONDONTWRITEBYTECODE": "1",
        }

    def __call__(self, *arguments: str) -> str:
        ran = subprocess.run(
            [self.python, "-m", "airflow", *arguments],
            env=self.environment,
            capture_output=True,
            text=True,
            check=False,
            timeout=MOST_SECONDS,
        )
        assert ran.returncode == 0, ran.stdout + ran.stderr
        return ran.stdout + ran.stderr

    @contextmanager
    def testing(self, dag: str, log: Path) -> Iterator[subprocess.Popen[bytes]]:
        """``dags test``, while it runs; what it says is in the file."""
        with (
            log.open("wb") as stream,
            subprocess.Popen(
                [self.python, "-m", "airflow", "dags", "test", dag, AT],
                env=self.environment,
                stdout=stream,
                stderr=subprocess.STDOUT,
            ) as process,
        ):
            try:
                yield process
            finally:
                process.kill()


@pytest.fixture
def tiny(tmp_path: Path) -> TinyRepo:
    repo = make_tiny_repo(tmp_path)
    (repo.path / "repo.yaml").write_text(f"name: tiny\nledger: sqlite:///{tmp_path}/ledger.db\nenvironments: [prod]\n")
    more = {
        "environments/prod.yaml": SECTION.replace("REPO", str(repo.path)),
        "processes/count.yaml": PROCESS,
        "workflows/count.sh": f"#!/bin/sh\nls {repo.young.parent.parent} >{tmp_path}/counted\n",
    }
    for name, text in more.items():
        (repo.path / name).parent.mkdir(exist_ok=True)
        (repo.path / name).write_text(text)
    (repo.path / "workflows" / "count.sh").chmod(0o755)
    return repo


@pytest.fixture
def airflow(tiny: TinyRepo, tmp_path: Path, java_home: Path) -> Airflow:
    """With the DAGs of the repo, and an empty database."""
    dags = tmp_path / "dags"
    assert main(["export", "airflow", "--config-repo", str(tiny.path), "--env", "prod", "--into", str(dags)]) == 0
    try:
        command = Airflow(tmp_path / "airflow", dags, java_home)
    except NoPeer as why:
        pytest.skip(str(why))
    command("db", "migrate")
    command("dags", "reserialize")
    return command


def test_retention_runs_and_a_process_comes_again_until_its_input_is_there(
    airflow: Airflow, tiny: TinyRepo, tmp_path: Path
) -> None:
    assert "No data found" in airflow("dags", "list-import-errors")
    airflow("dags", "test", DAG, AT)
    assert (tiny.old.exists(), tiny.young.exists()) == (False, True)
    log = tmp_path / "log"
    with airflow.testing(f"{DAG}.web", log) as process:
        _wait_for(log, "UP_FOR_RESCHEDULE")
        assert not (tmp_path / "counted").exists()
        came = tiny.young.with_name("20")
        came.mkdir()
        (came / "part-0").write_text("x")
        assert process.wait(MOST_SECONDS) == 0, log.read_text()
    assert (tmp_path / "counted").exists()
    output = log.read_text()
    assert output.count(f"process.py --process count --cluster local --due --config-repo {tiny.path}") <= 4
    assert NOMINAL_TIME in output
    assert "state=success" in output


def _wait_for(log: Path, what: str) -> None:
    for _ in range(MOST_SECONDS):
        if what in log.read_text():
            return
        time.sleep(1)
    pytest.fail(f"no {what} in\n{log.read_text()}")

"""`feedctl doctor` as a program: on the template, and with the executors of Spark."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.e2e.commands import BIN, ROOT

if TYPE_CHECKING:
    from tests.testbed.spark import SparkStandalone

_TEMPLATE = ROOT / "config_repo_template"
_ENTRYPOINT = ROOT / "entrypoints" / "doctor.py"
_ELSEWHERE = Path("/")  # in the checkout every Python finds feedctl
"""Seconds; a master that is not understood is given up after five."""
_SECRETS = {"AWS_SECRET_ACCESS_KEY": "wJalrXUtnFEMI", "FEEDCTL_LEDGER_PASSWORD": "hunter2hunter2"}


def _run(*command: str | Path, env: Mapping[str, str] | None = None) -> subprocess.CompletedProcess[str]:
    known = {**os.environ, **_SECRETS, "PYSPARK_PYTHON": sys.executable, **(env or {})}
    return subprocess.run(command, env=known, cwd=_ELSEWHERE, capture_output=True, text=True, check=False, timeout=280)


def _repo(directory: Path, base: Path) -> Path:
    (directory / "clusters").mkdir(parents=True)
    (directory / "repo.yaml").write_text("name: doctor\n")
    text = f"kind: cluster\nname: lake\ninterfaces: {{write: {{endpoint: 'file://{base}'}}}}\n"
    (directory / "clusters/lake.yaml").write_text(text)
    return directory


def test_the_template_has_nothing_that_fails() -> None:
    done = _run(BIN / "feedctl", "doctor", "--config-repo", _TEMPLATE, "--output", "json")
    document = json.loads(done.stdout)
    assert (done.returncode, done.stderr) == (0, "")
    assert (document["schema_version"], document["counts"]["failed"]) == (1, 0)
    abouts = {check["about"] for check in document["checks"]}
    assert abouts == {"driver", "tokens", "config", "ledger", "cluster primary"}


@pytest.mark.extended
def test_a_table_is_for_people_and_says_no_secret() -> None:
    done = _run(BIN / "feedctl", "doctor", "--config-repo", _TEMPLATE)
    assert done.stdout.startswith("ABOUT")
    assert [secret for secret in _SECRETS.values() if secret in done.stdout + done.stderr] == []


@pytest.mark.extended
def test_a_failure_is_exit_code_1_and_wrong_usage_2(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x")
    repo = _repo(tmp_path / "repo", tmp_path / "file" / "root")
    (repo / "feeds").mkdir()
    (repo / "clusters/lake.yaml").write_text(
        "kind: cluster\nname: lake\ninterfaces: {write: {endpoint: 'webhdfs://127.0.0.1:1'}}\n"
    )
    assert _run(BIN / "feedctl", "doctor", "--config-repo", repo).returncode == 1
    assert _run(BIN / "feedctl", "doctor", "--config-repo", repo, "--cluster", "none").returncode == 2


@pytest.mark.slow
@pytest.mark.extended
def test_executors_without_feedctl_are_found_out(tmp_path: Path, java_home: Path) -> None:
    repo = _repo(tmp_path / "repo", tmp_path)
    bare = tmp_path / "python"
    bare.write_text(f'#!/bin/sh\nexec "{sys.base_prefix}/bin/python3" "$@"\n')
    bare.chmod(0o755)
    env = {"JAVA_HOME": str(java_home), "SPARK_LOCAL_IP": "127.0.0.1", "PYSPARK_PYTHON": str(bare)}
    done = _run(BIN / "feedctl", "doctor", "--config-repo", repo, "--spark", "--output", "json", env=env)
    (found,) = _on_executors(done)
    assert (done.returncode, found["status"]) == (1, "failed")
    assert "No module named 'toolkit'" in str(found["found"])
    assert "--archives" in str(found["todo"])


@pytest.mark.slow
@pytest.mark.extended
def test_every_executor_of_a_cluster_is_asked(tmp_path: Path, spark_cluster: SparkStandalone) -> None:
    repo = _repo(tmp_path / "repo", tmp_path)
    submit = spark_cluster.home / "bin" / "spark-submit"
    arguments = (_ENTRYPOINT, "--config-repo", repo, "--spark", "--output", "json")
    done = _run(submit, *spark_cluster.submit_options, *arguments, env=spark_cluster.environment)
    versions, store = _on_executors(done)
    assert done.returncode == 0, done.stderr
    assert str(versions["found"]).startswith("2 executors with Python")
    assert (store["status"], store["found"]) == ("ok", "answers from there")


def _on_executors(done: subprocess.CompletedProcess[str]) -> list[dict[str, object]]:
    assert done.stdout, done.stderr
    checks: list[dict[str, object]] = json.loads(done.stdout)["checks"]
    return [check for check in checks if check["about"] == "executors"]

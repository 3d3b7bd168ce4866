"""A run that needs no executors makes no Spark context, and loads neither pyspark nor what draws on terminals."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from tests.e2e.commands import BIN, ROOT, run
from tests.e2e.tiny_repo import make_tiny_repo, retention_arguments
from tests.integration.replications import DUE, KEYS, End, Replication, hour, outcomes

pytestmark = pytest.mark.slow

PROBE = """\
import runpy, sys
sys.argv = sys.argv[1:]
try:
    runpy.run_path(sys.argv[0], run_name="__main__")
finally:
    unwanted = {"pyspark", "py4j", "botocore", "hdfs_native", "rich"}
    loaded = sorted(unwanted & {name.partition(".")[0] for name in sys.modules})
    open("loaded", "w").write(" ".join(loaded))
"""


def test_python_alone_replicates_where_there_is_no_java(tmp_path: Path) -> None:
    ends = [End(uri=f"file://{tmp_path / name}") for name in ("from", "to")]
    for name in ("from", "to"):
        (tmp_path / name).mkdir()
    copying = Replication(directory=tmp_path, sources={"primary": ends[0]}, target=ends[1])
    wanted = {name: content for number in range(DUE) for name, content in hour(number).items()}
    ends[0].fill(wanted)
    script = run(BIN / "feedctl", "entrypoint", "replication", cwd=tmp_path).strip()
    command = [sys.executable, script, *copying.arguments("--output", "json")]
    done = subprocess.run(command, cwd=tmp_path, env={"PATH": str(BIN)}, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert outcomes(json.loads(done.stdout)) == [(key, "done", None) for key in KEYS]
    assert ends[1].files(hidden=True) == wanted


@pytest.mark.extended
def test_a_local_eviction_under_spark_submit_loads_no_pyspark(tmp_path: Path, java_home: Path) -> None:
    repo, probe = make_tiny_repo(tmp_path), tmp_path / "probe.py"
    probe.write_text(PROBE)
    settings = repo.path / "repo.yaml"
    settings.write_text(settings.read_text() + "executors_above: 0\n")
    submit: list[str | Path] = [BIN / "spark-submit", probe, ROOT / "entrypoints" / "retention.py"]
    env = {"JAVA_HOME": str(java_home), "PYTHONPATH": str(ROOT)}
    result = json.loads(run(*submit, *retention_arguments(repo), cwd=tmp_path, env=env))
    assert (result["status"], repo.old.exists()) == ("succeeded", False)
    assert (tmp_path / "loaded").read_text() == ""

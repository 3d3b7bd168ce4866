"""The oldest Spark that feedctl supports starts the same entrypoint, in a Python that has no feedctl: a smoke test."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.e2e.commands import ROOT, build_zip, run
from tests.e2e.tiny_repo import make_tiny_repo, retention_arguments

pytestmark = [pytest.mark.slow, pytest.mark.extended]

BIN = ROOT / ".venv-spark35" / "bin"


@pytest.mark.skipif(not BIN.exists(), reason="no .venv-spark35; `make spark35` makes it")
def test_retention_runs_on_spark_3_5(tmp_path: Path, java_home: Path) -> None:
    repo = make_tiny_repo(tmp_path)
    assert run(BIN / "python", "-c", "import pyspark; print(pyspark.__version__)", cwd=tmp_path).startswith("3.5.")
    submit: list[str | Path] = [
        BIN / "spark-submit",
        "--py-files",
        build_zip(tmp_path),
        ROOT / "entrypoints" / "retention.py",
    ]
    answer = run(*submit, *retention_arguments(repo), cwd=tmp_path, programs=BIN, env={"JAVA_HOME": str(java_home)})
    assert json.loads(answer)["status"] == "succeeded"
    assert (repo.old.exists(), repo.young.exists()) == (False, True)

"""Tests of what the fixtures do on a machine that lacks a program."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.extended

_ROOT = Path(__file__).resolve().parents[3]


@pytest.mark.parametrize(("ci", "ended"), [({}, (0, "1 skipped")), ({"CI": "true"}, (1, "1 error"))])
@pytest.mark.parametrize(("fixture", "package"), [("hdfs", "maven"), ("spark_cluster", "openjdk-17-jre-headless")])
def test_without_a_program_tests_skip_aloud_but_fail_in_ci(
    tmp_path: Path, java_home: Path, ci: dict[str, str], ended: tuple[int, str], fixture: str, package: str
) -> None:
    (tmp_path / "test_it.py").write_text(f"def test_it({fixture}): pass")
    java = {"JAVA_HOME": str(java_home)} if package == "maven" else {"JVM_DIR": str(tmp_path)}
    for tool in ("sh", "sed", "awk", "sort", "head"):
        (tmp_path / tool).symlink_to(f"/usr/bin/{tool}")
    answer = subprocess.run(
        [sys.executable, "-m", "pytest", "-p", "tests.testbed.fixtures", "-q", "-rsE", "-p", "no:cacheprovider"],
        env={"PATH": str(tmp_path), "PYTHONPATH": str(_ROOT), "XDG_CACHE_HOME": str(tmp_path), **java, **ci},
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )
    status, outcome = ended
    assert answer.returncode == status, answer.stdout
    assert outcome in answer.stdout
    assert f"apt-get install {package}" in answer.stdout

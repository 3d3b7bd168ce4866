"""Runs that are killed at each point, and the runs that go on."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tests.unit.ingest_job.killed_run import scene_in
from tests.unit.ingest_job.scene import line
from toolkit.result import ExitCode

pytestmark = pytest.mark.extended
ROOT = Path(__file__).parents[3]


@pytest.mark.parametrize(
    ("point", "number"),
    [
        ("written", 1),
        ("before commit", 3),
        ("in commit", 1),
        ("after commit", 3),
        ("before archive", 2),
        ("after archive", 1),
    ],
)
def test_the_table_has_each_record_once_after_a_kill(tmp_path: Path, point: str, number: int) -> None:
    scene = scene_in(tmp_path, "archive")
    words = [f"{name}{number:02}" for name in "abc" for number in range(10)]
    for name in "abc":
        scene.put(f"{name}.json", *(line(word) for word in words if word.startswith(name)))
    command = [sys.executable, "-m", "tests.unit.ingest_job.killed_run", str(tmp_path), "archive", point, str(number)]
    assert subprocess.run(command, cwd=ROOT, check=False).returncode == -9
    result = scene_in(tmp_path, "archive").run()
    assert (result.exit_code, scene.table.words) == (ExitCode.DONE, words)
    assert list(scene.inbox.iterdir()) == []
    assert len(list((tmp_path / "archive").iterdir())) == 3

"""Archiving through the real spark-submit: a run that is killed in the middle, and the next one."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import time
from pathlib import Path

import pytest

from tests.e2e.retention_process import Repo, command, environment, when_free
from tests.testbed.running import ending

pytestmark = [pytest.mark.slow, pytest.mark.extended]
INSTANCES = 600
MINUTE = "${YEAR}/${MONTH}/${DAY}/${HOUR}/${MINUTE}"
DAY = "2026/03/01"


def _filled(directory: Path) -> Repo:
    archive = f'{{cluster: primary, locations: {{data: "/old/clicks/{MINUTE}"}}}}'
    repo = Repo.make(directory, {"clicks": f"{{limit: days(10), action: archive, archive: {archive}}}"})
    repo.fill(DAY, INSTANCES)
    for file in (repo.data / "clicks").rglob("part-*"):
        file.write_text(str(file.relative_to(repo.data / "clicks")))
    repo.fill("2026/03/19", 2)
    (repo.data / "old/clicks").mkdir(parents=True)
    return repo


def _archived(repo: Repo) -> dict[str, str]:
    top = repo.data / "old/clicks"
    return {str(file.relative_to(top)): file.read_text() for file in top.rglob("*") if file.is_file()}


def _whole(repo: Repo, top: str) -> set[str]:
    """The instances below a directory that have all of their files; others may come and go meanwhile."""
    found = os.walk(repo.data / top / DAY)
    whole = [place for place, _, files in found if {"part-0", "part-1"} <= set(files) and ".feedctl" not in place]
    return {str(Path(place).relative_to(repo.data / top)) for place in whole}


@pytest.mark.soak
def test_a_run_whose_jvm_and_driver_are_killed_loses_nothing_and_the_next_one_finishes(
    tmp_path: Path, java_home: Path
) -> None:
    repo = _filled(tmp_path)
    every = _whole(repo, "clicks")
    streams = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    with ending(
        subprocess.Popen(  # type: ignore[call-overload]
            command(repo, "--feed", "clicks"), env=environment(java_home), start_new_session=True, **streams
        )
    ) as run:
        until = time.monotonic() + 60
        while len(_whole(repo, "old/clicks")) < INSTANCES // 10:
            assert time.monotonic() < until, "nothing was archived"
            time.sleep(0.01)
        os.killpg(run.pid, signal.SIGKILL)
        run.wait()
    assert len(_whole(repo, "clicks")) < INSTANCES
    assert _whole(repo, "clicks") | _whole(repo, "old/clicks") == every
    done = when_free(repo, "--feed", "clicks", "--output", "json")
    assert done.returncode == 0, done.stderr
    assert _archived(repo) == {f"{name}/{part}": f"{name}/{part}" for name in every for part in ("part-0", "part-1")}
    assert [each for each in repo.tree() if ".feedctl" in each] == []
    assert sorted(each.name for each in (repo.data / "clicks/2026/03").iterdir()) == ["19"]
    assert json.loads(when_free(repo, "--feed", "clicks", "--output", "json").stdout)["items"] == []

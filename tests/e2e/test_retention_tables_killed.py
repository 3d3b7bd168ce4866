"""Evictions of tables that are killed: between metadata and data, and anywhere else; the rerun completes them."""

from __future__ import annotations

import json
import os
import random
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable
from itertools import product
from pathlib import Path

import pytest
import sqlalchemy as sa

from tests.e2e.retention_process import ENTRYPOINT, NOMINAL_TIME
from tests.e2e.retention_runs import times_evicted
from tests.e2e.table_site import YOUNG, TableRepo, tree
from tests.testbed.metastore import HiveMetastoreServer
from tests.testbed.running import ending

pytestmark = [pytest.mark.slow, pytest.mark.timeout(600)]

_OLD = [f"2026-{month}-{day:02d}" for month in ("01", "02") for day in range(1, 29)]
_FILES = 100
_SECONDS = 600


def _command(repo: TableRepo) -> list[str]:
    options = ("--config-repo", repo.path, "--time", NOMINAL_TIME, "--feed", "clicks", "--output", "json")
    return [sys.executable, str(ENTRYPOINT), *map(str, options)]


def _killed_when(repo: TableRepo, happened: Callable[[], bool]) -> bool:
    """Return whether the run was killed before it was over."""
    streams = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    with ending(subprocess.Popen(_command(repo), **streams)) as process:  # type: ignore[call-overload]
        deadline = time.monotonic() + _SECONDS
        while process.poll() is None and not happened():
            assert time.monotonic() < deadline, "it did not happen in time"
            time.sleep(0.001)
        was_running = process.poll() is None
        process.kill()
        return was_running


def _rerun(repo: TableRepo) -> list[dict[str, str]]:
    done = subprocess.run(_command(repo), capture_output=True, text=True, check=False, timeout=_SECONDS)
    assert done.returncode == 0, (done.stdout, done.stderr)
    items: list[dict[str, str]] = json.loads(done.stdout)["items"]
    return items


def _check_complete(repo: TableRepo) -> None:
    """Check that all instances went, once, and nothing else."""
    assert repo.names("clicks") == [f"ds={day}" for day in YOUNG]
    assert tree(repo.warehouse / "clicks") == [each for day in YOUNG for each in (f"ds={day}", f"ds={day}/part-0")]
    assert times_evicted(sa.make_url(f"sqlite:///{repo.ledger}")) == Counter(f"{day}T00:00Z" for day in _OLD)


def _make(directory: Path, server: HiveMetastoreServer) -> TableRepo:
    directory.mkdir()
    repo = TableRepo.make(directory, server)
    repo.make_table("clicks", (*_OLD, *YOUNG))
    for day, number in product(_OLD, range(_FILES)):
        (repo.warehouse / "clicks" / f"ds={day}" / f"part-1{number}").touch()
    return repo


def _after(seconds: float) -> Callable[[], bool]:
    moment = time.monotonic() + seconds
    return lambda: time.monotonic() > moment


def _without(repo: TableRepo, day: str) -> Callable[[], bool]:
    place = repo.warehouse / "clicks" / f"ds={day}"
    return lambda: not place.exists()


def _forgotten(repo: TableRepo) -> Callable[[], bool]:
    return lambda: len(repo.names("clicks")) == len(YOUNG)


@pytest.mark.extended
def test_killed_between_metadata_and_data_the_rerun_removes_the_data(
    tmp_path: Path, metastore: HiveMetastoreServer
) -> None:
    for number in range(5):  # on a busy machine the data can go before the test sees that the metadata has gone
        repo = _make(tmp_path / f"between{number}", metastore)
        if _killed_when(repo, _forgotten(repo)) and len(tree(repo.warehouse / "clicks")) > 2 * len(YOUNG):
            break
    else:
        pytest.fail("no run was killed before it was over")
    assert _rerun(repo) == []  # nothing was to be planned
    _check_complete(repo)
    assert _rerun(repo) == []


@pytest.mark.parametrize(
    "rounds",
    [
        pytest.param(1, marks=pytest.mark.extended),
        pytest.param(30, marks=[pytest.mark.soak, pytest.mark.timeout(0)]),
    ],
)
def test_a_run_killed_anywhere_is_completed_by_the_next(
    tmp_path: Path, metastore: HiveMetastoreServer, rounds: int
) -> None:
    rng = random.Random(os.environ.get("FEEDCTL_SEED", "45"))  # noqa: S311 - moments, not keys
    for number in range(rounds):
        repo = _make(tmp_path / f"of{rounds}_round{number}", metastore)
        happened = rng.choice((_after(rng.uniform(1.5, 9)), _without(repo, rng.choice(_OLD)), _forgotten(repo)))
        _killed_when(repo, happened)
        _rerun(repo)
        _check_complete(repo)
        assert _rerun(repo) == []

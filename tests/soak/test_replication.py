"""Replications that lose a process: a DataNode once with all tests; fifty rounds of each process in the soak.

`tests/e2e/test_replication_spark.py` has the kills of JVM and driver that `make test-extended` runs.
"""

from __future__ import annotations

import os
import secrets
from pathlib import Path

import pytest

from tests.soak.replication_rounds import OF_DRIVER, Scene, Seen, Victim
from tests.testbed.hdfs import HdfsCluster

pytestmark = [pytest.mark.slow, pytest.mark.timeout(0)]
_ROUNDS, _SOAK_ROUNDS = 1, 50
_DRIVER, _DATANODE = pytest.param(OF_DRIVER, id="the driver"), pytest.param((Victim.DATANODE,), id="a DataNode")
_WORKER = pytest.param((Victim.WORKER,), id="the Python of an executor")
"""Spark itself tries its tasks again, as `tests/contract/spread` shows."""


def _loop(rounds: int, directory: Path, scene: Scene, victims: tuple[Victim, ...]) -> Seen:
    first, seen = int(os.environ.get("FEEDCTL_SEED") or secrets.randbelow(10**9)), Seen()
    print(f"FEEDCTL_SEED={first}")  # noqa: T201 - how to repeat it
    for seed in range(first, first + rounds):
        try:
            scene.one_round(seed, directory / str(seed), victims, seen, is_midway=seed == first)
        except AssertionError as error:
            error.add_note(f"repeat with FEEDCTL_SEED={seed}")
            raise
    print(seen)  # noqa: T201 - the figure that this loop is run for
    return seen


@pytest.mark.extended
@pytest.mark.parametrize("victims", [_DATANODE])
def test_a_replication_that_loses_a_process_shows_nothing_half_and_a_rerun_completes(
    hdfs: HdfsCluster, restartable_hdfs: HdfsCluster, tmp_path: Path, java_home: Path, victims: tuple[Victim, ...]
) -> None:
    scene = Scene.make(hdfs, restartable_hdfs, java_home, victims)
    assert _loop(_ROUNDS, tmp_path, scene, victims).midway >= 1


@pytest.mark.soak
@pytest.mark.parametrize("victims", [_DRIVER, _WORKER, _DATANODE])
def test_replications_lose_processes_for_long(
    hdfs: HdfsCluster, restartable_hdfs: HdfsCluster, tmp_path: Path, java_home: Path, victims: tuple[Victim, ...]
) -> None:
    scene = Scene.make(hdfs, restartable_hdfs, java_home, victims)
    assert _loop(_SOAK_ROUNDS, tmp_path, scene, victims).midway >= _SOAK_ROUNDS // 4

"""Replications that lose a process: one round with all tests, fifty in the soak."""

from __future__ import annotations

import os
import secrets
from pathlib import Path

import pytest

from tests.soak.replication_rounds import OF_DRIVER, Scene, Seen, Victim
from tests.testbed.hdfs import HdfsCluster

pytestmark = [pytest.mark.slow, pytest.mark.timeout(0)]
_ROUNDS, _SOAK_ROUNDS = 1, 50
_VICTIMS = pytest.mark.parametrize(
    "victims",
    [OF_DRIVER, (Victim.WORKER,), (Victim.DATANODE,)],
    ids=["the driver", "the Python of an executor", "a DataNode"],
)


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
@_VICTIMS
def test_a_replication_that_loses_a_process_shows_nothing_half_and_a_rerun_completes(
    hdfs: HdfsCluster, restartable_hdfs: HdfsCluster, tmp_path: Path, java_home: Path, victims: tuple[Victim, ...]
) -> None:
    scene = Scene.make(hdfs, restartable_hdfs, java_home, victims)
    assert _loop(_ROUNDS, tmp_path, scene, victims).midway >= 1


@pytest.mark.soak
@_VICTIMS
def test_replications_lose_processes_for_long(
    hdfs: HdfsCluster, restartable_hdfs: HdfsCluster, tmp_path: Path, java_home: Path, victims: tuple[Victim, ...]
) -> None:
    scene = Scene.make(hdfs, restartable_hdfs, java_home, victims)
    assert _loop(_SOAK_ROUNDS, tmp_path, scene, victims).midway >= _SOAK_ROUNDS // 4

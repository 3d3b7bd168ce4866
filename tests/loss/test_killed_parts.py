"""Replications in parts that are killed beside readers: two rounds with all tests, forty in the soak.

Before them comes a round whose kill does not depend on chance.
"""

from __future__ import annotations

import os
import secrets
from pathlib import Path
from uuid import uuid4

import hdfs_native
import pytest

from tests.databases.forking import forking
from tests.integration.replications import End
from tests.loss.killed_parts import Scene, Seen, reading
from tests.testbed.hdfs import HdfsCluster

pytestmark = [pytest.mark.slow, pytest.mark.timeout(0)]
_ROUNDS, _SOAK_ROUNDS = 2, 40
_LOCAL_SECONDS, _HDFS_SECONDS = 0.4, 6.0


def _loop(rounds: int, scene: Scene) -> Seen:
    first, seen = int(os.environ.get("FEEDCTL_SEED") or secrets.randbelow(10**9)), Seen()
    print(f"FEEDCTL_SEED={first}")  # noqa: T201 - how to repeat it
    scene.write(first - 2)
    scene.copying.run()
    with forking() as forks, reading(scene, seen):
        scene.certain_round(first - 1, forks, seen)
        assert min(seen.killed, seen.midway) >= 1, seen
        for seed in range(first, first + rounds):
            try:
                scene.one_round(seed, forks, seen)
            except AssertionError as error:
                error.add_note(f"repeat with FEEDCTL_SEED={seed}")
                raise
    print(seen)  # noqa: T201 - the figure that this loop is run for
    assert seen.reads["mixed"] == 0, seen
    return seen


def _locally(rounds: int, directory: Path) -> Seen:
    (directory / "to").mkdir()
    return _loop(rounds, Scene.make(directory, End(uri=f"file://{directory}/to"), _LOCAL_SECONDS))


def _on_hdfs(rounds: int, directory: Path, cluster: HdfsCluster) -> Seen:
    path = f"/parts/{uuid4().hex}"
    hdfs_native.Client(cluster.uri).mkdirs(path, create_parent=True)
    return _loop(rounds, Scene.make(directory, End(uri=f"{cluster.uri}{path}"), _HDFS_SECONDS))


@pytest.mark.extended
def test_no_reader_finds_new_parts_beside_old_ones_under_a_flag(tmp_path: Path) -> None:
    assert _locally(_ROUNDS, tmp_path).rounds == _ROUNDS + 1


@pytest.mark.extended
def test_no_reader_of_hdfs_finds_new_parts_beside_old_ones_under_a_flag(tmp_path: Path, hdfs: HdfsCluster) -> None:
    assert _on_hdfs(_ROUNDS, tmp_path, hdfs).rounds == _ROUNDS + 1


@pytest.mark.soak
def test_no_reader_finds_a_mixture_for_long(tmp_path: Path) -> None:
    assert _locally(_SOAK_ROUNDS, tmp_path).midway >= _SOAK_ROUNDS // 4


@pytest.mark.soak
def test_no_reader_of_hdfs_finds_a_mixture_for_long(tmp_path: Path, hdfs: HdfsCluster) -> None:
    assert _on_hdfs(_SOAK_ROUNDS, tmp_path, hdfs).midway >= _SOAK_ROUNDS // 4

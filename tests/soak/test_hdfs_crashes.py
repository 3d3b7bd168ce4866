"""The crash loop on HDFS: two rounds by default, a hundred in the soak."""

from __future__ import annotations

import os
import secrets
from pathlib import Path

import pytest

from tests.soak.crashes import Crashes, one_round

_ROUNDS, _SOAK_ROUNDS = 2, 100


def _loop(rounds: int, directory: Path, hdfs_dir: str, java_home: Path) -> Crashes:
    first, seen = int(os.environ.get("FEEDCTL_SEED") or secrets.randbelow(10**9)), Crashes()
    print(f"FEEDCTL_SEED={first}")  # noqa: T201 - how to repeat it
    for seed in range(first, first + rounds):
        try:
            one_round(
                seed, directory / str(seed), f"{hdfs_dir}/{seed}", java_home, seen, is_in_the_middle=seed == first
            )
        except AssertionError as error:
            error.add_note(f"repeat with FEEDCTL_SEED={seed}")
            raise
    print(seen)  # noqa: T201 - the figure that this loop is run for
    return seen


@pytest.mark.slow
@pytest.mark.soak
def test_an_eviction_on_hdfs_that_is_killed_loses_nothing_and_a_rerun_finishes(
    tmp_path: Path, hdfs_dir: str, java_home: Path
) -> None:
    seen = _loop(_ROUNDS, tmp_path, hdfs_dir, java_home)
    assert seen.rounds == _ROUNDS
    assert seen.midway >= 1, f"none was killed in the middle, so nothing was tried: {seen}"


@pytest.mark.soak
@pytest.mark.timeout(0)
def test_evictions_on_hdfs_are_killed_for_long(tmp_path: Path, hdfs_dir: str, java_home: Path) -> None:
    seen = _loop(_SOAK_ROUNDS, tmp_path, hdfs_dir, java_home)
    assert seen.midway >= _SOAK_ROUNDS // 4, f"too few were killed in the middle: {seen}"

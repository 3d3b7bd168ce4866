"""Replications of a table that are killed again and again: three rounds with all tests, thirty in the soak."""

from __future__ import annotations

import os
import random
import secrets
from pathlib import Path

import pytest

from tests.integration.test_hive_killed import change, killed_round, scene
from tests.testbed.metastore import HiveMetastoreServer

pytestmark = [pytest.mark.soak, pytest.mark.slow, pytest.mark.timeout(0)]
_ROUNDS = 30


def test_killed_replications_of_a_table_leave_nothing_half(
    metastore: HiveMetastoreServer,
    restartable_metastore: HiveMetastoreServer,
    tmp_path: Path,
) -> None:
    first = int(os.environ.get("FEEDCTL_SEED") or secrets.randbelow(10**9))
    print(f"FEEDCTL_SEED={first}")  # noqa: T201 - how to repeat it
    copies, chance = scene(metastore, restartable_metastore, tmp_path), random.Random(first)  # noqa: S311 - no secret
    midway = 0
    for number in range(_ROUNDS):
        midway += killed_round(copies, chance)
        change(copies, number)
    print(f"{_ROUNDS} replications of a table were killed, {midway} of them midway; nothing half was seen")  # noqa: T201
    assert midway

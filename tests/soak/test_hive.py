"""Replications of a table that are killed again and again: one round with all tests, thirty in the soak."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.integration.test_hive_killed import killed_rounds, scene
from tests.testbed.metastore import HiveMetastoreServer

pytestmark = [pytest.mark.soak, pytest.mark.slow, pytest.mark.timeout(0)]
_ROUNDS = 30


def test_killed_replications_of_a_table_leave_nothing_half(
    metastore: HiveMetastoreServer,
    restartable_metastore: HiveMetastoreServer,
    tmp_path: Path,
) -> None:
    midway = killed_rounds(scene(metastore, restartable_metastore, tmp_path), _ROUNDS)
    print(f"{_ROUNDS} replications of a table were killed, {midway} of them midway; nothing half was seen")  # noqa: T201
    assert midway

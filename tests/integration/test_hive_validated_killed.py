"""Replications of a judged table that are killed before, while and after they are judged."""

from __future__ import annotations

import os
import random
import secrets
from pathlib import Path

import pytest

from tests.integration.validated_tables import KilledWhileStaged, validated_sites
from tests.testbed.metastore import HiveMetastoreServer

pytestmark = [pytest.mark.slow, pytest.mark.timeout(0)]
_REGIONS = tuple(f"r{number:02}" for number in range(10))


@pytest.mark.parametrize(
    "rounds", [pytest.param(2, marks=pytest.mark.extended), pytest.param(20, marks=pytest.mark.soak)]
)
def test_killed_anywhere_nothing_is_registered_without_a_verdict_on_it(
    metastore: HiveMetastoreServer,
    other_metastore: HiveMetastoreServer,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    rounds: int,
) -> None:
    monkeypatch.setenv("PATH", f"{tmp_path}/bin{os.pathsep}{os.environ['PATH']}")
    seed = int(os.environ.get("FEEDCTL_SEED") or secrets.randbelow(10**9))
    print(f"FEEDCTL_SEED={seed}")  # noqa: T201 - how to repeat it
    copies = validated_sites(metastore, other_metastore, tmp_path, _REGIONS)
    killed = KilledWhileStaged(copies=copies, chance=random.Random(seed))  # noqa: S311 - no secret
    for number in range(rounds):
        killed.round(number)
    print(f"{rounds} replications of a judged table were killed, {killed.midway} of them midway")  # noqa: T201
    assert killed.midway

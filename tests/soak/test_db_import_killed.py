"""Thirty imports that are killed: driver, JVMs, and connections of the database."""

from __future__ import annotations

import os
import random
import secrets
from pathlib import Path

import pytest

from tests.databases.datasources import PostgresData
from tests.integration.import_kills import filled, kill_and_finish
from tests.integration.test_db_import import site_of

pytestmark = [pytest.mark.soak, pytest.mark.slow, pytest.mark.timeout(0)]


def test_no_kill_leaves_half_an_instance(tmp_path: Path, postgres_data: PostgresData) -> None:
    seed = int(os.environ.get("FEEDCTL_SEED") or secrets.randbelow(10**9))
    print(f"FEEDCTL_SEED={seed}")  # noqa: T201 - how to repeat it
    chance = random.Random(seed)  # noqa: S311 - no secret
    filled(postgres_data)
    site = site_of(tmp_path, postgres_data, more="      split_by: id\n      num_mappers: 2")
    for _ in range(30):
        kill_and_finish(site, postgres_data, chance.choice(["driver", "java", "database"]), chance.uniform(1, 25))

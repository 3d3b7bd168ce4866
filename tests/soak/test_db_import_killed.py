"""Thirty imports that are killed: driver, JVMs, and connections of the database; and on a cluster, and the database."""

from __future__ import annotations

import os
import random
import secrets
from pathlib import Path

import pytest

from tests.databases.datasources import PostgresData
from tests.integration.import_kills import filled, kill_and_finish
from tests.integration.test_db_import import site_of
from tests.testbed.spark import SparkStandalone

pytestmark = [pytest.mark.soak, pytest.mark.slow, pytest.mark.timeout(0)]


def _seeded() -> random.Random:
    """Return chances by a seed that is printed."""
    seed = int(os.environ.get("FEEDCTL_SEED") or secrets.randbelow(10**9))
    print(f"FEEDCTL_SEED={seed}")  # noqa: T201 - how to repeat it
    return random.Random(seed)  # noqa: S311 - no secret


def test_no_kill_leaves_half_an_instance(tmp_path: Path, postgres_data: PostgresData) -> None:
    chance = _seeded()
    filled(postgres_data)
    site = site_of(tmp_path, postgres_data, more="      split_by: id\n      num_mappers: 2")
    for _ in range(30):
        kill_and_finish(site, postgres_data, chance.choice(["driver", "java", "database"]), chance.uniform(1, 25))


@pytest.mark.parametrize("target", ["executor", "driver"])
def test_no_kill_on_a_cluster_leaves_half_an_instance(
    tmp_path: Path, postgres_data: PostgresData, spark_cluster: SparkStandalone, target: str
) -> None:
    chance = _seeded()
    filled(postgres_data)
    site = site_of(tmp_path, postgres_data, more="      split_by: id\n      num_mappers: 2")
    for _ in range(30):
        kill_and_finish(site, postgres_data, target, chance.uniform(1, 25), spark_cluster)


def test_no_kill_of_the_database_leaves_half_an_instance(tmp_path: Path, own_postgres_data: PostgresData) -> None:
    chance = _seeded()
    filled(own_postgres_data)
    site = site_of(tmp_path, own_postgres_data, more="      split_by: id\n      num_mappers: 2")
    for _ in range(30):
        kill_and_finish(site, own_postgres_data, "server", chance.uniform(1, 15))

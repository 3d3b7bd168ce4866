"""Thirty exports that are killed: driver, JVMs, and connections of the database; and on a cluster, and the database."""

from __future__ import annotations

import os
import random
import secrets
from pathlib import Path

import pytest

from tests.contract.database.conftest import database_of
from tests.databases.datasources import PostgresData
from tests.databases.export_repo import ALLOWINSERT, T1, ExportRepo, make_export_repo
from tests.integration.export_kills import ROWS, filled, kill_and_finish
from tests.testbed.spark import SparkStandalone
from toolkit.jdbc.gateway import JdbcGateway

pytestmark = [pytest.mark.soak, pytest.mark.slow, pytest.mark.timeout(0)]


def _seeded() -> random.Random:
    """Return chances by a seed that is printed."""
    seed = int(os.environ.get("FEEDCTL_SEED") or secrets.randbelow(10**9))
    print(f"FEEDCTL_SEED={seed}")  # noqa: T201 - how to repeat it
    return random.Random(seed)  # noqa: S311 - no secret


def _again(repo: ExportRepo) -> None:
    """Bring back the table as it was, without the note of the export."""
    repo.data.run(f"DELETE FROM orders WHERE id > {ROWS // 2}; UPDATE orders SET note = 'old'")  # noqa: S608
    repo.data.run(f"DELETE FROM feedctl_export WHERE instance_key = '{T1}'")  # noqa: S608


def test_no_kill_leaves_half_an_instance(
    tmp_path: Path, postgres_data: PostgresData, jdbc_gateway: JdbcGateway
) -> None:
    chance = _seeded()
    repo = make_export_repo(tmp_path, postgres_data, database_of(postgres_data, jdbc_gateway))
    repo.write(ALLOWINSERT, ", num_mappers: 2")
    filled(repo)
    for _ in range(30):
        kill_and_finish(repo, postgres_data, chance.choice(["driver", "java", "database"]), chance.uniform(1, 15))
        _again(repo)


@pytest.mark.parametrize("target", ["executor", "driver"])
def test_no_kill_on_a_cluster_leaves_half_an_instance(
    tmp_path: Path, postgres_data: PostgresData, jdbc_gateway: JdbcGateway, spark_cluster: SparkStandalone, target: str
) -> None:
    chance = _seeded()
    repo = make_export_repo(tmp_path, postgres_data, database_of(postgres_data, jdbc_gateway))
    repo.write(ALLOWINSERT, ", num_mappers: 2")
    filled(repo)
    for _ in range(30):
        kill_and_finish(repo, postgres_data, target, chance.uniform(1, 25), spark_cluster)
        _again(repo)


def test_no_kill_of_the_database_leaves_half_an_instance(
    tmp_path: Path, own_postgres_data: PostgresData, jdbc_gateway: JdbcGateway
) -> None:
    chance = _seeded()
    repo = make_export_repo(tmp_path, own_postgres_data, database_of(own_postgres_data, jdbc_gateway))
    repo.write(ALLOWINSERT, ", num_mappers: 2")
    filled(repo)
    for _ in range(30):
        kill_and_finish(repo, own_postgres_data, "server", chance.uniform(1, 15))
        _again(repo)

"""An import whose executor, an export whose driver on a cluster, and both whose database is killed with -9.

`tests/soak` kills each of them in both.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.contract.database.conftest import database_of
from tests.databases.datasources import PostgresData
from tests.databases.export_repo import ALLOWINSERT, make_export_repo
from tests.integration import export_kills, import_kills
from tests.integration.test_db_import import site_of
from tests.testbed.spark import SparkStandalone
from toolkit.jdbc.gateway import JdbcGateway

pytestmark = [pytest.mark.extended, pytest.mark.slow, pytest.mark.timeout(900)]


def test_an_import_on_a_cluster_whose_executor_is_killed_leaves_nothing_half(
    tmp_path: Path, postgres_data: PostgresData, spark_cluster: SparkStandalone
) -> None:
    import_kills.filled(postgres_data)
    site = site_of(tmp_path, postgres_data, more="      split_by: id\n      num_mappers: 2")
    import_kills.kill_and_finish(site, postgres_data, "executor", spark=spark_cluster)  # Spark starts another one


def test_an_import_whose_database_is_killed_leaves_nothing_half(
    tmp_path: Path, own_postgres_data: PostgresData
) -> None:
    import_kills.filled(own_postgres_data)
    site = site_of(tmp_path, own_postgres_data, more="      split_by: id\n      num_mappers: 2")
    import_kills.kill_and_finish(site, own_postgres_data, "server")


def test_an_export_on_a_cluster_whose_driver_is_killed_leaves_nothing_half(
    tmp_path: Path, postgres_data: PostgresData, jdbc_gateway: JdbcGateway, spark_cluster: SparkStandalone
) -> None:
    repo = make_export_repo(tmp_path, postgres_data, database_of(postgres_data, jdbc_gateway))
    repo.write(ALLOWINSERT, ", num_mappers: 2")
    export_kills.filled(repo)
    assert export_kills.kill_and_finish(repo, postgres_data, "driver", spark=spark_cluster)


def test_an_export_whose_database_is_killed_leaves_nothing_half(
    tmp_path: Path, own_postgres_data: PostgresData, jdbc_gateway: JdbcGateway
) -> None:
    repo = make_export_repo(tmp_path, own_postgres_data, database_of(own_postgres_data, jdbc_gateway))
    repo.write(ALLOWINSERT, ", num_mappers: 2")
    export_kills.filled(repo)
    export_kills.kill_and_finish(repo, own_postgres_data, "server")

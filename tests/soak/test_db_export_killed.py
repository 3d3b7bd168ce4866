"""Exports that are killed: driver, JVMs, connections of the database; on a cluster; and the database itself."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.contract.database.conftest import database_of
from tests.databases.datasources import PostgresData
from tests.databases.export_repo import ALLOWINSERT, T1, make_export_repo
from tests.integration.exchange_kills import rounds
from tests.integration.export_kills import ROWS, filled, kill_and_finish
from tests.testbed.spark import SparkStandalone
from toolkit.jdbc.gateway import JdbcGateway

pytestmark = [pytest.mark.soak, pytest.mark.slow, pytest.mark.timeout(0)]


def _kill(
    root: Path, data: PostgresData, gateway: JdbcGateway, spark: SparkStandalone | None = None
) -> Callable[[str, float], bool]:
    repo = make_export_repo(root, data, database_of(data, gateway))
    repo.write(ALLOWINSERT, ", num_mappers: 2")
    filled(repo)

    def kill(target: str, pause: float) -> bool:
        """Kill an export, and bring back the table as it was, without the note of the export."""
        has_failed = kill_and_finish(repo, data, target, pause, spark)
        repo.data.run(f"DELETE FROM orders WHERE id > {ROWS // 2}; UPDATE orders SET note = 'old'")  # noqa: S608
        repo.data.run(f"DELETE FROM feedctl_export WHERE instance_key = '{T1}'")  # noqa: S608
        return has_failed

    return kill


def test_no_kill_leaves_half_an_instance(
    tmp_path: Path, postgres_data: PostgresData, jdbc_gateway: JdbcGateway
) -> None:
    rounds(_kill(tmp_path, postgres_data, jdbc_gateway), ["driver", "java", "database"])


@pytest.mark.parametrize("target", ["executor", "driver"])
def test_no_kill_on_a_cluster_leaves_half_an_instance(
    tmp_path: Path, postgres_data: PostgresData, jdbc_gateway: JdbcGateway, spark_cluster: SparkStandalone, target: str
) -> None:
    rounds(_kill(tmp_path, postgres_data, jdbc_gateway, spark_cluster), [target])


def test_no_kill_of_the_database_leaves_half_an_instance(
    tmp_path: Path, own_postgres_data: PostgresData, jdbc_gateway: JdbcGateway
) -> None:
    rounds(_kill(tmp_path, own_postgres_data, jdbc_gateway), ["server"])

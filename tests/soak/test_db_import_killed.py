"""Imports that are killed: driver, JVMs, connections of the database; on a cluster; and the database itself."""

from __future__ import annotations

from functools import partial
from pathlib import Path

import pytest

from tests.databases.datasources import PostgresData
from tests.integration.exchange_kills import rounds
from tests.integration.import_kills import filled, kill_and_finish
from tests.integration.test_db_import import site_of
from tests.testbed.spark import SparkStandalone
from tests.unit.exchange.import_site import ImportSite

pytestmark = [pytest.mark.soak, pytest.mark.slow, pytest.mark.timeout(0)]


def _site(root: Path, data: PostgresData) -> ImportSite:
    filled(data)
    return site_of(root, data, more="      split_by: id\n      num_mappers: 2")


def test_no_kill_leaves_half_an_instance(tmp_path: Path, postgres_data: PostgresData) -> None:
    kill = partial(kill_and_finish, _site(tmp_path, postgres_data), postgres_data)
    rounds(kill, ["driver", "java", "database"])


@pytest.mark.parametrize("target", ["executor", "driver"])
def test_no_kill_on_a_cluster_leaves_half_an_instance(
    tmp_path: Path, postgres_data: PostgresData, spark_cluster: SparkStandalone, target: str
) -> None:
    kill = partial(kill_and_finish, _site(tmp_path, postgres_data), postgres_data, spark=spark_cluster)
    rounds(kill, [target])


def test_no_kill_of_the_database_leaves_half_an_instance(tmp_path: Path, own_postgres_data: PostgresData) -> None:
    kill = partial(kill_and_finish, _site(tmp_path, own_postgres_data), own_postgres_data)
    rounds(kill, ["server"])

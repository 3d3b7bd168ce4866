"""Databases under test."""

from __future__ import annotations

import pytest

from tests.databases.datasources import DataServer, variables
from toolkit.jdbc.database import JdbcDatabase
from toolkit.jdbc.dialect import dialect
from toolkit.jdbc.gateway import JdbcGateway
from toolkit.jdbc.opening import database_access
from toolkit.jdbc.port import Database


def database_of(data: DataServer, gateway: JdbcGateway) -> Database:
    """The database, in a JVM that others use too."""
    return JdbcDatabase(database_access(data.datasource, variables()), dialect(data.datasource.type), gateway)


@pytest.fixture(params=["postgres_data", "mariadb_data"])
def data(request: pytest.FixtureRequest) -> DataServer:
    """Each database in turn."""
    found: DataServer = request.getfixturevalue(request.param)
    return found


@pytest.fixture
def database(data: DataServer, jdbc_gateway: JdbcGateway) -> Database:
    """The database, opened by its driver."""
    return database_of(data, jdbc_gateway)

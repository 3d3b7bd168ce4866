"""Databases for imports and exports: datasources on servers of this test run, with an account that has a password."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import count
from typing import Protocol

import psycopg
import pytest

from tests.databases.mariadb import MariaDbServer, NoMariaDb, running_mariadb
from tests.databases.postgresql import PostgresServer, running_postgres
from tests.testbed.jars import JDBC
from tests.testbed.missing import Missing
from toolkit.entities import DatasourceType
from toolkit.entities.datasource import Credential, Datasource, DatasourceInterface, DatasourceInterfaces, Driver
from toolkit.jdbc.gateway import JdbcGateway

PASSWORD = "s3same-" + "0pen:@/?&'"
"""With characters that end a URL or a text."""
VARIABLE = "FEEDCTL_DATASOURCE_TEST"
USER = "exchange"
_NUMBERS = count(1)
_POSTGRES_JAR, _MARIADB_JAR = "postgresql-42.7.7.jar", "mariadb-java-client-3.5.1.jar"


class DataServer(Protocol):
    """A new database on a server."""

    datasource: Datasource

    def run(self, script: str) -> None:
        """Execute statements as the server's administrator, in the new database."""
        ...

    def rows(self, query: str) -> list[tuple[object, ...]]:
        """Return rows, as the server's administrator."""
        ...


def variables() -> dict[str, str]:
    """Return the variables of this process with the password of the account."""
    return {**os.environ, VARIABLE: PASSWORD}


@dataclass
class PostgresData:
    """A new database in PostgreSQL; the account owns it, and logs in by SCRAM."""

    server: PostgresServer
    database: str
    datasource: Datasource

    @property
    def url(self) -> str:
        """URL of the administrator, for psycopg."""
        return self.server.url(self.database).replace("+psycopg", "")

    def run(self, script: str) -> None:
        """Execute statements in the new database, as an administrator whose tables belong to the account."""
        with psycopg.connect(self.url, autocommit=True) as connection:
            connection.execute(f"SET ROLE {USER}")
            connection.execute(script.encode())

    def rows(self, query: str) -> list[tuple[object, ...]]:
        """Return rows, as the server's administrator."""
        with psycopg.connect(self.url) as connection:
            return connection.execute(query.encode()).fetchall()


@dataclass
class MariaDbData:
    """A new database in MariaDB; the account has all rights in it."""

    server: MariaDbServer
    database: str
    datasource: Datasource

    def run(self, script: str) -> None:
        """Execute statements as root, in the new database."""
        self.server.execute(script, self.database)

    def rows(self, query: str) -> list[tuple[object, ...]]:
        """Return rows as texts, as root."""
        return [tuple(line.split("\t")) for line in self.server.execute(query, self.database).splitlines()]


@pytest.fixture(scope="session")
def jdbc_jars() -> str:
    """The folder with the drivers."""
    try:
        return str(JDBC.fetched())
    except Missing as missing:
        (pytest.fail if os.environ.get("CI") else pytest.skip)(str(missing))


@pytest.fixture(scope="session")
def jdbc_gateway(jdbc_jars: str) -> Iterator[JdbcGateway]:
    """A JVM with both drivers, for all tests of this worker."""
    gateway = JdbcGateway([f"{jdbc_jars}/{each}" for each in (_POSTGRES_JAR, _MARIADB_JAR)], os.environ)
    yield gateway
    gateway.close()


@pytest.fixture(scope="session")
def mariadb_server() -> Iterator[MariaDbServer]:
    """A MariaDB of this worker's own."""
    try:
        with running_mariadb() as server:
            server.execute(f"CREATE USER {USER}@'%' IDENTIFIED BY '{_quoted(PASSWORD)}'")
            yield server
    except NoMariaDb as missing:
        (pytest.fail if os.environ.get("CI") else pytest.skip)(str(missing))


def _with_account(server: PostgresServer) -> PostgresServer:
    """Give a server an account that needs its password."""
    rules = server.directory / "data" / "pg_hba.conf"
    rules.write_text(f"host all {USER} 127.0.0.1/32 scram-sha-256\n{rules.read_text()}")
    with psycopg.connect(server.url("postgres").replace("+psycopg", ""), autocommit=True) as connection:
        connection.execute("SELECT pg_reload_conf()")
        connection.execute(f"CREATE ROLE {USER} LOGIN PASSWORD '{_quoted(PASSWORD)}'".encode())
    return server


def _new_database(server: PostgresServer, jars: str) -> PostgresData:
    name = f"exchange_{next(_NUMBERS)}"
    server.create_database(name)
    url = server.url(name)
    endpoint = f"jdbc:postgresql://{url.rpartition('@')[2]}"
    made = datasource("crm", DatasourceType.POSTGRES, endpoint, f"{jars}/{_POSTGRES_JAR}")
    data = PostgresData(server=server, database=name, datasource=made)
    with psycopg.connect(data.url, autocommit=True) as connection:
        connection.execute(f"ALTER DATABASE {name} OWNER TO {USER}")
        connection.execute(f"ALTER SCHEMA public OWNER TO {USER}")
    return data


@pytest.fixture(scope="session")
def _scram_server(postgres_server: PostgresServer) -> PostgresServer:
    return _with_account(postgres_server)


@pytest.fixture
def postgres_data(_scram_server: PostgresServer, jdbc_jars: str) -> Iterator[PostgresData]:
    """A new database in PostgreSQL."""
    data = _new_database(_scram_server, jdbc_jars)
    yield data
    _scram_server.drop_database(data.database)


@pytest.fixture
def own_postgres_data(jdbc_jars: str) -> Iterator[PostgresData]:
    """A database in a PostgreSQL of this test alone, which it may freeze or kill."""
    with running_postgres() as server:
        yield _new_database(_with_account(server), jdbc_jars)


@pytest.fixture
def mariadb_data(mariadb_server: MariaDbServer, jdbc_jars: str) -> Iterator[MariaDbData]:
    """A new database in MariaDB."""
    name = f"exchange_{next(_NUMBERS)}"
    mariadb_server.execute(f"CREATE DATABASE {name} CHARACTER SET utf8mb4; GRANT ALL ON {name}.* TO {USER}@'%'")
    endpoint = f"jdbc:mariadb://127.0.0.1:{mariadb_server.port}/{name}"
    made = datasource("shop", DatasourceType.MYSQL, endpoint, f"{jdbc_jars}/{_MARIADB_JAR}")
    yield MariaDbData(server=mariadb_server, database=name, datasource=made)
    mariadb_server.execute(f"DROP DATABASE {name}")


def datasource(name: str, kind: DatasourceType, endpoint: str, jar: str) -> Datasource:
    """Return a datasource with both interfaces."""
    end = DatasourceInterface(endpoint=endpoint)
    drivers = {DatasourceType.POSTGRES: "org.postgresql.Driver", DatasourceType.MYSQL: "org.mariadb.jdbc.Driver"}
    return Datasource(
        name=name,
        type=kind,
        interfaces=DatasourceInterfaces(readonly=end, write=end),
        credential=Credential(user=USER, env=VARIABLE),
        driver=Driver(class_=drivers[kind], jars=(jar,)),
    )


def _quoted(text: str) -> str:
    return text.replace("\\", "\\\\").replace("'", "''")

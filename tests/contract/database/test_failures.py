"""Failures by what a person does about them, without the password."""

from __future__ import annotations

import os
import socket
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from tests.contract.database.conftest import database_of
from tests.databases.datasources import PASSWORD, VARIABLE, DataServer, PostgresData, datasource, variables
from tests.databases.port import reserved_port
from toolkit.bootstrap.config import RepoRequest
from toolkit.bootstrap.doctor import DoctorOptions, diagnose
from toolkit.clock import SystemClock
from toolkit.doctor.findings import CheckStatus
from toolkit.entities import DatasourceType
from toolkit.entities.datasource import Credential, Datasource, DatasourceInterface, DatasourceInterfaces, Driver
from toolkit.errors import FeedctlError
from toolkit.jdbc import gateway
from toolkit.jdbc.database import JdbcDatabase
from toolkit.jdbc.dialect import dialect, parse_table_name
from toolkit.jdbc.errors import (
    ConstraintViolated,
    CredentialMissing,
    DatabaseTimeout,
    DatabaseUnreachable,
    DriverMissing,
    LoginRefused,
    NoSuchField,
    NoSuchRelation,
    PermissionRefused,
)
from toolkit.jdbc.gateway import JdbcGateway
from toolkit.jdbc.opening import database_access, open_database
from toolkit.jdbc.port import Database, RowQuery
from toolkit.rendering.doctor import write_findings


def at(source: Datasource, endpoint: str) -> Datasource:
    return replace(source, interfaces=DatasourceInterfaces(readonly=DatasourceInterface(endpoint=endpoint)))


def failing(java: JdbcGateway, source: Datasource, password: str = PASSWORD) -> FeedctlError:
    access = database_access(source, {**os.environ, VARIABLE: password})
    with pytest.raises(FeedctlError) as raised:
        JdbcDatabase(access, dialect(source.type), java).server()
    assert password not in str(raised.value)
    return raised.value


def test_the_server_says_what_it_is_and_what_the_account_may_do(database: Database) -> None:
    found = database.server()
    assert found.product in {"PostgreSQL", "MariaDB"}
    assert found.version[0].isdigit()
    assert found.user.startswith("exchange")
    assert any("create" in each for each in found.abilities)


def test_a_wrong_password_is_refused_and_never_shown(data: DataServer, jdbc_gateway: JdbcGateway) -> None:
    assert isinstance(failing(jdbc_gateway, data.datasource, "wr0ng-w0rd"), LoginRefused)


def test_a_server_that_is_down_is_unreachable(data: DataServer, jdbc_gateway: JdbcGateway) -> None:
    scheme = "postgresql" if data.datasource.type is DatasourceType.POSTGRES else "mariadb"
    with reserved_port() as port:
        url = f"jdbc:{scheme}://127.0.0.1:{port.getsockname()[1]}/x"
        error = failing(jdbc_gateway, at(data.datasource, url))
    assert isinstance(error, DatabaseUnreachable)
    assert error.retriable


@pytest.mark.extended
def test_a_server_that_hangs_is_given_up(
    data: DataServer, jdbc_gateway: JdbcGateway, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(gateway, "CONNECT_SECONDS", 2)
    scheme = "postgresql" if data.datasource.type is DatasourceType.POSTGRES else "mariadb"
    with socket.create_server(("127.0.0.1", 0)) as silent:
        url = f"jdbc:{scheme}://127.0.0.1:{silent.getsockname()[1]}/x"
        assert isinstance(failing(jdbc_gateway, at(data.datasource, url)), DatabaseUnreachable)


@pytest.mark.extended
def test_a_statement_that_takes_too_long_is_given_up(data: DataServer, jdbc_gateway: JdbcGateway) -> None:
    access = database_access(data.datasource, variables())
    connection = jdbc_gateway.connect(access)
    sleep = "pg_sleep(30)" if data.datasource.type is DatasourceType.POSTGRES else "SLEEP(30)"
    with pytest.raises(DatabaseTimeout, match="did not answer in time"):
        connection.query(f"SELECT {sleep}", seconds=1)
    connection.close()


def test_a_column_that_is_not_there_is_named(data: DataServer, database: Database) -> None:
    data.run("CREATE TABLE t (id INT)")
    with pytest.raises(NoSuchField, match="absent"), database.snapshot() as snapshot:
        snapshot.bounds(RowQuery(table=parse_table_name("t"), columns=("id",)), "absent")


def test_a_table_that_went_away_is_named(database: Database) -> None:
    with pytest.raises(NoSuchRelation, match="absent"), database.snapshot() as snapshot:
        snapshot.count(RowQuery(table=parse_table_name("absent"), columns=("id",)))


def test_a_missing_permission_is_told_from_a_missing_table(
    postgres_data: PostgresData, jdbc_gateway: JdbcGateway
) -> None:
    postgres_data.run("CREATE TABLE t (id INT); REVOKE ALL ON t FROM exchange")
    database = database_of(postgres_data, jdbc_gateway)
    with pytest.raises(PermissionRefused, match="permission denied"), database.snapshot() as snapshot:
        snapshot.count(RowQuery(table=parse_table_name("t"), columns=("id",)))


def test_a_snapshot_writes_nothing(data: DataServer, database: Database) -> None:
    data.run("CREATE TABLE t (id INT)")
    with database.snapshot() as snapshot, pytest.raises(FeedctlError):
        snapshot.connection.execute("INSERT INTO t VALUES (1)")  # type: ignore[attr-defined] # the adapter's own


def test_a_transaction_is_whole_or_nothing(data: DataServer, database: Database) -> None:
    data.run("CREATE TABLE t (id INT PRIMARY KEY)")
    with pytest.raises(ConstraintViolated), database.transaction() as session:  # noqa: PT012 - it ends by the second
        session.execute("INSERT INTO t VALUES (?)", 1)
        session.execute("INSERT INTO t VALUES (?)", 1)
    with database.transaction() as session:
        assert session.execute("INSERT INTO t VALUES (?)", 2) == 1
    with database.transaction() as session:
        assert list(session.query("SELECT id FROM t")) == [(2,)]


def test_a_driver_that_is_not_there_is_named(data: DataServer) -> None:
    source = replace(data.datasource, driver=Driver(class_="org.example.Driver", jars=("/no/such.jar",)))
    database = open_database(source, variables())
    with pytest.raises(DriverMissing, match=r"/no/such\.jar"):
        database.server()
    database.close()


def test_a_password_that_is_nowhere_is_named(data: DataServer) -> None:
    with pytest.raises(CredentialMissing, match=VARIABLE):
        database_access(data.datasource, {})
    with pytest.raises(CredentialMissing, match="/no/such"):
        database_access(replace(data.datasource, credential=Credential(user="me", file="/no/such")), {})


@pytest.mark.parametrize("text", ["-----BEGIN KEY-----\nabc\n-----END KEY-----\n", "", "x" * 2000])
def test_a_file_that_is_no_password_is_not_sent_to_a_server(tmp_path: Path, text: str) -> None:
    file, shop = tmp_path / "id_rsa", datasource("shop", DatasourceType.POSTGRES, "jdbc:postgresql://evil/x", "/x.jar")
    file.write_text(text)
    with pytest.raises(CredentialMissing, match="one line"):
        database_access(replace(shop, credential=Credential(user="me", file=str(file))), {})
    file.write_text("secret\n")
    found = database_access(replace(shop, credential=Credential(user="me", file=str(file))), {}).password
    assert found is not None
    assert found.text == "secret"


def test_the_process_of_the_driver_has_no_password(postgres_data: PostgresData) -> None:
    database = open_database(postgres_data.datasource, variables())
    try:
        database.server()
        process = database._gateway._process  # type: ignore[attr-defined]  # noqa: SLF001 - only the test looks there
        for name in ("cmdline", "environ"):
            with open(f"/proc/{process.pid}/{name}", "rb") as file:  # noqa: PTH123
                assert PASSWORD.encode() not in file.read()
    finally:
        database.close()
    assert process.poll() is not None


@pytest.mark.parametrize(("password", "status"), [(PASSWORD, "ok"), ("wr0ng-w0rd", "failed")])
def test_doctor_shows_the_server_or_what_keeps_from_it(
    data: DataServer, tmp_path: Path, capsys: pytest.CaptureFixture[str], password: str, status: str
) -> None:
    source = data.datasource
    assert source.interfaces.readonly is not None
    assert source.driver is not None
    write_datasource(tmp_path, source.name, source.type, source.interfaces.readonly.endpoint, source.driver)
    found = diagnose(
        DoctorOptions(
            datasource=source.name,
            repo=RepoRequest(config_repo=str(tmp_path), variables={**os.environ, VARIABLE: password}),
        ),
        SystemClock().now(),
    )
    write_findings(found, sys.stdout)
    shown = capsys.readouterr().out
    assert password not in shown
    assert {each.about for each in found} == {"config", f"datasource {source.name}"}
    assert {each.finding.status for each in found if each.name == "readonly"} == {CheckStatus(status)}
    assert ("user and credential" in shown) is (status == "failed")


def write_datasource(repo: Path, name: str, kind: DatasourceType, endpoint: str, driver: Driver) -> None:
    (repo / "datasources").mkdir()
    (repo / "repo.yaml").write_text("name: shop\n")
    (repo / "datasources" / f"{name}.yaml").write_text(
        f"kind: datasource\nname: {name}\ntype: {kind}\ninterfaces: {{readonly: {{endpoint: '{endpoint}'}}}}\n"
        f"credential: {{user: exchange, env: {VARIABLE}}}\n"
        f"driver: {{class: {driver.class_}, jars: ['{driver.jars[0]}']}}\n"
    )


@pytest.mark.extended
def test_a_password_comes_from_a_hadoop_credential_provider(postgres_data: PostgresData, tmp_path: Path) -> None:
    provider = f"localjceks://file{tmp_path}/secrets.jceks"
    source = replace(postgres_data.datasource, credential=Credential(user="exchange", alias="crm", provider=provider))
    java = JdbcGateway(
        gateway.spark_jars("hadoop-client-*.jar", "slf4j-api-*.jar", "jcl-over-slf4j-*.jar"), variables()
    )
    try:
        keep_secret(java, provider, "crm", PASSWORD)
    finally:
        java.close()
    database = open_database(source, {**os.environ})
    try:
        assert database.server().user == "exchange"
    finally:
        database.close()
    with pytest.raises(CredentialMissing, match="no alias 'other'"):
        open_database(replace(source, credential=Credential(user="me", alias="other", provider=provider)), os.environ)


def keep_secret(java: JdbcGateway, provider: str, alias: str, secret: str) -> None:
    """Write a secret into a credential provider, as `hadoop credential create` does."""
    jvm = java._java.jvm  # noqa: SLF001 - the only JVM of this test
    conf = jvm.org.apache.hadoop.conf.Configuration()
    conf.set("hadoop.security.credential.provider.path", provider)
    store = jvm.org.apache.hadoop.security.alias.CredentialProviderFactory.getProviders(conf)[0]
    characters = java._java.new_array(jvm.char, len(secret))  # noqa: SLF001
    for index, character in enumerate(secret):
        characters[index] = character
    store.createCredentialEntry(alias, characters)
    store.flush()

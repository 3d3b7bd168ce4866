"""Faults of imports and exports, one by one: a clear error, nothing visible, and a later run that completes."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, contextmanager
from pathlib import Path

import psycopg
import pytest

from tests.contract.database.conftest import database_of
from tests.databases.datasources import PASSWORD, USER, VARIABLE, DataServer, MariaDbData, PostgresData
from tests.databases.export_repo import ALLOWINSERT, T1, ExportRepo, make_export_repo, make_spark_export_repo
from tests.e2e.commands import ROOT
from tests.integration import exchange_kills, import_kills
from tests.integration.test_db_export import ORDERS, write
from tests.integration.test_db_import import DAY, rows, site_of, yaml_of
from tests.testbed.running import ending
from tests.unit.exchange.import_site import ImportSite
from toolkit.entities import DatasourceType
from toolkit.jdbc import database as jdbc_database
from toolkit.jdbc import gateway
from toolkit.jdbc.gateway import JdbcGateway
from toolkit.result import ExitCode

pytestmark = [
    pytest.mark.extended,
    pytest.mark.slow,
    pytest.mark.timeout(600),
    pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning"),  # Spark leaves sockets open
]
_SECONDS = 60
WRONG = "wr0ng-w0rd-of-a-test"
UNCOUNTED = "      verify: none"
SLOW = """CREATE TABLE base AS SELECT g AS id, 'n' || g AS note FROM generate_series(1, 200) g;
CREATE VIEW customers AS SELECT id, note FROM base, LATERAL (SELECT pg_sleep(0.05 + 0 * id)) s"""
"""A table that takes ten seconds to read, of which Spark shows nothing before the last row."""


@pytest.fixture(params=["postgres_data", "mariadb_data"])
def data(request: pytest.FixtureRequest) -> DataServer:
    """Each database in turn."""
    found: DataServer = request.getfixturevalue(request.param)
    return found


@pytest.fixture
def repo(data: DataServer, jdbc_gateway: JdbcGateway, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> ExportRepo:
    """An instance of orders whose export uses Spark."""
    found = make_spark_export_repo(tmp_path, data, database_of(data, jdbc_gateway), monkeypatch)
    found.write(ALLOWINSERT)
    write(found, ORDERS)
    return found


@contextmanager
def small_disk(place: Path) -> Iterator[Callable[[], None]]:
    """Mount a disk of 400 KB, and give what makes it large enough."""
    place.mkdir(parents=True)
    command = ["mount", "-t", "tmpfs", "-o", "size=400k", "tmpfs", str(place)]
    if os.geteuid() or subprocess.run(command, check=False, capture_output=True).returncode:
        pytest.skip("a small disk needs root and a machine that lets it mount one")

    def enlarge() -> None:
        subprocess.run(["mount", "-o", "remount,size=64m", str(place)], check=True)

    try:
        yield enlarge
    finally:
        subprocess.run(["umount", "--lazy", str(place)], check=True)


def wait_until(is_so: Callable[[], bool]) -> None:
    """Wait.

    Raises:
        AssertionError: it did not become so.
    """
    deadline = time.monotonic() + _SECONDS
    while not is_so():
        assert time.monotonic() < deadline
        time.sleep(0.05)


def is_reading(data: PostgresData) -> bool:
    """Return whether a connection of Spark reads rows."""
    reading = "query LIKE '%feedctl_rows%' AND state = 'active' AND pid <> pg_backend_pid()"
    return bool(data.rows(f"SELECT 1 FROM pg_stat_activity WHERE {reading}"))  # noqa: S608


@contextmanager
def while_reading(data: PostgresData, strike: Callable[[], None]) -> Iterator[None]:
    """Strike as soon as rows are read."""

    def work() -> None:
        wait_until(lambda: is_reading(data))
        strike()

    with ThreadPoolExecutor(1) as pool:
        future = pool.submit(work)
        yield
        future.result()


def assert_nothing(site: ImportSite) -> None:
    """Look that no instance is visible, and nothing is left."""
    assert (site.names(DAY), site.left()) == ([], [])
    assert site.ledger("select count(*) from event") == [(0,)]


def test_a_full_disk_on_the_target_shows_nothing_and_the_rerun_completes(
    tmp_path: Path, postgres_data: PostgresData
) -> None:
    postgres_data.run(
        "CREATE TABLE customers AS SELECT g AS id, md5(g::text) || md5((-g)::text) AS note"
        " FROM generate_series(1, 30000) g"
    )
    with small_disk(tmp_path / "data") as enlarge:
        site = site_of(tmp_path, postgres_data)
        result = site.run()
        assert result.exit_code == ExitCode.FAILED
        assert "No space left on device" in site.text(result)
        assert_nothing(site)
        enlarge()
        result = site.run()
        assert result.exit_code == ExitCode.DONE, site.text(result)
        assert len(rows(site)) == 30000
        assert site.left() == []


def test_a_server_that_accepts_and_is_silent_is_given_up(
    tmp_path: Path, repo: ExportRepo, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(gateway, "CONNECT_SECONDS", 2)
    scheme = "postgresql" if repo.data.datasource.type is DatasourceType.POSTGRES else "mariadb"
    with socket.create_server(("127.0.0.1", 0)) as silent:
        url = f"jdbc:{scheme}://127.0.0.1:{silent.getsockname()[1]}/x"
        (tmp_path / "import").mkdir()
        site = site_of(tmp_path / "import", repo.data)
        site.datasource = yaml_of(repo.data.datasource, url)
        site.write()
        result = site.run()
        assert result.exit_code not in {ExitCode.DONE, ExitCode.INVALID}
        assert "is unreachable" in site.text(result)
        assert_nothing(site)
        source = repo.path / "datasources/crm.yaml"
        end = repo.data.datasource.interfaces.write
        assert end is not None
        source.write_text(source.read_text().replace(end.endpoint, url))
        before = repo.table()
        assert repo.run() not in {0, ExitCode.INVALID}
        assert "is unreachable" in repo.text
        assert repo.table() == before


def test_a_server_that_freezes_while_rows_are_read_is_given_up(
    tmp_path: Path, own_postgres_data: PostgresData, monkeypatch: pytest.MonkeyPatch
) -> None:
    data = own_postgres_data
    monkeypatch.setattr(gateway, "CALL_SECONDS", 3)
    monkeypatch.setattr(jdbc_database, "CALL_SECONDS", 3)
    data.run(SLOW)
    site = site_of(tmp_path, data, more=UNCOUNTED)
    site.datasource += "properties: {socketTimeout: 15}\n"
    site.write()

    def all_get(number: int) -> None:
        for each in data.server.processes():
            os.kill(each, number)

    frozen = threading.Event()

    def freeze() -> None:
        all_get(signal.SIGSTOP)
        frozen.set()

    try:
        with while_reading(data, freeze):
            result = site.run()
    finally:
        all_get(signal.SIGCONT)
    assert frozen.is_set()
    assert result.exit_code not in {ExitCode.DONE, ExitCode.INVALID}
    assert "did not answer in time" in site.text(result) or "is unreachable" in site.text(result)
    assert_nothing(site)
    result = site.run()
    assert result.exit_code == ExitCode.DONE, site.text(result)
    assert len(rows(site)) == 200


def test_the_servers_limit_of_a_statement_ends_a_read(tmp_path: Path, data: DataServer) -> None:
    if isinstance(data, PostgresData):
        data.run(f"{SLOW}; ALTER ROLE {USER} IN DATABASE {data.database} SET statement_timeout = '2s'")
    else:
        data.run("CREATE VIEW customers AS SELECT a.seq AS id, b.seq AS note FROM seq_1_to_100000 a, seq_1_to_100000 b")
        data.run(f"ALTER USER {USER}@'%' WITH MAX_STATEMENT_TIME 2")
    try:
        site = site_of(tmp_path, data, more=UNCOUNTED)
        result = site.run()
    finally:
        if isinstance(data, MariaDbData):
            data.run(f"ALTER USER {USER}@'%' WITH MAX_STATEMENT_TIME 0")
    assert result.exit_code not in {ExitCode.DONE, ExitCode.INVALID}
    assert "database_timeout" in site.text(result)
    assert_nothing(site)


def test_the_servers_limit_of_a_statement_ends_a_merge(repo: ExportRepo) -> None:
    data = repo.data
    before = repo.table()
    if isinstance(data, PostgresData):
        data.run(
            "CREATE FUNCTION slow() RETURNS trigger LANGUAGE plpgsql AS"
            " 'BEGIN PERFORM pg_sleep(5); RETURN NEW; END';"
            "CREATE TRIGGER slow BEFORE INSERT ON orders FOR EACH ROW EXECUTE FUNCTION slow()"
        )
        data.run(f"ALTER ROLE {USER} IN DATABASE {data.database} SET statement_timeout = '2s'")
    else:
        counted = "(SELECT count(*) FROM seq_1_to_100000 a, seq_1_to_100000 b WHERE a.seq <> b.seq)"
        data.run(f"CREATE TRIGGER slow BEFORE INSERT ON orders FOR EACH ROW SET NEW.note = {counted}")
        data.run(f"ALTER USER {USER}@'%' WITH MAX_STATEMENT_TIME 2")
    try:
        assert repo.run() not in {0, ExitCode.INVALID}, repo.text
    finally:
        data.run("DROP TRIGGER slow ON orders" if isinstance(data, PostgresData) else "DROP TRIGGER slow")
        if isinstance(data, PostgresData):
            data.run(f"ALTER ROLE {USER} IN DATABASE {data.database} RESET statement_timeout")
        else:
            data.run(f"ALTER USER {USER}@'%' WITH MAX_STATEMENT_TIME 0")
    assert "database_timeout" in repo.text
    assert repo.table() == before
    assert repo.tables() == {"orders", "feedctl_export"}
    assert repo.run() == 0, repo.text


def test_a_split_column_without_a_value_in_half_the_rows_splits_all_of_them(tmp_path: Path, data: DataServer) -> None:
    data.run("CREATE TABLE customers (id int PRIMARY KEY, half int)")
    values = ", ".join(f"({each}, {each if each % 2 else 'NULL'})" for each in range(1000))
    data.run(f"INSERT INTO customers VALUES {values}")  # noqa: S608
    site = site_of(tmp_path, data, more="      split_by: half\n      num_mappers: 4")
    result = site.run(inconsistent=True)
    assert result.exit_code == ExitCode.DONE, site.text(result)
    assert [each["id"] for each in rows(site)] == list(range(1000))
    assert sum(each["half"] is None for each in rows(site)) == 500
    assert len(list(site.place(DAY).glob("*.parquet"))) > 1


@pytest.mark.parametrize("count", [0, 1])
def test_a_table_of_no_or_one_row_is_split(tmp_path: Path, postgres_data: PostgresData, count: int) -> None:
    postgres_data.run("CREATE TABLE customers (id int PRIMARY KEY, note text)")
    if count:
        postgres_data.run("INSERT INTO customers VALUES (7, 'x')")
    site = site_of(tmp_path, postgres_data, more="      split_by: id\n      num_mappers: 4\n      allow_empty: true")
    result = site.run(inconsistent=True)
    assert result.exit_code == ExitCode.DONE, site.text(result)
    assert rows(site) == [{"id": 7, "note": "x"}] * count
    assert "_SUCCESS" in site.names(DAY)
    assert site.ledger("select rows from exchange_mark") == [(count,)]


@pytest.mark.parametrize("password", [PASSWORD, WRONG])
@pytest.mark.parametrize("what", ["import", "export"])
def test_no_password_is_in_anything_that_a_run_writes(
    tmp_path: Path, postgres_data: PostgresData, jdbc_gateway: JdbcGateway, what: str, password: str
) -> None:
    if what == "import":
        postgres_data.run("CREATE TABLE customers AS SELECT 1 AS id")
        site = site_of(tmp_path, postgres_data)
        chosen = ["--config-repo", str(site.root / "repo"), "--feed", "customers", "--time", import_kills.NOMINAL]
    else:
        repo = make_export_repo(tmp_path, postgres_data, database_of(postgres_data, jdbc_gateway))
        repo.write(ALLOWINSERT)
        write(repo, ORDERS)
        chosen = ["--config-repo", str(repo.path), "--allow-dirty", "--feed", "orders", "--time", T1]
    (tmp_path / "conf").mkdir()
    (tmp_path / "events").mkdir()
    settings = (
        f"spark.eventLog.enabled true\nspark.eventLog.compress false\nspark.eventLog.dir file://{tmp_path}/events\n"
    )
    (tmp_path / "conf/spark-defaults.conf").write_text(settings)
    with (tmp_path / "output").open("wb") as output:
        done = subprocess.run(
            [*exchange_kills.command(f"db_{what}"), *chosen, "--output", "json"],
            cwd=ROOT,
            env={**exchange_kills.environment(), VARIABLE: password, "SPARK_CONF_DIR": str(tmp_path / "conf")},
            stdout=output,
            stderr=subprocess.STDOUT,
            check=False,
        )
    text = (tmp_path / "output").read_text()
    if password == WRONG:
        assert done.returncode == ExitCode.FAILED, text
        assert "login_refused" in text
    else:
        assert done.returncode == ExitCode.DONE, text
        assert list((tmp_path / "events").iterdir())
    log = postgres_data.server.directory / "server.log"
    for file in [log, *(each for each in tmp_path.rglob("*") if each.is_file())]:
        assert password.encode() not in file.read_bytes(), file


def test_the_death_of_the_drivers_connection_alone_gives_all_rows_of_one_moment_or_none(
    tmp_path: Path, postgres_data: PostgresData
) -> None:
    postgres_data.run(SLOW)
    site = site_of(tmp_path, postgres_data, more=f"{UNCOUNTED}\n      split_by: note\n      num_mappers: 8")

    def strike() -> None:
        with closing(psycopg.connect(postgres_data.url, autocommit=True)) as connection:
            killed = connection.execute(
                "SELECT count(pg_terminate_backend(pid)) FROM (SELECT pid FROM pg_stat_activity WHERE usename = %s"
                " AND datname = %s AND query NOT LIKE '%%feedctl_rows%%' ORDER BY backend_start LIMIT 1) AS first",
                (USER, postgres_data.database),
            ).fetchone()
            assert killed == (1,)
        postgres_data.run("DELETE FROM base WHERE id > 100")

    with while_reading(postgres_data, strike):
        result = site.run()
    if result.exit_code == ExitCode.DONE:
        assert len(rows(site)) == 200
    else:
        assert_nothing(site)
    result = site.run(start=import_kills.NOMINAL)
    assert result.exit_code == ExitCode.DONE, site.text(result)


def test_of_two_imports_of_one_instance_at_once_one_works(tmp_path: Path, postgres_data: PostgresData) -> None:
    import_kills.filled(postgres_data)
    site = site_of(tmp_path, postgres_data)
    with ending(import_kills.started_import(site)) as first, ending(import_kills.started_import(site)) as second:
        outputs = [each.communicate(timeout=10 * _SECONDS)[0] for each in (first, second)]
    codes = sorted([first.returncode, second.returncode])
    assert codes in ([ExitCode.DONE, ExitCode.DONE], [ExitCode.DONE, ExitCode.SKIPPED]), outputs
    assert import_kills.is_whole(site)
    assert site.names(DAY)
    done = codes.count(ExitCode.DONE)
    assert site.ledger("select count(*) from event") == [(done,)]
    assert site.left() == []


def test_a_table_of_an_engine_without_transactions_is_read(tmp_path: Path, mariadb_data: MariaDbData) -> None:
    mariadb_data.run("CREATE TABLE customers (id int PRIMARY KEY, note text) ENGINE=MyISAM")
    mariadb_data.run("INSERT INTO customers SELECT seq, CONCAT('n', seq) FROM seq_1_to_5000")
    site = site_of(tmp_path, mariadb_data, more="      split_by: id\n      num_mappers: 2")
    result = site.run()
    assert result.exit_code == ExitCode.DONE, site.text(result)
    assert len(rows(site)) == 5000
    assert len(list(site.place(DAY).glob("*.parquet"))) == 1


def test_an_export_without_a_grant_changes_nothing_and_names_it(repo: ExportRepo) -> None:
    data = repo.data
    before = repo.table()
    if isinstance(data, PostgresData):
        with closing(psycopg.connect(data.url, autocommit=True)) as connection:
            connection.execute(f"ALTER TABLE orders OWNER TO CURRENT_USER; GRANT SELECT ON orders TO {USER}".encode())
        grant = f"GRANT INSERT, UPDATE ON orders TO {USER}"
    else:
        assert isinstance(data, MariaDbData)
        data.run(f"REVOKE INSERT ON {data.database}.* FROM {USER}@'%'")
        grant = f"GRANT INSERT ON {data.database}.* TO {USER}@'%'"
    assert repo.run() == ExitCode.FAILED, repo.text
    assert "permission_refused" in repo.text
    assert "grant it to the datasource's user" in repo.text
    assert repo.table() == before
    assert repo.tables() <= {"orders", "feedctl_export"}
    if isinstance(data, PostgresData):
        with closing(psycopg.connect(data.url, autocommit=True)) as connection:
            connection.execute(grant.encode())
    else:
        data.run(grant)
    assert repo.run() == 0, repo.text

"""The PostgreSQL that tests and benchmarks run on."""

from __future__ import annotations

import os
import shutil
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest

from tests.databases.postgresql import PostgresServer, running_postgres
from tests.databases.postgresql_programs import ServerDidNotStart
from tests.liveness import is_alive
from tests.testbed.running import ending

pytestmark = pytest.mark.extended

_ROOT = Path(__file__).resolve().parents[2]
_SECONDS = 30
_OWNER = """
import time
from tests.databases.postgresql import PostgresServer
server = PostgresServer()
server.start()
print(server.pid, server.directory, flush=True)
time.sleep(600)
"""


def connect(server: PostgresServer, database: str = "postgres") -> psycopg.Connection:
    """A connection as psycopg wants its address, each statement a transaction."""
    return psycopg.connect(server.url(database).replace("+psycopg", ""), autocommit=True)


def value(connection: psycopg.Connection, query: bytes) -> object:
    """The one value of the one row."""
    row = connection.execute(query).fetchone()
    assert row is not None
    return row[0]


@pytest.fixture(scope="module")
def own_server(postgres_server: PostgresServer) -> Iterator[PostgresServer]:
    """A second server, which a test may stop; machines without PostgreSQL skip with the first."""
    with running_postgres(max_connections=7, fsync=True) as server:
        assert server.pid != postgres_server.pid
        yield server


def test_a_database_is_made_from_a_template_with_its_rows(postgres_server: PostgresServer) -> None:
    postgres_server.create_database("server_template")
    with connect(postgres_server, "server_template") as connection:
        connection.execute("CREATE TABLE run (id int)")
        connection.execute("INSERT INTO run VALUES (7)")
    postgres_server.create_database("server_copy", template="server_template")
    with connect(postgres_server, "server_copy") as connection:
        assert value(connection, b"SELECT id FROM run") == 7


def test_a_database_is_dropped_though_somebody_is_connected(postgres_server: PostgresServer) -> None:
    postgres_server.create_database("server_dropped")
    with connect(postgres_server, "server_dropped") as connection:
        postgres_server.drop_database("server_dropped")
        with pytest.raises(psycopg.OperationalError):
            connection.execute("SELECT 1")
    with pytest.raises(psycopg.OperationalError, match="does not exist"):
        connect(postgres_server, "server_dropped")


def test_rows_survive_a_restart_and_the_address_stays(own_server: PostgresServer) -> None:
    url = own_server.url("postgres")
    with connect(own_server) as connection:
        connection.execute("CREATE TABLE kept AS SELECT 7 AS id")
        own_server.restart()
        with pytest.raises(psycopg.OperationalError):
            connection.execute("SELECT 1")
    assert own_server.url("postgres") == url
    with connect(own_server) as connection:
        assert value(connection, b"SELECT id FROM kept") == 7


def test_a_stopped_server_refuses_connections_and_nobody_else_gets_its_port(own_server: PostgresServer) -> None:
    own_server.stop()
    try:
        assert own_server.pid is None
        with pytest.raises(psycopg.OperationalError, match="refused"):
            connect(own_server)
        with socket.socket() as other, pytest.raises(OSError, match="already in use"):
            other.bind(("127.0.0.1", int(own_server.url("").rsplit(":", 1)[1].rstrip("/"))))
    finally:
        own_server.start()


@pytest.mark.parametrize(
    ("setting", "expected"), [("max_connections", "7"), ("fsync", "on"), ("listen_addresses", "127.0.0.1")]
)
def test_a_server_has_the_settings_asked_for(own_server: PostgresServer, setting: str, expected: str) -> None:
    with connect(own_server) as connection:
        assert value(connection, f"SHOW {setting}".encode()) == expected


def test_a_server_does_not_wait_for_the_disk_unless_asked(postgres_server: PostgresServer) -> None:
    with connect(postgres_server) as connection:
        assert value(connection, b"SHOW fsync") == "off"


@pytest.mark.usefixtures("postgres_server")
def test_a_closed_server_leaves_nothing_behind() -> None:
    with running_postgres() as server:
        pid, directory = server.pid, server.directory
        assert directory.exists()
        assert pid is not None
    assert not directory.exists()
    assert not is_alive(pid)


@pytest.mark.usefixtures("postgres_server")
def test_a_server_that_cannot_start_says_why_and_leaves_nothing_behind() -> None:
    server = PostgresServer(max_connections=-1)
    with pytest.raises(ServerDidNotStart, match="max_connections"):
        server.start()
    assert server.pid is None
    server.close()
    assert not server.directory.exists()


@pytest.mark.usefixtures("postgres_server")
def test_a_server_is_gone_after_its_owner_was_killed() -> None:
    with ending(
        subprocess.Popen([sys.executable, "-c", _OWNER], cwd=_ROOT, stdout=subprocess.PIPE, text=True)
    ) as owner:
        assert owner.stdout is not None
        pid, directory = owner.stdout.readline().split()
        started = [int(pid), *_children(int(pid))]
        alive = [each for each in started if is_alive(each)]  # that of the first look at it may be over
        assert int(pid) in alive
        assert len(alive) > 1
        owner.kill()
    try:
        deadline = time.monotonic() + _SECONDS
        while left := [each for each in started if is_alive(each)]:
            assert time.monotonic() < deadline, f"still running: {left}"
            time.sleep(0.01)
    finally:
        if is_alive(int(pid)):
            os.kill(int(pid), signal.SIGQUIT)
        shutil.rmtree(directory, ignore_errors=True)


@pytest.mark.parametrize(("ci", "status", "outcome"), [({}, 0, "1 skipped"), ({"CI": "true"}, 1, "1 error")])
def test_without_server_programs_tests_skip_aloud_but_fail_in_ci(
    tmp_path: Path, ci: dict[str, str], status: int, outcome: str
) -> None:
    for tool in ("sh", "sort", "tail"):
        (tmp_path / tool).symlink_to(f"/usr/bin/{tool}")
    one = f"{Path(__file__)}::{test_a_server_does_not_wait_for_the_disk_unless_asked.__name__}"
    answer = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-p", "no:xdist", one],
        env={"PATH": str(tmp_path), "POSTGRESQL_DIR": str(tmp_path / "none"), **ci},
        cwd=_ROOT,
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )
    assert answer.returncode == status, answer.stdout
    assert outcome in answer.stdout
    assert "apt-get install postgresql" in answer.stdout


def _children(pid: int) -> list[int]:
    return [int(each) for each in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]

"""Ledgers for tests: fixtures with a ledger of its own for each test, and a clock that is moved by hand.

A test that must pass on both databases asks for `ledger`, or for `ledger_url` when it opens several of them itself. On
PostgreSQL it is extended, unless it is marked `both_databases`.
"""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
import sqlalchemy as sa

from tests.databases.postgresql import PostgresServer
from tests.databases.statements import share_statements
from toolkit.ledger import engine as ledger_engine
from toolkit.ledger.database import DatabaseClock, Ledger, database_now
from toolkit.ledger.engine import connect
from toolkit.ledger.schema_version import HEAD, record, seed
from toolkit.ledger.tables import metadata

START = datetime(2026, 3, 20, 12, tzinfo=UTC)
"""What a `HandClock` shows at first."""

_DATABASE = "ledger"
_SYNCHRONOUS = {name: getattr(ledger_engine, name) for name in ("_LASTING", "_UNHURRIED")}
_RESTART_NUMBERS = "SELECT setval(oid::regclass, 1, false) FROM pg_class WHERE relkind = 'S'"
_DISCONNECT_OTHERS = """
SELECT pg_terminate_backend(pid, 10000) FROM pg_stat_activity
WHERE datname = current_database() AND pid <> pg_backend_pid()
"""


@pytest.hookimpl(tryfirst=True)  # before `-m` chooses
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Have a case run on PostgreSQL in the extended tests only, unless it is marked `both_databases`.

    Locks, clock, types and the schema differ between the databases; most queries are the same text.
    """
    for item in items:
        call = getattr(item, "callspec", None)
        is_second = call is not None and call.params.get("ledger_url") == "postgresql"
        if is_second and item.get_closest_marker("both_databases") is None:
            item.add_marker(pytest.mark.extended)


share_statements()


class HandClock:
    """A database clock that stands still until it is moved."""

    def __init__(self, now: datetime = START) -> None:
        self.now = now

    def __call__(self, connection: sa.Connection) -> datetime:
        """The instant it was moved to."""
        del connection
        return self.now

    def forward(self, seconds: float) -> None:
        """Let time pass."""
        self.now += timedelta(seconds=seconds)


def open_ledger(url: sa.URL, clock: DatabaseClock = database_now) -> Ledger:
    """A ledger with a connection of its own on a database that has the tables."""
    return Ledger(engine=connect(url), place=url.render_as_string(), clock=clock)


def make_ledger(url: sa.URL) -> None:
    """Make the tables and the rows that every ledger has, in an empty database."""
    engine = connect(url)
    with engine.begin() as connection:
        metadata.create_all(connection)
        seed(connection)
        record(connection, HEAD)
    engine.dispose()


def empty_ledger(connection: sa.Connection) -> None:
    """Make a ledger as good as new, numbers included; far quicker than a new database."""
    statements = [f"DELETE FROM {table.name}" for table in reversed(metadata.sorted_tables)]  # noqa: S608 - our own
    if connection.dialect.name == "sqlite":
        for statement in [*statements, "DELETE FROM sqlite_sequence"]:
            connection.exec_driver_sql(statement)
    else:
        connection.exec_driver_sql("; ".join([*statements, _RESTART_NUMBERS]))
    seed(connection)


def sqlite_url(file: Path) -> sa.URL:
    """The URL of a SQLite ledger."""
    return sa.URL.create("sqlite", database=str(file))


@pytest.fixture(scope="session", autouse=True)
def _commits_wait_for_no_disk() -> Iterator[None]:
    """Let SQLite in this process leave its writes to the system: no test stops the machine."""
    with pytest.MonkeyPatch.context() as patch:
        for name in _SYNCHRONOUS:
            patch.setattr(ledger_engine, name, "OFF")
        yield


@pytest.fixture
def commits_wait_for_disks(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let SQLite wait for the disk as in production."""
    for name, value in _SYNCHRONOUS.items():
        monkeypatch.setattr(ledger_engine, name, value)


@pytest.fixture(scope="session")
def sqlite_template(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A SQLite file with an empty ledger, which new ones are copied from."""
    file = tmp_path_factory.mktemp("ledger") / "template.db"
    make_ledger(sqlite_url(file))
    return file


@pytest.fixture
def sqlite_ledger_url(sqlite_template: Path, tmp_path: Path) -> sa.URL:
    """A SQLite ledger of the test's own."""
    file = tmp_path / "ledger.db"
    shutil.copy(sqlite_template, file)
    return sqlite_url(file)


@pytest.fixture
def sqlite_ledger(sqlite_ledger_url: sa.URL) -> Iterator[Ledger]:
    """A SQLite ledger of the test's own, open."""
    yield from _opened(sqlite_ledger_url)


@pytest.fixture(scope="session")
def postgres_ledger_database(postgres_server: PostgresServer) -> sa.URL:
    """A database with the tables of a ledger, which one test after the other uses."""
    postgres_server.create_database(_DATABASE)
    url = sa.make_url(postgres_server.url(_DATABASE))
    make_ledger(url)
    return url


@pytest.fixture(scope="session")
def postgres_emptying(postgres_ledger_database: sa.URL) -> sa.Engine:
    """Return what empties that database: one for all tests, since a new one asks the server many questions first."""
    return connect(postgres_ledger_database)


@pytest.fixture
def postgres_ledger_url(postgres_ledger_database: sa.URL, postgres_emptying: sa.Engine) -> sa.URL:
    """A PostgreSQL ledger of the test's own, as good as new; a test that alters tables makes its own database."""
    with postgres_emptying.begin() as connection:
        connection.exec_driver_sql(_DISCONNECT_OTHERS)
        empty_ledger(connection)
    postgres_emptying.dispose()
    return postgres_ledger_database


@pytest.fixture
def postgres_ledger(postgres_ledger_url: sa.URL) -> Iterator[Ledger]:
    """A PostgreSQL ledger of the test's own, open."""
    yield from _opened(postgres_ledger_url)


@pytest.fixture(params=["sqlite", "postgresql"])
def ledger_url(request: pytest.FixtureRequest) -> sa.URL:
    """A ledger of the test's own, on each database in turn."""
    kind = "sqlite_ledger_url" if request.param == "sqlite" else "postgres_ledger_url"
    url: sa.URL = request.getfixturevalue(kind)
    return url


@pytest.fixture
def ledger(ledger_url: sa.URL) -> Iterator[Ledger]:
    """A ledger of the test's own, open, on each database in turn."""
    yield from _opened(ledger_url)


@pytest.fixture
def hand_clock() -> HandClock:
    """The clock of `clocked_ledger`."""
    return HandClock()


@pytest.fixture
def clocked_ledger(ledger_url: sa.URL, hand_clock: HandClock) -> Iterator[Ledger]:
    """As `ledger`, but the database's clock is moved by hand."""
    yield from _opened(ledger_url, hand_clock)


def _opened(url: sa.URL, clock: DatabaseClock = database_now) -> Iterator[Ledger]:
    opened = open_ledger(url, clock)
    yield opened
    opened.close()

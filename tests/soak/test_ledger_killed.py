"""kill -9 at every point of every call on the ledger, and of an upgrade."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
import sqlalchemy as sa

from tests.databases.forking import Forks, forking
from tests.databases.invariants import violations
from tests.databases.kill_points import KillPoints, listed
from tests.databases.ledgers import open_ledger
from tests.databases.postgresql import PostgresServer
from tests.integration.ledger_calls import CALLS
from tests.integration.ledger_killing import Killing, every
from toolkit.ledger.database import Ledger
from toolkit.ledger.schema_version import HEAD, stored_revision
from toolkit.ledger.tables import metadata
from toolkit.ledger.upgrade import upgrade

_DATABASE = "killed_upgrades"


@pytest.fixture(scope="module")
def forks() -> Iterator[Forks]:
    """Yield what makes the calls and dies."""
    with forking() as started:
        yield started


@pytest.mark.soak
@pytest.mark.parametrize("name", CALLS)
def test_a_call_that_is_killed_anywhere_leaves_a_legal_ledger(
    name: str, ledger: Ledger, ledger_url: sa.URL, forks: Forks
) -> None:
    killed = Killing(name=name, url=ledger_url, ledger=ledger, forks=forks).explore(every)
    print(f"{name}: killed at {killed} points")  # noqa: T201
    assert killed > 2


@pytest.mark.soak
def test_an_upgrade_that_is_killed_anywhere_is_finished_by_the_next_on_sqlite(tmp_path: Path, forks: Forks) -> None:
    _explore_upgrade(sa.URL.create("sqlite", database=str(tmp_path / "new.db")), forks)


@pytest.mark.soak
def test_an_upgrade_that_is_killed_anywhere_is_finished_by_the_next_on_postgresql(
    postgres_server: PostgresServer, forks: Forks
) -> None:
    postgres_server.create_database(_DATABASE)
    _explore_upgrade(sa.make_url(postgres_server.url(_DATABASE)), forks)


def _upgrade(url: str, kill_at: int) -> str:
    ledger = open_ledger(sa.make_url(url))
    KillPoints(ledger.engine, kill_at)
    upgrade(ledger)
    return "it lived"


def _explore_upgrade(url: sa.URL, forks: Forks) -> None:
    ledger = open_ledger(url)
    points = listed(ledger.engine, lambda: upgrade(ledger))
    ledger.close()
    for number, point in enumerate(points):
        _clear(url)
        assert forks.call(_upgrade, str(url), number).was_killed, point
        _check(url, point)
    print(f"an upgrade, killed at {len(points)} points")  # noqa: T201


def _check(url: sa.URL, point: str) -> None:
    """A whole revision or nothing is there, and the next upgrade makes the rest."""
    ledger = open_ledger(url)
    with ledger.engine.connect() as connection:
        tables = sa.inspect(connection).get_table_names()
        assert bool(tables) == bool(tables and stored_revision(connection)), point
    assert upgrade(ledger).after == HEAD, point
    assert ledger.read(lambda tx: violations(tx.connection)) == [], point
    with ledger.engine.connect() as connection:
        assert metadata.tables.keys() <= set(sa.inspect(connection).get_table_names()), point
    ledger.close()


def _clear(url: sa.URL) -> None:
    """An empty database again."""
    if url.get_backend_name() == "sqlite":
        for file in Path(str(url.database)).parent.glob("new.db*"):
            file.unlink()
        return
    engine = sa.create_engine(url)
    with engine.begin() as connection:
        connection.exec_driver_sql("DROP SCHEMA public CASCADE")
        connection.exec_driver_sql("CREATE SCHEMA public")
    engine.dispose()

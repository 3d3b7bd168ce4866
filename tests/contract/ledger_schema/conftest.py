"""Databases without a ledger, of each kind."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import count
from pathlib import Path

import pytest
import sqlalchemy as sa

from tests.databases.postgresql import PostgresServer
from toolkit.ledger.database import Ledger
from toolkit.ledger.location import LedgerLocation
from toolkit.ledger.opening import connected

_numbers = count(1)


@pytest.fixture
def empty_postgresql(postgres_server: PostgresServer) -> Iterator[LedgerLocation]:
    """An empty PostgreSQL database."""
    name = f"empty_{next(_numbers)}"
    postgres_server.create_database(name)
    url = sa.make_url(postgres_server.url(name))
    yield LedgerLocation(url=url, place=url.render_as_string())
    postgres_server.drop_database(name)


@pytest.fixture
def empty_sqlite(tmp_path: Path) -> LedgerLocation:
    """A SQLite file that is not there yet."""
    return sqlite_location(tmp_path / "ledger.db")


def sqlite_location(file: Path) -> LedgerLocation:
    """A SQLite file as a ledger."""
    return LedgerLocation(url=sa.URL.create("sqlite", database=str(file)), place=f"sqlite:///{file}", file=file)


@pytest.fixture(params=["sqlite", "postgresql"])
def location(request: pytest.FixtureRequest) -> LedgerLocation:
    """An empty database, on each kind in turn."""
    found: LedgerLocation = request.getfixturevalue(f"empty_{request.param}")
    return found


@pytest.fixture
def database(location: LedgerLocation) -> Iterator[Ledger]:
    """An empty database, connected, on each kind in turn."""
    ledger = connected(location, read_only=False)
    yield ledger
    ledger.close()

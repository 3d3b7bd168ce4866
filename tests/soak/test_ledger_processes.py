"""200 processes on one PostgreSQL ledger, in waves within its connections; 20 at once on SQLite."""

from __future__ import annotations

import os
import secrets
from collections.abc import Iterator
from pathlib import Path

import pytest
import sqlalchemy as sa

from tests.databases.forking import Forks, forking
from tests.databases.postgresql import PostgresServer
from tests.soak.ledger_swarm import Swarm


@pytest.fixture
def forks() -> Iterator[Forks]:
    """Yield what makes the processes."""
    with forking() as started:
        yield started


def _seed() -> int:
    seed = int(os.environ.get("FEEDCTL_SEED") or secrets.randbelow(10**9))
    print(f"FEEDCTL_SEED={seed}")  # noqa: T201 - how to repeat it
    return seed


@pytest.mark.soak
def test_200_processes_on_postgresql_lose_and_double_nothing(
    postgres_server: PostgresServer, postgres_ledger_url: sa.URL, forks: Forks, tmp_path: Path
) -> None:
    swarm = Swarm(workers=200, at_once=40, actions=12, seed=_seed())
    print(dict(swarm.run(postgres_ledger_url, forks, tmp_path)))  # noqa: T201
    assert "deadlock detected" not in (postgres_server.directory / "server.log").read_text()


@pytest.mark.soak
def test_20_processes_at_once_on_sqlite_lose_and_double_nothing(
    sqlite_ledger_url: sa.URL, forks: Forks, tmp_path: Path
) -> None:
    swarm = Swarm(workers=60, at_once=20, actions=12, seed=_seed())
    print(dict(swarm.run(sqlite_ledger_url, forks, tmp_path)))  # noqa: T201

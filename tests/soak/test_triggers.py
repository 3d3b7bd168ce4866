"""200 processes that decide and 50 that emit updates on one PostgreSQL; and 100 rounds in which many of them die."""

from __future__ import annotations

import os
import secrets
from collections import Counter
from collections.abc import Iterator

import pytest
import sqlalchemy as sa

from tests.contract.triggers.swarm import TriggerSwarm
from tests.databases.forking import Forks, forking
from tests.databases.ledgers import empty_ledger
from toolkit.ledger.engine import connect

ROUNDS = 100


@pytest.fixture
def forks() -> Iterator[Forks]:
    """Yield what makes the processes."""
    with forking() as started:
        yield started


def _seed() -> int:
    seed = int(os.environ.get("FEEDCTL_SEED") or secrets.randbelow(10**9))
    print(f"FEEDCTL_SEED={seed}")  # noqa: T201 - how to repeat it
    return seed


def _empty(url: sa.URL) -> None:
    engine = connect(url)
    with engine.begin() as connection:
        empty_ledger(connection)
    engine.dispose()


@pytest.mark.soak
def test_200_deciders_and_50_producers_create_one_run_for_each_condition(
    postgres_ledger_url: sa.URL, forks: Forks
) -> None:
    print(TriggerSwarm(deciders=200, producers=50, at_once=50, seed=_seed()).run(postgres_ledger_url, forks))  # noqa: T201


@pytest.mark.soak
def test_100_rounds_with_kill_9_lose_and_double_nothing(postgres_ledger_url: sa.URL, forks: Forks) -> None:
    seed, counts = _seed(), Counter[str]()
    for number in range(ROUNDS):
        _empty(postgres_ledger_url)
        swarm = TriggerSwarm(deciders=20, producers=8, at_once=8, killed=0.6, seed=seed + number)
        counts += swarm.run(postgres_ledger_url, forks)
    print(dict(counts))  # noqa: T201

"""A model, SQLite and PostgreSQL get the same random commands and answer alike."""

from __future__ import annotations

import pytest
import sqlalchemy as sa
from hypothesis import HealthCheck, Phase, settings
from hypothesis.stateful import run_state_machine_as_test

from tests.contract.ledger.run_commands import RunCommands
from tests.contract.ledger.run_machine import RunMachine
from tests.databases.ledgers import START, HandClock, empty_ledger, open_ledger

pytestmark = pytest.mark.both_databases


def _run(urls: list[sa.URL], *, examples: int, steps: int) -> None:
    clocks = [HandClock() for _ in urls]
    ledgers = [open_ledger(url, clock) for url, clock in zip(urls, clocks, strict=True)]

    def machine() -> RunMachine:
        for ledger, clock in zip(ledgers, clocks, strict=True):
            clock.now = START
            with ledger.engine.begin() as connection:
                empty_ledger(connection)
        return RunMachine([RunCommands(ledger, clock) for ledger, clock in zip(ledgers, clocks, strict=True)])

    bounds = settings(
        max_examples=examples,
        stateful_step_count=steps,
        suppress_health_check=list(HealthCheck),
        phases=set(Phase) - {Phase.explain},  # takes minutes, and its lines are in libraries
    )
    run_state_machine_as_test(machine, settings=bounds)  # type: ignore[arg-type] # any factory will do
    for ledger in ledgers:
        ledger.close()


def test_a_model_and_both_databases_answer_alike(sqlite_ledger_url: sa.URL, postgres_ledger_url: sa.URL) -> None:
    _run([sqlite_ledger_url, postgres_ledger_url], examples=4, steps=40)


@pytest.mark.extended
def test_a_model_and_both_databases_answer_alike_for_a_while(
    sqlite_ledger_url: sa.URL, postgres_ledger_url: sa.URL
) -> None:
    _run([sqlite_ledger_url, postgres_ledger_url], examples=10, steps=40)


@pytest.mark.soak
@pytest.mark.timeout(1800)
def test_a_model_and_both_databases_answer_alike_for_long(
    sqlite_ledger_url: sa.URL, postgres_ledger_url: sa.URL
) -> None:
    _run([sqlite_ledger_url, postgres_ledger_url], examples=300, steps=60)

"""Jobs, steps, queue and archive against a model in memory, on both databases."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from hypothesis import HealthCheck, settings
from hypothesis.stateful import run_state_machine_as_test

from tests.contract.ledger_jobs.calls import Calls
from tests.contract.ledger_jobs.machine import JobsMachine
from tests.databases.ledgers import empty_ledger
from toolkit.ledger.database import Ledger

SMALL = settings(max_examples=3, stateful_step_count=20, deadline=None, suppress_health_check=list(HealthCheck))
MIDDLE = settings(SMALL, max_examples=7)
LARGE = settings(SMALL, max_examples=120, stateful_step_count=50)


@pytest.fixture
def run(sqlite_ledger: Ledger, postgres_ledger: Ledger) -> Callable[[settings], None]:
    """Runs the machine, each example on ledgers that are as good as new."""
    ledgers = (sqlite_ledger, postgres_ledger)

    class Machine(JobsMachine):
        def __init__(self) -> None:
            for each in ledgers:
                with each.engine.begin() as connection:
                    empty_ledger(connection)
            super().__init__([Calls(each) for each in ledgers])

    return lambda chosen: run_state_machine_as_test(Machine, settings=chosen)


def test_both_databases_do_what_the_model_says(run: Callable[[settings], None]) -> None:
    run(SMALL)


@pytest.mark.extended
def test_both_databases_do_what_the_model_says_for_a_while(run: Callable[[settings], None]) -> None:
    run(MIDDLE)


@pytest.mark.soak
def test_both_databases_do_what_the_model_says_for_a_long_time(run: Callable[[settings], None]) -> None:
    run(LARGE)

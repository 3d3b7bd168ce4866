"""Commands and starts that meet on the same instances, each with a connection of its own."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress

import pytest
import sqlalchemy as sa

from tests.contract.ledger.samples import begun, changed, key
from tests.contract.ledger_management.commands import give
from tests.databases.ledgers import open_ledger
from toolkit.ledger.database import Ledger
from toolkit.ledger.errors import IllegalTransition
from toolkit.ledger.runs.errors import InstanceKilled, InstanceSuspended, RunIsActive
from toolkit.ledger.runs.queries import RunFilter, find
from toolkit.ledger.vocabulary import LifeCycle, RunStatus
from toolkit.management.decisions import InstanceCommand

pytestmark = pytest.mark.both_databases

DAY = ("2026-03-05T00:00Z", "2026-03-06T00:00Z")


def works(ledger: Ledger) -> None:
    """Begin and end every instance that can be begun."""
    for hour in range(24):
        with suppress(RunIsActive, InstanceKilled, InstanceSuspended, IllegalTransition):
            of = key(f"2026-03-05T{hour:02}:00Z", entity="count_job", life_cycle=LifeCycle.EXECUTION)
            changed(ledger, begun(ledger, of), RunStatus.SUCCEEDED)


def commands(command: InstanceCommand) -> Callable[[Ledger], None]:
    """Give a command to the whole day."""
    return lambda ledger: (give(ledger, command, *DAY), None)[1]


@pytest.mark.timeout(120)
def test_commands_that_meet_leave_each_instance_in_one_legal_state(ledger_url: sa.URL) -> None:
    ledgers = [open_ledger(ledger_url) for _ in range(5)]
    tasks = [works, *map(commands, InstanceCommand)]
    with ThreadPoolExecutor(len(tasks)) as pool:
        for future in [pool.submit(task, each) for _ in range(3) for task, each in zip(tasks, ledgers, strict=True)]:
            future.result()
    runs = ledgers[0].read(lambda tx: find(tx, RunFilter(entity="count_job", all_attempts=True)))
    for each in ledgers:
        each.close()
    by_instance: dict[str, list[RunStatus]] = {}
    for run in sorted(runs, key=lambda run: (run.instance_key, run.attempt)):
        by_instance.setdefault(run.instance_key, []).append(run.status)
    assert len(by_instance) == 24
    assert all(status.is_terminal for statuses in by_instance.values() for status in statuses[:-1])

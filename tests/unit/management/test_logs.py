"""Places of the logs of instances."""

from __future__ import annotations

from tests.databases.ledgers import START
from tests.unit.management.repo import managed
from tests.unit.management.runs import execution, requested
from toolkit.ledger import tables
from toolkit.ledger.database import Ledger, Transaction
from toolkit.ledger.jobs import steps
from toolkit.ledger.vocabulary import ProcessKind, RunStatus
from toolkit.management.questions import instance_logs
from toolkit.management.rows import View


def run_steps(tx: Transaction, run_id: int) -> None:
    known = {"digest": "d", "snapshot": "s", "registered_at": START, "updated_at": START}
    owner = tx.insert(
        tables.process, kind=ProcessKind.PROCESS, name="count_job", cluster="primary", is_deleted=False, **known
    )
    for at, name in enumerate(("load", "sum")):
        step = tx.insert(tables.step, process_id=owner, name=name, position=at, is_recoverable=True, is_deleted=False)
        values = {"run_id": run_id, "step_id": step, "attempt": 1, "started_at": START}
        tx.insert(tables.step_run, **values, status=RunStatus.SUCCEEDED, log_location=f"/logs/{name}")


def test_an_attempt_has_the_logs_of_its_steps_and_what_it_wrote_down(sqlite_ledger: Ledger) -> None:
    first = execution(sqlite_ledger, "2026-03-05T02:00Z", RunStatus.FAILED)
    second = execution(sqlite_ledger, "2026-03-05T02:00Z")
    sqlite_ledger.write(lambda tx: run_steps(tx, second.run_id))
    sqlite_ledger.write(lambda tx: steps.write_log(tx, second.run_id, "import", "12 rows"))
    (log,) = instance_logs(sqlite_ledger, managed("count_job"), requested("2026-03-05T02:00Z"), View()).logs
    assert (log.run.attempt, log.run.log_location) == (2, "/logs/1")
    assert [(each.step, each.log_location) for each in log.steps] == [("load", "/logs/load"), ("sum", "/logs/sum")]
    assert [(each.category, each.message) for each in log.lines] == [("import", "12 rows")]
    every = instance_logs(
        sqlite_ledger, managed("count_job"), requested("2026-03-05T02:00Z"), View(all_attempts=True)
    ).logs
    assert [(each.run.run_id, len(each.steps)) for each in every] == [(first.run_id, 0), (second.run_id, 2)]


def test_what_never_ran_has_no_log(sqlite_ledger: Ledger) -> None:
    of_day = requested("2026-03-05T00:00Z", "2026-03-06T00:00Z")
    assert instance_logs(sqlite_ledger, managed("count_job"), of_day, View()).logs == ()

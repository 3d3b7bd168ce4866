"""The log that runs keep about themselves (BDRE, PROCESS_LOG)."""

from __future__ import annotations

import pytest

from tests.contract.ledger_jobs.calls import Calls
from tests.contract.ledger_jobs.pipelines import process, step
from toolkit.ledger.jobs import steps
from toolkit.ledger.registry.registration import UnknownStep
from toolkit.ledger.runs.errors import UnknownRun


def test_entries_are_read_in_the_order_of_writing_all_or_those_of_a_category(calls: Calls) -> None:
    calls.register(process("p", step("one")), process("q", step("two")))
    run_id, other = calls.init("p").run.run_id, calls.init("q").run.run_id
    for category, message, name in (("import", "1 row", "one"), ("quality", "no nulls", None), ("import", "2", "one")):
        calls.ledger.write(
            lambda tx, c=category, m=message, n=name: steps.write_log(tx, run_id, c, m, step_name=n)  # type: ignore[misc]
        )
    calls.ledger.write(lambda tx: steps.write_log(tx, other, "import", "another run"))
    everything = calls.ledger.read(lambda tx: steps.read_log(tx, run_id))
    assert [(each.category, each.message, each.step) for each in everything] == [
        ("import", "1 row", "one"),
        ("quality", "no nulls", None),
        ("import", "2", "one"),
    ]
    assert calls.ledger.read(lambda tx: steps.read_log(tx, run_id, "quality")) == everything[1:2]


def test_a_run_that_is_over_may_be_written_about(calls: Calls) -> None:
    calls.register(process("p"))
    ended = calls.work("p").run
    written = calls.ledger.write(lambda tx: steps.write_log(tx, ended.run_id, "import", "3 rows"))
    assert calls.ledger.read(lambda tx: steps.read_log(tx, ended.run_id)) == (written,)


def test_an_unknown_run_or_step_is_refused(calls: Calls) -> None:
    calls.register(process("p", step("one")), process("q", step("two")))
    run_id = calls.init("p").run.run_id
    with pytest.raises(UnknownRun):
        calls.ledger.write(lambda tx: steps.write_log(tx, 99, "import", "x"))
    with pytest.raises(UnknownRun):
        calls.ledger.read(lambda tx: steps.read_log(tx, 99))
    with pytest.raises(UnknownStep):
        calls.ledger.write(lambda tx: steps.write_log(tx, run_id, "import", "x", step_name="two"))

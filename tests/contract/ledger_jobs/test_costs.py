"""Tests of what the calls cost does not grow with the archive, nor with what is unread beyond what is taken."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from tests.contract.ledger_jobs.calls import NOON, ONE, Calls, instance
from tests.contract.ledger_jobs.pipelines import feed, process, step
from tests.contract.ledger_jobs.plans import executed, scans
from toolkit.ledger.batches import files
from toolkit.ledger.batches.rows import FeedInstance

pytestmark = pytest.mark.both_databases


@pytest.fixture
def busy(calls: Calls) -> Calls:
    """A pipeline with something in every table: archived, taken, and unread."""
    calls.register(
        feed("a"),
        feed("b"),
        process("p", step("one", "a"), step("two", "a", optional=("b",))),
        process("q", step("main", "p")),
    )
    for path in "12345":
        calls.enqueue("a", path, of=instance("a"))
    calls.work("p", most=1)
    calls.work("q")
    calls.init("p", ONE, inputs=[instance("a")])
    calls.init_step("p", "one", ONE)
    calls.halt_step("p", "one", ONE)
    calls.enqueue("a", "6", of=instance("a"))
    return calls


def rerun(calls: Calls) -> None:
    calls.init("p", most=1)
    calls.fail_step("p", "one")
    calls.term("p")
    calls.init("p")


def order_again(calls: Calls) -> None:
    calls.order_again(calls.work("q").run)
    calls.init("q")


def add_files(calls: Calls) -> None:
    batch_id = calls.register_file("/in/7").batch_id
    calls.register_file("/in/8", batch_id=batch_id)
    calls.enqueue("a", "/in/8", batch_id=batch_id, of=instance("a", ONE))


def halt_instance(calls: Calls) -> None:
    calls.step("p", "two", ONE)
    calls.halt("p", ONE)


def read_files(calls: Calls) -> None:
    calls.ledger.read(lambda tx: files.get_files(tx, 2, 4))
    calls.ledger.read(lambda tx: files.files_of_job(tx, 1))


CALLS: dict[str, Callable[[Calls], object]] = {
    "a job on the queue": lambda calls: calls.work("p", most=1),
    "a job on the queue without limit": lambda calls: calls.work("p"),
    "a rerun": rerun,
    "an ordered rerun": order_again,
    "a job for an instance": lambda calls: calls.init("p", NOON, inputs=[instance("a")]),
    "halting a job for an instance": halt_instance,
    "the end of a job": lambda calls: calls.term("p", ONE),
    "files": add_files,
    "reading files": read_files,
}


@pytest.mark.parametrize("call", CALLS)
def test_no_call_reads_all_of_a_table_that_grows(busy: Calls, call: str) -> None:
    if call == "an ordered rerun":
        busy.work("p", most=1)
    with executed(busy.ledger) as statements:
        CALLS[call](busy)
    assert len(statements) > 1
    assert scans(busy.ledger, statements) == []


def test_a_job_takes_a_thousand_batches_with_as_many_statements_as_one(calls: Calls) -> None:
    calls.register(feed("a"), process("p", step("one", "a"), step("two", "a")), process("q", step("main", "p")))

    def statements_of_a_job() -> int:
        with executed(calls.ledger) as statements:
            calls.work("p")
        return len(statements)

    calls.enqueue("a", "0")
    few = statements_of_a_job()
    for number in range(100):
        calls.enqueue("a", str(number))
    assert statements_of_a_job() == few


def test_a_job_of_three_steps_is_few_statements(calls: Calls) -> None:
    calls.register(
        feed("a"), process("p", step("one", "a"), step("two"), step("three")), process("q", step("main", "p"))
    )

    def statements_of(key: str | None, *inputs: FeedInstance) -> int:
        calls.enqueue("a", of=instance("a"))
        with executed(calls.ledger) as statements:
            for name in calls.init("p", key, inputs=inputs).steps_to_run:
                calls.step("p", name, key)
            calls.halt("p", key)
        return len(statements)

    assert statements_of(NOON, instance("a")) <= 47
    assert statements_of(ONE) <= 41
    assert statements_of(None) <= 40

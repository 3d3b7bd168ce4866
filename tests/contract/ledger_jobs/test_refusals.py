"""Tests of what the calls refuse: each case has its own code, and nothing is changed."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import sqlalchemy as sa

from tests.contract.ledger_jobs.calls import NOON, Calls, instance
from tests.contract.ledger_jobs.pipelines import feed, process, step
from toolkit.errors import Failed, FeedctlError, InvalidInput, NotYet, Skipped
from toolkit.ledger.runs import status
from toolkit.ledger.state import start_check
from toolkit.ledger.tables import run
from toolkit.ledger.vocabulary import RunStatus

Call = Callable[[Calls], object]

IDLE: dict[str, tuple[str, type[FeedctlError], Call]] = {
    "init a process that was never registered": ("unknown_process", InvalidInput, lambda calls: calls.init("x")),
    "init a process on another cluster": (
        "unknown_process",
        InvalidInput,
        lambda calls: calls.init("elsewhere"),
    ),
    "init a feed": ("unknown_process", InvalidInput, lambda calls: calls.init("a")),
    "init a process that left the config repo": ("unknown_process", InvalidInput, lambda calls: calls.init("gone")),
    "init without anything enqueued": ("nothing_enqueued", NotYet, lambda calls: calls.init("p")),
    "init with a limit of none": ("bad_max_batches", InvalidInput, lambda calls: calls.init("p", most=0)),
    "init with inputs on the queue": (
        "wrong_mode",
        InvalidInput,
        lambda calls: calls.init("p", inputs=[instance("a")]),
    ),
    "init with a feed that nobody reads": (
        "unread_feed",
        InvalidInput,
        lambda calls: calls.init("p", NOON, inputs=[instance("b")]),
    ),
    "halt without init": ("job_not_running", Failed, lambda calls: calls.halt("p")),
    "halt an unknown process": ("unknown_process", InvalidInput, lambda calls: calls.halt("x")),
    "halt an instance that never ran": ("job_not_running", Failed, lambda calls: calls.halt("p", NOON)),
    "term without init": ("job_not_running", Failed, lambda calls: calls.term("p")),
    "init a step without a job": ("job_not_running", Failed, lambda calls: calls.init_step("p", "one")),
    "halt a step without a job": ("job_not_running", Failed, lambda calls: calls.halt_step("p", "one")),
    "term a step without a job": ("job_not_running", Failed, lambda calls: calls.term_step("p", "one")),
    "init an unknown step": ("unknown_step", InvalidInput, lambda calls: calls.init_step("p", "three")),
    "halt an unknown step": ("unknown_step", InvalidInput, lambda calls: calls.halt_step("p", "three")),
}

RUNNING: dict[str, tuple[str, type[FeedctlError], Call]] = {
    "init a job that runs": ("job_is_running", Skipped, lambda calls: calls.init("p")),
    "halt a step that was not begun": ("step_not_running", Failed, lambda calls: calls.halt_step("p", "two")),
    "term a step that was not begun": ("step_not_running", Failed, lambda calls: calls.term_step("p", "two")),
    "init a step that runs": ("step_is_running", Failed, lambda calls: calls.init_step("p", "one")),
    "halt a job while a step runs": ("step_is_running", Failed, lambda calls: calls.halt("p")),
    "term a job while a step runs": ("step_is_running", Failed, lambda calls: calls.term("p")),
    "init a step that is gone": ("unknown_step", InvalidInput, lambda calls: calls.init_step("p", "old")),
    "halt the job of another instance": ("job_not_running", Failed, lambda calls: calls.halt("p", NOON)),
    "a step of a job of another instance": (
        "job_not_running",
        Failed,
        lambda calls: calls.halt_step("p", "one", NOON),
    ),
}

SUSPENDED: dict[str, tuple[str, type[FeedctlError], Call]] = {
    "init": ("job_is_running", Skipped, lambda calls: calls.init("p")),
    "halt": ("job_is_suspended", Skipped, lambda calls: calls.halt("p")),
    "term": ("job_is_suspended", Skipped, lambda calls: calls.term("p")),
    "init a step": ("job_is_suspended", Skipped, lambda calls: calls.init_step("p", "two")),
}


_RUNNING = sa.select(run.c.run_id).where(run.c.status == RunStatus.RUNNING)


def prepare(calls: Calls) -> None:
    """A process without anything to read, one that is gone, and a step that is gone."""
    calls.register(process("elsewhere", cluster="backup"), process("gone"), process("p", step("old")))
    calls.register(
        feed("a"),
        process("elsewhere", cluster="backup"),
        process("p", step("one", "a"), step("two", "a")),
    )


def begin(calls: Calls) -> None:
    """A job of that process, with its first step."""
    prepare(calls)
    calls.enqueue("a")
    calls.init("p")
    calls.init_step("p", "one")


def refused(calls: Calls, case: tuple[str, type[FeedctlError], Call]) -> None:
    """The call ends with its error, and every table is as it was."""
    code, kind, call = case
    before = calls.everything()
    with pytest.raises(kind) as error:
        call(calls)
    assert getattr(error.value, "code", None) == code
    assert calls.everything() == before


@pytest.mark.parametrize("case", IDLE)
def test_a_call_without_a_job_that_runs(calls: Calls, case: str) -> None:
    prepare(calls)
    refused(calls, IDLE[case])


@pytest.mark.parametrize("case", RUNNING)
def test_a_call_while_a_job_runs(calls: Calls, case: str) -> None:
    begin(calls)
    refused(calls, RUNNING[case])


@pytest.mark.parametrize("case", SUSPENDED)
def test_a_call_while_a_job_is_suspended(calls: Calls, case: str) -> None:
    begin(calls)
    calls.halt_step("p", "one")
    suspended = calls.ledger.read(lambda tx: tx.execute(_RUNNING).scalar_one())
    calls.ledger.write(lambda tx: status.change(tx, suspended, RunStatus.SUSPENDED))
    refused(calls, SUSPENDED[case])


def test_the_last_job_is_named_when_none_runs(calls: Calls) -> None:
    calls.register(process("p"))
    calls.init("p")
    calls.term("p")
    with pytest.raises(Failed, match=r"its last one, run 1 .* is failed"):
        calls.halt("p")


def test_names_that_are_alike_are_offered(calls: Calls) -> None:
    calls.register(process("clicks_hourly", step("load")))
    with pytest.raises(InvalidInput, match="did you mean clicks_hourly"):
        calls.init("clicks_hourli")
    with pytest.raises(InvalidInput, match="did you mean load"):
        calls.init_step("clicks_hourly", "lod")


def test_safe_mode_lets_no_job_start_and_nothing_be_registered(calls: Calls) -> None:
    begin(calls)
    calls.ledger.write(lambda tx: start_check.switch_safe_mode(tx, on=True, who="ada", reason="upgrade"))
    refused(calls, ("safe_mode", Skipped, lambda requested: requested.init("p", NOON)))
    refused(calls, ("safe_mode", Skipped, lambda requested: requested.register(process("new"))))


def test_safe_mode_lets_a_job_that_runs_end_and_data_that_is_there_be_recorded(calls: Calls) -> None:
    begin(calls)
    calls.ledger.write(lambda tx: start_check.switch_safe_mode(tx, on=True, who="ada", reason="upgrade"))
    calls.enqueue("a", "/in/2")
    calls.register_file("/in/3")
    calls.halt_step("p", "one")
    calls.fail_step("p", "two")
    calls.step("p", "two")
    assert calls.halt("p").run.status is RunStatus.SUCCEEDED


@pytest.mark.parametrize("cluster", [None, "primary"])
def test_a_suspended_process_starts_no_job_and_one_that_runs_ends(calls: Calls, cluster: str | None) -> None:
    begin(calls)
    calls.ledger.write(lambda tx: start_check.suspend(tx, "p", cluster, "ada", "bad data"))
    refused(calls, ("entity_suspended", Skipped, lambda requested: requested.init("p", NOON)))
    calls.halt_step("p", "one")
    assert calls.term("p").status is RunStatus.FAILED

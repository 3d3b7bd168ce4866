"""TermJob, and a job that is ended from outside (BDRE, TermJob API)."""

from __future__ import annotations

import pytest

from tests.contract.ledger_jobs.calls import NOON, Calls
from tests.contract.ledger_jobs.pipelines import feed, process, step
from toolkit.ledger.errors import IllegalTransition
from toolkit.ledger.jobs.errors import StepIsRunning
from toolkit.ledger.vocabulary import QueueState, RunStatus

FAILED, PROCESSED, NEW = QueueState.FAILED, QueueState.PROCESSED, QueueState.NEW


@pytest.fixture
def running(calls: Calls) -> Calls:
    """A job of two steps, with one batch taken and one that is not."""
    calls.register(feed("a"), process("p", step("one", "a"), step("two", "a")), process("q", step("main", "p")))
    calls.enqueue("a", "1")
    calls.enqueue("a", "2")
    calls.init("p", most=1)
    return calls


def test_the_job_has_failed_with_the_reason_that_was_given(running: Calls) -> None:
    ended = running.term("p", reason="disk full")
    assert (ended.status, ended.reason, ended.ended_at is not None) == (RunStatus.FAILED, "disk full", True)


def test_what_no_step_has_processed_is_failed_and_stays_in_the_queue(running: Calls) -> None:
    running.step("p", "one")
    running.term("p")
    states = {(row.step, row.target is None): row.state for row in running.queue()}
    assert states == {("one", False): PROCESSED, ("two", False): FAILED, ("one", True): NEW, ("two", True): NEW}
    assert running.archive() == []


def test_nothing_is_enqueued_downstream(running: Calls) -> None:
    running.term("p")
    assert {row.step for row in running.queue()} == {"one", "two"}


def test_a_step_that_runs_is_to_be_ended_first(running: Calls) -> None:
    running.init_step("p", "one")
    with pytest.raises(StepIsRunning) as refused:
        running.term("p")
    assert refused.value.steps == ("one",)


def test_a_job_that_is_aborted_takes_its_steps_with_it(running: Calls) -> None:
    step_run = running.init_step("p", "one")
    ended = running.abort(step_run.run_id)
    assert (ended.status, ended.reason) == (RunStatus.KILLED, "its workflow is dead")
    assert {row.state for row in running.queue() if row.target is not None} == {FAILED}
    assert running.init("p").steps_to_run == ("one", "two")
    assert running.init_step("p", "one").attempt == 1


def test_a_job_that_is_over_is_not_aborted(running: Calls) -> None:
    ended = running.term("p")
    with pytest.raises(IllegalTransition):
        running.abort(ended.run_id)


def test_a_job_for_an_instance_is_aborted_alone(running: Calls) -> None:
    job = running.init("p", NOON)
    running.abort(job.run.run_id)
    running.step("p", "one")
    assert running.init("p", NOON).run.attempt == 2

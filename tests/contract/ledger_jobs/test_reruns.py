"""A job after one that did not succeed: the same batch, the same rows, and where it goes on (BDRE, InitJob)."""

from __future__ import annotations

import pytest

from tests.contract.ledger_jobs.calls import Calls
from tests.contract.ledger_jobs.pipelines import feed, process, step
from toolkit.ledger.jobs.errors import NothingEnqueued
from toolkit.ledger.runs import status
from toolkit.ledger.runs.errors import InstanceKilled, InstanceSuspended
from toolkit.ledger.vocabulary import QueueState, RunStatus

ACCESSED, PROCESSED, FAILED = QueueState.ACCESSED, QueueState.PROCESSED, QueueState.FAILED


@pytest.fixture
def three(calls: Calls) -> Calls:
    """A process of three steps that read from one feed, with two batches."""
    calls.register(feed("a"), process("p", step("one", "a"), step("two", "a"), step("three", "a")))
    calls.enqueue("a", "1")
    calls.enqueue("a", "2")
    return calls


def test_a_rerun_keeps_the_target_batch_and_its_rows_and_takes_nothing_new(three: Calls) -> None:
    first = three.init("p", most=1)
    three.fail_step("p", "one")
    three.term("p")
    late = three.enqueue("a", "3").batch_id
    again = three.init("p", most=50)
    assert (again.target_batch_id, again.run.attempt, again.is_rerun) == (first.target_batch_id, 2, True)
    assert again.run.key == first.run.key
    assert [len(each.batches) for each in again.steps] == [1, 1, 1]
    assert {row.target for row in three.queue() if row.source == late} == {None}


def test_a_rerun_goes_on_at_the_step_that_failed(three: Calls) -> None:
    three.init("p")
    three.step("p", "one")
    three.fail_step("p", "two")
    three.term("p")
    again = three.init("p")
    assert (again.last_recoverable_step, again.steps_to_run) == ("two", ("two", "three"))
    assert [each.is_due for each in again.steps] == [False, True, True]


def test_rows_of_a_step_whose_success_counts_stay_processed_and_the_others_are_taken_again(three: Calls) -> None:
    target = three.init("p", most=1).target_batch_id
    three.step("p", "one")
    three.fail_step("p", "two")
    three.term("p")
    assert _states(three, target) == {"one": PROCESSED, "two": FAILED, "three": FAILED}
    three.init("p")
    assert _states(three, target) == {"one": PROCESSED, "two": ACCESSED, "three": ACCESSED}


def test_after_the_rerun_everything_is_archived_and_the_next_job_is_a_fresh_one(three: Calls) -> None:
    first = three.init("p", most=1)
    three.step("p", "one")
    three.term("p")
    three.init("p")
    three.step("p", "two")
    three.step("p", "three")
    three.halt("p")
    assert {(row.step, row.state, row.target) for row in three.archive()} == {
        (name, PROCESSED, first.target_batch_id) for name in ("one", "two", "three")
    }
    fresh = three.init("p")
    assert (fresh.is_rerun, fresh.run.attempt) == (False, 1)
    assert fresh.target_batch_id > first.target_batch_id


def test_several_failures_go_on_further_each_time(three: Calls) -> None:
    three.init("p")
    resumed = []
    for name in ("one", "two", "three"):
        three.step("p", name)
        three.term("p")
        resumed.append(three.init("p").last_recoverable_step)
    assert resumed == ["two", "three", None]
    assert three.halt("p").run.attempt == 4


def test_when_all_steps_had_succeeded_only_halt_job_is_left(three: Calls) -> None:
    three.init("p")
    for name in ("one", "two", "three"):
        three.step("p", name)
    three.term("p", reason="the report could not be sent")
    again = three.init("p")
    assert (again.steps_to_run, again.resume_at, again.is_rerun) == ((), None, True)
    assert three.halt("p").run.status is RunStatus.SUCCEEDED


def test_a_failed_step_may_start_again_within_the_job(three: Calls) -> None:
    three.init("p")
    three.fail_step("p", "one")
    assert three.init_step("p", "one").attempt == 2
    three.halt_step("p", "one")
    three.term("p")
    assert three.init("p").last_recoverable_step == "two"


def test_the_success_of_a_step_that_is_not_recoverable_does_not_count(calls: Calls) -> None:
    """Neither does that of what follows it: the step left nothing behind that outlives its job."""
    calls.register(process("p", step("one"), step("two", recoverable=False), step("three"), step("four")))
    calls.init("p")
    for name in ("one", "two", "three"):
        calls.step("p", name)
    calls.fail_step("p", "four")
    calls.term("p")
    again = calls.init("p")
    assert (again.last_recoverable_step, again.steps_to_run) == ("two", ("two", "three", "four"))


def test_an_old_success_lets_no_new_job_skip_a_step(three: Calls) -> None:
    three.work("p", most=1)
    three.init("p")
    three.fail_step("p", "one")
    three.term("p")
    assert three.init("p").steps_to_run == ("one", "two", "three")


def test_an_old_failure_keeps_no_later_job_from_being_halted(three: Calls) -> None:
    three.init("p", most=1)
    three.fail_step("p", "three")
    three.term("p")
    three.work("p")
    assert three.work("p").run.status is RunStatus.SUCCEEDED


def test_a_forced_rerun_runs_every_step_and_takes_every_row_again(three: Calls) -> None:
    first = three.init("p", most=1)
    three.step("p", "one")
    three.term("p")
    three.order_again(first.run, is_forced=True)
    again = three.init("p")
    assert (again.run.attempt, again.run.is_forced, again.steps_to_run) == (2, True, ("one", "two", "three"))
    assert set(_states(three, first.target_batch_id).values()) == {ACCESSED}


def test_a_step_that_ran_again_later_devalues_what_followed_it_before(three: Calls) -> None:
    first = three.init("p")
    for name in ("one", "two"):
        three.step("p", name)
    three.term("p")
    three.order_again(first.run, is_forced=True)
    three.init("p")
    three.step("p", "one")
    three.term("p")
    assert three.init("p").steps_to_run == ("two", "three")


def test_steps_that_ran_side_by_side_count_however_they_began(three: Calls) -> None:
    three.init("p")
    three.step("p", "two")
    three.step("p", "one")
    three.fail_step("p", "three")
    three.term("p")
    assert three.init("p").steps_to_run == ("three",)


@pytest.mark.parametrize("end", [RunStatus.KILLED, RunStatus.TIMED_OUT, RunStatus.FAILED])
def test_a_job_that_ended_from_outside_is_taken_up_again(three: Calls, end: RunStatus) -> None:
    first = three.init("p")
    three.init_step("p", "one")
    three.ledger.write(lambda tx: status.change(tx, first.run.run_id, end, reason="cut off"))
    again = three.init("p")
    assert (again.target_batch_id, again.last_recoverable_step) == (first.target_batch_id, "one")
    three.step("p", "one")


def test_a_step_that_is_new_since_the_failure_has_to_run(three: Calls) -> None:
    three.init("p")
    for name in ("one", "two"):
        three.step("p", name)
    three.term("p")
    three.register(feed("a"), process("p", step("one", "a"), step("check"), step("two", "a"), step("three", "a")))
    assert three.init("p").steps_to_run == ("check", "two", "three")


def test_an_unfinished_batch_comes_before_an_ordered_rerun_of_one_that_was_made(three: Calls) -> None:
    made = three.work("p", most=1)
    failed = three.init("p")
    three.term("p")
    ordered = three.order_again(made.run)
    assert three.init("p").target_batch_id == failed.target_batch_id
    for name in ("one", "two", "three"):
        three.step("p", name)
    three.halt("p")
    assert three.init("p").run.run_id == ordered.run_id


def test_an_ordered_rerun_of_what_succeeded_reads_the_same_batches_into_a_new_one(three: Calls) -> None:
    made = three.work("p", most=1)
    read = {(row.step, row.source) for row in three.archive()}
    three.order_again(made.run)
    again = three.init("p", most=1)
    assert (again.run.key, again.run.attempt, again.is_rerun) == (made.run.key, 2, False)
    assert {(row.step, row.source) for row in three.queue() if row.target == again.target_batch_id} == read
    assert again.target_batch_id > made.batch_id


def test_an_ordered_rerun_that_fails_is_taken_up_again_with_its_own_batch(three: Calls) -> None:
    made = three.work("p", most=1)
    three.order_again(made.run)
    second = three.init("p")
    three.fail_step("p", "one")
    three.term("p")
    third = three.init("p")
    assert (third.target_batch_id, third.run.attempt, third.is_rerun) == (second.target_batch_id, 3, True)


def test_an_order_that_was_killed_is_forgotten(three: Calls) -> None:
    made = three.work("p", most=1)
    ordered = three.order_again(made.run)
    three.abort(ordered.run_id)
    fresh = three.init("p")
    assert (fresh.is_rerun, fresh.run.attempt) == (False, 1)


def test_an_order_that_is_suspended_keeps_only_itself_from_beginning(three: Calls) -> None:
    made = three.work("p", most=1)
    running = three.init("p")
    ordered = three.order_again(made.run)
    three.ledger.write(lambda tx: status.change(tx, ordered.run_id, RunStatus.SUSPENDED))
    for name in running.steps_to_run:
        three.step("p", name)
    three.halt("p")
    with pytest.raises(NothingEnqueued):
        three.init("p")
    three.ledger.write(lambda tx: status.resume(tx, ordered.run_id))
    assert three.init("p").run.run_id == ordered.run_id


def test_an_unfinished_batch_whose_next_attempt_is_suspended_is_waited_for(three: Calls) -> None:
    failed = three.init("p", most=1)
    three.term("p")
    ordered = three.order_again(failed.run)
    three.ledger.write(lambda tx: status.change(tx, ordered.run_id, RunStatus.SUSPENDED))
    with pytest.raises(InstanceSuspended):
        three.init("p")


def test_an_unfinished_batch_whose_next_attempt_was_killed_before_it_began_waits_for_a_rerun(three: Calls) -> None:
    failed = three.init("p", most=1)
    three.term("p")
    killed = three.order_again(failed.run)
    three.abort(killed.run_id)
    with pytest.raises(InstanceKilled):
        three.init("p")
    three.order_again(killed)
    again = three.init("p")
    assert (again.target_batch_id, again.run.attempt, again.is_rerun) == (failed.target_batch_id, 3, True)


def _states(calls: Calls, target: int) -> dict[str, QueueState]:
    return {row.step: row.state for row in calls.queue() if row.target == target}

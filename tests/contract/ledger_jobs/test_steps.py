"""InitStep, HaltStep and TermStep (BDRE)."""

from __future__ import annotations

import pytest
import sqlalchemy as sa

from tests.contract.ledger_jobs.calls import NOON, ONE, Calls, instance, ref
from tests.contract.ledger_jobs.pipelines import feed, process, step
from toolkit.ledger.jobs import steps
from toolkit.ledger.runs import status
from toolkit.ledger.tables import queue
from toolkit.ledger.vocabulary import QueueState, RunStatus


@pytest.fixture
def running(calls: Calls) -> Calls:
    """A job of two steps that read two batches, beside one batch that came later."""
    calls.register(feed("a"), process("p", step("one", "a"), step("two", "a")))
    for path in "12":
        calls.enqueue("a", path)
    calls.init("p")
    calls.enqueue("a", "3")
    return calls


def test_a_step_is_an_attempt_within_its_job(running: Calls) -> None:
    begun = running.ledger.write(
        lambda tx: steps.init_step(tx, ref("p"), "one", application_id="application_1", log_location="/logs/1")
    )
    assert (begun.step, begun.attempt, begun.status, begun.ended_at) == ("one", 1, RunStatus.RUNNING, None)
    assert (begun.application_id, begun.log_location) == ("application_1", "/logs/1")
    ended = running.halt_step("p", "one")
    assert (ended.step_run_id, ended.status) == (begun.step_run_id, RunStatus.SUCCEEDED)
    assert ended.ended_at is not None
    assert ended.ended_at >= ended.started_at


def test_its_batches_get_the_start_and_the_end_and_those_of_others_do_not(running: Calls) -> None:
    running.init_step("p", "one")
    assert _marked(running, queue.c.started_at) == {"one": 2}
    assert _marked(running, queue.c.ended_at) == {}
    running.halt_step("p", "one")
    assert _marked(running, queue.c.ended_at) == {"one": 2}


def test_a_step_that_succeeds_has_processed_its_batches_and_one_that_fails_has_failed_them(running: Calls) -> None:
    running.step("p", "one")
    running.fail_step("p", "two")
    states = {(row.step, row.state) for row in running.queue() if row.target is not None}
    assert states == {("one", QueueState.PROCESSED), ("two", QueueState.FAILED)}
    assert {row.state for row in running.queue() if row.target is None} == {QueueState.NEW}


def test_a_step_that_begins_again_takes_its_batches_again(running: Calls) -> None:
    running.fail_step("p", "one")
    running.init_step("p", "one")
    states = {row.state for row in running.queue() if row.target is not None}
    assert states == {QueueState.ACCESSED}
    assert _marked(running, queue.c.ended_at) == {}


def test_steps_may_run_side_by_side_and_in_any_order(running: Calls) -> None:
    running.init_step("p", "two")
    running.init_step("p", "one")
    running.halt_step("p", "two")
    running.halt_step("p", "one")
    assert running.halt("p").run.status is RunStatus.SUCCEEDED


def test_steps_of_jobs_for_two_instances_do_not_meet(calls: Calls) -> None:
    calls.register(feed("a"), process("p", step("one", "a")))
    calls.enqueue("a", of=instance("a"))
    jobs = {key: calls.init("p", key, inputs=[instance("a")]) for key in (NOON, ONE)}
    runs = {key: calls.init_step("p", "one", key).run_id for key in jobs}
    assert runs == {key: job.run.run_id for key, job in jobs.items()}
    calls.halt_step("p", "one", NOON)
    states = {row.target: row.state for row in calls.queue()}
    assert states[jobs[NOON].target_batch_id] is QueueState.PROCESSED
    assert states[jobs[ONE].target_batch_id] is QueueState.ACCESSED


@pytest.mark.parametrize("is_good", [True, False])
def test_a_step_that_runs_while_its_job_is_suspended_can_end(running: Calls, is_good: bool) -> None:  # noqa: FBT001
    run_id = running.init_step("p", "one").run_id
    running.ledger.write(lambda tx: status.change(tx, run_id, RunStatus.SUSPENDED))
    ended = (running.halt_step if is_good else running.term_step)("p", "one")
    assert ended.status is (RunStatus.SUCCEEDED if is_good else RunStatus.FAILED)


def test_a_step_that_left_the_config_repo_while_it_ran_can_end(running: Calls) -> None:
    running.init_step("p", "one")
    running.register(feed("a"), process("p", step("two", "a")))
    assert running.halt_step("p", "one").status is RunStatus.SUCCEEDED


def _marked(calls: Calls, column: sa.Column[object]) -> dict[str, int]:
    names = calls.queue()
    wanted = sa.select(column.is_not(None)).order_by(queue.c.queue_id)
    flags = calls.ledger.read(lambda tx: tx.execute(wanted).scalars().all())
    found: dict[str, int] = {}
    for row, is_marked in zip(names, flags, strict=True):
        if is_marked:
            found[row.step] = found.get(row.step, 0) + 1
    return found

"""InitJob with an instance: the batches of its inputs, read before or not (DESIGN section 6)."""

from __future__ import annotations

import pytest
import sqlalchemy as sa

from tests.contract.ledger_jobs.calls import NOON, ONE, ORIGIN, Calls, instance, ref
from tests.contract.ledger_jobs.pipelines import feed, process, step
from toolkit.el import ElError
from toolkit.ledger.batches.rows import BadInstanceKey
from toolkit.ledger.jobs.errors import JobIsRunning, UnreadFeed, WrongMode
from toolkit.ledger.jobs.rows import key_of
from toolkit.ledger.runs import attempts
from toolkit.ledger.runs.errors import InstanceKilled, InstanceSuspended
from toolkit.ledger.tables import batch
from toolkit.ledger.vocabulary import BatchState, JobMode, RunStatus


@pytest.fixture
def reading(calls: Calls) -> Calls:
    calls.register(feed("a"), feed("b"), process("p", step("load", "a"), step("join", "b"), step("tidy")))
    return calls


def test_each_step_reads_the_batches_of_its_own_feeds(reading: Calls) -> None:
    a, b = reading.enqueue("a", of=instance("a")).batch_id, reading.enqueue("b", of=instance("b")).batch_id
    started = reading.init("p", NOON, inputs=[instance("a"), instance("b")])
    assert {each.name: [source.batch_id for source in each.batches] for each in started.steps} == {
        "load": [a],
        "join": [b],
        "tidy": [],
    }
    assert (started.run.instance_key, started.run.mode) == (NOON, JobMode.INSTANCE)


def test_unread_rows_are_taken_and_what_was_read_before_gets_rows_of_its_own(reading: Calls) -> None:
    source = reading.enqueue("a", of=instance("a")).batch_id
    first = reading.init("p", NOON, inputs=[instance("a")])
    second = reading.init("p", ONE, inputs=[instance("a")])
    rows = [(row.source, row.target) for row in reading.queue()]
    assert rows == [(source, first.target_batch_id), (source, second.target_batch_id)]


def test_a_batch_that_was_read_and_archived_is_read_again(reading: Calls) -> None:
    source = reading.enqueue("a", of=instance("a")).batch_id
    reading.init("p", NOON, inputs=[instance("a")])
    for name in ("load", "join", "tidy"):
        reading.step("p", name, NOON)
    reading.halt("p", NOON)
    again = reading.init("p", ONE, inputs=[instance("a")])
    assert [each.batch_id for each in again.steps[0].batches] == [source]


def test_an_instance_that_came_in_several_batches_is_read_from_all_of_them(reading: Calls) -> None:
    sources = [reading.enqueue("a", path, of=instance("a")).batch_id for path in "12"]
    started = reading.init("p", NOON, inputs=[instance("a"), instance("a")])
    assert [each.batch_id for each in started.steps[0].batches] == sources


def test_a_batch_that_stands_for_several_inputs_is_read_once(reading: Calls) -> None:
    source = reading.enqueue("a", of=instance("a")).batch_id
    reading.enqueue("a", batch_id=source, of=instance("a", ONE))
    started = reading.init("p", NOON, inputs=[instance("a"), instance("a", ONE)])
    assert [each.batch_id for each in started.steps[0].batches] == [source]


def test_inputs_without_batches_are_fine_since_readiness_is_availability(reading: Calls) -> None:
    started = reading.init("p", NOON, inputs=[instance("a")])
    assert [each.batches for each in started.steps] == [(), (), ()]


def test_a_thousand_inputs_are_read_in_one_call(reading: Calls) -> None:
    keys = [f"2026-{month:02}-{day:02}T{hour:02}:00Z" for month in (1, 3) for day in range(1, 22) for hour in range(24)]
    sources = {reading.enqueue("a", of=instance("a", keys[at])).batch_id for at in (0, 500, -1)}
    started = reading.init("p", NOON, inputs=[instance("a", key) for key in keys])
    assert {each.batch_id for each in started.steps[0].batches} == sources


def test_the_target_batch_of_a_job_that_has_not_ended_is_no_input(calls: Calls) -> None:
    calls.register(process("make"), process("p", step("load", "make", feeds=("out",))))
    calls.init("make", NOON)
    calls.step("make", key=NOON)
    assert calls.init("p", NOON, inputs=[instance("out")]).steps[0].batches == ()
    calls.halt("make", NOON, outputs=[instance("out")])
    assert len(calls.init("p", ONE, inputs=[instance("out")]).steps[0].batches) == 1


def test_a_batch_that_was_taken_back_is_not_read(reading: Calls) -> None:
    gone, good = (reading.enqueue("a", path, of=instance("a")).batch_id for path in "12")
    retract = sa.update(batch).where(batch.c.batch_id == gone).values(state=BatchState.RETRACTED)
    reading.ledger.write(lambda tx: tx.execute(retract).rowcount)
    started = reading.init("p", NOON, inputs=[instance("a")])
    assert [each.batch_id for each in started.steps[0].batches] == [good]


def test_a_process_reads_what_it_made_before(calls: Calls) -> None:
    calls.register(process("p", step("main", feeds=("total",))))
    calls.init("p", NOON)
    calls.step("p", key=NOON)
    made = calls.halt("p", NOON, outputs=[instance("total")])
    started = calls.init("p", ONE, inputs=[instance("total")])
    assert [each.batch_id for each in started.steps[0].batches] == [made.batch_id]


def test_one_job_runs_for_an_instance_and_several_for_a_process(reading: Calls) -> None:
    running = reading.init("p", NOON)
    reading.init("p", ONE)
    with pytest.raises(JobIsRunning) as refused:
        reading.init("p", NOON)
    assert refused.value.run == running.run


def test_an_instance_that_was_suspended_before_it_began_does_not_start(reading: Calls) -> None:
    key = key_of(ref("p").site, NOON)
    reading.ledger.write(lambda tx: attempts.suspend_ahead(tx, key, ORIGIN))
    with pytest.raises(InstanceSuspended):
        reading.init("p", NOON)


def test_an_instance_that_was_killed_before_it_began_does_not_start(reading: Calls) -> None:
    key = key_of(ref("p").site, NOON)
    ahead = reading.ledger.write(lambda tx: attempts.suspend_ahead(tx, key, ORIGIN))
    reading.abort(ahead.run_id)
    with pytest.raises(InstanceKilled):
        reading.init("p", NOON)


def test_an_attempt_that_was_ordered_is_taken_with_its_force(reading: Calls) -> None:
    reading.work("p", NOON)
    done = reading.init("p", ONE)
    for name in ("load", "join", "tidy"):
        reading.step("p", name, ONE)
    reading.term("p", ONE)
    ordered = reading.order_again(done.run, is_forced=True)
    again = reading.init("p", ONE)
    assert (again.run.run_id, again.run.attempt, again.is_rerun) == (ordered.run_id, 2, True)
    assert again.steps_to_run == ("load", "join", "tidy")


def test_a_rerun_after_success_makes_a_new_batch(reading: Calls) -> None:
    first = reading.work("p", NOON)
    again = reading.init("p", NOON)
    assert (again.run.attempt, again.is_rerun) == (2, False)
    assert again.target_batch_id > first.batch_id
    assert again.steps_to_run == ("load", "join", "tidy")


def test_a_rerun_after_a_failure_keeps_the_batch_and_reads_what_came_meanwhile(reading: Calls) -> None:
    reading.enqueue("a", "1", of=instance("a"))
    first = reading.init("p", NOON, inputs=[instance("a")])
    reading.fail_step("p", "load", NOON)
    assert reading.term("p", NOON).status is RunStatus.FAILED
    reading.enqueue("a", "2", of=instance("a"))
    again = reading.init("p", NOON, inputs=[instance("a")])
    assert (again.target_batch_id, again.run.attempt, again.is_rerun) == (first.target_batch_id, 2, True)
    assert len(again.steps[0].batches) == 2


def test_a_rerun_reads_nothing_new_for_a_step_whose_success_counts(reading: Calls) -> None:
    reading.enqueue("a", "1", of=instance("a"))
    reading.init("p", NOON, inputs=[instance("a")])
    reading.step("p", "load", NOON)
    reading.term("p", NOON)
    reading.enqueue("a", "2", of=instance("a"))
    again = reading.init("p", NOON, inputs=[instance("a")])
    assert again.steps_to_run == ("join", "tidy")
    assert len(again.steps[0].batches) == 1


def test_a_feed_that_no_step_reads_is_refused_with_those_that_are_read(reading: Calls) -> None:
    with pytest.raises(UnreadFeed, match="no step of p on primary reads clicks") as refused:
        reading.init("p", NOON, inputs=[instance("a"), instance("clicks")])
    assert refused.value.known == ("a", "b")


def test_inputs_need_an_instance_and_a_limit_needs_none(reading: Calls) -> None:
    with pytest.raises(WrongMode, match="inputs"):
        reading.init("p", inputs=[instance("a")])
    with pytest.raises(WrongMode, match="max_batches"):
        reading.init("p", NOON, most=1)


def test_an_instance_key_is_canonical() -> None:
    with pytest.raises(BadInstanceKey, match="2026-03-01T12:00Z"):
        ref("p", "2026-03-01T12:00:00Z")
    with pytest.raises(ElError):
        ref("p", "batch-7")

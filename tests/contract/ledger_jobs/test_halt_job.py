"""HaltJob: what a job that is complete publishes, enqueues and archives (BDRE, HaltJob API)."""

from __future__ import annotations

from dataclasses import replace

import pytest
import sqlalchemy as sa

from tests.contract.ledger_jobs.calls import NOON, ONE, Calls, Row, instance
from tests.contract.ledger_jobs.pipelines import feed, process, step
from toolkit.ledger import events
from toolkit.ledger.events import NewEvent
from toolkit.ledger.jobs.errors import StepIsRunning, StepsNotDone
from toolkit.ledger.tables import archive, batch, batch_instance, queue
from toolkit.ledger.vocabulary import BatchKind, BatchState, EventKind, QueueState, RunStatus

NEW, PROCESSED = QueueState.NEW, QueueState.PROCESSED


def test_one_row_is_enqueued_for_every_step_of_every_process_downstream(calls: Calls) -> None:
    calls.register(
        feed("a"),
        process("p", step("main", "a")),
        process("q", step("first", "p"), step("second", "p"), step("third", "a")),
        process("r", step("load", "p", "a")),
    )
    calls.enqueue("a", marking="2026-03-01")
    halted = calls.work("p")
    rows = [row for row in calls.queue() if row.source == halted.batch_id]
    assert rows == [Row(name, halted.batch_id, None, NEW, "2026-03-01") for name in ("first", "second", "load")]
    named = [(each.process, each.step) for each in halted.downstream]
    assert named == [("q", "first"), ("q", "second"), ("r", "load")]


def test_the_batch_is_published_with_its_job_and_the_job_has_succeeded(calls: Calls) -> None:
    calls.register(process("p"))
    halted = calls.work("p")
    columns = (batch.c.kind, batch.c.state, batch.c.source_run_id, batch.c.published_at.is_not(None))
    row = calls.ledger.read(lambda tx: tx.execute(sa.select(*columns).where(batch.c.batch_id == halted.batch_id)).one())
    assert tuple(row) == (BatchKind.RUN, BatchState.PUBLISHED, halted.run.run_id, True)
    assert halted.run.status is RunStatus.SUCCEEDED
    assert halted.run.ended_at is not None


def test_the_target_marking_is_the_marking_unless_another_is_given(calls: Calls) -> None:
    calls.register(feed("a"), process("p", step("main", "a")), process("q", step("main", "p")))
    calls.enqueue("a", "1", marking="2026-03-02,2026-03-01")
    assert calls.work("p").marking == "2026-03-01,2026-03-02"
    calls.enqueue("a", "2", marking="2026-03-03")
    calls.init("p")
    calls.step("p")
    assert calls.halt("p", marking="late, 2026-03-03,late").marking == "2026-03-03,late"
    assert [row.marking for row in calls.queue()] == ["2026-03-01,2026-03-02", "2026-03-03,late"]


def test_without_any_date_there_is_no_marking_and_not_the_word_null(calls: Calls) -> None:
    calls.register(process("p"), process("q", step("main", "p")))
    assert calls.work("p").marking is None
    assert [row.marking for row in calls.queue()] == [None]


def test_a_job_for_an_instance_marks_its_batch_with_the_instance(calls: Calls) -> None:
    calls.register(feed("a"), process("p", step("main", "a")))
    calls.enqueue("a", of=instance("a", ONE))
    calls.init("p", NOON, inputs=[instance("a", ONE)])
    calls.step("p", key=NOON)
    assert calls.halt("p", NOON).marking == NOON


def test_the_rows_of_the_job_go_to_the_archive_with_their_numbers(calls: Calls) -> None:
    calls.register(feed("a"), process("p", step("one", "a"), step("two", "a")))
    for path in "123":
        calls.enqueue("a", path)
    calls.init("p", most=2)
    taken = _numbers(calls, queue)
    for name in ("one", "two"):
        calls.step("p", name)
    halted = calls.halt("p")
    assert halted.archived == 4
    archived = _numbers(calls, archive)
    assert {number: taken[number] for number in archived} == archived
    assert {row.state for row in calls.archive()} == {PROCESSED}
    assert [row.state for row in calls.queue()] == [NEW, NEW]


def test_batches_that_were_enqueued_earlier_and_not_read_yet_stay(calls: Calls) -> None:
    calls.register(process("p"), process("q", step("main", "p")))
    made = [calls.work("p").batch_id for _ in range(3)]
    assert [row.source for row in calls.queue()] == made


def test_a_downstream_that_runs_or_failed_keeps_its_rows(calls: Calls) -> None:
    calls.register(process("p"), process("q", step("main", "p")))
    calls.work("p")
    first = calls.init("q")
    calls.work("p")
    calls.fail_step("q")
    calls.term("q")
    calls.work("p")
    again = calls.init("q")
    assert [each.batch_id for each in again.steps[0].batches] == [each.batch_id for each in first.steps[0].batches]
    assert sum(row.target is None for row in calls.queue()) == 2


def test_a_step_or_process_that_left_the_config_repo_gets_nothing(calls: Calls) -> None:
    calls.register(process("p"), process("q", step("kept", "p"), step("gone", "p")), process("r", step("main", "p")))
    calls.register(process("p"), process("q", step("kept", "p")))
    calls.work("p")
    assert [row.step for row in calls.queue()] == ["kept"]


def test_every_live_step_must_have_succeeded(calls: Calls) -> None:
    calls.register(process("p", step("one"), step("two"), step("three")))
    calls.init("p")
    calls.step("p", "one")
    calls.fail_step("p", "two")
    with pytest.raises(StepsNotDone) as refused:
        calls.halt("p")
    assert refused.value.steps == ("two", "three")


def test_no_step_may_run(calls: Calls) -> None:
    calls.register(process("p", step("one"), step("two")))
    calls.init("p")
    calls.init_step("p", "one")
    calls.init_step("p", "two")
    with pytest.raises(StepIsRunning) as refused:
        calls.halt("p")
    assert refused.value.steps == ("one", "two")


def test_a_step_that_failed_in_this_job_counts_as_failed_whatever_it_did_before(calls: Calls) -> None:
    calls.register(process("p", step("one"), step("two")))
    calls.init("p")
    calls.step("p", "one")
    calls.term("p")
    calls.init("p")
    calls.fail_step("p", "one")
    calls.step("p", "two")
    with pytest.raises(StepsNotDone) as refused:
        calls.halt("p")
    assert refused.value.steps == ("one",)


def test_a_forced_job_must_run_what_had_succeeded(calls: Calls) -> None:
    calls.register(process("p", step("one"), step("two")))
    first = calls.init("p")
    for name in ("one", "two"):
        calls.step("p", name)
    calls.term("p")
    calls.order_again(first.run, is_forced=True)
    calls.init("p")
    calls.step("p", "one")
    with pytest.raises(StepsNotDone) as refused:
        calls.halt("p")
    assert refused.value.steps == ("two",)


def test_a_step_that_left_the_config_repo_meanwhile_is_not_waited_for(calls: Calls) -> None:
    calls.register(process("p", step("one"), step("two")))
    calls.init("p")
    calls.step("p", "one")
    calls.register(process("p", step("one")))
    assert calls.halt("p").run.status is RunStatus.SUCCEEDED


def test_a_job_whose_process_left_the_config_repo_meanwhile_ends_as_it_would_have(calls: Calls) -> None:
    calls.register(process("p", step("one"), step("two")))
    calls.init("p")
    calls.step("p", "one")
    calls.register()
    with pytest.raises(StepsNotDone):
        calls.halt("p")
    calls.step("p", "two")
    assert calls.halt("p").run.status is RunStatus.SUCCEEDED


def test_a_process_without_any_step_makes_its_batch_all_the_same(calls: Calls) -> None:
    calls.register(replace(process("p"), steps=()), process("q", step("main", "p")))
    assert calls.init("p").steps == ()
    assert [each.process for each in calls.halt("p").downstream] == ["q"]


def test_the_batch_stands_for_the_outputs_and_each_has_its_event(calls: Calls) -> None:
    calls.register(process("p"))
    calls.init("p", NOON)
    calls.step("p", key=NOON)
    outputs = [instance("sums", NOON, "hdfs://ns1/sums/12"), instance("counts", NOON), instance("counts", NOON)]
    halted = calls.halt("p", NOON, outputs=outputs)
    stands_for = sa.select(batch_instance.c.feed, batch_instance.c.uri).where(
        batch_instance.c.batch_id == halted.batch_id
    )
    assert sorted(calls.ledger.read(lambda tx: tx.execute(stands_for).tuples().all())) == [
        ("counts", None),
        ("sums", "hdfs://ns1/sums/12"),
    ]
    reported = calls.ledger.read(lambda tx: events.after(tx, 0))
    assert [each.sequence for each in reported] == list(halted.events)
    assert [(each.kind, each.feed, each.uri, each.run_id) for each in reported] == [
        (EventKind.AVAILABLE, "sums", "hdfs://ns1/sums/12", halted.run.run_id),
        (EventKind.AVAILABLE, "counts", None, halted.run.run_id),
    ]


def test_an_output_that_was_there_is_updated_and_one_that_was_evicted_is_there_anew(calls: Calls) -> None:
    calls.register(process("p"))

    def make() -> EventKind:
        calls.init("p", NOON)
        calls.step("p", key=NOON)
        last = calls.halt("p", NOON, outputs=[instance("sums")]).events[-1]
        return calls.ledger.read(lambda tx: events.after(tx, last - 1))[0].kind

    kinds = [make(), make()]
    evicted = NewEvent(kind=EventKind.EVICTED, feed="sums", cluster="primary", instance_key=NOON)
    calls.ledger.write(lambda tx: events.append(tx, [evicted]))
    assert [*kinds, make()] == [EventKind.AVAILABLE, EventKind.UPDATED, EventKind.AVAILABLE]


def test_files_that_a_job_registered_for_its_target_batch_reach_the_downstream(calls: Calls) -> None:
    calls.register(process("p"), process("q", step("main", "p")))
    target = calls.init("p").target_batch_id
    calls.init_step("p")
    calls.register_file("/out/part-0", batch_id=target)
    calls.halt_step("p")
    calls.halt("p")
    assert [(each.batch_id, each.path) for each in calls.init("q").files] == [(target, "/out/part-0")]


def _numbers(calls: Calls, table: sa.Table) -> dict[int, tuple[int, int]]:
    wanted = sa.select(table.c.queue_id, table.c.step_id, table.c.source_batch_id)
    return {number: (of, source) for number, of, source in calls.ledger.read(lambda tx: tx.execute(wanted).all())}

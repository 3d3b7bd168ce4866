"""InitJob without an instance: what a job on the queue waits for, takes and tells (BDRE, InitJob API)."""

from __future__ import annotations

import pytest
import sqlalchemy as sa

from tests.contract.ledger_jobs.calls import ONE, Calls, Row, instance
from tests.contract.ledger_jobs.pipelines import feed, process, step
from toolkit.ledger.jobs.errors import Missing, NothingEnqueued
from toolkit.ledger.jobs.rows import SourceBatch
from toolkit.ledger.tables import batch
from toolkit.ledger.vocabulary import BatchState, JobMode, QueueState, RunStatus

ACCESSED, NEW = QueueState.ACCESSED, QueueState.NEW


def test_a_job_waits_for_an_unread_batch_from_every_upstream_of_every_step_and_names_all_that_lack(
    calls: Calls,
) -> None:
    calls.register(
        feed("a"), feed("b"), feed("c"), process("p", step("load", "a", "b"), step("join", "c"), step("tidy"))
    )
    calls.enqueue("a")
    with pytest.raises(NothingEnqueued, match="load from b, join from c") as refused:
        calls.init("p")
    assert refused.value.missing == (Missing(step="load", upstream="b"), Missing(step="join", upstream="c"))
    assert [row.state for row in calls.queue()] == [NEW]


def test_many_batches_of_one_upstream_do_not_stand_for_another_and_neither_do_those_of_another_step(
    calls: Calls,
) -> None:
    calls.register(feed("a"), feed("b"), process("p", step("load", "a"), step("join", "a", "b")))
    for path in "123":
        calls.enqueue("a", path)
    with pytest.raises(NothingEnqueued) as refused:
        calls.init("p")
    assert refused.value.missing == (Missing(step="join", upstream="b"),)


def test_steps_that_read_nothing_get_the_seed_batch_and_never_wait(calls: Calls) -> None:
    calls.register(process("p", step("one"), step("two")))
    started = calls.init("p")
    assert calls.queue() == [Row(name, 0, started.target_batch_id, ACCESSED, None) for name in ("one", "two")]
    assert [(each.min_batch_id, each.max_batch_id) for each in started.steps] == [(0, 0), (0, 0)]
    assert started.target_marking is None


def test_the_seed_batch_serves_one_job_after_another(calls: Calls) -> None:
    calls.register(process("p"))
    made = [calls.work("p").batch_id for _ in range(3)]
    assert [(row.source, row.target) for row in calls.archive()] == [(0, each) for each in made]
    assert calls.queue() == []


def test_a_step_that_reads_nothing_beside_one_that_does_is_told_without_batches(calls: Calls) -> None:
    calls.register(feed("a"), process("p", step("load", "a"), step("tidy")))
    calls.enqueue("a")
    started = calls.init("p")
    assert [(each.name, len(each.batches), each.min_batch_id) for each in started.steps][1] == ("tidy", 0, None)
    assert started.steps_to_run == ("load", "tidy")


def test_without_a_limit_a_job_takes_all_that_is_unread(calls: Calls) -> None:
    calls.register(feed("a"), process("p", step("load", "a")))
    sources = [calls.enqueue("a", path).batch_id for path in "123"]
    started = calls.init("p")
    assert calls.queue() == [Row("load", each, started.target_batch_id, ACCESSED, None) for each in sources]


def test_a_limit_holds_for_each_upstream_of_each_step_and_takes_the_oldest_first(calls: Calls) -> None:
    calls.register(feed("a"), feed("b"), process("p", step("load", "a", "b"), step("join", "a")))
    sources = {(name, path): calls.enqueue(name, path).batch_id for path in "123" for name in "ab"}
    started = calls.init("p", most=2)
    read = {each.name: [source.batch_id for source in each.batches] for each in started.steps}
    oldest = {name: [sources[name, "1"], sources[name, "2"]] for name in "ab"}
    assert read == {"load": sorted(oldest["a"] + oldest["b"]), "join": oldest["a"]}
    assert [(row.step, row.source) for row in calls.queue() if row.target is None] == [
        ("load", sources["a", "3"]),
        ("join", sources["a", "3"]),
        ("load", sources["b", "3"]),
    ]


def test_a_limit_above_what_is_there_takes_what_is_there(calls: Calls) -> None:
    calls.register(feed("a"), feed("b"), process("p", step("load", "a", "b")))
    for name, path in (("a", "1"), ("a", "2"), ("b", "1")):
        calls.enqueue(name, path)
    assert len(calls.init("p", most=50).steps[0].batches) == 3


def test_what_comes_after_the_start_is_left_for_the_next_job(calls: Calls) -> None:
    calls.register(feed("a"), process("p", step("load", "a")))
    calls.enqueue("a", "1")
    calls.init("p")
    late = calls.enqueue("a", "2").batch_id
    calls.step("p", "load")
    calls.halt("p")
    assert [source.batch_id for source in calls.init("p").steps[0].batches] == [late]


def test_no_job_waits_for_an_optional_upstream_but_one_that_starts_takes_its_batches(calls: Calls) -> None:
    calls.register(feed("a"), feed("b"), process("p", step("load", "a", optional=("b",))))
    calls.enqueue("a", "1")
    calls.work("p")
    calls.enqueue("a", "2")
    calls.enqueue("b", "2")
    assert {source.producer for source in calls.init("p").steps[0].batches} == {"a", "b"}


def test_a_process_with_optional_upstreams_alone_waits_for_any_of_them(calls: Calls) -> None:
    calls.register(feed("a"), feed("b"), process("p", step("load", optional=("a", "b"))))
    with pytest.raises(NothingEnqueued) as refused:
        calls.init("p")
    assert {each.upstream for each in refused.value.missing} == {"a", "b"}
    calls.enqueue("b")
    assert len(calls.init("p").steps[0].batches) == 1


def test_a_job_is_told_the_smallest_and_largest_batch_date_and_producer_of_each_step(calls: Calls) -> None:
    calls.register(feed("a"), process("make", step("main", "a")), process("p", step("load", "a", "make"), step("tidy")))
    first = calls.enqueue("a", "1", marking="2026-03-02, 2026-03-01")
    producer = calls.work("make")
    second = calls.enqueue("a", "2", marking="clicks@2026-02-28")
    load, tidy = calls.init("p").steps
    assert (load.min_batch_id, load.max_batch_id) == (first.batch_id, second.batch_id)
    assert (load.min_batch_date, load.max_batch_date) == ("2026-02-28", "2026-03-02")
    assert (load.min_source_run_id, load.max_source_run_id) == (producer.run.run_id, producer.run.run_id)
    assert (tidy.min_batch_id, tidy.min_batch_date, tidy.max_source_run_id) == (None, None, None)


def test_each_batch_is_told_with_its_marking_producer_and_job(calls: Calls) -> None:
    calls.register(feed("a"), process("make", step("main", "a")), process("p", step("load", "make")))
    calls.enqueue("a", marking="2026-03-01")
    made = calls.work("make")
    assert calls.init("p").steps[0].batches == (
        SourceBatch(
            batch_id=made.batch_id,
            state=ACCESSED,
            marking="2026-03-01",
            producer="make",
            producer_run_id=made.run.run_id,
        ),
    )


def test_the_target_marking_is_the_set_of_the_dates_of_all_batches_however_many(calls: Calls) -> None:
    calls.register(feed("a"), feed("b"), process("p", step("load", "a"), step("join", "b")))
    days = [f"2026-03-{day:02}" for day in range(1, 31)]
    for path, marking in enumerate([*days, "2026-03-02,2026-03-01", " 2026-03-30 ,,"]):
        calls.enqueue("a", str(path), marking=marking)
    calls.enqueue("b")
    assert calls.init("p").target_marking == ",".join(days)


def test_a_job_is_told_the_files_of_the_batches_that_it_reads_and_of_no_others(calls: Calls) -> None:
    calls.register(feed("a"), feed("b"), process("p", step("load", "a")), process("q", step("load", "b")))
    first = calls.enqueue("a", "/a/1")
    calls.enqueue("b", "/b/1")
    calls.enqueue("a", "/a/2", batch_id=first.batch_id)
    second = calls.enqueue("a", "/a/3")
    reported = [(each.batch_id, each.path, each.server) for each in calls.init("p").files]
    assert reported == [
        (first.batch_id, "/a/1", "primary"),
        (first.batch_id, "/a/2", "primary"),
        (second.batch_id, "/a/3", "primary"),
    ]


def test_a_fresh_job_is_the_first_attempt_at_its_target_batch_and_runs_every_step(calls: Calls) -> None:
    calls.register(process("p", step("one"), step("two")))
    started = calls.init("p")
    assert started.run.instance_key == f"batch-{started.target_batch_id}"
    assert (started.run.attempt, started.run.status, started.run.mode) == (1, RunStatus.RUNNING, JobMode.QUEUE)
    assert (started.is_rerun, started.steps_to_run, started.last_recoverable_step) == (False, ("one", "two"), None)
    assert started.resume_at == "one"


def test_a_job_records_who_runs_it_and_which_state_of_the_config_repo_was_registered(calls: Calls) -> None:
    calls.register(process("p"), snapshot="commit abc")
    run = calls.init("p").run
    assert (run.who, run.host, run.pid, run.snapshot, run.digest) == ("ada", "edge1", 4711, "commit abc", "digest of p")


def test_the_target_batch_may_be_read_by_nobody_before_the_job_is_halted(calls: Calls) -> None:
    calls.register(process("p"), process("q", step("load", "p")))
    started = calls.init("p")
    calls.step("p")
    with pytest.raises(NothingEnqueued):
        calls.init("q")
    state = calls.ledger.read(
        lambda tx: tx.execute(sa.select(batch.c.state).where(batch.c.batch_id == started.target_batch_id)).scalar_one()
    )
    assert state is BatchState.ALLOCATED


def test_a_batch_that_was_taken_back_is_passed_over(calls: Calls) -> None:
    calls.register(feed("a"), process("p", step("load", "a")))
    gone, good = calls.enqueue("a", "1").batch_id, calls.enqueue("a", "2").batch_id
    retract = sa.update(batch).where(batch.c.batch_id == gone).values(state=BatchState.RETRACTED)
    calls.ledger.write(lambda tx: tx.execute(retract).rowcount)
    assert [source.batch_id for source in calls.init("p", most=1).steps[0].batches] == [good]


def test_a_job_for_an_instance_leaves_what_it_does_not_read_to_the_queue(calls: Calls) -> None:
    calls.register(feed("a"), process("p", step("load", "a")))
    calls.enqueue("a", "1", of=instance("a"))
    other = calls.enqueue("a", "2", of=instance("a", ONE))
    calls.init("p", "2026-03-01T12:00Z", inputs=[instance("a")])
    assert [source.batch_id for source in calls.init("p").steps[0].batches] == [other.batch_id]

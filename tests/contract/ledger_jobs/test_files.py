"""Files and batches from outside, and the calls that read them (BDRE, RegisterFile, GetFiles, GetETLDriver)."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest
import sqlalchemy as sa

from tests.contract.ledger_jobs.calls import NOON, ONE, Calls, instance
from tests.contract.ledger_jobs.pipelines import feed, process, step
from toolkit.ledger import events
from toolkit.ledger.batches import files
from toolkit.ledger.batches.errors import (
    BadFile,
    BatchIsTaken,
    BatchNotPublished,
    BatchOfAnother,
    FileConflict,
    UnknownBatch,
    UnknownServer,
    UnlistableFile,
)
from toolkit.ledger.batches.files import register_file
from toolkit.ledger.batches.rows import NewFile
from toolkit.ledger.registry.registration import UnknownProcess
from toolkit.ledger.tables import batch
from toolkit.ledger.vocabulary import EventKind, QueueState


@pytest.fixture
def reading(calls: Calls) -> Calls:
    """Two processes that read a feed."""
    calls.register(
        feed("a"), feed("b"), process("p", step("one", "a"), step("two", "a")), process("q", step("main", "a"))
    )
    return calls


def test_a_file_without_a_batch_gets_a_batch_of_its_own_and_enqueues_nothing(reading: Calls) -> None:
    first, second = reading.register_file("/in/1"), reading.register_file("/in/1")
    assert first.batch_id != second.batch_id
    assert reading.queue() == []


def test_the_same_file_in_the_same_batch_again_is_the_row_that_is_there(reading: Calls) -> None:
    first = reading.register_file("/in/1", digest="abc")
    before = reading.everything()
    assert reading.register_file("/in/1", batch_id=first.batch_id, digest="abc") == first
    assert reading.everything() == before


@pytest.mark.parametrize(("size", "digest"), [(11, "abc"), (10, "def"), (10, None)])
def test_a_file_that_comes_with_another_size_or_hash_is_a_conflict(
    reading: Calls, size: int, digest: str | None
) -> None:
    first = reading.register_file("/in/1", digest="abc")
    before = reading.everything()
    with pytest.raises(FileConflict) as refused:
        reading.register_file("/in/1", batch_id=first.batch_id, size=size, digest=digest)
    assert (refused.value.registered, refused.value.found) == ((10, "abc"), (size, digest))
    assert reading.everything() == before


def test_a_rerun_may_register_the_files_of_its_target_batch_again(calls: Calls) -> None:
    calls.register(process("p"))
    target = calls.init("p").target_batch_id
    first = calls.register_file("/out/1", batch_id=target)
    calls.term("p")
    assert calls.init("p").target_batch_id == target
    assert calls.register_file("/out/1", batch_id=target) == first


def test_an_unknown_server_is_refused_with_those_that_are_known(reading: Calls) -> None:
    new = NewFile(server="primry", path="/in/1", size=1)
    with pytest.raises(UnknownServer, match="did you mean primary") as refused:
        reading.ledger.write(lambda tx: register_file(tx, new))
    assert refused.value.known == ("primary", "shop")


@pytest.mark.parametrize("batch_id", [0, 99])
def test_a_batch_that_is_not_there_is_refused_and_so_is_the_seed(reading: Calls, batch_id: int) -> None:
    with pytest.raises(UnknownBatch):
        reading.register_file("/in/1", batch_id=batch_id)
    with pytest.raises(UnknownBatch):
        reading.enqueue("a", batch_id=batch_id)


def test_enqueue_puts_one_row_into_the_queue_of_each_step_downstream(reading: Calls) -> None:
    enqueued = reading.enqueue("a", marking="2026-03-01")
    assert [(each.process, each.step) for each in enqueued.waiting] == [("p", "one"), ("p", "two"), ("q", "main")]
    assert {(row.source, row.state, row.marking) for row in reading.queue()} == {
        (enqueued.batch_id, QueueState.NEW, "2026-03-01")
    }


def test_enqueue_again_with_the_batch_changes_nothing(reading: Calls) -> None:
    first = reading.enqueue("a", of=instance("a"))
    before = reading.everything()
    assert reading.enqueue("a", batch_id=first.batch_id, of=instance("a")) == first
    assert reading.everything() == before


def test_enqueue_again_after_the_batch_was_read_changes_nothing_either(reading: Calls) -> None:
    first = reading.enqueue("a")
    reading.init("p")
    reading.work("q")
    before = reading.everything()
    assert reading.enqueue("a", batch_id=first.batch_id).waiting == ()
    assert reading.everything() == before


def test_several_files_share_a_batch(reading: Calls) -> None:
    first = reading.enqueue("a", "/in/1")
    reading.enqueue("a", "/in/2", batch_id=first.batch_id)
    assert len(reading.queue()) == 3
    assert [each.path for each in reading.init("p").files] == ["/in/1", "/in/2"]


def test_a_batch_that_a_step_has_taken_gets_no_new_file(reading: Calls) -> None:
    running, archived = reading.enqueue("a", "/in/1"), reading.register_file("/in/9")
    reading.init("p")
    for batch_id in (running.batch_id, reading.work("q").batch_id):
        del batch_id
    with pytest.raises(BatchIsTaken):
        reading.enqueue("a", "/in/2", batch_id=running.batch_id)
    with pytest.raises(BatchIsTaken):
        reading.register_file("/in/2", batch_id=running.batch_id)
    reading.register_file("/in/10", batch_id=archived.batch_id)


def test_a_batch_that_is_still_being_made_cannot_be_enqueued_but_gets_files(calls: Calls) -> None:
    calls.register(process("p"), process("q", step("main", "p")))
    target = calls.init("p").target_batch_id
    with pytest.raises(BatchNotPublished):
        calls.enqueue("p", batch_id=target)
    calls.register_file("/out/1", batch_id=target)


def test_a_batch_of_another_source_or_with_another_marking_is_refused(reading: Calls) -> None:
    first = reading.enqueue("a", marking="2026-03-01")
    with pytest.raises(BatchOfAnother, match="another source"):
        reading.enqueue("b", batch_id=first.batch_id)
    with pytest.raises(BatchOfAnother, match="marked 2026-03-01"):
        reading.enqueue("a", batch_id=first.batch_id, marking="2026-03-02")
    reading.enqueue("a", batch_id=first.batch_id, marking=" 2026-03-01")


def test_a_registered_batch_can_be_enqueued_later(reading: Calls) -> None:
    registered = reading.register_file("/in/1")
    enqueued = reading.enqueue("a", "/in/1", batch_id=registered.batch_id, marking="2026-03-01")
    assert enqueued.file == registered
    assert [each.marking for each in reading.init("p").steps[0].batches] == ["2026-03-01"]


def test_a_process_can_enqueue_as_a_feed_can(calls: Calls) -> None:
    calls.register(process("p"), process("q", step("main", "p")))
    enqueued = calls.enqueue("p")
    assert [each.batch_id for each in calls.init("q").steps[0].batches] == [enqueued.batch_id]


def test_an_unknown_source_and_one_that_is_gone_enqueue_nothing(calls: Calls) -> None:
    calls.register(feed("a"))
    calls.register()
    for name in ("a", "x"):
        with pytest.raises(UnknownProcess):
            calls.enqueue(name)


def test_an_instance_marks_its_batch_and_is_told_of_once(reading: Calls) -> None:
    first = reading.enqueue("a", "/in/1", of=instance("a", NOON, "hdfs://ns1/a/12"))
    reading.enqueue("a", "/in/2", batch_id=first.batch_id, of=instance("a", NOON))
    reading.enqueue("a", "/in/3", of=instance("a", NOON))
    reading.enqueue("a", "/in/4", marking="late", of=instance("a", ONE))
    reported = reading.ledger.read(lambda tx: events.after(tx, 0))
    assert [(each.kind, each.instance_key, each.uri, each.run_id) for each in reported] == [
        (EventKind.AVAILABLE, NOON, "hdfs://ns1/a/12", None),
        (EventKind.UPDATED, NOON, None, None),
        (EventKind.AVAILABLE, ONE, None, None),
    ]
    markings = reading.ledger.read(
        lambda tx: tx.execute(sa.select(batch.c.marking).order_by(batch.c.batch_id).offset(1)).scalars().all()
    )
    assert markings == [NOON, NOON, "late"]


def test_get_files_has_every_file_from_the_first_to_the_last_batch(reading: Calls) -> None:
    made = [reading.register_file(f"/in/{number}") for number in range(4)]
    found = reading.ledger.read(lambda tx: files.get_files(tx, made[1].batch_id, made[2].batch_id))
    assert found == (made[1], made[2])
    assert (found[0].server, found[0].server_kind, found[0].endpoint) == ("primary", "cluster", "hdfs://ns1")
    assert reading.ledger.read(lambda tx: files.get_files(tx, made[2].batch_id, made[1].batch_id)) == ()


def test_the_files_of_a_job_are_those_of_its_batches_and_no_others_before_and_after_it_ends(reading: Calls) -> None:
    first = reading.enqueue("a", "/a/1")
    reading.enqueue("b", "/b/1")
    last = reading.enqueue("a", "/a/2")
    job = reading.init("p")
    while_it_runs = reading.ledger.read(lambda tx: files.files_of_job(tx, job.run.run_id))
    for name in job.steps_to_run:
        reading.step("p", name)
    reading.halt("p")
    afterwards = reading.ledger.read(lambda tx: files.files_of_job(tx, job.run.run_id))
    assert while_it_runs == afterwards == (first.file, last.file)


def test_get_etl_driver_has_all_files_as_one_text(reading: Calls) -> None:
    at = datetime(2026, 3, 1, 12, 30, 5, tzinfo=UTC)
    new = [
        NewFile(server="primary", path="/in/1", size=10, hash="abc", modified_at=at),
        NewFile(server="shop", path="/in/2", size=0, modified_at=at),
    ]
    made = [reading.ledger.write(lambda tx, each=each: register_file(tx, each)) for each in new]  # type: ignore[misc]
    first, last = made[0].batch_id, made[1].batch_id
    assert reading.ledger.read(lambda tx: files.get_etl_driver(tx, first, last)) == (
        f"{first},primary,/in/1,10,abc,2026-03-01T12:30:05Z;{last},shop,/in/2,0,,2026-03-01T12:30:05Z"
    )
    assert reading.ledger.read(lambda tx: files.get_etl_driver(tx, last + 1, last + 9)) == ""


def test_get_etl_driver_refuses_a_path_that_would_break_its_text_apart(reading: Calls) -> None:
    made = reading.register_file("/in/a;b")
    with pytest.raises(UnlistableFile):
        reading.ledger.read(lambda tx: files.get_etl_driver(tx, made.batch_id, made.batch_id))


def test_a_file_has_a_path_and_a_size() -> None:
    with pytest.raises(BadFile, match="path is empty"):
        NewFile(server="primary", path="", size=1)
    with pytest.raises(BadFile, match="size is -1"):
        NewFile(server="primary", path="/in/1", size=-1)

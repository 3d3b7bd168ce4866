"""From the start of a run to its outcome, however its body ends."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import replace

import pytest

from tests.unit.ledger.runs.samples import a_run
from tests.unit.runs.fakes import (
    AuditMemory,
    HandClock,
    MemoryRecorder,
    done,
    envelope_of,
    item,
    left_item,
    start_request,
)
from toolkit.errors import Skipped
from toolkit.ledger.runs.items import SettledItem
from toolkit.ledger.vocabulary import ItemState, RunStatus
from toolkit.runs.errors import AuditLost, LeaseExpired, LedgerLost, RunKilled, Stopped
from toolkit.runs.lease import Heartbeat
from toolkit.runs.null_recorder import NullRecorder
from toolkit.runs.recorder import RecordBatch, RunOutcome, SettledLeftOver
from toolkit.runs.run import Envelope, SkippedRun
from toolkit.runs.stop import ProcessStop


@pytest.fixture
def recorder() -> MemoryRecorder:
    return MemoryRecorder()


@pytest.fixture
def audit() -> AuditMemory:
    return AuditMemory()


@pytest.fixture
def envelope(recorder: MemoryRecorder, audit: AuditMemory) -> Iterator[Envelope]:
    with Heartbeat(recorder, seconds=3600) as heartbeat:
        yield envelope_of(recorder, heartbeat, audit=audit)


def test_a_run_that_comes_to_its_end_has_succeeded(
    envelope: Envelope, recorder: MemoryRecorder, audit: AuditMemory
) -> None:
    with envelope.start(start_request()) as run:
        run.check()
    assert recorder.outcomes == {1: RunOutcome(status=RunStatus.SUCCEEDED, exit_code=0)}
    assert audit.reported() == [("run", "running"), ("run", "succeeded")]


ENDINGS = [
    pytest.param(ValueError("what"), RunStatus.FAILED, "ValueError: what", None, id="error"),
    pytest.param(Stopped(reason="received SIGTERM"), RunStatus.KILLED, "received SIGTERM", 143, id="signal"),
    pytest.param(Stopped(reason="SIGINT", interrupted=True), RunStatus.KILLED, "SIGINT", 130, id="ctrl-c"),
    pytest.param(RunKilled(who="bob"), RunStatus.KILLED, "killed by bob", 143, id="kill"),
    pytest.param(KeyboardInterrupt(), RunStatus.KILLED, "interrupted", 130, id="second ctrl-c"),
]


@pytest.mark.parametrize(("error", "status", "reason", "code"), ENDINGS)
def test_a_body_that_raises_ends_its_run_with_the_reason(
    envelope: Envelope, recorder: MemoryRecorder, error: BaseException, status: RunStatus, reason: str, code: int | None
) -> None:
    with pytest.raises(type(error)), envelope.start(start_request()):
        raise error
    assert recorder.outcomes == {1: RunOutcome(status=status, reason=reason, exit_code=code)}


def test_a_run_without_its_ledger_has_failed_and_exits_1() -> None:
    lost = LedgerLost(why="the ledger is gone")
    assert (lost.status, lost.exit_code) == ("failed", 1)
    assert "is in the audit file" in str(lost)


def test_the_outcome_that_was_said_first_counts(envelope: Envelope, recorder: MemoryRecorder) -> None:
    failed = RunOutcome(status=RunStatus.FAILED, reason="3 of 5 items failed", exit_code=4)
    with envelope.start(start_request()) as run:
        run.finish(failed)
    assert recorder.outcomes == {1: failed}


def test_what_stands_against_a_run_is_written_down(
    envelope: Envelope, recorder: MemoryRecorder, audit: AuditMemory
) -> None:
    recorder.refusals["clicks"] = Skipped("clicks is suspended")
    with pytest.raises(Skipped) as caught:
        envelope.start(start_request())
    recorded = envelope.skip(start_request(), caught.value)
    assert (recorded.run_id, recorder.skips) == (1, ["clicks is suspended"])
    assert audit.reported() == [("run", "skipped")]


def test_a_process_that_was_told_to_stop_starts_nothing(recorder: MemoryRecorder) -> None:
    line = ProcessStop()
    line.stop(Stopped(reason="received SIGTERM"))
    with Heartbeat(recorder, seconds=60) as heartbeat, pytest.raises(Stopped):
        envelope_of(recorder, heartbeat, process=line).start(start_request())
    assert recorder.runs == {}


def test_a_run_that_takes_over_says_of_which_in_the_log_and_in_the_audit_file(
    envelope: Envelope, recorder: MemoryRecorder, audit: AuditMemory, caplog: pytest.LogCaptureFixture
) -> None:
    recorder.taken_over = (a_run(RunStatus.KILLED, reason="its process 4711 on edge1 is gone"),)
    with caplog.at_level(logging.WARNING), envelope.start(start_request()):
        pass
    killed, running, _ = audit.lines
    assert (killed["what"], killed["state"], killed["run"], killed["attempt"]) == ("run", "killed", 12, 2)
    assert (killed["reason"], running["run"]) == ("its process 4711 on edge1 is gone", 1)
    assert 'event=run_taken_over run=12 by=1 why="its process 4711 on edge1 is gone"' in caplog.text


def test_effects_are_in_the_audit_file_before_they_begin_and_after_they_are_done(
    envelope: Envelope, recorder: MemoryRecorder, audit: AuditMemory
) -> None:
    emptied = (item(0, "file:///data"), done(0))
    with envelope.start(start_request()) as run:
        run.record(RecordBatch(intended=[item(0), item(1, "file:///data/2")]))
        assert audit.reported()[1:] == [("batch", "intended")]
        run.record(RecordBatch(settled=[done(0), done(1)], audit_only=[emptied], intended=[item(2, "file:///data/3")]))
    assert audit.reported()[2:] == [
        ("file:///data/1", "done"),
        ("file:///data/2", "done"),
        ("file:///data", "done"),
        ("batch", "intended"),
        ("run", "succeeded"),
    ]
    assert [len(step.intended) for step in recorder.steps] == [2, 1]


def test_what_cannot_be_intended_in_the_ledger_is_told_as_skipped_in_the_audit_file(
    envelope: Envelope, recorder: MemoryRecorder, audit: AuditMemory
) -> None:
    recorder.fails_at = 2
    run = envelope.start(start_request())
    run.record(RecordBatch(intended=[item(0)]))
    with pytest.raises(LedgerLost), run:
        run.record(RecordBatch(settled=[done(0)], intended=[item(1, "file:///data/2")]))
    assert audit.reported()[1:] == [
        ("batch", "intended"),
        ("file:///data/1", "done"),
        ("batch", "intended"),
        ("batch", "skipped"),
        ("run", "failed"),
    ]
    skipped = audit.lines[-2]
    assert (skipped["first"], skipped["last"], skipped["items"], skipped["code"]) == (1, 1, 1, "ledger_lost")


def test_without_the_audit_file_the_next_effects_do_not_begin_and_the_ledger_knows_the_last(
    envelope: Envelope, recorder: MemoryRecorder, audit: AuditMemory
) -> None:
    audit.fails_at = 3
    run = envelope.start(start_request())
    run.record(RecordBatch(intended=[item(0)]))
    with pytest.raises(AuditLost), run:
        run.record(RecordBatch(settled=[done(0)], intended=[item(1, "file:///data/2")]))
    assert recorder.states() == [("file:///data/1", ItemState.INTENDED), ("file:///data/1", ItemState.DONE)]
    assert recorder.outcomes[1].status is RunStatus.FAILED
    assert recorder.outcomes[1].exit_code == 1


def test_a_run_that_the_audit_file_does_not_take_is_ended_before_its_body(recorder: MemoryRecorder) -> None:
    with Heartbeat(recorder, seconds=60) as heartbeat, pytest.raises(AuditLost):
        envelope_of(recorder, heartbeat, audit=AuditMemory(fails_at=1)).start(start_request())
    assert recorder.outcomes[1].status is RunStatus.FAILED


def test_an_outcome_that_cannot_be_written_is_said_and_hides_nothing(
    envelope: Envelope, recorder: MemoryRecorder, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.WARNING), envelope.start(start_request()):
        recorder.fails_at = 0
    assert "event=outcome_not_recorded status=succeeded" in caplog.text


def test_what_an_earlier_run_left_is_told_when_it_happened_and_not_when_it_did_not(
    envelope: Envelope, recorder: MemoryRecorder, audit: AuditMemory
) -> None:
    still_there = SettledItem(position=1, state=ItemState.FAILED, code="not_done")
    found = [
        SettledLeftOver(left=left_item(item(0)), item=done(0)),
        SettledLeftOver(left=left_item(item(1, "file:///data/2")), item=still_there),
    ]
    with envelope.start(start_request()) as run:
        assert run.settle_left_over(found)
        assert run.settle_left_over(found[1:])
        recorder.left_conflicts = 1
        emptied = SettledLeftOver(left=left_item(item(0, "file:///data")), item=done(0))
        assert not run.settle_left_over(found, [emptied])
    assert len(recorder.settled_left) == 3
    assert audit.reported() == [
        ("run", "running"),
        ("file:///data/1", "done"),
        ("file:///data", "done"),
        ("run", "succeeded"),
    ]


def test_a_run_without_the_ledger_has_no_lease_and_no_number_and_is_audited(audit: AuditMemory) -> None:
    clock, unrecorded = HandClock(), NullRecorder()
    with Heartbeat(unrecorded, seconds=60) as heartbeat:
        envelope = replace(envelope_of(MemoryRecorder(), heartbeat, audit=audit, clock=clock), recorder=unrecorded)
        with envelope.start(start_request()) as run:
            clock.forward(1e6)
            run.check()
            run.record(RecordBatch(intended=[item(0)]))
            run.record(RecordBatch(settled=[done(0)]))
            assert run.left_over() == ()
    assert (run.recorded.run_id, envelope.place) == (None, None)
    assert audit.reported() == [
        ("run", "running"),
        ("file:///data/1", "intended"),
        ("file:///data/1", "done"),
        ("run", "succeeded"),
    ]


def test_a_lease_that_was_lost_is_no_other_runs_affair() -> None:
    assert not LeaseExpired(why="paused").ends_process
    assert not RunKilled(who="bob").ends_process
    assert LedgerLost(why="gone").ends_process


def test_many_runs_start_in_order_with_one_write_to_the_audit_file(
    envelope: Envelope, recorder: MemoryRecorder, audit: AuditMemory
) -> None:
    with ExitStack() as stack:
        runs = list(envelope.start_all([start_request(name) for name in ("a", "b", "c")], stack))
        assert [run.recorded.key.entity for run in runs] == ["a", "b", "c"]
        assert audit.calls == 1
        assert audit.reported() == [("run", "running")] * 3
    assert len(recorder.outcomes) == 3


def test_one_of_many_that_something_stands_against_is_skipped_in_its_turn(
    envelope: Envelope, recorder: MemoryRecorder, audit: AuditMemory
) -> None:
    recorder.refusals["b"] = Skipped("b is suspended")
    with ExitStack() as stack:
        _, skipped, _ = envelope.start_all([start_request(name) for name in ("a", "b", "c")], stack)
        assert isinstance(skipped, SkippedRun)
        assert skipped.reason is recorder.refusals["b"]
        assert audit.reported() == [("run", "running"), ("run", "skipped"), ("run", "running")]


def test_many_runs_that_cannot_be_told_of_are_over_again(recorder: MemoryRecorder) -> None:
    with (
        Heartbeat(recorder, seconds=3600) as heartbeat,
        pytest.raises(AuditLost),
        ExitStack() as stack,
    ):
        list(envelope_of(recorder, heartbeat, audit=AuditMemory(fails_at=1)).start_all([start_request()], stack))
    assert set(recorder.outcomes) == {1}


def test_none_of_many_starts_once_the_process_must_stop(recorder: MemoryRecorder) -> None:
    process = ProcessStop()
    process.stop(Stopped(reason="received SIGTERM"))
    with Heartbeat(recorder, seconds=3600) as heartbeat, pytest.raises(Stopped), ExitStack() as stack:
        list(envelope_of(recorder, heartbeat, process=process).start_all([start_request()], stack))
    assert recorder.runs == {}

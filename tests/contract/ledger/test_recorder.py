"""Runs as the envelope writes them down, on both databases."""

from __future__ import annotations

import os
import shutil
import time
from dataclasses import replace
from pathlib import Path

import pytest
import sqlalchemy as sa

from tests.contract.ledger.samples import ORIGIN, alone, beside, found, key
from tests.contract.ledger_jobs.plans import committed
from tests.databases.ledgers import HandClock, open_ledger
from toolkit.ledger import events
from toolkit.ledger.database import Ledger, Transaction
from toolkit.ledger.errors import LedgerUnavailable
from toolkit.ledger.events import NewEvent
from toolkit.ledger.jobs.errors import JobNotRunning
from toolkit.ledger.jobs.rows import JobRef
from toolkit.ledger.runs import attempts, items, leases, queries, status
from toolkit.ledger.runs.errors import InstanceSuspended, LeaseHeld
from toolkit.ledger.runs.items import NewItem, SettledItem
from toolkit.ledger.runs.rows import Run
from toolkit.ledger.runs.run_start import StartRequest
from toolkit.ledger.vocabulary import EventKind, ItemState, RequestKind, RunStatus
from toolkit.runs.errors import LeaseExpired, LedgerLost, Stopped
from toolkit.runs.ledger_recorder import LedgerRecorder
from toolkit.runs.recorder import RecordBatch, RecordedRun, RunOutcome, SettledLeftOver

pytestmark = pytest.mark.both_databases

EVICTED = NewEvent(
    kind=EventKind.EVICTED, feed="clicks", cluster="primary", instance_key="2026-03-01T00:00Z", uri="file:///1"
)


@pytest.fixture
def recorder(ledger: Ledger) -> LedgerRecorder:
    return LedgerRecorder(ledger=ledger)


def _request(instance: str = "2026-03-20T12:00Z", seconds: float = 60) -> StartRequest:
    return StartRequest(key=key(instance), origin=ORIGIN, leases=alone("evict/clicks/primary"), lease_seconds=seconds)


def _run(recorder: LedgerRecorder, recorded: RecordedRun) -> Run:
    assert recorded.run_id is not None
    number = recorded.run_id
    return recorder.ledger.read(lambda tx: queries.get(tx, number))


def _new(*positions: int) -> list[NewItem]:
    return [NewItem(position=each, kind="instance:data", path=f"file:///{each}", instance_key="") for each in positions]


def _done(*positions: int) -> list[SettledItem]:
    return [SettledItem(position=each, state=ItemState.DONE) for each in positions]


def _states(recorder: LedgerRecorder, run_id: int | None) -> list[tuple[int, ItemState]]:
    assert run_id is not None
    return [(each.position, each.state) for each in recorder.ledger.read(lambda tx: items.of_run(tx, run_id))]


def _taken_over(url: sa.URL) -> tuple[LedgerRecorder, RecordedRun, RecordedRun]:
    """A run whose lease expired in its middle, with an open item, and the one that took over."""
    clock = HandClock()
    recorder = LedgerRecorder(ledger=open_ledger(url, clock))
    first = recorder.start(_request())
    recorder.record(first, RecordBatch(intended=_new(0)))
    clock.forward(61)
    return recorder, first, recorder.start(_request("2026-03-20T13:00Z"))


def test_a_run_is_a_row_and_a_lease_and_its_end_gives_the_lease_back(recorder: LedgerRecorder) -> None:
    run = recorder.start(_request())
    assert (run.run_id, run.attempt, run.lease_seconds) == (1, 1, 60)
    assert recorder.ledger.read(lambda tx: leases.is_owned(tx, 1))
    recorder.finish(run, RunOutcome(status=RunStatus.FAILED, reason="3 of 5 items failed", exit_code=4))
    ended = _run(recorder, run)
    assert (ended.status, ended.reason, ended.exit_code) == (RunStatus.FAILED, "3 of 5 items failed", 4)
    assert not recorder.ledger.read(lambda tx: leases.is_owned(tx, 1))


@pytest.mark.usefixtures("commits_wait_for_disks")
def test_what_was_intended_or_told_to_others_is_on_the_disk_and_outcomes_come_with_it(recorder: LedgerRecorder) -> None:
    run = recorder.start(_request())
    with committed(recorder.ledger) as lasting:
        recorder.record(run, RecordBatch(intended=_new(0, 1)))
        recorder.record(run, RecordBatch(settled=_done(0)))
        recorder.record(run, RecordBatch(settled=_done(1), events=[EVICTED]))
        recorder.record(run, RecordBatch(writes=[lambda *_: None]))
        recorder.finish(run, RunOutcome(status=RunStatus.SUCCEEDED))
    assert lasting == [True, False, True, True, False]


def test_a_second_run_is_refused_with_the_name_of_the_first_and_that_is_a_row(recorder: LedgerRecorder) -> None:
    recorder.start(_request())
    other = _request("2026-03-20T13:00Z")
    with pytest.raises(LeaseHeld, match=r"run 1 .* ada on edge1") as caught:
        recorder.start(other)
    skipped = recorder.skip(other, caught.value)
    row = _run(recorder, skipped)
    assert (row.status, row.reason) == (RunStatus.SKIPPED, str(caught.value))


def _marked(instance: str) -> StartRequest:
    request = _request(instance)
    return replace(request, origin=replace(request.origin, owner_mark="boot 1"))


def test_the_lease_of_an_owner_that_is_gone_is_not_waited_for_and_the_run_says_so(ledger: Ledger) -> None:
    calls: list[Run] = []

    def is_gone(run: Run) -> bool:
        calls.append(run)
        return run.owner_mark is not None

    recorder = LedgerRecorder(ledger=ledger, is_gone=is_gone)
    first = recorder.start(_marked("2026-03-20T12:00Z"))
    recorder.record(first, RecordBatch(intended=_new(0)))
    assert recorder.start_many([_marked("2026-03-20T13:00Z")]) == (None,)
    second = recorder.start(_marked("2026-03-20T13:00Z"))
    (killed,) = second.taken_over
    assert killed == _run(recorder, first)
    assert (killed.status, killed.reason) == (RunStatus.KILLED, "its process 4711 on edge1 is gone")
    assert {(run.run_id, run.owner_mark) for run in calls} == {(1, "boot 1")}
    assert [left.position for left in recorder.left_over(second)] == [0]
    with pytest.raises(LeaseExpired, match="its process 4711 on edge1 is gone"):
        recorder.record(first, RecordBatch(intended=_new(1)))
    assert _states(recorder, 2) == []


def test_an_owner_of_whom_nobody_can_tell_is_waited_for_and_so_is_one_that_others_work_for(ledger: Ledger) -> None:
    recorder = LedgerRecorder(ledger=ledger, is_gone=lambda run: run.owner_mark is not None)
    first = recorder.start(_marked("2026-03-20T12:00Z"))
    recorder.let_others_work(first)
    with pytest.raises(LeaseHeld):
        recorder.start(_marked("2026-03-20T13:00Z"))
    assert _run(recorder, first).status is RunStatus.RUNNING


def test_what_counts_is_what_is_known_of_an_owner_once_its_row_is_locked(ledger: Ledger) -> None:
    answers = [True, False]  # between the two looks it has let others work for it
    recorder = LedgerRecorder(ledger=ledger, is_gone=lambda _: answers.pop(0))
    first = recorder.start(_marked("2026-03-20T12:00Z"))
    with pytest.raises(LeaseHeld):
        recorder.start(_marked("2026-03-20T13:00Z"))
    assert (answers, _run(recorder, first).status) == ([], RunStatus.RUNNING)
    assert ledger.read(lambda tx: leases.is_owned(tx, 1))


def test_an_owner_that_is_gone_is_nobodys_rival_where_both_may_read(ledger: Ledger) -> None:
    recorder = LedgerRecorder(ledger=ledger, is_gone=lambda run: run.owner_mark is not None)
    readers = [replace(_marked(f"2026-03-20T1{hour}:00Z"), leases=beside("data/clicks")) for hour in (2, 3)]
    first, second = map(recorder.start, readers)
    assert (second.taken_over, _run(recorder, first).status) == ((), RunStatus.RUNNING)
    writer = recorder.start(replace(readers[0], key=key("2026-03-20T14:00Z"), leases=alone("data/clicks")))
    assert {run.run_id for run in writer.taken_over} == {1, 2}


def test_a_run_that_was_suspended_when_its_owner_went_stays_so_and_frees_what_it_had(ledger: Ledger) -> None:
    recorder = LedgerRecorder(ledger=ledger, is_gone=lambda run: run.owner_mark is not None)
    first = recorder.start(_marked("2026-03-20T12:00Z"))
    ledger.write(lambda tx: status.change(tx, 1, RunStatus.SUSPENDED))
    assert recorder.start(_marked("2026-03-20T13:00Z")).taken_over == ()
    assert _run(recorder, first).status is RunStatus.SUSPENDED


def test_a_start_that_is_skipped_beside_a_run_of_the_same_key_is_no_row(recorder: LedgerRecorder) -> None:
    recorder.start(_request())
    with pytest.raises(LeaseHeld) as caught:
        recorder.start(_request())
    assert recorder.skip(_request(), caught.value) == RecordedRun(key=key())


def test_an_instance_that_was_suspended_ahead_stays_suspended(recorder: LedgerRecorder) -> None:
    suspended = recorder.ledger.write(lambda tx: attempts.suspend_ahead(tx, key(), ORIGIN))
    with pytest.raises(InstanceSuspended) as caught:
        recorder.start(_request())
    assert recorder.skip(_request(), caught.value) == RecordedRun(key=key())
    assert found(recorder.ledger, suspended).status is RunStatus.SUSPENDED


def test_what_was_done_its_events_and_what_comes_next_are_one_record(recorder: LedgerRecorder) -> None:
    run = recorder.start(_request())
    recorder.record(run, RecordBatch(intended=_new(0, 1)))
    recorder.record(run, RecordBatch(settled=_done(0, 1), events=[EVICTED], intended=_new(2)))
    assert _states(recorder, run.run_id) == [(0, ItemState.DONE), (1, ItemState.DONE), (2, ItemState.INTENDED)]
    (event,) = recorder.ledger.read(lambda tx: events.after(tx, 0))
    assert (event.sequence, event.run_id, event.uri) == (1, run.run_id, "file:///1")


def test_what_else_is_written_of_effects_is_in_their_transaction(recorder: LedgerRecorder) -> None:
    run, written = recorder.start(_request()), list[int]()
    recorder.record(run, RecordBatch(intended=_new(0)))

    def fails(_: Transaction, run_id: int) -> None:
        written.append(run_id)
        raise LedgerUnavailable(place="here", why="gone")

    with pytest.raises(LedgerLost):
        recorder.record(run, RecordBatch(settled=_done(0), writes=[fails]))
    assert written == [run.run_id]
    assert _states(recorder, run.run_id) == [(0, ItemState.INTENDED)]


def test_a_write_that_refuses_what_comes_next_leaves_what_was_done(recorder: LedgerRecorder) -> None:
    run, written = recorder.start(_request()), list[int]()
    recorder.record(run, RecordBatch(intended=_new(0), intended_writes=[lambda _, run_id: written.append(run_id)]))

    def refuses(_: Transaction, __: int) -> None:
        raise Stopped(reason="there is no such step")

    with pytest.raises(Stopped, match="no such step"):
        recorder.record(run, RecordBatch(settled=_done(0), intended=_new(1), intended_writes=[refuses]))
    assert (_states(recorder, run.run_id), written) == ([(0, ItemState.DONE)], [run.run_id])


def test_a_write_in_the_middle_of_a_batch_that_the_run_may_not_make_ends_it(recorder: LedgerRecorder) -> None:
    run = recorder.start(_request())
    recorder.record(run, RecordBatch(writes=[status.forget_owner_mark]))

    def is_over(_: Transaction, __: int) -> None:
        raise JobNotRunning(ref=JobRef(process="p", cluster="primary", instance_key="2026-03-20T00:00Z"), last=None)

    with pytest.raises(LeaseExpired):
        recorder.record(run, RecordBatch(writes=[is_over]))


def test_paths_and_messages_that_are_no_unicode_are_kept(recorder: LedgerRecorder) -> None:
    run, path = recorder.start(_request()), os.fsdecode(b"file:///data/\xff")
    recorder.record(run, RecordBatch(intended=[NewItem(position=0, kind="instance:data", path=path, instance_key="")]))
    failed = SettledItem(position=0, state=ItemState.FAILED, code="permission_denied", message=f"not {path}")
    recorder.record(
        run, RecordBatch(settled=[failed], intended=[NewItem(position=1, kind="x", path=path, instance_key="")])
    )
    recorder.finish(run, RunOutcome(status=RunStatus.FAILED, reason=f"not {path}"))
    (left,) = recorder.left_over(run)
    assert left.path == path


def test_signs_of_life_renew_and_bring_requests(recorder: LedgerRecorder) -> None:
    run = recorder.start(_request())
    recorder.ledger.write(lambda tx: status.ask_owner(tx, 1, RequestKind.SUSPEND, "bob"))
    beat = recorder.beat([run])
    assert (set(beat.renewed), dict(beat.lost)) == ({1}, {})
    assert [(each.kind, each.requested_by) for each in beat.requests] == [(RequestKind.SUSPEND, "bob")]


def test_suspended_and_running_again(recorder: LedgerRecorder) -> None:
    run = recorder.start(_request())
    suspend = recorder.ledger.write(lambda tx: status.ask_owner(tx, 1, RequestKind.SUSPEND, "bob"))
    recorder.pause(run, suspend)
    assert (_run(recorder, run).status, recorder.beat([run]).requests) == (RunStatus.SUSPENDED, ())
    assert recorder.beat([run]).renewed == {1}
    recorder.pause(run, suspend)
    resume = recorder.ledger.write(lambda tx: status.ask_owner(tx, 1, RequestKind.RESUME, "bob"))
    recorder.go_on(run, resume)
    recorder.go_on(run, resume)
    assert (_run(recorder, run).status, recorder.beat([run]).requests) == (RunStatus.RUNNING, ())


@pytest.mark.parametrize("ending", [RunStatus.KILLED, RunStatus.FAILED, RunStatus.SUCCEEDED])
def test_a_suspended_run_can_end_in_every_way(recorder: LedgerRecorder, ending: RunStatus) -> None:
    run = recorder.start(_request())
    recorder.pause(run, recorder.ledger.write(lambda tx: status.ask_owner(tx, 1, RequestKind.SUSPEND, "bob")))
    recorder.finish(run, RunOutcome(status=ending))
    assert _run(recorder, run).status is ending


def test_a_run_that_was_taken_over_hears_of_it_and_stays_killed(ledger_url: sa.URL) -> None:
    recorder, first, second = _taken_over(ledger_url)
    beat = recorder.beat([first, second])
    assert (set(beat.renewed), set(beat.lost)) == ({2}, {1})
    with pytest.raises(LeaseExpired):
        recorder.record(first, RecordBatch(intended=_new(1)))
    recorder.finish(first, RunOutcome(status=RunStatus.SUCCEEDED, exit_code=0))
    assert _run(recorder, first).status is RunStatus.KILLED
    recorder.ledger.close()


def test_what_a_run_did_before_it_was_taken_over_is_recorded_by_it_all_the_same(ledger_url: sa.URL) -> None:
    recorder, first, second = _taken_over(ledger_url)
    (left,) = recorder.left_over(second)
    with pytest.raises(LeaseExpired):
        recorder.record(first, RecordBatch(settled=_done(0), events=[EVICTED], intended=_new(1)))
    assert _states(recorder, first.run_id) == [(0, ItemState.DONE)]
    assert recorder.left_over(second) == ()
    assert not recorder.settle_left_over([SettledLeftOver(left=left, item=_done(0)[0], event=EVICTED)])
    assert len(recorder.ledger.read(lambda tx: events.after(tx, 0))) == 1
    recorder.ledger.close()


def test_what_the_next_run_has_settled_is_not_settled_again(ledger_url: sa.URL) -> None:
    recorder, first, second = _taken_over(ledger_url)
    (left,) = recorder.left_over(second)
    assert recorder.settle_left_over([SettledLeftOver(left=left, item=_done(0)[0], event=EVICTED)])
    with pytest.raises(LeaseExpired, match="another run has recorded"):
        recorder.record(first, RecordBatch(settled=_done(0), events=[EVICTED]))
    (event,) = recorder.ledger.read(lambda tx: events.after(tx, 0))
    assert event.run_id == first.run_id
    recorder.ledger.close()


def test_an_event_that_a_later_run_has_told_is_not_told_again(ledger_url: sa.URL) -> None:
    """A run died with an open item; the next finds the instance, evicts it and tells, before anybody settles."""
    recorder, _, second = _taken_over(ledger_url)
    (left,) = recorder.left_over(second)
    recorder.record(second, RecordBatch(intended=_new(0)))
    recorder.record(second, RecordBatch(settled=_done(0), events=[EVICTED]))
    assert recorder.settle_left_over([SettledLeftOver(left=left, item=_done(0)[0], event=EVICTED)])
    assert [each.run_id for each in recorder.ledger.read(lambda tx: events.after(tx, 0))] == [second.run_id]
    recorder.ledger.close()


def test_what_a_suspended_run_without_an_owner_left_open_is_found(ledger_url: sa.URL) -> None:
    clock = HandClock()
    recorder = LedgerRecorder(ledger=open_ledger(ledger_url, clock))
    first = recorder.start(_request("2026-03-20T00:00Z"))
    recorder.record(first, RecordBatch(intended=_new(0)))
    recorder.pause(first, recorder.ledger.write(lambda tx: status.ask_owner(tx, 1, RequestKind.SUSPEND, "bob")))
    assert recorder.left_over(first) == ()  # its owner lives
    clock.forward(61)
    second = recorder.start(_request())
    assert [(each.run_id, each.position) for each in recorder.left_over(second)] == [(first.run_id, 0)]
    recorder.ledger.close()


def test_a_ledger_that_does_not_know_the_run_any_more_is_lost(recorder: LedgerRecorder) -> None:
    stranger = RecordedRun(key=_request().key, run_id=4711, attempt=1, lease_seconds=60)
    with pytest.raises(LedgerLost):
        recorder.record(stranger, RecordBatch(intended=_new(0)))
    with pytest.raises(LedgerLost):
        recorder.beat([stranger])


def test_left_overs_of_several_runs_are_settled_together(ledger_url: sa.URL) -> None:
    clock = HandClock()
    recorder = LedgerRecorder(ledger=open_ledger(ledger_url, clock))
    for hour in range(3):
        run = recorder.start(_request(f"2026-03-20T{hour:02d}:00Z"))
        recorder.record(run, RecordBatch(intended=_new(0, 1)))
        clock.forward(61)
    last = recorder.start(_request())
    left = recorder.left_over(last)
    assert [(each.run_id, each.position) for each in left] == [(1, 0), (1, 1), (2, 0), (2, 1), (3, 0), (3, 1)]
    settled = [SettledLeftOver(left=each, item=_done(each.position)[0]) for each in reversed(left)]
    assert recorder.settle_left_over(settled)
    assert recorder.left_over(last) == ()
    recorder.ledger.close()


def test_a_ledger_that_is_gone_is_lost(sqlite_ledger_url: sa.URL) -> None:
    """Also when its file was replaced, which SQLite itself does not notice: it would write on into nowhere."""
    recorder = LedgerRecorder(ledger=open_ledger(sqlite_ledger_url))
    run = recorder.start(_request())
    file = Path(sqlite_ledger_url.database or "")
    file.rename(file.with_name("moved.db"))
    shutil.copy(file.with_name("moved.db"), file)
    with pytest.raises(LedgerLost, match="moved or replaced"):
        recorder.record(run, RecordBatch(intended=_new(0)))
    file.unlink()
    with pytest.raises(LedgerLost):
        recorder.beat([run])
    file.mkdir()
    before = time.monotonic()
    for _ in range(50):  # a process may have that many runs
        with pytest.raises(LedgerLost):
            recorder.finish(run, RunOutcome(status=RunStatus.SUCCEEDED))
    assert time.monotonic() - before < 10
    recorder.ledger.close()

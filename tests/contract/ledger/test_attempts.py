"""Attempts of a run key: one is open at most, and only the newest."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tests.contract.ledger.samples import ORIGIN, begun, changed, key
from tests.databases.ledgers import START
from toolkit.ledger.database import Ledger
from toolkit.ledger.errors import IllegalTransition
from toolkit.ledger.runs import attempts, queries, status
from toolkit.ledger.runs.errors import InstanceKilled, InstanceSuspended, NotTerminal, RunIsActive
from toolkit.ledger.runs.queries import RunFilter
from toolkit.ledger.runs.rows import JobFacts, Origin, Run, RunKey
from toolkit.ledger.tables import process
from toolkit.ledger.vocabulary import JobMode, LifeCycle, ProcessKind, RunStatus

pytestmark = pytest.mark.both_databases

OTHER = Origin(who="bob", host="edge2", snapshot="decade")


def _again(ledger: Ledger, of: RunKey | None = None, *, is_forced: bool = False) -> Run:
    return ledger.write(lambda tx: attempts.queue_again(tx, of or key(), OTHER, is_forced=is_forced))


def _skipped(ledger: Ledger, reason: str = "safe mode") -> Run:
    return ledger.write(lambda tx: attempts.skip(tx, key(), OTHER, reason))


def _ahead(ledger: Ledger) -> Run:
    return ledger.write(lambda tx: attempts.suspend_ahead(tx, key(), OTHER, "not yet"))


def _all(ledger: Ledger) -> list[Run]:
    return ledger.read(lambda tx: queries.find(tx, RunFilter(entity="clicks", all_attempts=True)))


def _job(ledger: Ledger, target_batch_id: int) -> JobFacts:
    registered = {"cluster": "primary", "is_deleted": False, "digest": "d", "snapshot": "s"}
    times = {"registered_at": START, "updated_at": START}
    process_id = ledger.write(
        lambda tx: tx.insert(process, kind=ProcessKind.PROCESS, name=f"p{target_batch_id}", **registered, **times)
    )
    return JobFacts(
        process_id=process_id, mode=JobMode.INSTANCE, target_batch_id=target_batch_id, target_marking="2026-03-20"
    )


def test_the_first_attempt_of_a_key_runs_with_its_origin(ledger: Ledger) -> None:
    run = begun(ledger)
    assert (run.attempt, run.status, run.is_forced) == (1, RunStatus.RUNNING, False)
    assert run.key == key()
    assert (run.who, run.host, run.pid, run.snapshot, run.log_location) == ("ada", "edge1", 4711, "c0ffee", "/logs/1")
    assert run.created_at == run.started_at == run.heartbeat_at
    assert ledger.read(lambda tx: queries.newest(tx, key())) == run


def test_each_part_of_the_key_counts_its_attempts_alone(ledger: Ledger) -> None:
    for each in (
        key(),
        key(entity="orders"),
        key(cluster="backup"),
        key("2026-03-21T12:00Z"),
        key(counterpart="backup"),
        key(life_cycle=LifeCycle.EXPORT),
    ):
        assert begun(ledger, each).attempt == 1


def test_what_runs_cannot_begin_again(ledger: Ledger) -> None:
    run = begun(ledger)
    with pytest.raises(RunIsActive, match=r"run 1 \(eviction of clicks on primary for 2026-03-20T12:00Z.*ada on edge1"):
        begun(ledger)
    assert _all(ledger) == [run]


@pytest.mark.parametrize("end", [status for status in RunStatus if status.is_terminal])
def test_what_is_over_begins_with_the_next_attempt(ledger: Ledger, end: RunStatus) -> None:
    first = begun(ledger)
    if end is RunStatus.SKIPPED:
        changed(ledger, changed(ledger, first, RunStatus.SUSPENDED), RunStatus.WAITING)
    ended = changed(ledger, first, end)
    second = begun(ledger)
    assert (second.attempt, second.status) == (2, RunStatus.RUNNING)
    assert _all(ledger) == [ended, second]


def test_an_attempt_in_the_middle_of_its_work_that_is_suspended_cannot_begin_again(ledger: Ledger) -> None:
    changed(ledger, begun(ledger), RunStatus.SUSPENDED)
    with pytest.raises(RunIsActive, match="is suspended"):
        begun(ledger)


def test_an_instance_suspended_ahead_does_not_begin_until_it_is_resumed(ledger: Ledger) -> None:
    suspended = _ahead(ledger)
    assert (suspended.status, suspended.suspended_from) == (RunStatus.SUSPENDED, RunStatus.WAITING)
    with pytest.raises(InstanceSuspended, match="is suspended: not yet; `feedctl instance resume`"):
        begun(ledger)
    ledger.write(lambda tx: status.resume(tx, suspended.run_id))
    run = begun(ledger)
    assert (run.run_id, run.status, run.who) == (suspended.run_id, RunStatus.RUNNING, "ada")


def test_an_instance_killed_before_it_began_does_not_begin_until_it_is_ordered_again(ledger: Ledger) -> None:
    killed = changed(ledger, _ahead(ledger), RunStatus.KILLED, reason="not today")
    with pytest.raises(
        InstanceKilled, match="was killed before it began: not today; `feedctl instance rerun`"
    ) as refused:
        begun(ledger)
    assert refused.value.run == killed
    assert _skipped(ledger) == killed
    assert _all(ledger) == [killed]
    ready = _again(ledger)
    assert begun(ledger).run_id == ready.run_id


def test_suspending_ahead_twice_changes_nothing_more(ledger: Ledger) -> None:
    assert _ahead(ledger) == _ahead(ledger)


def test_suspending_ahead_keeps_where_a_ready_attempt_was(ledger: Ledger) -> None:
    changed(ledger, begun(ledger), RunStatus.FAILED)
    ready = _again(ledger)
    assert _ahead(ledger).suspended_from is RunStatus.READY
    assert ledger.write(lambda tx: status.resume(tx, ready.run_id)).status is RunStatus.READY


def test_what_runs_or_is_over_cannot_be_suspended_ahead(ledger: Ledger) -> None:
    run = begun(ledger)
    with pytest.raises(RunIsActive):
        _ahead(ledger)
    assert _all(ledger) == [run]
    ended = changed(ledger, run, RunStatus.SUCCEEDED)
    with pytest.raises(IllegalTransition):
        _ahead(ledger)
    assert _all(ledger) == [ended]


def test_an_ordered_attempt_is_ready_and_is_the_one_that_begins(ledger: Ledger) -> None:
    changed(ledger, begun(ledger), RunStatus.FAILED)
    ready = _again(ledger, is_forced=True)
    assert (ready.attempt, ready.status, ready.who, ready.started_at) == (2, RunStatus.READY, "bob", None)
    run = begun(ledger)
    assert (run.run_id, run.attempt, run.status) == (ready.run_id, 2, RunStatus.RUNNING)
    assert (run.is_forced, run.who, run.host, run.snapshot) == (True, "ada", "edge1", "c0ffee")
    assert run.heartbeat_at == run.started_at is not None


def test_only_what_is_over_can_be_ordered_again(ledger: Ledger) -> None:
    with pytest.raises(NotTerminal, match="has not run yet"):
        _again(ledger)
    run = begun(ledger)
    with pytest.raises(NotTerminal, match="is running; only what is over can run again"):
        _again(ledger)
    changed(ledger, run, RunStatus.KILLED)
    _again(ledger)
    with pytest.raises(NotTerminal, match="is ready"):
        _again(ledger)
    assert [each.status for each in _all(ledger)] == [RunStatus.KILLED, RunStatus.READY]


@pytest.mark.parametrize(
    ("end", "kept"),
    [(RunStatus.FAILED, 7), (RunStatus.KILLED, 7), (RunStatus.TIMED_OUT, 7), (RunStatus.SUCCEEDED, None)],
)
def test_an_ordered_job_keeps_its_target_batch_unless_that_was_made(
    ledger: Ledger, end: RunStatus, kept: int | None
) -> None:
    facts = _job(ledger, 7)
    first = ledger.write(lambda tx: attempts.begin(tx, key(), ORIGIN, job=facts))
    assert (first.process_id, first.mode, first.target_batch_id) == (facts.process_id, JobMode.INSTANCE, 7)
    changed(ledger, first, end)
    ready = _again(ledger)
    assert (ready.process_id, ready.mode, ready.target_batch_id) == (facts.process_id, JobMode.INSTANCE, kept)
    other = _job(ledger, 8)
    run = ledger.write(lambda tx: attempts.begin(tx, key(), ORIGIN, job=other))
    assert (run.process_id, run.target_batch_id) == (facts.process_id, kept or 8)
    assert run.target_marking == "2026-03-20"


def test_a_skipped_start_is_an_attempt_that_is_over(ledger: Ledger) -> None:
    skipped = _skipped(ledger)
    assert (skipped.attempt, skipped.status, skipped.reason) == (1, RunStatus.SKIPPED, "safe mode")
    assert skipped.started_at is None
    assert skipped.ended_at is not None
    assert begun(ledger).attempt == 2


def test_a_start_that_is_skipped_again_and_again_is_one_row(ledger: Ledger) -> None:
    first = _skipped(ledger)
    second = _skipped(ledger, "suspended")
    assert (second.run_id, second.reason) == (first.run_id, "suspended")
    assert _all(ledger) == [second]


@pytest.mark.parametrize("end", [RunStatus.SUCCEEDED, RunStatus.FAILED, RunStatus.KILLED, RunStatus.TIMED_OUT])
def test_a_skipped_start_does_not_hide_how_an_attempt_ended(ledger: Ledger, end: RunStatus) -> None:
    ended = changed(ledger, begun(ledger), end)
    assert _skipped(ledger) == ended
    assert _all(ledger) == [ended]


@pytest.mark.parametrize("now", [RunStatus.RUNNING, RunStatus.SUSPENDED, RunStatus.WAITING, RunStatus.READY])
def test_a_skipped_start_leaves_an_open_attempt_as_it_is(ledger: Ledger, now: RunStatus) -> None:
    run = begun(ledger)
    for each in {RunStatus.RUNNING: ()}.get(now, (RunStatus.SUSPENDED, now)):
        run = changed(ledger, run, each) if run.status is not each else run
    assert _skipped(ledger) == run
    assert _all(ledger) == [run]


def test_of_a_process_one_job_at_a_time_works_on_the_queue(ledger: Ledger) -> None:
    facts = replace(_job(ledger, 7), mode=JobMode.QUEUE)
    first = ledger.write(lambda tx: attempts.begin(tx, key("batch-7"), ORIGIN, job=facts))
    with pytest.raises(RunIsActive) as caught:
        ledger.write(lambda tx: attempts.begin(tx, key("batch-8"), ORIGIN, job=replace(facts, target_batch_id=8)))
    assert caught.value.run == first
    assert _all(ledger) == [first]

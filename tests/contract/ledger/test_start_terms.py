"""On which terms a run starts that several processes may want to start, on each database."""

from __future__ import annotations

import threading
from dataclasses import replace

import pytest
import sqlalchemy as sa

from tests.contract.ledger.samples import LEASE_SECONDS, ORIGIN, alone, changed, key
from tests.databases.ledgers import HandClock, open_ledger
from toolkit.errors import Skipped
from toolkit.ledger.database import Ledger
from toolkit.ledger.runs import run_start, status
from toolkit.ledger.runs.errors import LeaseHeld, RunMeanwhile, TooManyRun
from toolkit.ledger.runs.rows import Run
from toolkit.ledger.runs.run_start import StartRequest, StartTerms
from toolkit.ledger.vocabulary import RequestKind, RunStatus
from toolkit.runs.ledger_recorder import LedgerRecorder

pytestmark = pytest.mark.both_databases

HOURS = [f"2026-03-20T{hour:02}:00Z" for hour in range(10)]


def requested(hour: int, terms: StartTerms) -> StartRequest:
    of = key(HOURS[hour])
    return StartRequest(
        key=of, origin=ORIGIN, leases=alone(f"run/{HOURS[hour]}"), lease_seconds=LEASE_SECONDS, terms=terms
    )


def start(ledger: Ledger, hour: int, terms: StartTerms) -> Run:
    return ledger.write(lambda tx: run_start.start(tx, requested(hour, terms))).run


def test_no_more_runs_than_allowed_are_under_way_and_one_that_ends_makes_room(ledger: Ledger) -> None:
    two = StartTerms(most=2)
    first, _ = start(ledger, 0, two), start(ledger, 1, two)
    with pytest.raises(TooManyRun, match="2 others are under way and at most 2 may be"):
        start(ledger, 2, two)
    changed(ledger, first, RunStatus.WAITING)
    assert start(ledger, 2, two).status is RunStatus.RUNNING


def test_a_run_whose_owner_is_dead_takes_nobodys_place_and_stays_for_who_goes_on(
    clocked_ledger: Ledger, hand_clock: HandClock
) -> None:
    one = StartTerms(most=1, seen=0)
    dead = start(clocked_ledger, 0, one)
    hand_clock.forward(LEASE_SECONDS + 1)
    start(clocked_ledger, 1, one)
    hand_clock.forward(LEASE_SECONDS + 1)
    again = clocked_ledger.write(lambda tx: run_start.start(tx, requested(0, replace(one, seen=dead.run_id - 1))))
    assert ([each.run_id for each in again.taken_over], again.run.attempt) == ([dead.run_id], 2)


def test_a_run_that_was_paused_goes_on_when_there_is_room_for_it(ledger: Ledger) -> None:
    recorder, one = LedgerRecorder(ledger=ledger), StartTerms(most=1)
    paused = recorder.start(requested(0, one))
    recorder.pause(paused, ledger.write(lambda tx: status.ask_owner(tx, 1, RequestKind.SUSPEND, "bob")))
    resume = ledger.write(lambda tx: status.ask_owner(tx, 1, RequestKind.RESUME, "bob"))
    other = start(ledger, 1, one)
    with pytest.raises(TooManyRun, match="1 others are under way and at most 1 may be"):
        recorder.go_on(paused, resume)
    changed(ledger, other, RunStatus.SUCCEEDED)
    assert [each.kind for each in recorder.beat([paused]).requests] == [RequestKind.RESUME]
    recorder.go_on(paused, resume)
    assert recorder.beat([paused]).requests == ()
    with pytest.raises(TooManyRun):
        start(ledger, 2, one)


def test_what_somebody_else_has_run_since_it_was_looked_at_does_not_run_once_more(ledger: Ledger) -> None:
    unseen = StartTerms(seen=0)
    run = start(ledger, 0, unseen)
    with pytest.raises(LeaseHeld):
        start(ledger, 0, unseen)
    changed(ledger, run, RunStatus.FAILED)
    with pytest.raises(RunMeanwhile):
        start(ledger, 0, unseen)
    assert start(ledger, 0, StartTerms(seen=run.run_id)).attempt == 2


def test_what_waited_and_was_run_by_somebody_else_does_not_run_once_more(ledger: Ledger) -> None:
    waiting = changed(ledger, start(ledger, 0, StartTerms(seen=0)), RunStatus.WAITING)
    seen = StartTerms(seen=waiting.run_id - 1)
    taken_up = start(ledger, 0, seen)
    assert (taken_up.run_id, taken_up.attempt) == (waiting.run_id, 1)
    changed(ledger, taken_up, RunStatus.SUCCEEDED)
    with pytest.raises(RunMeanwhile):
        start(ledger, 0, seen)


def test_a_run_that_only_waited_or_was_skipped_has_not_begun(ledger: Ledger) -> None:
    waiting = changed(ledger, start(ledger, 0, StartTerms(seen=0)), RunStatus.WAITING)
    assert waiting.started_at is None
    skipped = changed(ledger, start(ledger, 1, StartTerms(seen=0)), RunStatus.SKIPPED)
    assert skipped.started_at is None
    assert start(ledger, 1, StartTerms(seen=0)).attempt == 2


def test_a_retry_has_its_number(ledger: Ledger) -> None:
    assert start(ledger, 0, StartTerms(retry=2, is_forced=True)).retry == 2


def test_many_who_start_at_once_never_run_more_than_allowed(ledger_url: sa.URL) -> None:
    answers: list[str] = []
    barrier = threading.Barrier(8)

    def work(hour: int) -> None:
        ledger = open_ledger(ledger_url)
        barrier.wait()
        try:
            start(ledger, hour, StartTerms(most=3))
        except Skipped as refused:
            answers.append(refused.code)
        else:
            answers.append("begun")
        ledger.close()

    threads = [threading.Thread(target=work, args=(hour,)) for hour in range(8)]
    for each in threads:
        each.start()
    for each in threads:
        each.join()
    assert sorted(answers) == ["begun"] * 3 + [TooManyRun.code] * 5

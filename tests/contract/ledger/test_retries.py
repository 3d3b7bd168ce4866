"""Retries that are to follow by themselves, and where the instances of an action stand, on both databases."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from tests.contract.ledger.samples import ORIGIN, alone, begun, changed, key
from tests.contract.ledger_jobs.plans import executed, scans
from toolkit.ledger.database import Ledger
from toolkit.ledger.runs import attempts, retries, run_start
from toolkit.ledger.runs.instances import newest_attempts
from toolkit.ledger.runs.queries import InstanceSpan, Subject
from toolkit.ledger.runs.rows import Run, RunKey
from toolkit.ledger.runs.run_start import StartRequest
from toolkit.ledger.vocabulary import LifeCycle, RunStatus

NOON = datetime(2026, 3, 20, 12, tzinfo=UTC)
MINUTE = timedelta(minutes=1)


def of(instance: str = "2026-03-20T12:00Z", cluster: str = "primary") -> RunKey:
    return key(instance, entity="p", cluster=cluster, life_cycle=LifeCycle.EXECUTION)


def failed(ledger: Ledger, at: datetime, of_key: RunKey | None = None, to: RunStatus = RunStatus.FAILED) -> Run:
    """An attempt that ended, and is to be tried again."""
    owner = begun(ledger, of_key or of())
    ledger.write(lambda tx: retries.schedule(tx, owner.run_id, at))
    return changed(ledger, owner, to)


def due(ledger: Ledger, at: datetime = NOON) -> list[int]:
    with executed(ledger) as statements:
        runs = ledger.read(lambda tx: retries.due(tx, LifeCycle.EXECUTION, "primary", at))
    assert scans(ledger, statements) == []
    return [each.run_id for each in runs]


def test_a_retry_is_due_from_its_time_on_the_one_whose_turn_came_first_first(ledger: Ledger) -> None:
    late = failed(ledger, NOON)
    early = failed(ledger, NOON - MINUTE, of("2026-03-20T13:00Z"), RunStatus.TIMED_OUT)
    failed(ledger, NOON + MINUTE, of("2026-03-20T14:00Z"))
    failed(ledger, NOON, of(cluster="backup"))
    assert due(ledger) == [early.run_id, late.run_id]


@pytest.mark.parametrize("to", [RunStatus.KILLED, RunStatus.SUCCEEDED])
def test_what_was_killed_or_succeeded_after_all_is_not_retried(ledger: Ledger, to: RunStatus) -> None:
    failed(ledger, NOON, to=to)
    assert due(ledger) == []


def _start(ledger: Ledger) -> None:
    begun(ledger, of())


def _start_many(ledger: Ledger) -> None:
    request = StartRequest(key=of(), origin=ORIGIN, leases=alone("run/p"), lease_seconds=60)
    ledger.write(lambda tx: run_start.start_many(tx, [request]))


def _order(ledger: Ledger) -> None:
    ledger.write(lambda tx: attempts.queue_again(tx, of(), ORIGIN, is_forced=False))


def _cancel(ledger: Ledger) -> None:
    assert ledger.write(lambda tx: retries.cancel(tx, of()))
    assert not ledger.write(lambda tx: retries.cancel(tx, of()))


@pytest.mark.parametrize("then", [_start, _start_many, _order, _cancel])
def test_a_retry_comes_once_and_not_at_all_when_something_else_came_before_it(ledger: Ledger, then: object) -> None:
    other = failed(ledger, NOON, of("2026-03-20T13:00Z"))
    failed(ledger, NOON)
    assert callable(then)
    then(ledger)
    assert due(ledger) == [other.run_id]


def test_a_run_tells_why_it_was_ordered(ledger: Ledger) -> None:
    changed(ledger, begun(ledger, of()), RunStatus.SUCCEEDED)
    order = {"is_forced": True, "cause": "late data of clicks"}
    ordered = ledger.write(lambda tx: attempts.queue_again(tx, of(), ORIGIN, **order))  # type: ignore[arg-type]
    taken = begun(ledger, of())
    assert (taken.run_id, taken.cause, taken.retry) == (ordered.run_id, "late data of clicks", None)


def test_where_many_instances_stand_is_one_statement(ledger: Ledger) -> None:
    failed(ledger, NOON)
    newest = changed(ledger, begun(ledger, of()), RunStatus.SUCCEEDED)
    waiting = failed(ledger, NOON, of("2026-03-20T13:00Z"))
    failed(ledger, NOON, of("2026-03-20T14:00Z"))
    failed(ledger, NOON, of("2026-03-20T13:00Z", cluster="backup"))
    begun(ledger, key("2026-03-20T13:00Z", entity="p", life_cycle=LifeCycle.EVICTION))
    subject = Subject(entity="p", life_cycle=LifeCycle.EXECUTION, cluster="primary")
    span = InstanceSpan(subject=subject, start_key="2026-03-20T12:00Z", end_key="2026-03-20T14:00Z")
    with executed(ledger) as statements:
        stand = ledger.read(lambda tx: newest_attempts(tx, span))
    assert {at: (each.run_id, each.status, each.retry_at) for at, each in stand.items()} == {
        "2026-03-20T12:00Z": (newest.run_id, RunStatus.SUCCEEDED, None),
        "2026-03-20T13:00Z": (waiting.run_id, RunStatus.FAILED, NOON),
    }
    assert scans(ledger, statements) == []
    assert sum(each.startswith("SELECT run.") for each, _ in statements) == 1

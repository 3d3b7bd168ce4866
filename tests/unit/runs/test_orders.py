"""Tests of what a run is told from outside."""

from __future__ import annotations

from tests.unit.runs.fakes import request
from toolkit.ledger.vocabulary import RequestKind
from toolkit.runs.errors import LeaseExpired, RunKilled
from toolkit.runs.lease import RunCommands


def test_the_first_reason_to_stop_stays() -> None:
    orders = RunCommands()
    orders.stop(LeaseExpired(why="paused"))
    orders.ask(request(RequestKind.KILL))
    assert isinstance(orders.stopped, LeaseExpired)


def test_a_request_to_kill_stops_the_run_and_says_who_asked() -> None:
    orders = RunCommands()
    orders.ask(request(RequestKind.KILL))
    assert isinstance(orders.stopped, RunKilled)
    assert orders.stopped.reason == "killed by bob"
    assert orders.take() is None


def test_only_the_newest_request_counts() -> None:
    orders = RunCommands()
    suspend, resume = request(RequestKind.SUSPEND, 1), request(RequestKind.RESUME, 2)
    orders.ask(resume)
    orders.ask(suspend)
    assert orders.has_some
    assert orders.take() == resume
    assert not orders.has_some


def test_a_request_that_was_taken_does_not_come_again() -> None:
    """A heartbeat may have read it before the run honoured it, and bring it only then."""
    orders = RunCommands()
    for _ in range(2):
        orders.ask(request(RequestKind.SUSPEND, 4))
        orders.take()
    orders.ask(request(RequestKind.SUSPEND, 4))
    assert orders.take() is None


def test_waiting_ends_when_something_arrives() -> None:
    orders = RunCommands()
    orders.ask(request(RequestKind.SUSPEND))
    orders.wait(60)
    assert orders.has_some

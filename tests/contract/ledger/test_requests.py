"""Requests to the owner of a run: the newest counts, and a kill is final."""

from __future__ import annotations

import pytest

from tests.contract.ledger.samples import begun, changed, key
from toolkit.ledger.database import Ledger
from toolkit.ledger.runs import status
from toolkit.ledger.runs.errors import RunIsOver, UnknownRun
from toolkit.ledger.runs.rows import Run
from toolkit.ledger.runs.status import Request
from toolkit.ledger.vocabulary import RequestKind, RunStatus

SUSPEND, RESUME, KILL = RequestKind.SUSPEND, RequestKind.RESUME, RequestKind.KILL


def _requested(ledger: Ledger, run: Run, kind: RequestKind) -> Request:
    return ledger.write(lambda tx: status.ask_owner(tx, run.run_id, kind, "bob"))


def _open(ledger: Ledger, *runs: Run) -> list[Request]:
    return ledger.read(lambda tx: status.open_requests(tx, [each.run_id for each in runs]))


def test_a_request_is_open_until_it_is_honoured(ledger: Ledger) -> None:
    run = begun(ledger)
    requested = _requested(ledger, run, SUSPEND)
    assert (requested.run_id, requested.kind, requested.requested_by, requested.honoured_at) == (
        run.run_id,
        SUSPEND,
        "bob",
        None,
    )
    assert _open(ledger, run) == [requested]
    ledger.write(lambda tx: status.honour_requests(tx, [requested.request_id]))
    assert _open(ledger, run) == []


def test_asking_the_same_again_is_the_same_request(ledger: Ledger) -> None:
    run = begun(ledger)
    assert _requested(ledger, run, SUSPEND) == _requested(ledger, run, SUSPEND)


@pytest.mark.parametrize(("first", "second"), [(SUSPEND, RESUME), (RESUME, SUSPEND), (SUSPEND, KILL), (RESUME, KILL)])
def test_the_newest_request_is_the_one_that_is_open(ledger: Ledger, first: RequestKind, second: RequestKind) -> None:
    run = begun(ledger)
    _requested(ledger, run, first)
    newest = _requested(ledger, run, second)
    assert newest.kind is second
    assert _open(ledger, run) == [newest]


@pytest.mark.parametrize("kind", RequestKind)
def test_nothing_undoes_a_kill(ledger: Ledger, kind: RequestKind) -> None:
    run = begun(ledger)
    kill = _requested(ledger, run, KILL)
    assert _requested(ledger, run, kind) == kill
    assert _open(ledger, run) == [kill]


def test_nobody_is_asked_when_the_run_is_over(ledger: Ledger) -> None:
    run = begun(ledger)
    changed(ledger, run, RunStatus.SUCCEEDED)
    with pytest.raises(RunIsOver, match="is succeeded: no process is left to kill; nothing was changed"):
        _requested(ledger, run, KILL)
    assert _open(ledger, run) == []


def test_nobody_is_asked_when_there_is_no_run(ledger: Ledger) -> None:
    with pytest.raises(UnknownRun):
        ledger.write(lambda tx: status.ask_owner(tx, 77, KILL, "bob"))


def test_the_requests_of_many_runs_come_in_the_order_of_asking(ledger: Ledger) -> None:
    runs = [begun(ledger, key(f"2026-03-0{day}T12:00Z")) for day in (1, 2, 3)]
    requested = [_requested(ledger, run, KILL) for run in reversed(runs)]
    assert _open(ledger, *runs) == requested
    assert _open(ledger, runs[1]) == [requested[1]]
    assert _open(ledger) == []

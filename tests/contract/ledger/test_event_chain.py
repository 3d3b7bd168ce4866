"""Chain of events: how many triggered runs led to them."""

from __future__ import annotations

import pytest

from tests.contract.ledger.samples import begun, changed, key
from toolkit.ledger import events
from toolkit.ledger.database import Ledger
from toolkit.ledger.events import NewEvent
from toolkit.ledger.runs.rows import Run
from toolkit.ledger.tables import trigger_cause
from toolkit.ledger.vocabulary import EventKind, LifeCycle, RunStatus

pytestmark = pytest.mark.both_databases


def _event(ledger: Ledger, run: Run | None = None, chain: int | None = None) -> int:
    new = NewEvent(kind=EventKind.AVAILABLE, dataset="s3://bucket/orders", chain=chain)
    (number,) = ledger.write(lambda tx: events.append(tx, [new], None if run is None else run.run_id))
    return number


def _chain(ledger: Ledger, number: int) -> int:
    (found,) = ledger.read(lambda tx: events.after(tx, number - 1, limit=1))
    return found.chain


def _triggered(ledger: Ledger, *causes: int, entity: str = "sums") -> Run:
    run = begun(ledger, key(entity=entity, life_cycle=LifeCycle.EXECUTION))
    for each in causes:
        ledger.write(lambda tx, each=each: tx.insert(trigger_cause, run_id=run.run_id, sequence=each))  # type: ignore[misc]
    return run


def test_events_from_outside_and_of_runs_that_nothing_triggered_begin_a_chain(ledger: Ledger) -> None:
    assert _chain(ledger, _event(ledger)) == 0
    assert _chain(ledger, _event(ledger, begun(ledger))) == 0


def test_events_of_a_triggered_run_carry_the_longest_chain_of_its_causes_and_itself(ledger: Ledger) -> None:
    outside, other = _event(ledger), _event(ledger, chain=4)
    assert _chain(ledger, _event(ledger, _triggered(ledger, outside))) == 1
    assert _chain(ledger, _event(ledger, _triggered(ledger, outside, other, entity="counts"))) == 5


def test_a_later_attempt_has_the_chain_of_the_triggered_one(ledger: Ledger) -> None:
    first = _triggered(ledger, _event(ledger, chain=2))
    changed(ledger, first, RunStatus.FAILED)
    assert _chain(ledger, _event(ledger, _triggered(ledger))) == 3


def test_an_event_keeps_the_chain_that_its_writer_gives_it(ledger: Ledger) -> None:
    assert _chain(ledger, _event(ledger, _triggered(ledger, _event(ledger)), chain=7)) == 7

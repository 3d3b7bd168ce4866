"""History of entities, on both databases: its mark changes with every change, and each instance has one state."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest

from tests.contract.ledger.samples import begun, changed, found, key
from tests.contract.ledger.test_validations import BLOCKED, FOUND, decide, recorded
from toolkit.el import parse_instant
from toolkit.ledger import events
from toolkit.ledger.database import Ledger
from toolkit.ledger.entity_history import history_marks, instance_attempts, instance_events
from toolkit.ledger.events import NewEvent
from toolkit.ledger.runs import retries
from toolkit.ledger.validation_figures import figures_of
from toolkit.ledger.validations import recent_results
from toolkit.ledger.vocabulary import EventKind, RunStatus, ValidationState

pytestmark = pytest.mark.both_databases

SIX, SEVEN = "2026-03-01T06:00Z", "2026-03-01T07:00Z"


def announce(ledger: Ledger, kind: EventKind, instance_key: str = SIX) -> None:
    new = NewEvent(kind=kind, feed="clicks", cluster="primary", instance_key=instance_key)
    ledger.write(lambda tx: events.append(tx, [new]))


def test_each_change_of_an_entity_changes_its_mark_and_no_other(ledger: Ledger) -> None:
    run = begun(ledger, key(SIX, entity="clicks"))
    other = changed(ledger, begun(ledger, key(SIX, entity="orders")), RunStatus.FAILED)
    steps: tuple[Callable[[], object], ...] = (
        lambda: changed(ledger, found(ledger, run), RunStatus.FAILED),
        lambda: ledger.write(lambda tx: retries.schedule(tx, run.run_id, parse_instant(SEVEN))),
        lambda: announce(ledger, EventKind.AVAILABLE),
        lambda: announce(ledger, EventKind.EVICTED),
        lambda: recorded(ledger),
        lambda: decide(ledger, 1, ValidationState.RELEASED),
        lambda: begun(ledger, key(SEVEN, entity="clicks")),
    )
    marks = [ledger.read(history_marks)]
    for step in steps:
        step()
        marks.append(ledger.read(history_marks))
    assert len({each["clicks"] for each in marks}) == len(marks)
    assert {each[other.entity] for each in marks} == {marks[0]["orders"]}


def test_each_instance_has_its_newest_attempt_and_event(ledger: Ledger) -> None:
    changed(ledger, begun(ledger, key(SEVEN)), RunStatus.FAILED)
    changed(ledger, begun(ledger, key(SIX)), RunStatus.FAILED)
    again = begun(ledger, key(SIX))
    announce(ledger, EventKind.AVAILABLE)
    announce(ledger, EventKind.AVAILABLE, SEVEN)
    announce(ledger, EventKind.EVICTED)
    attempts = ledger.read(lambda tx: instance_attempts(tx, again.entity))
    assert [(each.instance_key, each.attempt, each.status) for each in attempts] == [
        (SIX, 2, RunStatus.RUNNING),
        (SEVEN, 1, RunStatus.FAILED),
    ]
    kinds = {each.instance_key: each.kind for each in ledger.read(lambda tx: instance_events(tx, "clicks"))}
    assert kinds == {SIX: EventKind.EVICTED, SEVEN: EventKind.AVAILABLE}


def test_a_chart_has_one_figure_of_each_instance_up_to_a_result(ledger: Ledger) -> None:
    for instance, unexpected in ((SIX, 1), (SEVEN, 5), (SIX, 3), ("2026-03-01T08:00Z", 9)):
        recorded(ledger, replace(BLOCKED, instance_key=instance), replace(FOUND, unexpected=unexpected))

    def figures(most: int, until: int | None = None) -> list[float]:
        return [each.figure for each in ledger.read(lambda tx: figures_of(tx, "clicks", "primary", most, until))]

    assert figures(30) == [0.5, 0.3, 0.9]
    assert figures(30, until=2) == [0.1, 0.5]
    assert figures(2) == [0.3, 0.9]


def test_results_that_wait_for_a_decision_are_listed_first(ledger: Ledger) -> None:
    numbers = [
        recorded(ledger, replace(BLOCKED, state=state, is_by_hand=by_hand))
        for state, by_hand in (
            (ValidationState.BLOCKED, False),
            (ValidationState.PASSED, False),
            (ValidationState.BLOCKED, True),
            (ValidationState.UNKNOWN, False),
        )
    ]
    listed = [each.verdict_id for each in ledger.read(lambda tx: recent_results(tx, 3))]
    assert listed == [numbers[3], numbers[0], numbers[2]]

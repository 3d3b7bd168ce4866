"""Garbage collection of events: what every live consumer has consumed goes, and never an unread event."""

from __future__ import annotations

from datetime import timedelta

import pytest

from tests.contract.ledger.samples import begun, key
from toolkit.ledger import events, triggers
from toolkit.ledger.database import Ledger
from toolkit.ledger.event_gc import CollectedGarbage, LiveConsumers, collect
from toolkit.ledger.events import NewEvent
from toolkit.ledger.tables import trigger_cause, trigger_pending
from toolkit.ledger.vocabulary import EventKind, LifeCycle

pytestmark = pytest.mark.both_databases

SUMS, COUNTS, GONE = (triggers.consumer_name(each, "primary") for each in ("sums", "counts", "gone"))
MONDAY, TUESDAY = "2026-03-23T00:00Z", "2026-03-24T00:00Z"


def _emit(ledger: Ledger, *keys: str, dataset: str = "named") -> None:
    new = [NewEvent(kind=EventKind.AVAILABLE, dataset=dataset, instance_key=each) for each in keys]
    ledger.write(lambda tx: events.append(tx, new))


def _read(ledger: Ledger, consumer: str, to: int) -> None:
    ledger.write(lambda tx: events.advance(tx, consumer, to))


def _collect(
    ledger: Ledger, *live: str, earliest: tuple[str, ...] = (), days: int = -1, dry: bool = False
) -> CollectedGarbage:
    """Remove events older than so many days; by default those of the future, too."""
    consumers = LiveConsumers(names={*live, *earliest}, from_earliest=earliest)
    return ledger.write(
        lambda tx: collect(tx, consumers, lambda uri: uri == "named", tx.now() - timedelta(days=days), is_dry=dry)
    )


def _left(ledger: Ledger) -> list[int]:
    return [each.sequence for each in ledger.read(lambda tx: events.after(tx, 0))]


def test_events_that_all_have_read_go_but_for_the_newest_of_each_instance(ledger: Ledger) -> None:
    _emit(ledger, MONDAY, MONDAY, TUESDAY, MONDAY, "")
    _read(ledger, SUMS, 5)
    assert _collect(ledger, SUMS).events == 2
    assert _left(ledger) == [3, 4, 5]
    assert ledger.read(events.newest) == 5


def test_an_event_that_one_live_consumer_has_not_read_stays(ledger: Ledger) -> None:
    _emit(ledger, *[MONDAY] * 5)
    _read(ledger, SUMS, 5)
    _read(ledger, COUNTS, 2)
    found = _collect(ledger, SUMS, COUNTS)
    assert (found.events, found.floor, found.slowest) == (2, 2, COUNTS)
    assert _left(ledger) == [3, 4, 5]


def test_a_consumer_that_is_no_trigger_always_lives(ledger: Ledger) -> None:
    _emit(ledger, *[MONDAY] * 3)
    _read(ledger, "lineage", 1)
    found = _collect(ledger)
    assert (found.events, found.consumers, _left(ledger)) == (1, (), [2, 3])


def test_a_new_consumer_from_the_earliest_event_keeps_all(ledger: Ledger) -> None:
    _emit(ledger, *[MONDAY] * 3)
    assert _collect(ledger, earliest=(SUMS,)).events == 0
    _read(ledger, SUMS, 3)
    assert _collect(ledger, earliest=(SUMS,)).events == 2


def test_a_young_event_stays(ledger: Ledger) -> None:
    _emit(ledger, *[MONDAY] * 3)
    assert (_collect(ledger, days=90).events, _left(ledger)) == (0, [1, 2, 3])


def test_an_update_that_waits_and_a_cause_of_a_run_that_is_not_over_stay(ledger: Ledger) -> None:
    _emit(ledger, *[MONDAY] * 4)
    _read(ledger, SUMS, 4)
    run = begun(ledger, key(entity="sums", life_cycle=LifeCycle.EXECUTION))
    waits = {"consumer": SUMS, "sequence": 1, "process_key": MONDAY}
    ledger.write(lambda tx: tx.execute(trigger_pending.insert(), waits))
    ledger.write(lambda tx: tx.execute(trigger_cause.insert(), {"run_id": run.run_id, "sequence": 2}))
    assert (_collect(ledger, SUMS).events, _left(ledger)) == (1, [1, 2, 4])


def test_the_cursor_of_a_process_that_left_goes_and_holds_nothing_back(ledger: Ledger) -> None:
    _emit(ledger, *[MONDAY] * 3)
    _read(ledger, GONE, 1)
    _read(ledger, SUMS, 3)
    waits = {"consumer": GONE, "sequence": 1, "process_key": MONDAY}
    ledger.write(lambda tx: tx.execute(trigger_pending.insert(), waits))
    found = _collect(ledger, SUMS)
    assert (found.consumers, found.events, _left(ledger)) == ((GONE,), 2, [3])
    assert ledger.read(triggers.positions).cursors.keys() == {SUMS}


def test_a_cursor_that_has_moved_lately_stays_with_what_waits(ledger: Ledger) -> None:
    _emit(ledger, *[MONDAY] * 3)
    _read(ledger, GONE, 1)
    _read(ledger, SUMS, 3)
    found = _collect(ledger, SUMS, days=1)
    assert (found.consumers, found.floor, found.slowest) == ((), 1, GONE)
    assert ledger.read(triggers.positions).cursors.keys() == {SUMS, GONE}


def test_all_events_of_a_dataset_that_no_commit_names_go(ledger: Ledger) -> None:
    _emit(ledger, MONDAY, MONDAY, TUESDAY, dataset="left")
    _emit(ledger, MONDAY, dataset="unread")
    _read(ledger, SUMS, 3)
    found = _collect(ledger, SUMS)
    assert (found.events, found.datasets, _left(ledger)) == (3, ("left",), [4])


def test_a_dry_run_tells_the_same_and_removes_nothing(ledger: Ledger) -> None:
    _emit(ledger, MONDAY, MONDAY, TUESDAY, dataset="left")
    _emit(ledger, MONDAY, MONDAY)
    _read(ledger, GONE, 1)
    planned = _collect(ledger, dry=True)
    assert (planned.events, _left(ledger)) == (4, [1, 2, 3, 4, 5])
    assert ledger.read(triggers.positions).cursors.keys() == {GONE}
    assert _collect(ledger) == planned
    assert _left(ledger) == [5]

"""Updates from outside: emitted once for each idempotency key, retracted, and listed by dataset and instance."""

from __future__ import annotations

import time
from concurrent.futures import ThreadPoolExecutor

import pytest
import sqlalchemy as sa

from tests.databases.ledgers import open_ledger
from toolkit.ledger import event_queries, events, external_events
from toolkit.ledger.database import Ledger
from toolkit.ledger.event_queries import EventFilter
from toolkit.ledger.events import Event, NewEvent
from toolkit.ledger.external_events import EmittedEvent, ExternalUpdate, IdempotencyKeyReused, NeverAnnounced
from toolkit.ledger.vocabulary import EventKind

pytestmark = pytest.mark.both_databases

ORDERS = "s3://bucket/orders"
LOAD = "load-17"
MONDAY, TUESDAY = "2026-03-23T00:00Z", "2026-03-24T00:00Z"


def _emit(ledger: Ledger, key: str = "", *, token: str | None = None, dataset: str = ORDERS) -> EmittedEvent:
    update = ExternalUpdate(dataset=dataset, instance_key=key, idempotency_key=token, extra='{"rows": 3}')
    return ledger.write(lambda tx: external_events.emit(tx, update))


def _retract(ledger: Ledger, key: str = "") -> EmittedEvent:
    return ledger.write(lambda tx: external_events.retract(tx, ExternalUpdate(dataset=ORDERS, instance_key=key)))


def _listed(ledger: Ledger, chosen: EventFilter, limit: int | None = None) -> list[Event]:
    return ledger.read(lambda tx: event_queries.list_events(tx, chosen, limit))


def test_an_update_from_outside_has_what_its_emitter_says(ledger: Ledger) -> None:
    event = _emit(ledger, MONDAY, token=LOAD).event
    assert (event.dataset, event.feed, event.cluster, event.instance_key) == (ORDERS, "", "", MONDAY)
    assert (event.extra, event.idempotency_key, event.run_id, event.chain) == ('{"rows": 3}', "load-17", None, 0)


def test_a_second_update_of_an_instance_is_of_another_kind_but_not_one_of_a_series(ledger: Ledger) -> None:
    kinds = [_emit(ledger, key).event.kind for key in (MONDAY, MONDAY, TUESDAY, "", "")]
    assert kinds == ["available", "updated", "available", "available", "available"]


def test_an_idempotency_key_used_twice_emits_nothing(ledger: Ledger) -> None:
    first, second = _emit(ledger, MONDAY, token=LOAD), _emit(ledger, MONDAY, token=LOAD)
    assert (first.is_new, second.is_new, second.event) == (True, False, first.event)
    assert ledger.read(events.newest) == 1


def test_an_idempotency_key_of_something_else_is_an_error(ledger: Ledger) -> None:
    _emit(ledger, MONDAY, token=LOAD)
    with pytest.raises(IdempotencyKeyReused, match="'load-17' belongs to event 1, available of s3://bucket/orders"):
        _emit(ledger, TUESDAY, token=LOAD)
    assert ledger.read(events.newest) == 1


def test_of_many_writers_with_one_idempotency_key_one_emits(ledger: Ledger, ledger_url: sa.URL) -> None:
    ledgers = [ledger, *(open_ledger(ledger_url) for _ in range(3))]
    with ThreadPoolExecutor(len(ledgers)) as pool:
        results = list(pool.map(lambda each: _emit(each, MONDAY, token=LOAD), ledgers))
    for each in ledgers[1:]:
        each.close()
    assert sorted(each.is_new for each in results) == [False, False, False, True]
    assert {each.event.sequence for each in results} == {1}


def test_what_was_announced_can_be_retracted_once_and_announced_again(ledger: Ledger) -> None:
    _emit(ledger, MONDAY)
    first, second = _retract(ledger, MONDAY), _retract(ledger, MONDAY)
    assert (first.event.kind, first.is_new) == (EventKind.RETRACTED, True)
    assert (second.is_new, second.event) == (False, first.event)
    assert _emit(ledger, MONDAY).event.kind is EventKind.AVAILABLE


def test_what_was_never_announced_cannot_be_retracted(ledger: Ledger) -> None:
    _emit(ledger, MONDAY)
    with pytest.raises(NeverAnnounced, match=f"no event has announced instance {TUESDAY} of {ORDERS}"):
        _retract(ledger, TUESDAY)
    with pytest.raises(NeverAnnounced, match=f"no event has announced {ORDERS} without an instance key"):
        _retract(ledger)
    assert ledger.read(events.newest) == 1


def test_events_are_listed_by_what_they_are_about(ledger: Ledger) -> None:
    for key in (MONDAY, TUESDAY, MONDAY):
        time.sleep(0.002)  # no two are recorded at one time
        _emit(ledger, key)
    _emit(ledger, dataset="other")

    def numbers(chosen: EventFilter, limit: int | None = None) -> list[int]:
        return [each.sequence for each in _listed(ledger, chosen, limit)]

    assert numbers(EventFilter()) == [1, 2, 3, 4]
    assert numbers(EventFilter(), 2) == [3, 4]
    assert numbers(EventFilter(dataset=ORDERS, instance_key=MONDAY)) == [1, 3]
    assert numbers(EventFilter(instance_key="")) == [4]
    assert numbers(EventFilter(dataset=ORDERS, kinds=[EventKind.UPDATED])) == [3]
    third = _listed(ledger, EventFilter())[2]
    assert numbers(EventFilter(since=third.recorded_at)) == [3, 4]
    assert numbers(EventFilter(run_id=1)) == []


def test_the_last_update_is_known_by_dataset_and_by_instance(ledger: Ledger) -> None:
    for key in (MONDAY, TUESDAY):
        _emit(ledger, key)
    _emit(ledger, dataset="other")
    _retract(ledger, TUESDAY)
    by_dataset = ledger.read(event_queries.last_updates)
    assert {dataset: each.sequence for dataset, each in by_dataset.items()} == {ORDERS: 2, "other": 3}
    by_key = ledger.read(lambda tx: event_queries.last_updates_by_key(tx, ORDERS))
    assert {key: each.sequence for key, each in by_key.items()} == {MONDAY: 1, TUESDAY: 2}


def test_an_event_of_a_feed_has_the_feeds_dataset(ledger: Ledger) -> None:
    new = NewEvent(kind=EventKind.AVAILABLE, feed="clicks", cluster="primary", instance_key=MONDAY)
    ledger.write(lambda tx: events.append(tx, [new]))
    (found,) = _listed(ledger, EventFilter(dataset="feedctl:feed/clicks?cluster=primary"))
    assert (found.feed, found.cluster, found.extra, found.idempotency_key) == ("clicks", "primary", None, None)

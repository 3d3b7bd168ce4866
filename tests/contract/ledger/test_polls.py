"""Polls: the state of a look and the event that announces its change are one transaction."""

from __future__ import annotations

import json
from concurrent.futures import Future, ThreadPoolExecutor, wait
from contextlib import closing
from dataclasses import replace
from datetime import UTC, datetime

import pytest
import sqlalchemy as sa

from tests.databases.ledgers import open_ledger
from toolkit.entities.trigger_vocabulary import PollBy
from toolkit.ledger import events, polls
from toolkit.ledger.database import Ledger, Transaction
from toolkit.ledger.events import NewEvent
from toolkit.ledger.polls import PolledChange
from toolkit.ledger.tables import poll
from toolkit.ledger.vocabulary import EventKind
from toolkit.planning.polls import Announcement, FileMark, PollFingerprint, PollState, missing

pytestmark = pytest.mark.both_databases

NOON = datetime(2026, 3, 20, 12, tzinfo=UTC)
DATASET = "s3://bucket/orders"
_UNTIL_IT_WAITS = 0.3


def _data(size: int) -> PollFingerprint:
    return PollFingerprint.of(PollBy.LISTING, [FileMark("part", size, NOON, str(size))])


SEEN = PollState(seen=_data(1), seen_at=NOON)
ANNOUNCED = PollState(announced=_data(1))
FIRST = PolledChange(dataset=DATASET, uri=DATASET, before=PollState(), after=SEEN)
AVAILABLE = PolledChange(
    dataset=DATASET, uri=DATASET, before=SEEN, after=ANNOUNCED, announcement=Announcement.PRESENT, extra={"files": 1}
)
CHANGED = replace(AVAILABLE, before=ANNOUNCED, after=PollState(announced=_data(2)))
GONE = replace(
    AVAILABLE,
    before=ANNOUNCED,
    after=PollState(announced=missing(PollBy.LISTING)),
    announcement=Announcement.VANISHED,
)


class _Killed(Exception):  # noqa: N818 - only of this test
    pass


def _record(ledger: Ledger, *changes: PolledChange) -> list[NewEvent]:
    return ledger.write(lambda tx: polls.record(tx, changes))


def _state(ledger: Ledger, dataset: str = DATASET, key: str = "") -> PollState | None:
    found = ledger.read(lambda tx: polls.series(tx, [dataset]))
    return found[dataset].states.get(key) if dataset in found else None


def _kinds(ledger: Ledger) -> list[EventKind]:
    return [each.kind for each in ledger.read(lambda tx: events.after(tx, 0))]


def test_states_are_kept_and_a_settled_change_is_an_event_with_its_difference(ledger: Ledger) -> None:
    assert _record(ledger, FIRST) == []
    assert _state(ledger) == SEEN
    _record(ledger, AVAILABLE)
    _record(ledger, CHANGED)
    assert _state(ledger) == CHANGED.after
    first, second = ledger.read(lambda tx: events.after(tx, 0))
    assert (first.kind, first.dataset, first.uri, first.instance_key) == (EventKind.AVAILABLE, DATASET, DATASET, "")
    assert json.loads(first.extra or "") == {"poll": {"files": 1}}
    assert (second.kind, second.feed, second.run_id, second.chain) == (EventKind.AVAILABLE, "", None, 0)


def test_an_event_of_a_feed_names_its_instance(ledger: Ledger) -> None:
    key, uri = "2026-03-20T12:00Z", "feedctl:feed/clicks?cluster=primary"
    of_feed = {"dataset": uri, "feed": "clicks", "cluster": "primary", "instance_key": key}
    _record(ledger, replace(FIRST, **of_feed))  # type: ignore[arg-type]
    _record(ledger, replace(AVAILABLE, **of_feed))  # type: ignore[arg-type]
    _record(ledger, replace(CHANGED, **of_feed))  # type: ignore[arg-type]
    found, second = ledger.read(lambda tx: events.after(tx, 0))
    assert (found.kind, second.kind) == (EventKind.AVAILABLE, EventKind.UPDATED)
    assert (found.dataset, found.feed, found.cluster, found.instance_key) == (uri, "clicks", "primary", key)


def test_two_polls_that_saw_the_same_change_announce_it_once(ledger: Ledger) -> None:
    _record(ledger, FIRST)
    assert len(_record(ledger, AVAILABLE)) == 1
    assert _record(ledger, AVAILABLE) == []
    assert _record(ledger, FIRST) == []
    assert _state(ledger) == ANNOUNCED


def test_a_killed_poll_leaves_neither_the_state_nor_the_event(ledger: Ledger) -> None:
    _record(ledger, FIRST)

    def die(tx: Transaction) -> None:
        polls.record(tx, [AVAILABLE])
        raise _Killed

    with pytest.raises(_Killed):
        ledger.write(die)
    assert (_state(ledger), _kinds(ledger)) == (SEEN, [])
    _record(ledger, AVAILABLE)
    assert _kinds(ledger) == [EventKind.AVAILABLE]


def test_data_that_vanished_is_evicted_unless_its_eviction_was_announced(ledger: Ledger) -> None:
    for change in (FIRST, AVAILABLE, GONE):
        _record(ledger, change)
    assert _kinds(ledger) == [EventKind.AVAILABLE, EventKind.EVICTED]
    again = replace(AVAILABLE, before=GONE.after)
    assert [each.kind for each in _record(ledger, again)] == [EventKind.AVAILABLE]
    retracted = NewEvent(kind=EventKind.RETRACTED, dataset=DATASET)
    ledger.write(lambda tx: events.append(tx, [retracted]))
    assert _record(ledger, GONE) == []
    assert _state(ledger) == GONE.after


def test_a_first_look_at_data_that_its_producer_announced_is_no_event(ledger: Ledger) -> None:
    ledger.write(lambda tx: events.append(tx, [NewEvent(kind=EventKind.AVAILABLE, dataset=DATASET)]))
    _record(ledger, FIRST)
    assert _record(ledger, AVAILABLE) == []
    assert [each.kind for each in _record(ledger, CHANGED)] == [EventKind.AVAILABLE]


def test_a_dry_run_says_the_same_and_writes_nothing(ledger: Ledger) -> None:
    _record(ledger, FIRST)
    planned = ledger.read(lambda tx: polls.announcements(tx, [AVAILABLE]))
    assert (_state(ledger), _kinds(ledger)) == (SEEN, [])
    assert planned == _record(ledger, AVAILABLE)


def test_looks_are_noted_and_never_go_back(ledger: Ledger) -> None:
    def polled_at() -> datetime | None:
        return ledger.read(lambda tx: polls.series(tx, [DATASET]))[DATASET].polled_at

    for minute, expected in ((5, 5), (7, 7), (6, 7)):
        at = NOON.replace(minute=minute)
        ledger.write(lambda tx, at=at: polls.note_looks(tx, [DATASET], at))  # type: ignore[misc]
        assert polled_at() == NOON.replace(minute=expected)


def test_rows_of_instances_that_are_over_are_removed(ledger: Ledger) -> None:
    of_feed = replace(FIRST, instance_key="2026-03-20T12:00Z")
    _record(ledger, of_feed)
    _record(ledger, replace(of_feed, before=SEEN, after=PollState(), is_over=True))
    assert _state(ledger, key="2026-03-20T12:00Z") is None


def test_what_two_polls_find_over_at_once_is_removed_by_one_of_them(ledger: Ledger, ledger_url: sa.URL) -> None:
    over = replace(FIRST, instance_key="2026-03-20T12:00Z")
    _record(ledger, over)
    over = replace(over, before=SEEN, after=PollState(), is_over=True)
    other = open_ledger(ledger_url)
    with closing(other), ThreadPoolExecutor(1) as threads:

        def both(tx: Transaction) -> Future[list[NewEvent]]:
            tx.execute(tx.locked(sa.select(poll.c.dataset)))  # as a poll does before it removes a row
            waits = threads.submit(_record, other, over)
            wait([waits], _UNTIL_IT_WAITS)
            polls.record(tx, [over])
            return waits

        assert ledger.write(both).result(30) == []
    assert _state(ledger, key=over.instance_key) in {None, PollState()}


def test_very_many_changes_are_recorded_at_once(ledger: Ledger) -> None:
    many = [replace(FIRST, dataset=f"{DATASET}/{number}") for number in range(1000)]
    _record(ledger, *many)
    found = _record(ledger, *(replace(AVAILABLE, dataset=each.dataset) for each in many))
    assert len(found) == 1000
    assert len(_kinds(ledger)) == 1000

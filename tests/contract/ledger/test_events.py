"""Events: numbered without gaps, and read by consumers that keep a cursor."""

from __future__ import annotations

import pytest

from tests.contract.ledger.samples import begun
from toolkit.ledger import events
from toolkit.ledger.database import Ledger, Transaction
from toolkit.ledger.events import CursorMovedOn, Event, NewEvent, NoSuchEvent
from toolkit.ledger.vocabulary import EventKind

pytestmark = pytest.mark.both_databases


def _new(day: int, feed: str = "clicks", cluster: str = "primary") -> NewEvent:
    key = f"2026-03-{day:02}T00:00Z"
    return NewEvent(kind=EventKind.AVAILABLE, feed=feed, cluster=cluster, instance_key=key, uri=f"/data/{day}")


def _append(ledger: Ledger, *new: NewEvent, run_id: int | None = None) -> range:
    return ledger.write(lambda tx: events.append(tx, new, run_id))


def _after(ledger: Ledger, sequence: int) -> list[Event]:
    return ledger.read(lambda tx: events.after(tx, sequence))


def _cursor(ledger: Ledger, consumer: str = "lineage") -> int:
    return ledger.read(lambda tx: events.cursor(tx, consumer))


def _advance(ledger: Ledger, to: int) -> None:
    ledger.write(lambda tx: events.advance(tx, "lineage", to))


class _Wrong(Exception):  # noqa: N818 - only of this test
    pass


def test_events_are_numbered_from_one_without_gaps(ledger: Ledger) -> None:
    run = begun(ledger)
    assert _append(ledger, _new(1), _new(2), run_id=run.run_id) == range(1, 3)
    assert _append(ledger) == range(0)
    assert _append(ledger, _new(3)) == range(3, 4)
    first, _, third = _after(ledger, 0)
    assert (first.sequence, first.kind, first.feed, first.cluster) == (1, EventKind.AVAILABLE, "clicks", "primary")
    assert (first.instance_key, first.uri, first.run_id) == ("2026-03-01T00:00Z", "/data/1", run.run_id)
    assert (third.sequence, third.run_id) == (3, None)
    assert ledger.read(events.newest) == 3


def test_a_transaction_that_fails_leaves_no_gap(ledger: Ledger) -> None:
    def fail(tx: Transaction) -> None:
        events.append(tx, [_new(1), _new(2)])
        raise _Wrong

    with pytest.raises(_Wrong):
        ledger.write(fail)
    assert _append(ledger, _new(3)) == range(1, 2)
    assert [each.sequence for each in _after(ledger, 0)] == [1]


def test_events_are_read_on_from_a_number_in_parts(ledger: Ledger) -> None:
    _append(ledger, *(_new(day) for day in range(1, 6)))
    part = ledger.read(lambda tx: events.after(tx, 1, limit=2))
    assert [each.sequence for each in part] == [2, 3]
    assert [each.sequence for each in _after(ledger, part[-1].sequence)] == [4, 5]
    assert _after(ledger, 5) == []


def test_events_of_one_feed_cluster_or_instance_can_be_read_alone(ledger: Ledger) -> None:
    _append(ledger, _new(1), _new(1, "orders"), _new(1, cluster="backup"), _new(2))

    def read(feed: str | None, cluster: str | None) -> list[int]:
        return [each.sequence for each in ledger.read(lambda tx: events.after(tx, 0, feed=feed, cluster=cluster))]

    assert read("clicks", None) == [1, 3, 4]
    assert read(None, "primary") == [1, 2, 4]
    assert read("clicks", "primary") == [1, 4]
    of_one = ledger.read(lambda tx: events.of_instance(tx, "clicks", "primary", "2026-03-01T00:00Z"))
    assert [each.sequence for each in of_one] == [1]


def test_a_cursor_starts_at_zero_and_moves_on(ledger: Ledger) -> None:
    _append(ledger, _new(1), _new(2))
    assert _cursor(ledger) == 0
    _advance(ledger, 1)
    _advance(ledger, 1)
    _advance(ledger, 2)
    assert (_cursor(ledger), _cursor(ledger, "other")) == (2, 0)


def test_a_cursor_never_goes_back(ledger: Ledger) -> None:
    _append(ledger, _new(1), _new(2))
    _advance(ledger, 2)
    with pytest.raises(CursorMovedOn, match="is at 2 already and does not go back to 1") as caught:
        _advance(ledger, 1)
    assert (caught.value.found, caught.value.wanted) == (2, 1)
    assert _cursor(ledger) == 2


def test_a_cursor_never_passes_the_newest_event(ledger: Ledger) -> None:
    _append(ledger, _new(1))
    with pytest.raises(NoSuchEvent, match="no event 2 yet; the newest is 1"):
        _advance(ledger, 2)
    assert _cursor(ledger) == 0

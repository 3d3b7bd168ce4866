"""Alerts on both databases: each is recorded once, rises once, closes once."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime, timedelta
from functools import partial
from itertools import chain
from typing import TypeVar

import pytest
import sqlalchemy as sa

from tests.contract.ledger.racing import racing
from tests.databases.ledgers import START, HandClock
from toolkit.errors import FeedctlError
from toolkit.ledger import alerts
from toolkit.ledger.alert_rows import (
    Alert,
    AlertChanges,
    AlertClosing,
    AlertEscalation,
    AlertKey,
    NewAlert,
    RecordedChanges,
    SentMessage,
)
from toolkit.ledger.alerts import UnknownAlert
from toolkit.ledger.database import Ledger, Transaction
from toolkit.ledger.vocabulary import AlertKind, AlertLevel

pytestmark = pytest.mark.both_databases

KEY = AlertKey(kind=AlertKind.SLA, entity="clicks", cluster="primary", instance_key="2026-03-20T09:00Z")
T = TypeVar("T")
LOW = NewAlert(key=KEY, level=AlertLevel.LOW, opened_at=START, message="late", facts={"rows": 1, "é\n": ["x"]})


def after(hours: float) -> datetime:
    return START + timedelta(hours=hours)


HIGH = replace(LOW, level=AlertLevel.HIGH, remind_at=after(1), escalated_at=after(1))


def record(
    ledger: Ledger,
    *opened: NewAlert,
    escalated: tuple[AlertEscalation, ...] = (),
    closed: tuple[AlertClosing, ...] = (),
    at: datetime = START + timedelta(hours=10),
) -> RecordedChanges:
    changes = AlertChanges(opened=opened, escalated=escalated, closed=closed)
    return ledger.write(lambda tx: alerts.record(tx, changes, at))


def open_now(ledger: Ledger, at: datetime | None = None) -> list[Alert]:
    return ledger.read(lambda tx: alerts.open_alerts(tx, at))


def rise(alert_id: int) -> AlertEscalation:
    return AlertEscalation(alert_id=alert_id, escalated_at=after(2), message="later", facts={}, remind_at=after(2))


def sent(alert_id: int, remind_at: datetime | None = None) -> SentMessage:
    return SentMessage(alert_id=alert_id, thread="clicks", remind_at=remind_at)


def end(alert_id: int, hours: float = 3) -> AlertClosing:
    return AlertClosing(alert_id=alert_id, closed_at=after(hours), because="it came")


def test_an_alert_comes_back_as_it_was_recorded(ledger: Ledger) -> None:
    (made,) = record(ledger, LOW).opened
    assert open_now(ledger) == [made]
    assert {name: getattr(made, name) for name in NewAlert.__dataclass_fields__} == {
        name: getattr(LOW, name) for name in NewAlert.__dataclass_fields__
    }


def test_each_kind_has_a_place(ledger: Ledger) -> None:
    made = record(ledger, *(replace(LOW, key=replace(KEY, kind=each)) for each in AlertKind)).opened
    assert {each.key.kind for each in made} == set(AlertKind)


def test_a_pass_in_the_past_sees_no_alert_that_was_opened_later(ledger: Ledger) -> None:
    record(ledger, LOW)
    assert not open_now(ledger, after(-1))
    assert len(open_now(ledger, after(0))) == 1


def test_what_is_recorded_twice_is_there_once(ledger: Ledger) -> None:
    record(ledger, LOW)
    assert record(ledger, LOW) == RecordedChanges()
    assert record(ledger, replace(LOW, opened_at=after(1))) == RecordedChanges()  # one is open already
    over = replace(LOW, key=replace(KEY, entity="other"), closed_at=after(1), closed_because="it came")
    assert len(record(ledger, over).opened) == 1
    assert record(ledger, over) == RecordedChanges()


def test_an_alert_rises_and_closes_once(ledger: Ledger) -> None:
    (made,) = record(ledger, LOW).opened
    (risen,) = record(ledger, escalated=(rise(made.alert_id),)).escalated
    assert (risen.level, risen.escalated_at, risen.message) == (AlertLevel.HIGH, after(2), "later")
    assert record(ledger, escalated=(rise(made.alert_id),)) == RecordedChanges()
    (closed,) = record(ledger, closed=(end(made.alert_id),)).closed
    assert (closed.closed_at, closed.closed_because, closed.remind_at) == (after(3), "it came", None)
    assert record(ledger, closed=(end(made.alert_id),)) == RecordedChanges()
    assert record(ledger, escalated=(rise(made.alert_id),)) == RecordedChanges()
    assert ledger.read(lambda tx: alerts.get(tx, made.alert_id)) == closed


def test_an_alert_that_a_later_pass_finds_again_opens_again(ledger: Ledger) -> None:
    """A feed that leaves the repo and comes back is still late since the same time."""
    (made,) = record(ledger, HIGH).opened
    record(ledger, closed=(end(made.alert_id, 3),))
    assert record(ledger, HIGH, at=after(2)) == RecordedChanges()  # a pass in the past: it was open then
    (again,) = record(ledger, HIGH, at=after(4)).opened
    assert (again.alert_id, again.is_open, again.remind_at) == (made.alert_id, True, after(4))
    assert open_now(ledger) == [again]
    assert record(ledger, HIGH, at=after(5)) == RecordedChanges()


def test_a_message_is_due_once(ledger: Ledger) -> None:
    (made, _) = record(ledger, HIGH, replace(LOW, key=replace(KEY, entity="only_low"))).opened
    assert ledger.write(lambda tx: alerts.due(tx, after(0.5))) == []
    assert [each.alert_id for each in ledger.write(lambda tx: alerts.due(tx, after(1)))] == [made.alert_id]
    ledger.write(lambda tx: alerts.note_messages(tx, [sent(made.alert_id, after(5))], after(1)))
    assert ledger.write(lambda tx: alerts.due(tx, after(1))) == []
    (reminded,) = ledger.write(lambda tx: alerts.due(tx, after(5)))
    assert (reminded.notified_at, reminded.thread) == (after(1), "clicks")
    assert ledger.read(lambda tx: alerts.open_in_threads(tx, ["clicks", "other"])) == {"clicks": 1}


def test_no_reminder_is_due_of_an_acknowledged_alert(clocked_ledger: Ledger, hand_clock: HandClock) -> None:
    ledger = clocked_ledger
    (made,) = record(ledger, HIGH).opened
    acked, has_changed = ledger.write(lambda tx: alerts.acknowledge(tx, made.alert_id, "ann", "on it"))
    assert has_changed
    assert (acked.acked_by, acked.acked_at, acked.ack_reason) == ("ann", hand_clock.now, "on it")
    assert ledger.write(lambda tx: alerts.due(tx, after(100))) == []
    assert ledger.write(lambda tx: alerts.acknowledge(tx, made.alert_id, "bob", "me too")) == (acked, False)
    with pytest.raises(UnknownAlert, match="no alert 77"):
        ledger.write(lambda tx: alerts.acknowledge(tx, 77, "ann", ""))


def test_an_alert_that_rises_after_an_acknowledgement_is_told_again(ledger: Ledger) -> None:
    (made,) = record(ledger, LOW).opened
    ledger.write(lambda tx: alerts.acknowledge(tx, made.alert_id, "ann", "on it"))
    record(ledger, escalated=(rise(made.alert_id),))
    assert len(ledger.write(lambda tx: alerts.due(tx, after(2)))) == 1


def test_the_history_has_what_was_open_in_a_range(ledger: Ledger) -> None:
    other = replace(KEY, entity="orders", cluster="backup", kind=AlertKind.FAILED)
    over = replace(LOW, key=other, opened_at=after(-5), closed_at=after(-3), closed_because="it came")
    old, new = record(ledger, LOW, over).opened[::-1]
    if old.is_open:
        old, new = new, old

    def found(
        *,
        start: datetime | None = None,
        end: datetime | None = None,
        entities: tuple[str, ...] = (),
        cluster: str | None = None,
        kinds: tuple[AlertKind, ...] = (),
        limit: int = 10,
    ) -> list[int]:
        rows = ledger.read(
            lambda tx: alerts.history(
                tx, start=start, end=end, entities=entities, cluster=cluster, kinds=kinds, limit=limit
            )
        )
        return [each.alert_id for each in rows]

    assert found() == [new.alert_id, old.alert_id]
    assert found(limit=1) == [new.alert_id]
    assert found(start=after(-2)) == [new.alert_id]
    assert found(end=after(-1)) == [old.alert_id]
    assert found(entities=("orders",)) == [old.alert_id]
    assert found(cluster="primary") == [new.alert_id]
    assert found(kinds=(AlertKind.FAILED,)) == [old.alert_id]


def done(results: list[T | FeedctlError]) -> list[T]:
    assert not [each for each in results if isinstance(each, FeedctlError)]
    return [each for each in results if not isinstance(each, FeedctlError)]


def test_monitors_at_once_record_each_alert_once(ledger_url: sa.URL) -> None:
    """Eight monitors find alerts that overlap, raise them, tell of them and close them."""
    many = [replace(LOW, key=replace(KEY, entity=f"feed_{n}"), remind_at=after(0)) for n in range(40)]

    def one_pass(tx: Transaction, number: int) -> tuple[RecordedChanges, list[int]]:
        made = alerts.record(tx, AlertChanges(opened=tuple(many[number : number + 30])), after(1))
        due = [each.alert_id for each in alerts.due(tx, after(1))]
        alerts.note_messages(tx, map(sent, due), after(1))
        return made, due

    def close_all(tx: Transaction, numbers: list[int]) -> tuple[RecordedChanges, list[int]]:
        ends = AlertChanges(escalated=tuple(map(rise, numbers)), closed=tuple(map(end, numbers)))
        return alerts.record(tx, ends, after(5)), []

    with racing(ledger_url, [HandClock()] * 8) as race:
        results = done(race([partial(one_pass, number=number) for number in range(8)]))
        made = [alert for changes, _ in results for alert in changes.opened]
        assert sorted(each.key for each in made) == sorted(each.key for each in many[:37])
        numbers = sorted(each.alert_id for each in made)
        assert sorted(chain.from_iterable(due for _, due in results)) == numbers
        ended = done(race([partial(close_all, numbers=numbers)] * 8))
    assert sorted(each.alert_id for changes, _ in ended for each in changes.escalated) == numbers
    assert sorted(each.alert_id for changes, _ in ended for each in changes.closed) == numbers

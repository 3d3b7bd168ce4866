"""Which alerts open, rise and close."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from toolkit.ledger.alert_rows import Alert, AlertChanges, AlertClosing, AlertKey, NewAlert
from toolkit.ledger.vocabulary import AlertKind, AlertLevel
from toolkit.monitoring.alert_changes import AlertCondition, alert_changes

START = datetime(2026, 3, 1, tzinfo=UTC)


def hour(number: float) -> datetime:
    return START + timedelta(hours=number)


def late(since: float, *, high: float | None = None, ended: float | None = None, key: str = "a") -> AlertCondition:
    """An instance that is late, at first low."""
    return AlertCondition(
        kind=AlertKind.SLA,
        entity="clicks",
        cluster="primary",
        instance_key=key,
        level=AlertLevel.LOW if high is None else AlertLevel.HIGH,
        since=hour(since),
        escalated_at=None if high is None else hour(high),
        ended_at=None if ended is None else hour(ended),
        ended_because="" if ended is None else "it came",
        message="late",
    )


def recorded(new: NewAlert, alert_id: int = 1) -> Alert:
    values = {name: getattr(new, name) for name in NewAlert.__dataclass_fields__}
    return Alert(alert_id=alert_id, recorded_at=START, **values)


def opened(condition: AlertCondition) -> Alert:
    return recorded(alert_changes([], [condition], hour(100)).opened[0])


def test_a_condition_opens_an_alert_at_its_own_time() -> None:
    (new,) = alert_changes([], [late(1, high=3)], hour(7)).opened
    assert new.key == AlertKey(kind=AlertKind.SLA, entity="clicks", cluster="primary", instance_key="a")
    assert (new.level, new.opened_at, new.escalated_at, new.closed_at) == (AlertLevel.HIGH, hour(1), hour(3), None)


def test_an_alert_that_stays_as_it_is_changes_nothing() -> None:
    assert alert_changes([opened(late(1))], [late(1)], hour(7)) == AlertChanges()
    assert alert_changes([opened(late(1, high=2))], [late(1)], hour(7)) == AlertChanges()  # a level never falls
    assert alert_changes([opened(late(1))], [late(4)], hour(7)) == AlertChanges()  # its source knows a later time only


def test_a_low_alert_rises_at_the_time_of_its_high_limit() -> None:
    changes = alert_changes([opened(late(1))], [late(1, high=3)], hour(7))
    assert [(each.alert_id, each.escalated_at) for each in changes.escalated] == [(1, hour(3))]
    assert not changes.opened
    assert not changes.closed


def test_an_alert_closes_when_its_condition_ended() -> None:
    changes = alert_changes([opened(late(1))], [late(1, high=3, ended=5)], hour(7))
    assert changes.closed == (AlertClosing(alert_id=1, closed_at=hour(5), because="it came"),)
    assert [each.escalated_at for each in changes.escalated] == [hour(3)]


def test_an_alert_without_a_condition_closes_at_the_pass() -> None:
    changes = alert_changes([opened(late(1))], [], hour(7), gone_because="the feed left the repo")
    assert changes.closed == (AlertClosing(alert_id=1, closed_at=hour(7), because="the feed left the repo"),)


def test_what_ended_and_began_again_is_two_alerts() -> None:
    changes = alert_changes([opened(late(1))], [late(4), late(1, ended=3)], hour(7))
    assert [each.closed_at for each in changes.closed] == [hour(3)]
    assert [each.opened_at for each in changes.opened] == [hour(4)]


def test_an_earlier_time_of_which_a_source_says_again_closes_no_later_alert() -> None:
    changes = alert_changes([opened(late(4))], [late(1, ended=3), late(4)], hour(7))
    assert not changes.closed
    assert [each.closed_at for each in changes.opened] == [hour(3)]  # recorded before, and then not again
    assert [each.closed_at for each in alert_changes([opened(late(4))], [late(1, ended=3)], hour(7)).closed] == [
        hour(7)
    ]


@pytest.mark.parametrize(
    ("condition", "tell", "due"),
    [
        (late(1), AlertLevel.HIGH, None),
        (late(1), AlertLevel.LOW, hour(1)),
        (late(1, high=3), AlertLevel.HIGH, hour(3)),
        (late(1, high=3, ended=4), AlertLevel.HIGH, None),
    ],
    ids=["low is recorded only", "low is told where the repo says so", "high", "over before the first pass"],
)
def test_a_message_is_due_by_level(condition: AlertCondition, tell: AlertLevel, due: datetime | None) -> None:
    (new,) = alert_changes([], [condition], hour(7), tell=tell).opened
    assert new.remind_at == due


episodes = st.lists(st.floats(0, 100).map(lambda each: round(each, 1)), min_size=2, max_size=8, unique=True).map(sorted)


def seen_at(times: list[float], at: float, after: float) -> list[AlertCondition]:
    """Return the conditions at a time of episodes [0, 1), [2, 3) ...: open ones, and those ended since the last pass.

    Each is low at first and high an hour later.
    """
    found = []
    for begin, end in zip(times[::2], [*times[1::2], 1000.0], strict=False):
        if begin > at or end <= after:
            continue
        high = begin + 1 if begin + 1 <= min(at, end) else None
        found.append(late(begin, high=high, ended=end if end <= at else None))
    return found


def replayed(times: list[float], passes: list[float]) -> list[tuple[object, ...]]:
    alerts: list[Alert] = []
    before = -1.0
    for at in passes:
        changes = alert_changes([each for each in alerts if each.is_open], seen_at(times, at, before), hour(at))
        by_number = {each.alert_id: each for each in alerts}
        for rise in changes.escalated:
            by_number[rise.alert_id] = replace(
                by_number[rise.alert_id], level=AlertLevel.HIGH, escalated_at=rise.escalated_at
            )
        for end in changes.closed:
            by_number[end.alert_id] = replace(by_number[end.alert_id], closed_at=end.closed_at)
        alerts = [*by_number.values(), *(recorded(new, len(by_number) + n) for n, new in enumerate(changes.opened))]
        before = at
    found = [(each.opened_at, each.level, each.escalated_at, each.closed_at) for each in alerts]
    return sorted(found, key=lambda each: str(each[0]))


@given(episodes, st.lists(st.floats(0, 110), max_size=12).map(sorted))
def test_many_passes_give_the_alerts_of_one(times: list[float], passes: list[float]) -> None:
    """However often a month is looked at, the same alerts come of it, with the same times."""
    end = 120.0
    assert replayed(times, [*passes, end]) == replayed(times, [end])

"""Which alerts one message tells together, to whom, and in which thread."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime

import pytest

from toolkit.entities.monitoring import GroupAlerts
from toolkit.ledger.alert_rows import Alert, AlertKey
from toolkit.ledger.vocabulary import AlertKind, AlertLevel
from toolkit.monitoring.grouping import AlertGroup, AlertNews, grouped
from toolkit.notify.message import MessageEvent
from toolkit.notify.routing import MAIL, MessageRoute

AT = datetime(2026, 3, 1, 6, 40, tzinfo=UTC)
ANN, BOB = MessageRoute(channel=MAIL, recipient="ann@x"), MessageRoute(channel=MAIL, recipient="bob@x")
PAGER = MessageRoute(channel="pager")


def alert(number: int, entity: str = "clicks", cluster: str = "primary", thread: str | None = None) -> Alert:
    key = AlertKey(kind=AlertKind.SLA, entity=entity, cluster=cluster, instance_key=f"i{number}")
    return Alert(
        alert_id=number,
        key=key,
        level=AlertLevel.HIGH,
        opened_at=AT,
        message="late",
        recorded_at=AT,
        thread=thread,
        notified_at=None if thread is None else AT,
    )


def news(of: Alert, *routes: MessageRoute, domain: str = "", event: MessageEvent | None = None) -> AlertNews:
    usual = MessageEvent.ALERT_OPENED if of.thread is None else MessageEvent.ALERT_CLOSED
    return AlertNews(alert=of, event=event or usual, domain=domain, routes=routes or (ANN,))


def groups(*found: AlertNews, group_by: GroupAlerts = GroupAlerts.FEED, storm_limit: int = 20) -> list[AlertGroup]:
    return grouped(found, AT, group_by=group_by, storm_limit=storm_limit, incident_channels={PAGER.channel})


def summary(found: list[AlertGroup]) -> list[tuple[str, list[int], list[str]]]:
    """Thread, alerts and recipients of each group."""
    return [
        (
            each.thread,
            [one.alert_id for one in each.alerts],
            [route.recipient or route.channel for route in each.routes],
        )
        for each in found
    ]


def test_an_alert_alone_has_the_thread_of_its_instance() -> None:
    assert summary(groups(news(alert(1)))) == [("clicks/primary/i1", [1], ["ann@x"])]


def test_alerts_of_a_feed_are_one_message() -> None:
    found = groups(news(alert(1)), news(alert(2)), news(alert(3, "orders")))
    assert summary(found) == [("clicks/primary", [1, 2], ["ann@x"]), ("orders/primary/i3", [3], ["ann@x"])]


@pytest.mark.parametrize(
    ("group_by", "threads"),
    [
        (GroupAlerts.CLUSTER, ["cluster/backup", "cluster/primary"]),
        (GroupAlerts.DOMAIN, ["clicks/backup/i3", "domain/web/primary"]),
        (GroupAlerts.FEED, ["clicks/backup/i3", "clicks/primary/i1", "orders/primary/i2"]),
    ],
)
def test_alerts_are_grouped_as_the_repo_says(group_by: GroupAlerts, threads: list[str]) -> None:
    found = groups(
        news(alert(1), domain="web"),
        news(alert(2, "orders"), domain="web"),
        news(alert(3, cluster="backup")),
        group_by=group_by,
    )
    expected = [each.replace("clicks/backup/i3", "clicks/backup") for each in threads]
    by_feed = group_by is GroupAlerts.FEED
    assert sorted(each.thread for each in found) == (threads if by_feed else expected)


def test_a_recipient_is_told_of_its_alerts_alone() -> None:
    found = groups(news(alert(1), ANN, BOB), news(alert(2), BOB))
    assert summary(found) == [("clicks/primary", [1], ["ann@x"]), ("clicks/primary", [1, 2], ["bob@x"])]


def test_too_many_groups_of_a_cluster_are_one_message() -> None:
    many = [news(alert(number, f"feed_{number}")) for number in range(200)]
    other = news(alert(500, cluster="backup"))
    storm, alone = groups(*many, other, storm_limit=20)
    assert (storm.thread, len(storm.alerts), storm.is_storm) == ("storm/primary/2026-03-01T06:40Z", 200, True)
    assert (alone.thread, alone.is_storm) == ("clicks/backup/i500", False)
    assert len(groups(*many[:20], storm_limit=20)) == 20


def test_in_a_storm_each_recipient_has_one_message_about_its_own() -> None:
    many = [news(alert(number, f"feed_{number}"), ANN if number % 2 else BOB) for number in range(6)]
    found = groups(*many, storm_limit=3)
    assert [[one.alert_id for one in each.alerts] for each in found] == [[1, 3, 5], [0, 2, 4]]
    assert {each.of for each in found} == {6}


def test_what_ends_goes_to_the_thread_of_its_beginning() -> None:
    found = groups(news(alert(1, thread="clicks/primary")), news(alert(2, "orders", thread="storm/primary/x")))
    assert summary(found) == [("clicks/primary", [1], ["ann@x"]), ("storm/primary/x", [2], ["ann@x"])]


def test_each_incident_ends_even_when_many_end_at_once() -> None:
    many = [news(alert(number, f"feed_{number}", thread=f"t{number}"), ANN, PAGER) for number in range(4)]
    storm, *separate = groups(*many, storm_limit=3)
    assert (len(storm.alerts), storm.routes) == (4, (ANN,))
    assert summary(separate) == [(f"t{number}", [number], ["pager"]) for number in range(4)]


def test_events_are_told_apart() -> None:
    reminded = news(alert(1, thread="t"), event=MessageEvent.ALERT_REMINDED)
    closed = news(replace(alert(2, thread="t"), closed_at=AT, closed_because="it came"))
    assert [each.event for each in groups(reminded, closed)] == [MessageEvent.ALERT_REMINDED, MessageEvent.ALERT_CLOSED]

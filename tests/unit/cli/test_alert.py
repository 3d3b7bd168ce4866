"""`feedctl alert list|show|ack|silence|silences|unsilence`."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from tests.unit.cli.running import Feedctl
from toolkit.ledger import alerts
from toolkit.ledger.alert_rows import AlertChanges, AlertClosing, AlertKey, NewAlert
from toolkit.ledger.database import Ledger
from toolkit.ledger.state.commands import recent
from toolkit.ledger.vocabulary import AlertKind, AlertLevel
from toolkit.runs.recorder import current_user

pytestmark = pytest.mark.usefixtures("repo", "cli_ledger")

JSON = ("--output", "json")
NOON = datetime(2026, 3, 20, 12, tzinfo=UTC)


@pytest.fixture
def found(cli_ledger: Ledger) -> None:
    """Two alerts that are open, and one that is over."""
    new = [
        NewAlert(
            key=AlertKey(kind=kind, entity=entity, cluster="primary", instance_key="2026-03-20T09:00Z"),
            level=AlertLevel.HIGH,
            opened_at=NOON + timedelta(hours=hours),
            message=f"{entity} is late\x1b[31m",
            facts={"tag": "Missed-SLA-High"},
            remind_at=NOON,
        )
        for hours, (kind, entity) in enumerate(
            [(AlertKind.SLA, "clicks"), (AlertKind.FAILED, "clicks_hourly"), (AlertKind.SLA, "orders")]
        )
    ]
    over = AlertClosing(alert_id=3, closed_at=NOON + timedelta(hours=5), because="it came")
    cli_ledger.write(lambda tx: alerts.record(tx, AlertChanges(opened=tuple(new)), NOON))
    cli_ledger.write(lambda tx: alerts.record(tx, AlertChanges(closed=(over,)), NOON))


def numbers(feedctl: Feedctl, *options: str) -> list[int]:
    return [each["alert"] for each in feedctl("alert", "list", *options, *JSON).document["alerts"]]


@pytest.mark.usefixtures("found")
def test_open_alerts_are_listed_newest_first(feedctl: Feedctl) -> None:
    assert numbers(feedctl) == [2, 1]
    assert numbers(feedctl, "--all") == [3, 2, 1]
    assert numbers(feedctl, "--kind", "sla") == [1]
    assert numbers(feedctl, "--entity", "clicks_hourly") == [2]
    assert numbers(feedctl, "--cluster", "other") == []
    assert numbers(feedctl, "--level", "low") == []
    assert numbers(feedctl, "--all", "--limit", "1") == [3]
    assert numbers(feedctl, "--start", "2026-03-20T16:00Z") == [3, 2, 1]
    assert numbers(feedctl, "--start", "2026-03-20T18:00Z") == [2, 1]
    assert numbers(feedctl, "--end", "2026-03-20T12:30Z") == [1]
    table = feedctl("alert", "list").out.splitlines()
    assert table[0].lower().split()[:5] == ["alert", "level", "kind", "entity", "instance"]
    assert table[-1].split()[:4] == ["1", "high", "sla", "clicks"]


def test_without_alerts_that_is_said(feedctl: Feedctl) -> None:
    assert "no alerts" in feedctl("alert", "list").err


@pytest.mark.usefixtures("found")
def test_an_alert_is_shown_in_full(feedctl: Feedctl) -> None:
    shown = feedctl("alert", "show", "1")
    assert "clicks is late" in shown.out
    assert "\x1b" not in shown.out
    assert "tag: Missed-SLA-High" in shown.out
    missing = feedctl("alert", "show", "77")
    assert (missing.code, missing.out) == (2, "")
    assert "the ledger has no alert 77" in missing.err


@pytest.mark.usefixtures("found")
def test_alerts_are_acknowledged_once_all_or_none(feedctl: Feedctl, cli_ledger: Ledger) -> None:
    assert feedctl("alert", "ack", "1", "77", "--reason", "on it").code == 2
    assert feedctl("alert", "ack", "1", "3", "--reason", "on it").out == "alert 1 acknowledged\nalert 3 is closed\n"
    again = feedctl("alert", "ack", "1", "--reason", "me too").out
    assert again == f"alert 1 was acknowledged by {current_user()} before\n"
    shown = feedctl("alert", "show", "1", *JSON).document["alert"]
    assert (shown["acked_by"], shown["ack_reason"], shown["remind_at"]) == (current_user(), "on it", None)
    commands = [(each.command, each.subject, each.has_changed) for each in cli_ledger.read(lambda tx: recent(tx, 9))]
    assert commands == [
        ("alert ack", "alert 1", False),
        ("alert ack", "alert 3", False),
        ("alert ack", "alert 1", True),
    ]


def test_a_silence_goes_on_until_its_time_or_its_end(feedctl: Feedctl) -> None:
    match = ("--match", "entity=clicks*", "--match", "cluster=primary")
    made = feedctl("alert", "silence", *match, "--until", "2099-01-01T00:00Z", "--reason", "upgrade", *JSON).document
    assert made["silence"]["match"] == {"entity": "clicks*", "cluster": "primary"}
    assert made["silence"]["until"] == "2099-01-01T00:00:00Z"
    listed = feedctl("alert", "silences").out
    assert "cluster=primary entity=clicks*" in listed
    assert feedctl("alert", "unsilence", "1").out == "silence 1 ended\n"
    assert feedctl("alert", "unsilence", "1").out == "silence 1 was over before; nothing was changed\n"
    assert "no silences" in feedctl("alert", "silences").err
    assert len(feedctl("alert", "silences", "--all", *JSON).document["silences"]) == 1


def test_a_silence_may_say_for_how_long(feedctl: Feedctl) -> None:
    made = feedctl("alert", "silence", "--match", "kind=*", "--until", "hours(4)", "--reason", "x", *JSON).document
    created, until = (datetime.fromisoformat(made["silence"][name]) for name in ("created_at", "until"))
    assert until - created == timedelta(hours=4)


@pytest.mark.parametrize(
    ("options", "problem"),
    [
        (("--match", "entity", "--until", "hours(4)"), "'entity' is no match; write NAME=PATTERN"),
        (("--match", "color=red", "--until", "hours(4)"), "'color=red' is no match"),
        (("--match", "kind=a", "--match", "kind=b", "--until", "hours(4)"), "'kind=b' is no match"),
        (("--match", "kind=sla", "--until", "2020-01-01T00:00Z"), "--until 2020-01-01T00:00Z is in the past"),
        (("--match", "kind=sla", "--until", "soon"), "soon"),
    ],
)
def test_a_silence_that_says_nothing_usable_is_refused(
    feedctl: Feedctl, options: tuple[str, ...], problem: str
) -> None:
    refused = feedctl("alert", "silence", *options, "--reason", "x")
    assert (refused.code, refused.out) == (2, "")
    assert problem in refused.err

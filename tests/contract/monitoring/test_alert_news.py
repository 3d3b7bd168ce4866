"""News of alerts in the outbox, on both databases: who gets a message, when again, and what keeps it back."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime, timedelta
from functools import partial

import pytest
import sqlalchemy as sa

from tests.contract.ledger.racing import racing
from tests.databases.ledgers import START, HandClock, open_ledger
from tests.unit.entities.config_repo import FEED, repository
from toolkit.entities import Repository
from toolkit.ledger import alerts, outbox, silences
from toolkit.ledger.alert_rows import AlertChanges, AlertClosing, AlertEscalation, AlertKey, NewAlert
from toolkit.ledger.database import Ledger, Transaction
from toolkit.ledger.outbox import OutboxMessage, OutboxState
from toolkit.ledger.vocabulary import AlertKind, AlertLevel
from toolkit.monitoring.notification import NewsResult, put_digest, put_news
from toolkit.notify.message import Message
from toolkit.notify.webhook_formats import is_over, problem_key

pytestmark = pytest.mark.both_databases

SETTINGS = """\
name: web-feeds
monitoring:
  to: [ops@example.com]
  mail: {host: mail, sender: feedctl@example.com}
"""
OWNED = FEED + "owner: web\ntags: {team: web}\nnotification: {email: [web@example.com]}\n"
KEY = AlertKey(kind=AlertKind.SLA, entity="clicks", cluster="primary", instance_key="2026-03-20T09:00Z")
HIGH = NewAlert(key=KEY, level=AlertLevel.HIGH, opened_at=START, message="late", remind_at=START)
LOW = replace(HIGH, level=AlertLevel.LOW, remind_at=None)


def after(hours: float) -> datetime:
    return START + timedelta(hours=hours)


def repo(extra: str = "", feed: str = OWNED) -> Repository:
    return repository({"repo.yaml": SETTINGS + extra, "feeds/clicks.yaml": feed})


def passed(tx: Transaction, found: Repository, changes: AlertChanges, at: datetime) -> NewsResult:
    return put_news(tx, found, alerts.record(tx, changes, at), at)


def one_pass(ledger: Ledger, found: Repository, hours: float, changes: AlertChanges | None = None) -> NewsResult:
    return ledger.write(lambda tx: passed(tx, found, changes or AlertChanges(), after(hours)))


def sent(ledger: Ledger) -> list[OutboxMessage]:
    """The messages, oldest first."""
    return ledger.read(lambda tx: outbox.listed(tx, list(OutboxState)))[::-1]


def body(message: OutboxMessage) -> Mapping[str, str]:
    found: Mapping[str, str] = json.loads(message.body)
    return found


def opened(*new: NewAlert) -> AlertChanges:
    return AlertChanges(opened=new)


def test_an_alert_is_told_once_reminded_and_closed_in_one_thread(ledger: Ledger) -> None:
    found = repo()
    assert one_pass(ledger, found, 0, opened(HIGH)).messages == 1
    assert one_pass(ledger, found, 1).messages == 0
    assert one_pass(ledger, found, 4).messages == 1
    closing = AlertClosing(alert_id=1, closed_at=after(5), because="it came")
    assert one_pass(ledger, found, 6, AlertChanges(closed=(closing,))).messages == 1
    assert one_pass(ledger, found, 20).messages == 0
    messages = sent(ledger)
    assert [each.recipient for each in messages] == ["web@example.com"] * 3
    assert [body(each)["event"] for each in messages] == ["alert_opened", "alert_reminded", "alert_closed"]
    assert {body(each)["thread"] for each in messages} == {"clicks/primary/2026-03-20T09:00Z"}
    assert len({each.message_id for each in messages}) == 3
    assert [each.alert_id for each in messages] == [1, 1, 1]
    assert body(messages[0])["text"].startswith("late\n\nwrong since: 2026-03-20T12:00Z\n")
    assert body(messages[2])["text"].startswith("over since 2026-03-20T17:00Z: it came\n\nlate\n")


def test_an_incident_is_over_with_the_last_alert_of_its_thread(ledger: Ledger) -> None:
    found = repo()
    one_pass(ledger, found, 0, opened(HIGH, replace(HIGH, key=replace(KEY, instance_key="2026-03-20T10:00Z"))))
    for number in (1, 2):
        closing = AlertClosing(alert_id=number, closed_at=after(number), because="it came")
        one_pass(ledger, found, number, AlertChanges(closed=(closing,)))
    messages = [Message.from_json(each.body) for each in sent(ledger)]
    assert [each.facts["openInThread"] for each in messages] == [2, 1, 0]
    assert [is_over(each) for each in messages] == [False, False, True]
    assert {problem_key(each) for each in messages} == {"alert/clicks/primary"}


def test_a_low_alert_is_told_when_it_rises(ledger: Ledger) -> None:
    found = repo()
    assert one_pass(ledger, found, 0, opened(LOW)).messages == 0
    rise = AlertEscalation(alert_id=1, escalated_at=after(1), message="gone", facts={}, remind_at=after(1))
    assert one_pass(ledger, found, 2, AlertChanges(escalated=(rise,))).messages == 1
    assert body(sent(ledger)[0])["event"] == "alert_opened"


def test_an_alert_that_was_told_of_as_low_is_told_to_be_worse(ledger: Ledger) -> None:
    found = repo()
    one_pass(ledger, found, 0, opened(replace(LOW, remind_at=START)))
    rise = AlertEscalation(alert_id=1, escalated_at=after(1), message="gone", facts={}, remind_at=after(1))
    one_pass(ledger, found, 2, AlertChanges(escalated=(rise,)))
    assert [body(each)["event"] for each in sent(ledger)] == ["alert_opened", "alert_escalated"]


def test_an_alert_that_is_over_before_it_was_told_of_is_not_told(ledger: Ledger) -> None:
    over = replace(HIGH, closed_at=after(1), closed_because="it came", remind_at=None)
    assert one_pass(ledger, repo(), 2, opened(over)).messages == 0


def test_reminders_stop_with_an_acknowledgement(ledger: Ledger) -> None:
    found = repo()
    one_pass(ledger, found, 0, opened(HIGH))
    ledger.write(lambda tx: alerts.acknowledge(tx, 1, "ann", "on it"))
    assert one_pass(ledger, found, 100).messages == 0


def test_an_acknowledged_alert_that_rises_is_told_once(ledger: Ledger) -> None:
    found = repo()
    one_pass(ledger, found, 0, opened(LOW))
    ledger.write(lambda tx: alerts.acknowledge(tx, 1, "ann", "on it"))
    rise = AlertEscalation(alert_id=1, escalated_at=after(1), message="gone", facts={}, remind_at=after(1))
    assert one_pass(ledger, found, 2, AlertChanges(escalated=(rise,))).messages == 1
    assert one_pass(ledger, found, 100).messages == 0


def test_the_end_of_an_alert_that_was_never_told_of_is_not_told(ledger: Ledger) -> None:
    found = repo()
    one_pass(ledger, found, 0, opened(LOW))
    closing = AlertClosing(alert_id=1, closed_at=after(1), because="it came")
    assert one_pass(ledger, found, 2, AlertChanges(closed=(closing,))).messages == 0


def test_the_sla_of_a_feed_says_when_it_is_reminded(ledger: Ledger) -> None:
    found = repo(feed=OWNED + "sla: {low: hours(1), high: hours(2), remind: minutes(30)}\n")
    one_pass(ledger, found, 0, opened(HIGH))
    assert one_pass(ledger, found, 0.5).messages == 1


@pytest.mark.parametrize(
    "match",
    [{"entity": "clic*", "cluster": "primary"}, {"kind": "sla"}, {"owner": "web"}, {"tag": "team=*"}],
    ids=str,
)
def test_a_silenced_alert_is_told_when_the_silence_ends(ledger: Ledger, match: Mapping[str, str]) -> None:
    found = repo()
    ledger.write(lambda tx: silences.add(tx, match, after(2), "planned", "ann"))
    assert one_pass(ledger, found, 0, opened(HIGH)) == NewsResult(messages=0, silenced=1)
    assert one_pass(ledger, found, 1.9) == NewsResult(messages=0, silenced=1)
    assert one_pass(ledger, found, 2) == NewsResult(messages=1, silenced=0)


def test_a_silence_that_matches_something_else_keeps_nothing_back(ledger: Ledger) -> None:
    ledger.write(lambda tx: silences.add(tx, {"entity": "clicks", "cluster": "backup"}, after(2), "planned", "ann"))
    assert one_pass(ledger, repo(), 0, opened(HIGH)).messages == 1


def test_a_silence_may_end_before_its_time(clocked_ledger: Ledger, hand_clock: HandClock) -> None:
    ledger = clocked_ledger
    made = ledger.write(lambda tx: silences.add(tx, {"kind": "*"}, after(9), "planned", "ann"))
    hand_clock.forward(3600)
    assert ledger.write(lambda tx: silences.end(tx, made.silence_id))
    assert not ledger.write(lambda tx: silences.end(tx, made.silence_id))
    assert ledger.read(lambda tx: silences.active(tx, after(2))) == []
    assert ledger.read(silences.all_silences) == [replace(made, ended_at=after(1))]
    with pytest.raises(silences.UnknownSilence, match="no silence 5"):
        ledger.write(lambda tx: silences.end(tx, 5))


def test_an_alert_without_a_recipient_is_not_noted_as_told_of(ledger: Ledger) -> None:
    found = repository({"repo.yaml": "name: web-feeds\n"})
    assert one_pass(ledger, found, 0, opened(HIGH)).messages == 0
    (alert,) = ledger.read(alerts.open_alerts)
    assert (alert.notified_at, alert.remind_at) == (None, after(4))
    assert one_pass(ledger, repo(), 4).messages == 1


def test_two_hundred_late_feeds_are_one_mail(ledger: Ledger) -> None:
    many = [replace(HIGH, key=replace(KEY, entity=f"feed_{number:03}")) for number in range(200)]
    assert one_pass(ledger, repo(), 0, opened(*many)).messages == 1
    (mail,) = sent(ledger)
    assert mail.recipient == "ops@example.com"
    assert body(mail)["subject"] == "200 alerts on primary: 200 late"
    assert body(mail)["text"].startswith("200 alerts on primary came in one pass, so this is one message.\n")
    assert "and 180 more" in body(mail)["text"]
    assert len(body(mail)["text"]) < 4000


def test_in_a_storm_an_owner_is_told_of_its_own_alerts(ledger: Ledger) -> None:
    keys = [replace(KEY, instance_key="2026-03-20T10:00Z"), KEY, *(replace(KEY, entity=f"f{n}") for n in range(40))]
    assert one_pass(ledger, repo(), 0, opened(*(replace(HIGH, key=each) for each in keys))).messages == 2
    (own,) = [each for each in sent(ledger) if each.recipient == "web@example.com"]
    assert "42 alerts on primary came in one pass, so this is one message. It has the 2 that" in body(own)["text"]


def test_hostile_texts_stay_within_a_message(ledger: Ledger) -> None:
    """A message of a run with line breaks, a secret and a megabyte."""
    text = "boom\r\nBcc: eve@evil\x1b[31m password=hunter2hunter2 " + "é" * 1_000_000
    one_pass(ledger, repo(), 0, opened(replace(HIGH, message=text, facts={"reason": text})))
    (mail,) = sent(ledger)
    assert "\n" not in body(mail)["subject"]
    assert "hunter2hunter2" not in mail.body
    assert "\x1b" not in body(mail)["text"]
    assert len(mail.body) < 60_000


def test_a_digest_is_sent_once_a_day_of_what_was_open_at_its_beginning(ledger: Ledger) -> None:
    found = repo("  digest: true\n")
    one_pass(ledger, found, 0, opened(HIGH, replace(HIGH, key=replace(KEY, entity="other"))))
    before = len(sent(ledger))
    assert ledger.write(lambda tx: put_digest(tx, found, after(1))) == 0  # opened today, at noon
    for hours in (12, 13, 20):
        ledger.write(partial(put_digest, repository=found, at=after(hours)))
    mails = sent(ledger)[before:]
    assert sorted(each.recipient for each in mails) == ["ops@example.com", "web@example.com"]
    assert {body(each)["subject"] for each in mails} == {"1 open alert on 2026-03-21"}
    ledger.write(lambda tx: put_digest(tx, found, after(36)))
    assert len(sent(ledger)) == before + 4
    assert ledger.write(lambda tx: put_digest(tx, repo(), after(36))) == 0


def at_once(ledger_url: sa.URL, monitors: int) -> None:
    many = [replace(HIGH, key=replace(KEY, instance_key=f"i{number}")) for number in range(5)]
    found = repo("  group_by: feed\n  storm_limit: 1000\n")
    with racing(ledger_url, [HandClock()] * monitors) as race:
        results = race([lambda tx: passed(tx, found, opened(*many), after(1))] * monitors)
        ends = AlertChanges(
            closed=tuple(AlertClosing(alert_id=n, closed_at=after(2), because="it came") for n in range(1, 100))
        )
        later = race([lambda tx: passed(tx, found, ends, after(3))] * monitors)
    assert sorted(each.messages for each in results if isinstance(each, NewsResult)) == [0] * (monitors - 1) + [1]
    assert sorted(each.messages for each in later if isinstance(each, NewsResult)) == [0] * (monitors - 1) + [1]
    ledger = open_ledger(ledger_url)
    assert [body(each)["event"] for each in sent(ledger)] == ["alert_opened", "alert_closed"]
    ledger.close()


def test_of_monitors_at_once_one_sends(ledger_url: sa.URL) -> None:
    at_once(ledger_url, 6)


@pytest.mark.extended
def test_of_fifty_monitors_at_once_one_sends(postgres_ledger_url: sa.URL) -> None:
    at_once(postgres_ledger_url, 50)

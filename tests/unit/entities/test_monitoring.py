"""Tests of SLAs, notifications, calendars and the settings of monitoring, as a repo has them."""

from __future__ import annotations

from datetime import date

import pytest

from tests.unit.entities.config_repo import FEED, PROCESS, problems, repository, rules, snapshot
from toolkit.el import ElError, Frequency
from toolkit.entities import (
    AlertKind,
    AlertLevel,
    Calendar,
    ChannelType,
    FeedSla,
    GroupAlerts,
    MailTls,
    MissingVariable,
    Monitoring,
    NotificationLevel,
    SlaDeadline,
    WebhookFormat,
    expand_webhook_url,
)
from toolkit.entities.formats import FORMATS
from toolkit.entities.loader import load_known

OFFICE = "description: the office\nholidays: [2026-12-25]\n"
DEADLINE = 'sla: {deadline: {cron: "0 9 * * mon-fri", timezone: Europe/Berlin, calendar: office, after: days(1)}}\n'
CHANNELS = """\
monitoring:
  allowed_hosts: [hooks.example.com]
  channels:
    - {name: ops, type: webhook, url: "https://hooks.example.com/in", kinds: [sla], tags: {tier: gold}}
    - {name: log, type: command, command: [/usr/bin/logger, -t, feedctl]}
"""


def every(text: str) -> Frequency:
    return Frequency.parse(text)


def test_an_sla_has_a_deadline_with_a_calendar_and_no_limits() -> None:
    repo = repository({"feeds/clicks.yaml": FEED + DEADLINE, "calendars/office.yaml": OFFICE})
    assert repo.feed("clicks").sla_on("primary") == FeedSla(
        deadline=SlaDeadline(
            cron="0 9 * * mon-fri", timezone="Europe/Berlin", calendar="office", after=every("days(1)")
        )
    )
    assert repo.calendars["office"] == Calendar(
        name="office",
        description="the office",
        weekdays=("mon", "tue", "wed", "thu", "fri"),
        holidays=(date(2026, 12, 25),),
    )


@pytest.mark.parametrize(
    ("day", "counts"),
    [
        (date(2026, 12, 24), True),  # a Thursday
        (date(2026, 12, 25), False),  # a holiday, a Friday
        (date(2026, 12, 26), False),  # a Saturday
        (date(2026, 12, 28), True),
    ],
)
def test_a_calendar_has_its_weekdays_without_the_holidays(day: date, counts: bool) -> None:  # noqa: FBT001
    assert Calendar(name="office", holidays=(date(2026, 12, 25),)).has(day) is counts


def test_a_calendar_may_have_other_weekdays() -> None:
    weekend = Calendar(name="weekend", weekdays=("sat", "sun"))
    assert [weekend.has(date(2026, 12, day)) for day in (25, 26, 27, 28)] == [False, True, True, False]


@pytest.mark.parametrize("limits", ["low: hours(1)", "high: hours(1)", "min_rows: 10"])
def test_an_sla_without_a_deadline_needs_both_limits(limits: str) -> None:
    found = rules({"feeds/clicks.yaml": FEED + f"sla: {{{limits}}}\n"})
    assert found
    assert set(found) == {"missing-key"}


def test_a_calendar_in_a_sub_folder_is_not_left_out_in_silence() -> None:
    (found,) = problems({"calendars/de/office.yaml": OFFICE})
    assert found == "calendars/de/office.yaml: file-name: found a calendar in a sub-folder; move it up"


def test_null_does_not_take_the_holidays_from_a_calendar() -> None:
    assert rules({"calendars/office.yaml": "holidays:\n"}) == ["wrong-type"]


def test_a_file_whose_name_is_no_name_is_no_calendar() -> None:
    assert rules({"calendars/9 to 5.yaml": OFFICE}) == ["bad-name"]


def test_the_calendars_of_a_known_repo_are_made_when_they_are_asked_for() -> None:
    files = {"feeds/clicks.yaml": FEED + DEADLINE, "calendars/office.yaml": OFFICE}
    known = load_known(snapshot(files), None, {})
    assert dict(known.calendars) == dict(repository(files).calendars)


@pytest.mark.parametrize(
    ("file", "text", "name"),
    [("feeds/clicks.yaml", FEED, "clicks"), ("processes/clicks_hourly.yaml", PROCESS, "clicks_hourly")],
)
def test_a_notification_has_addresses_or_channels(file: str, text: str, name: str) -> None:
    repo = repository({"repo.yaml": CHANNELS, file: text + "notification: {channels: [ops], level: attempt}\n"})
    found = repo.feeds.get(name) or repo.processes[name]
    assert found.notification is not None
    assert (found.notification.email, found.notification.channels) == ((), ("ops",))
    assert found.notification.level is NotificationLevel.ATTEMPT
    (problem,) = problems({file: text + "notification: {level: attempt}\n"})
    assert "missing-key: missing key 'email' in 'notification'" in problem


def test_the_settings_of_monitoring_have_defaults() -> None:
    found = repository({}).settings.monitoring
    assert found == Monitoring()
    assert (str(found.remind), str(found.expires), found.storm_limit) == ("hours(4)", "days(2)", 20)
    assert (found.group_by, found.tell, found.retention_overdue) == (GroupAlerts.FEED, AlertLevel.HIGH, 3)
    assert (found.mail, found.channels, found.to, found.metrics.max_series) == (None, (), (), 10_000)


def test_channels_are_read_and_an_environment_changes_one_by_its_name() -> None:
    files = {
        "repo.yaml": "environments: [prod]\n" + CHANNELS,
        "environments/prod.yaml": (
            "repo:\n  monitoring:\n    channels: [{name: ops, format: slack, kinds: [failed]}]\n"
            "    mail: {host: mail.example.com, sender: feedctl@example.com, port: 465, tls: tls}\n"
        ),
    }
    ops, log = repository(files).settings.monitoring.channels
    assert (ops.type, ops.format, ops.kinds, ops.tags) == (
        ChannelType.WEBHOOK, WebhookFormat.JSON, (AlertKind.SLA,), {"tier": "gold"},
    )  # fmt: skip
    assert (log.type, log.command) == (ChannelType.COMMAND, ("/usr/bin/logger", "-t", "feedctl"))
    prod = repository(files, "prod").settings.monitoring
    assert [(each.name, each.format, each.kinds) for each in prod.channels] == [
        ("ops", WebhookFormat.SLACK, (AlertKind.FAILED,)),
        ("log", WebhookFormat.JSON, ()),
    ]
    assert prod.mail is not None
    assert (prod.mail.port, prod.mail.tls) == (465, MailTls.TLS)


@pytest.mark.parametrize(
    ("channel", "rule"),
    [
        ("{name: ops, type: webhook}", "missing-key"),
        ("{name: ops, type: command}", "missing-key"),
        ('{name: ops, type: webhook, url: "https://hooks.example.com/", format: pagerduty}', "missing-key"),
        ('{name: ops, type: webhook, url: "https://evil.example.com/"}', "webhook-host"),
        ('{name: mail, type: webhook, url: "https://hooks.example.com/"}', "bad-name"),
        ("{name: ops, type: command, command: [a], clusters: [primry]}", "unknown-cluster"),
        ("{name: ops, type: command, command: [a], secret: {env: FEEDCTL_WEBHOOK_KEY}}", "channel-key"),
        ('{name: ops, type: webhook, url: "https://hooks.example.com/", secret: {env: PGPASSWORD}}', "bad-value"),
    ],
)
def test_a_channel_that_is_not_complete_or_goes_elsewhere_is_refused(channel: str, rule: str) -> None:
    text = f"monitoring:\n  allowed_hosts: [hooks.example.com]\n  channels: [{channel}]\n"
    assert rules({"repo.yaml": text}) == [rule]


def test_two_channels_of_one_name_are_refused() -> None:
    text = "monitoring:\n  channels: [{name: a, type: command, command: [a]}, {name: a, type: command, command: [b]}]\n"
    assert set(rules({"repo.yaml": text})) == {"duplicate-name"}


def test_only_the_variables_of_mail_may_be_its_password() -> None:
    mail = "monitoring: {mail: {host: m, sender: a@example.com, credential: {user: u, env: FEEDCTL_LEDGER_PASSWORD}}}\n"
    assert rules({"repo.yaml": mail}) == ["bad-value"]


HOOK = "https://hooks.example.com"


def test_the_secrets_of_a_url_stand_in_its_path_and_query_percent_encoded() -> None:
    url = HOOK + "/in/${env:FEEDCTL_WEBHOOK_PATH}?key=${env:FEEDCTL_WEBHOOK_KEY}"
    values = {"FEEDCTL_WEBHOOK_PATH": "T0/B0/x y", "FEEDCTL_WEBHOOK_KEY": "a\r\nHost: evil#${env:HOME}"}
    assert expand_webhook_url(url, values) == (
        f"{HOOK}/in/T0/B0/x%20y?key=a%0D%0AHost:%20evil%23%24%7Benv:HOME%7D"
    )  # fmt: skip


def test_a_secret_that_is_not_set_is_named() -> None:
    with pytest.raises(MissingVariable, match="FEEDCTL_WEBHOOK_KEY"):
        expand_webhook_url(HOOK + "/${env:FEEDCTL_WEBHOOK_KEY}", {})


@pytest.mark.parametrize(
    "url",
    [
        "hooks.example.com/in",
        "ftp://hooks.example.com/in",
        "https://user@hooks.example.com/in",
        "https://hooks.example.com\\@evil.example.com/in",
        "https://hooks.example.com/in\r\nX: y",
        "https://hooks.example.com/in#part",
        "https://${env:FEEDCTL_WEBHOOK_HOST}/in",
        "https://hooks.example.com/${env:FEEDCTL_LEDGER_PASSWORD}",
        "https://hooks.example.com/in/\u200b",
    ],
)
def test_another_url_is_refused_without_its_path(url: str) -> None:
    with pytest.raises(ElError) as refused:
        FORMATS["webhook-url"](url)
    assert "/in" not in str(refused.value)


@pytest.mark.parametrize(
    "cron", ["* * * * *", "*/5 8-18 * * mon-fri", "0 6 1,15 * *", "0 6 L * *", "0 6 * * MON#1", "30 23 29 2 *"]
)
def test_five_fields_of_a_cron_expression_are_allowed(cron: str) -> None:
    FORMATS["cron"](cron)


@pytest.mark.parametrize(
    "cron",
    ["", "* * * *", "* * * * * *", "60 * * * *", "0 0 31 2 *", "@daily", "0 6 * * mon;reboot", "9" * 5000 + " * * * *",
     "0 6 * * funday", "0\n6 * * *", "1/0 * * * *"],
)  # fmt: skip
def test_another_text_is_no_cron_expression(cron: str) -> None:
    with pytest.raises(ElError):
        FORMATS["cron"](cron)


@pytest.mark.parametrize("text", ["2026-02-29", "20261225", "2026-W52-5", "2026-12-25T00:00Z", "٢٠٢٦-١٢-٢٥"])
def test_another_text_is_no_date(text: str) -> None:
    with pytest.raises(ElError):
        FORMATS["date"](text)

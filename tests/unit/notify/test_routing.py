"""Recipients of a message, by the config repo."""

from __future__ import annotations

import pytest

from tests.unit.entities.config_repo import CLUSTER, FEED, PROCESS, repository
from tests.unit.notify.test_message import made
from toolkit.alert_vocabulary import AlertKind
from toolkit.entities import Repository
from toolkit.notify.message import Message
from toolkit.notify.routing import alert_routes, new_messages, run_routes

REPO = """\
name: web-feeds
monitoring:
  to: [ops@example.com]
  mail: {host: smtp.example.com, sender: feedctl@example.com}
  allowed_hosts: [hooks.example.com]
  channels:
    - {name: all, type: command, command: [/bin/all]}
    - {name: slas, type: command, command: [/bin/slas], kinds: [sla, sla_end]}
    - {name: backups, type: command, command: [/bin/backups], clusters: [backup]}
    - {name: web, type: command, command: [/bin/web], owners: [web@example.com], tags: {pii: "no"}}
"""
OWNED = 'owner: web@example.com\ntags: {pii: "no"}\n'
NAMED = "notification: {email: [b@example.com, a@example.com], channels: [backups], level: LEVEL}\n"
BROKER = CLUSTER.replace('"file:///"}}', '"file:///"}, messaging: {endpoint: "stomp://mq:61613"}}')


def made_repo(*, feed: str = "", process: str = "", repo: str = REPO, cluster: str = CLUSTER) -> Repository:
    """Return a config repo whose entities have these lines too."""
    return repository(
        {
            "repo.yaml": repo,
            "clusters/primary.yaml": cluster,
            "clusters/backup.yaml": CLUSTER.replace("primary", "backup"),
            "feeds/clicks.yaml": FEED + feed,
            "processes/clicks_hourly.yaml": PROCESS + process,
        }
    )


def alert_recipients(found: Repository, entity: str = "clicks", kind: AlertKind = AlertKind.SLA) -> list[str]:
    """Return who is told of an alert, as text."""
    return [f"{each.channel} {each.recipient}".strip() for each in alert_routes(found, kind, entity, "primary")]


def run_recipients(found: Repository, *, is_last: bool = True) -> list[str]:
    """Return who is told of the end of a run of the process, as text."""
    routes = run_routes(found, "clicks_hourly", "primary", is_last=is_last)
    return [f"{each.channel} {each.recipient}".strip() for each in routes]


def test_an_alert_goes_to_the_repos_recipients_unless_its_entity_names_some() -> None:
    assert alert_recipients(made_repo()) == ["all", "mail ops@example.com", "slas"]
    named = made_repo(feed=NAMED.replace("LEVEL", "instance"))
    assert alert_recipients(named) == ["all", "backups", "mail a@example.com", "mail b@example.com", "slas"]
    assert alert_recipients(named, "clicks_hourly") == ["all", "mail ops@example.com", "slas"]


def test_filters_of_channels_all_have_to_match() -> None:
    owned = made_repo(feed=OWNED, process=OWNED.replace('"no"', '"yes"'))
    assert alert_recipients(owned, kind=AlertKind.FAILED) == ["all", "mail ops@example.com", "web"]
    assert alert_recipients(owned, "clicks_hourly", AlertKind.FAILED) == ["all", "mail ops@example.com"]
    assert alert_recipients(owned, "", AlertKind.LEDGER) == ["all", "mail ops@example.com"]
    assert [each.channel for each in alert_routes(owned, AlertKind.DOCTOR, "", "backup")] == ["all", "backups", "mail"]


def test_the_end_of_a_run_goes_only_to_those_that_its_entity_names() -> None:
    assert run_recipients(made_repo()) == []
    named = made_repo(process=NAMED.replace("LEVEL", "instance"))
    assert run_recipients(named) == ["backups", "mail a@example.com", "mail b@example.com"]


@pytest.mark.parametrize(("level", "count"), [("instance", 0), ("attempt", 3)])
def test_an_attempt_that_is_tried_again_is_told_only_by_level(level: str, count: int) -> None:
    named = made_repo(process=NAMED.replace("LEVEL", level))
    assert len(run_recipients(named, is_last=False)) == count


def test_a_broker_gets_all_on_the_topic_of_the_entity_and_on_that_of_all() -> None:
    brokered = made_repo(cluster=BROKER)
    both = ["broker:primary FALCON.ENTITY.TOPIC", "broker:primary FALCON.clicks_hourly"]
    assert run_recipients(brokered, is_last=False) == both
    assert [each for each in alert_recipients(brokered, "clicks_hourly") if "FALCON" in each] == both
    assert [each for each in alert_recipients(brokered, "s3://lake/orders") if "FALCON" in each] == both[:1]


def test_without_a_mail_server_there_are_no_mails() -> None:
    assert alert_recipients(made_repo(repo=REPO.replace("  mail:", "  # mail:"))) == ["all", "slas"]


def test_a_message_is_put_once_for_each_route() -> None:
    found = made_repo()
    routes = alert_routes(found, AlertKind.SLA, "clicks", "primary")
    messages = new_messages(made(), routes, found.settings.monitoring.expires, alert_id=7)
    assert [(each.channel, each.recipient) for each in messages] == [(each.channel, each.recipient) for each in routes]
    assert {(each.message_id, each.alert_id, each.run_id) for each in messages} == {("m1", 7, None)}
    assert Message.from_json(messages[0].body) == made()

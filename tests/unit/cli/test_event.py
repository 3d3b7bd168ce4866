"""`feedctl event emit|retract|list`."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.unit.cli.running import Feedctl
from toolkit.ledger import events
from toolkit.ledger.database import Ledger
from toolkit.ledger.state.commands import recent
from toolkit.runs.recorder import current_user

pytestmark = pytest.mark.usefixtures("repo", "cli_ledger")

CLICKS = "feedctl:feed/clicks?cluster=primary"
NOON = "2026-03-20T12:00Z"
ORDERS = "s3://bucket/orders"
JSON = ("--output", "json")


def test_an_update_of_a_feed_is_announced_under_its_dataset(feedctl: Feedctl) -> None:
    assert feedctl("event", "emit", CLICKS, "--time", NOON).out == f"event 1: {CLICKS} {NOON} available\n"
    event = feedctl("event", "emit", CLICKS, "--time", NOON, *JSON).document["event"]
    assert (event["kind"], event["dataset"], event["feed"], event["cluster"]) == (
        "updated",
        CLICKS,
        "clicks",
        "primary",
    )
    assert (event["instance"], event["run_id"], event["chain"], event["id"]) == (NOON, None, 0, None)


def test_the_place_of_a_feed_stands_for_its_dataset(feedctl: Feedctl, repo: Path) -> None:
    place = f"file://{repo.with_name('data')}/data/clicks/"
    assert feedctl("event", "emit", place, "--time", NOON).out == f"event 1: {CLICKS} {NOON} available\n"


def test_uris_are_kept_in_canonical_form_with_what_the_emitter_says(feedctl: Feedctl) -> None:
    extra = '{"rows": 17, "partition": {"region": "us"}}'
    emitted = feedctl("event", "emit", "S3A://bucket/x/../orders/", "--extra", extra, *JSON).document
    assert (emitted["event"]["dataset"], emitted["event"]["instance"]) == (ORDERS, None)
    assert emitted["event"]["extra"] == {"rows": 17, "partition": {"region": "us"}}


def test_an_id_used_twice_changes_nothing_and_says_so(feedctl: Feedctl, cli_ledger: Ledger) -> None:
    assert feedctl("event", "emit", ORDERS, "--id", "load-17", *JSON).document["changed"]
    again = feedctl("event", "emit", ORDERS, "--id", "load-17")
    assert (again.code, again.out) == (0, f"event 1: {ORDERS} has the id 'load-17' already; nothing was changed\n")
    assert cli_ledger.read(events.newest) == 1
    other = feedctl("event", "emit", ORDERS, "--time", NOON, "--id", "load-17")
    assert (other.code, other.out) == (2, "")
    assert "the idempotency key 'load-17' belongs to event 1, available of s3://bucket/orders" in other.err


def test_an_update_is_retracted_once(feedctl: Feedctl) -> None:
    feedctl("event", "emit", ORDERS, "--time", NOON, "--id", "load-17")
    assert feedctl("event", "retract", ORDERS, "--time", NOON).out == f"event 2: {ORDERS} {NOON} retracted\n"
    again = feedctl("event", "retract", ORDERS, "--time", NOON)
    assert again.code == 0
    assert again.out.startswith(f"event 2: {ORDERS} {NOON} was retracted at ")
    assert again.out.endswith("already; nothing was changed\n")


def test_events_are_listed(feedctl: Feedctl) -> None:
    assert feedctl("event", "list").err == "no events\n"
    for key in (NOON, "2026-03-20T13:00Z"):
        feedctl("event", "emit", CLICKS, "--time", key)
    feedctl("event", "emit", ORDERS)
    feedctl("event", "retract", CLICKS, "--time", NOON)

    def numbers(*options: str) -> list[int]:
        return [each["event"] for each in feedctl("event", "list", *options, *JSON).document["events"]]

    assert numbers() == [1, 2, 3, 4]
    assert numbers("--limit", "2") == [3, 4]
    assert numbers(CLICKS, "--time", NOON) == [1, 4]
    assert numbers("--kind", "retracted", "--kind", "updated") == [4]
    assert numbers("--since", "2099-01-01T00:00Z") == []
    assert [row[:3] for row in feedctl("event", "list", ORDERS).rows] == [
        ["EVENT", "KIND", "DATASET"],
        ["3", "available", ORDERS],
    ]


def test_commands_on_events_are_recorded(feedctl: Feedctl, cli_ledger: Ledger) -> None:
    feedctl("event", "emit", ORDERS, "--time", NOON, "--id", "load-17")
    feedctl("event", "emit", ORDERS, "--time", NOON, "--id", "load-17")
    second, first = cli_ledger.read(lambda tx: recent(tx, 2))
    assert (first.command, first.subject, first.detail) == ("event emit", f"{ORDERS} {NOON}", "load-17")
    assert (first.who, first.has_changed, second.has_changed) == (current_user(), True, False)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("emit", CLICKS, "--time", "2026-03-20T12:30Z"), "nearest are 2026-03-20T12:00Z and 2026-03-20T13:00Z"),
        (("emit", CLICKS, "--time", "noon"), "'noon'"),
        (("emit", ORDERS, "--time", "noon"), "'noon'"),
        (("emit", "feedctl:feed/clikcs?cluster=primary"), "did you mean clicks?"),
        (("emit", "feedctl:feed/clicks?cluster=nowhere"), "feed clicks has no cluster named"),
        (("emit", "feedctl:feed/clicks?cluster=backup"), "is not in environment dev"),
        (("emit", "clicks"), f"clicks is a feed; expected the URI of its dataset: {CLICKS}"),
        (("emit", "s3://key:secret@bucket/orders"), "without credentials"),
        (("emit", "airflow://x"), "Airflow reserves this one"),
        (("emit", ORDERS, "--extra", "[1]"), "--extra: found a list; expected a JSON object"),
        (("emit", ORDERS, "--extra", "{"), "--extra: no JSON"),
        (("emit", ORDERS, "--extra", '{"a": NaN}'), "--extra: no JSON"),
        (("emit", ORDERS, "--extra", '{"a": 1e999}'), "--extra: no JSON"),
        (("emit", ORDERS, "--extra", '{"partition": {"day": 1}}'), "`partition` is no object of texts"),
        (
            ("emit", ORDERS, "--extra", '{"fingerprint": "x", "poll": {}}'),
            "`fingerprint` and `poll` only feedctl itself",
        ),
        (("emit", ORDERS, "--id", ""), "--id: it is empty"),
        (("emit", ORDERS, "--id", "x" * 256), "--id: it has 256 characters"),
        (("emit", ORDERS, "--id", "a\nb"), "--id: it has characters that cannot be printed"),
        (("retract", ORDERS), f"no event has announced {ORDERS} without an instance key"),
        (("retract", CLICKS, "--time", NOON), f"no event has announced instance {NOON} of {CLICKS}"),
        (("list", "clicks"), "clicks is a feed"),
        (("list", "--kind", "gone"), "--kind"),
    ],
)
def test_bad_input_is_one_message_and_exit_code_2(
    feedctl: Feedctl, cli_ledger: Ledger, arguments: tuple[str, ...], message: str
) -> None:
    ran = feedctl("event", *arguments)
    assert (ran.code, ran.out) == (2, "")
    assert message in ran.err
    assert "secret" not in ran.err.replace("the secret if git", "")
    assert cli_ledger.read(events.newest) == 0


def test_an_instance_whose_time_has_not_come_is_not_announced(feedctl: Feedctl, cli_ledger: Ledger) -> None:
    refused = feedctl("event", "emit", ORDERS, "--time", "9999-12-31T00:40Z")
    assert (refused.code, refused.out) == (2, "")
    assert "--time: found 9999-12-31T00:40Z, a time to come; expected one that is not after now, " in refused.err
    assert cli_ledger.read(events.newest) == 0

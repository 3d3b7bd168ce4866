"""`feedctl dataset list|show|graph`."""

from __future__ import annotations

from datetime import timedelta

import pytest

from tests.unit.cli.running import Feedctl
from toolkit.ledger.database import Ledger
from toolkit.ledger.tables import event

pytestmark = pytest.mark.usefixtures("repo", "cli_ledger")

CLICKS = "feedctl:feed/clicks?cluster=primary"
NOON = "2026-03-20T12:00Z"
TIME = ("--time", "2026-03-20T01:30Z")
JSON = ("--output", "json")


def test_datasets_are_listed_with_their_last_update_and_next_run(feedctl: Feedctl) -> None:
    feedctl("event", "emit", CLICKS, "--time", NOON)
    found = {each["dataset"]: each for each in feedctl("dataset", "list", *TIME, *JSON).document["datasets"]}
    clicks, hourly = found[CLICKS], found["feedctl:feed/clicks_hourly?cluster=primary"]
    assert (clicks["last_update"]["instance"], clicks["last_update"]["kind"]) == (NOON, "available")
    assert clicks["has_producer"]
    assert clicks["outside"] == ["external"]
    assert {"kind": "input", "process": "clicks_hourly_job", "dataset": None} in clicks["consumers"]
    assert (hourly["last_update"], hourly["next_run"]) == (None, "2026-03-20T02:00Z")
    assert hourly["producers"] == [{"kind": "output", "process": "clicks_hourly_job", "dataset": None}]
    assert {
        each["cluster"] for each in feedctl("dataset", "list", "--cluster", "backup", *JSON).document["datasets"]
    } == {"backup"}


def test_an_event_of_a_dataset_that_the_repo_does_not_name_is_shown(feedctl: Feedctl) -> None:
    feedctl("event", "emit", "s3://bucket/orders")
    row = next(row for row in feedctl("dataset", "list").rows if row[0] == "s3://bucket/orders")
    assert row[-5:] == ["not", "in", "the", "config", "repo"]
    shown = feedctl("dataset", "show", "S3A://bucket/orders/")
    assert shown.out.startswith("s3://bucket/orders (not in the config repo)\n  last update: available at ")


def test_datasets_without_a_producer_or_a_consumer_are_chosen(feedctl: Feedctl) -> None:
    without = feedctl("dataset", "list", "--without", "consumer", *JSON).document["datasets"]
    assert without
    assert not any(each["has_consumer"] for each in without)
    assert feedctl("dataset", "list", "--without", "producer").err == "no datasets\n"


def test_a_feed_is_shown_on_all_its_clusters(feedctl: Feedctl) -> None:
    shown = feedctl("dataset", "show", "clicks", *TIME)
    assert [line for line in shown.out.splitlines() if not line.startswith(" ")] == [
        "feedctl:feed/clicks?cluster=backup (no consumer)",
        CLICKS,
    ]
    assert f"  <- copy of {CLICKS}\n" in shown.out
    assert "  -> input of clicks_hourly_job\n" in shown.out


def test_a_dataset_that_nothing_names_is_refused_with_the_nearest(feedctl: Feedctl) -> None:
    refused = feedctl("dataset", "show", "feedctl:feed/click?cluster=primary")
    assert (refused.code, refused.out) == (2, "")
    assert f"did you mean {CLICKS}" in refused.err
    assert feedctl("dataset", "show", "https://me:hunter2@host/a").err.count("hunter2") == 0


def test_the_graph_around_a_dataset_leaves_the_rest_out(feedctl: Feedctl) -> None:
    found = feedctl("dataset", "graph", "clicks_hourly", "--format", "json", *TIME).document
    assert {each["name"] for each in found["processes"]} == {"clicks_hourly_job", "clicks_by_country_job"}
    assert not any("crm" in each["dataset"] for each in found["datasets"])
    mermaid = feedctl("dataset", "graph", "clicks_hourly", "--format", "mermaid").out
    assert mermaid.startswith("flowchart LR\n")
    assert "crm" not in mermaid


def test_a_repo_without_a_ledger_has_a_graph(feedctl: Feedctl, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("FEEDCTL_LEDGER")
    assert feedctl("dataset", "graph", "--format", "dot").out.startswith("digraph datasets {\n")


def test_garbage_is_collected(feedctl: Feedctl, cli_ledger: Ledger) -> None:
    feedctl("event", "emit", CLICKS, "--time", NOON)
    feedctl("event", "emit", CLICKS, "--time", NOON)
    feedctl("event", "emit", "s3://bucket/orders")
    assert feedctl("dataset", "gc").out == "0 events removed\n"
    cli_ledger.write(lambda tx: tx.execute(event.update().values(recorded_at=tx.now() - timedelta(days=91))))
    assert feedctl("dataset", "gc", "--keep", "days(92)").out == "0 events removed\n"
    planned = feedctl("dataset", "gc", "--dry-run")
    gone = "dataset s3://bucket/orders, which the config repo does not name, would be removed"
    assert planned.out == f"2 events would be removed\n{gone}\n"
    assert len(feedctl("event", "list", *JSON).document["events"]) == 3
    found = feedctl("dataset", "gc", *JSON).document
    assert (found["dry_run"], found["events"], found["datasets"]) == (False, 2, ["s3://bucket/orders"])
    assert [each["event"] for each in feedctl("event", "list", *JSON).document["events"]] == [2]


def test_garbage_is_kept_for_a_frequency(feedctl: Feedctl) -> None:
    ran = feedctl("dataset", "gc", "--keep", "nonsense")
    assert (ran.code, ran.out) == (2, "")

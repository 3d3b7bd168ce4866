"""`feedctl status` over a ledger."""

from __future__ import annotations

import re
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest

from tests.contract.ledger.samples import begun, changed, key
from tests.databases.ledgers import START
from tests.unit.cli.running import Feedctl
from toolkit.el import format_instant
from toolkit.ledger.database import Ledger, Transaction
from toolkit.ledger.sla import lock_position
from toolkit.ledger.state.holds import see_file
from toolkit.ledger.tables import alert
from toolkit.ledger.vocabulary import AlertKind, AlertLevel, LifeCycle, RunStatus

pytestmark = pytest.mark.usefixtures("repo")

BEFORE_ANYTHING = ("--time", "2026-01-01T00:30Z")
LATER = ("--time", "2026-01-05T00:30Z")


@pytest.mark.usefixtures("cli_ledger")
def test_every_feed_with_retention_and_every_process_has_a_row(feedctl: Feedctl) -> None:
    ran = feedctl("status", "--entities", *BEFORE_ANYTHING)
    assert ran.code == 0
    assert [row[:4] for row in ran.rows[1:]] == [
        ["clicks", "eviction", "primary", "ok"],
        ["clicks_hourly", "eviction", "primary", "ok"],
        ["crm_customers", "eviction", "primary", "ok"],
        ["impressions", "eviction", "primary", "ok"],
        ["clicks_by_country_job", "execution", "primary", "submitted"],
        ["clicks_hourly_job", "execution", "primary", "submitted"],
        ["customer_activity_job", "execution", "primary", "submitted"],
    ]
    assert ran.rows[1][-1] == "1"


@pytest.mark.usefixtures("cli_ledger")
def test_nothing_stale_is_exit_code_0(feedctl: Feedctl) -> None:
    ran = feedctl("status", "--stale", *BEFORE_ANYTHING)
    assert (ran.code, ran.out) == (0, "nothing is stale: 7 looked at\n")


@pytest.mark.usefixtures("cli_ledger")
def test_an_eviction_that_no_action_can_do_yet_is_not_looked_at(feedctl: Feedctl, own_repo: Path) -> None:
    feed = own_repo / "feeds" / "web" / "clicks_by_country.yaml"
    text = feed.read_text(encoding="utf-8").replace("properties:", "    retention: {limit: days(10)}\nproperties:")
    elsewhere = 'locations: {data: "viewfs://all/clicks/${YEAR}/${MONTH}/${DAY}"}'
    feed.write_text(re.sub(r"^table: .*$", elsewhere, text, flags=re.MULTILINE), encoding="utf-8")
    ran = feedctl("status", "--stale", *LATER, "--config-repo", str(own_repo))
    assert "clicks_by_country_job" in ran.out
    assert "eviction of clicks_by_country " not in ran.out


def test_what_is_stale_is_named_with_since_when_and_exit_code_1(feedctl: Feedctl, cli_ledger: Ledger) -> None:
    done = begun(cli_ledger, key("2026-01-01T05:00Z", entity="clicks_hourly_job", life_cycle=LifeCycle.EXECUTION))
    changed(cli_ledger, done, RunStatus.SUCCEEDED)
    ran = feedctl("status", "--stale", "--time", "2026-01-05T00:30Z")
    assert ran.code == 1
    lines = ran.out.splitlines()
    assert lines[0] == "eviction of clicks on primary is stale since 2026-01-02T06:00:00Z: it has never succeeded"
    assert not any("clicks_hourly_job" in line for line in lines)


@pytest.mark.usefixtures("cli_ledger")
def test_json_has_every_row_and_counts_the_stale_ones(feedctl: Feedctl) -> None:
    ran = feedctl("status", "--stale", *LATER, "--output", "json")
    document = ran.document
    assert (ran.code, document["time"], document["stale"]) == (1, "2026-01-05T00:30Z", 7)
    assert len(document["entities"]) == 7
    job = next(each for each in document["entities"] if each["name"] == "clicks_hourly_job")
    assert (job["backlog"], job["failed"], job["last_success"]) == (96, 0, None)
    assert job["stale_since"] == "2026-01-01T04:00:00Z"


@pytest.mark.usefixtures("cli_ledger")
def test_safe_mode_is_on_the_screen(feedctl: Feedctl) -> None:
    feedctl("admin", "safe-mode", "on", "--reason", "upgrade")
    assert feedctl("status").out.startswith("safe mode is on")
    assert feedctl("status", "--stale", *BEFORE_ANYTHING).out.startswith("safe mode is on")


@pytest.mark.usefixtures("cli_ledger")
def test_what_is_suspended_is_not_stale(feedctl: Feedctl) -> None:
    feedctl("entity", "suspend", "clicks")
    ran = feedctl("status", "--stale", *LATER)
    assert not any("of clicks on" in line for line in ran.out.splitlines())
    assert any("of clicks_hourly on" in line for line in ran.out.splitlines())


@pytest.mark.usefixtures("cli_ledger")
def test_a_hold_that_is_older_than_the_reminder_is_named_with_exit_code_1(
    feedctl: Feedctl, cli_ledger: Ledger, own_repo: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FEEDCTL_REPO", str(own_repo))
    feedctl("hold", "add", "clicks", "--reason", "ticket 815")
    holds = own_repo / "holds.yaml"
    holds.write_text(f"{holds.read_text()}    since: 2026-03-01T00:00Z\n")
    path = "file:///data/impressions/.feedctl-hold"
    cli_ledger.write(lambda tx: see_file(tx, "impressions", "primary", path=path, reason="wrong data"))
    cli_ledger.write(lambda tx: see_file(tx, "gone", "primary", path=path, reason="of a feed that is no more"))
    for name in ("clicks", "clicks_hourly", "crm_customers", "impressions", "clicks_by_country_job"):
        feedctl("entity", "suspend", name)
    for name in ("clicks_hourly_job", "customer_activity_job"):
        feedctl("entity", "suspend", name)
    added = cli_ledger.read(lambda tx: tx.now())
    later = ("--time", format_instant((added + timedelta(days=31)).replace(second=0, microsecond=0)))
    ran = feedctl("status", "--stale", *later)
    assert ran.code == 1
    assert [line.partition(" since ")[0] for line in ran.out.splitlines()] == [
        "a hold of holds.yaml keeps clicks on primary",
        "hold 1 keeps clicks",
        f"file hold {path} keeps impressions on primary",
    ]
    first, *_, last = ran.out.splitlines()
    assert first.partition(" since ")[2].startswith("2026-03-01T00:00:00Z, longer than hold_reminder (days(30)): inc")
    assert last.endswith(", longer than hold_reminder (days(30)): wrong data")
    document = feedctl("status", *later, "--output", "json").document
    assert [(each["id"], each["path"]) for each in document["old_holds"]] == [(None, None), (1, None), (None, path)]
    settings = own_repo / "repo.yaml"
    settings.write_text(f"{settings.read_text()}\nhold_reminder: months(600)\n")
    assert feedctl("status", "--stale", *later).out == "nothing is stale: 7 looked at\n"
    settings.write_text(settings.read_text().replace("months(600)", "a month"))
    line = len(settings.read_text().splitlines())
    wrong = feedctl("status", "--stale", *later)
    assert (wrong.code, f"repo.yaml:{line}:16: " in wrong.err) == (2, True)


def test_a_hold_file_that_a_run_met_is_counted_and_listed(feedctl: Feedctl, cli_ledger: Ledger) -> None:
    path = "file:///data/impressions/.feedctl-hold"
    cli_ledger.write(lambda tx: see_file(tx, "impressions", "primary", path=path, reason="wrong data"))
    (row,) = [row for row in feedctl("status", "--entities", *BEFORE_ANYTHING).rows if row[0] == "impressions"]
    assert row[-1] == "1"
    ran = feedctl("hold", "list", "impressions")
    assert f"wrong data ({path}, last seen 20" in ran.out
    (hold,) = feedctl("hold", "list", "impressions", "--output", "json").document["holds"]
    assert (hold["id"], hold["feed"], hold["cluster"], hold["reason"]) == (None, "impressions", "primary", "wrong data")
    assert (hold["path"], hold["added_at"]) == (path, hold["seen_at"])


def _alert(ledger: Ledger, entity: str, level: AlertLevel, message: str = "not there yet") -> int:
    def add(tx: Transaction) -> int:
        values = {"kind": AlertKind.SLA, "cluster": "primary", "instance_key": "2026-03-20T12:00Z", "facts": "{}"}
        times = dict.fromkeys(("opened_at", "recorded_at"), START)
        return tx.insert(alert, entity=entity, level=level, message=message, **values, **times)

    return ledger.write(add)


def test_the_screen_has_a_line_of_numbers_the_clusters_and_each_list_that_has_rows(
    feedctl: Feedctl, cli_ledger: Ledger
) -> None:
    job = key("2026-01-01T05:00Z", entity="clicks_hourly_job", life_cycle=LifeCycle.EXECUTION)
    begun(cli_ledger, job)
    failed = begun(cli_ledger, replace(job, instance_key="2026-01-01T06:00Z"))
    changed(cli_ledger, failed, RunStatus.FAILED, reason="disk\nfull")
    _alert(cli_ledger, "clicks", AlertLevel.HIGH)
    ran = feedctl("status", *LATER)
    lines = ran.out.splitlines()
    assert (ran.code, lines[0]) == (
        0,
        "2026-01-05T00:30Z: 1 running, 0 waiting, 1 late, 0 other alerts, 1 failed in 24 hours, 7 stale",
    )
    assert [line for line in lines if line.isupper() and ":" in line] == [
        "RUNNING: 1",
        "LATE, AND OTHER OPEN ALERTS: 1",
        "FAILED IN THE LAST 24 HOURS: 1",
        "NEXT DUE: 3",
    ]
    assert lines[3].split() == ["primary", "7", "1", "0", "1", "0", "1", "7", "0", "100", "1"]
    assert any(line.endswith("failed  disk\\nfull") for line in lines)


def test_the_document_has_what_the_screen_has(feedctl: Feedctl, cli_ledger: Ledger) -> None:
    number = _alert(cli_ledger, "clicks", AlertLevel.LOW)
    document = feedctl("status", *LATER, "--output", "json").document
    (row,) = document["alerts"]["rows"]
    assert (row["alert_id"], row["level"], row["name"], row["opened_at"]) == (
        *(number, "low", "clicks"),
        "2026-03-20T12:00:00Z",
    )
    assert (document["clusters"][0]["late"], document["running"], document["monitored_at"]) == (
        *(1, {"total": 0, "rows": []}),
        None,
    )


@pytest.mark.parametrize(
    ("options", "names"),
    [
        (("--owner", "crm@example.com"), {"crm_customers"}),
        (("--domain", "crm"), {"customer_activity_job"}),
        (("--pipeline", "reporting"), {"clicks_by_country_job", "clicks_hourly", "impressions"}),
        (
            ("--pipeline", "crm", "--pipeline", "reporting", "--domain", "web"),
            {"clicks_by_country_job", "clicks_hourly"},
        ),
        (("--tag", "owner=nobody"), set()),
    ],
)
@pytest.mark.usefixtures("cli_ledger")
def test_filters_choose_entities(feedctl: Feedctl, options: tuple[str, ...], names: set[str]) -> None:
    ran = feedctl("status", "--entities", *BEFORE_ANYTHING, *options)
    assert {row[0] for row in ran.rows[1:]} == names


def test_a_check_has_a_line_for_each_open_alert_and_exit_code_1(feedctl: Feedctl, cli_ledger: Ledger) -> None:
    never = feedctl("status", "--check")
    assert (never.code, never.out.splitlines()[1].partition(";")[0]) == (1, "the monitor does not run: it never ran")
    cli_ledger.write(lambda tx: lock_position(tx, tx.now()))
    fine = feedctl("status", "--check")
    assert (fine.code, fine.out) == (0, "no alert is open | open=0 high=0\n")
    low, high = _alert(cli_ledger, "clicks", AlertLevel.LOW), _alert(cli_ledger, "orders", AlertLevel.HIGH, "gone\r\nX")
    ran = feedctl("status", "--check")
    assert (ran.code, ran.out.splitlines()) == (
        1,
        [
            "2 alerts are open, 1 of them high | open=2 high=1",
            f"high sla: orders on primary 2026-03-20T12:00Z since 2026-03-20T12:00:00Z: gone\\r\\nX; alert {high}",
            f"low sla: clicks on primary 2026-03-20T12:00Z since 2026-03-20T12:00:00Z: not there yet; alert {low}",
        ],
    )
    mine = feedctl("status", "--check", "--owner", "web-analytics@example.com")
    assert (mine.code, mine.out.splitlines()[0]) == (1, "1 alert is open | open=1 high=0")
    assert feedctl("status", "--check", "--domain", "crm").code == 0
    assert feedctl("status", "--check", "--output", "json").code == 1


@pytest.mark.usefixtures("cli_ledger")
def test_views_exclude_each_other_and_documents_are_not_repeated(feedctl: Feedctl) -> None:
    for options in (("--stale", "--check"), ("--entities", "--stale"), ("--watch", "5", "--output", "json")):
        ran = feedctl("status", *options)
        assert (ran.code, "expected" in ran.err) == (2, True), options


@pytest.mark.usefixtures("cli_ledger")
def test_a_watch_shows_it_again_until_it_is_interrupted(feedctl: Feedctl, monkeypatch: pytest.MonkeyPatch) -> None:
    slept: list[float] = []

    def sleep(seconds: float) -> None:
        slept.append(seconds)
        if len(slept) == 2:
            raise KeyboardInterrupt

    monkeypatch.setattr("toolkit.cli.status.sleep", sleep)
    ran = feedctl("status", "--watch", "7", *BEFORE_ANYTHING)
    assert (ran.code, slept, ran.out.count("CLUSTER  ACTIONS")) == (0, [7, 7], 2)

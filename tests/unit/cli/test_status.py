"""`feedctl status` over a ledger."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.contract.ledger.samples import begun, changed, key
from tests.unit.cli.running import Feedctl
from toolkit.ledger.database import Ledger
from toolkit.ledger.vocabulary import LifeCycle, RunStatus

pytestmark = pytest.mark.usefixtures("repo")

BEFORE_ANYTHING = ("--time", "2026-01-01T00:30Z")
LATER = ("--time", "2026-01-05T00:30Z")


@pytest.mark.usefixtures("cli_ledger")
def test_every_feed_with_retention_and_every_process_has_a_row(feedctl: Feedctl) -> None:
    ran = feedctl("status", *BEFORE_ANYTHING)
    assert ran.code == 0
    assert [row[:4] for row in ran.rows[1:]] == [
        ["clicks", "eviction", "primary", "running"],
        ["clicks_hourly", "eviction", "primary", "running"],
        ["crm_customers", "eviction", "primary", "running"],
        ["impressions", "eviction", "primary", "running"],
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
    text = feed.read_text(encoding="utf-8")
    feed.write_text(text.replace("properties:", "    retention: {limit: days(10)}\nproperties:"), encoding="utf-8")
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

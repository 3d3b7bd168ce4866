"""`feedctl instance triage` on the template's feeds and processes."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.unit.cli.running import Feedctl
from tests.unit.management.runs import execution
from toolkit.ledger.database import Ledger
from toolkit.ledger.vocabulary import RunStatus

JOB = "clicks_hourly_job"
TRIAGE = ("instance", "triage", "clicks_hourly", "--time", "2026-03-20T02:00Z")


@pytest.fixture(autouse=True)
def data(own_repo: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("FEEDCTL_REPO", str(own_repo))
    return own_repo.with_name("data") / "data"


def ready(data: Path) -> None:
    """The clicks of the hour that is read, with their flag and nothing else."""
    hour = data / "clicks/2026/03/20/02"
    hour.mkdir(parents=True)
    (hour / "_SUCCESS").touch()


@pytest.mark.usefixtures("cli_ledger")
def test_the_tree_goes_down_to_the_cause(feedctl: Feedctl) -> None:
    ran = feedctl(*TRIAGE)
    assert (ran.code, ran.err) == (0, "")
    assert ran.out == (
        "feed clicks_hourly on primary 2026-03-20T02:00Z: missing\n"
        "└─ process clicks_hourly_job on primary 2026-03-20T03:00Z: waiting\n"
        "   │  clicks: 0 of 1 instances are there\n"
        "   └─ clicks: feed clicks on primary 2026-03-20T02:00Z: missing\n"
        "         CAUSE: nothing in this config repo makes it: it has to come from outside\n"
    )


def test_a_failed_run_is_told_with_its_log(feedctl: Feedctl, cli_ledger: Ledger, data: Path) -> None:
    execution(cli_ledger, "2026-03-20T03:00Z", RunStatus.FAILED, name=JOB)
    ready(data)
    assert feedctl(*TRIAGE).out.splitlines()[1:] == [
        "└─ process clicks_hourly_job on primary 2026-03-20T03:00Z: failed",
        "      clicks: 1 of 1 instances are there",
        "      CAUSE: attempt 1 has failed",
        "      log: /logs/1",
    ]
    document = feedctl(*TRIAGE, "--output", "json").document
    (cause,) = document["causes"]
    assert (cause["name"], cause["state"], cause["log"]) == (JOB, "failed", "/logs/1")
    (tree,) = document["trees"]
    assert (tree["needs"][0]["run"]["who"], tree["needs"][0]["attempt"]) == ("ada", 1)


@pytest.mark.usefixtures("cli_ledger")
def test_nothing_stands_against_what_is_there(feedctl: Feedctl, data: Path) -> None:
    ready(data)
    lines = feedctl("instance", "triage", "clicks", "--time", "2026-03-20T02:00Z").out.splitlines()
    assert lines == ["feed clicks on primary 2026-03-20T02:00Z: empty", "nothing stands against it"]


@pytest.mark.usefixtures("cli_ledger")
def test_what_cannot_be_asked_for_is_refused(feedctl: Feedctl) -> None:
    assert (
        "expected an instance of hours(1)" in feedctl("instance", "triage", "clicks", "--time", "2026-03-20T02:30Z").err
    )
    assert feedctl("instance", "triage", "primary", "--time", "2026-03-20T02:00Z").code == 2

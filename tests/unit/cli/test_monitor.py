"""`feedctl monitor` and `feedctl sla`."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from tests.unit.cli.running import Feedctl
from tests.unit.entities.config_repo import CLUSTER, FEED

pytestmark = pytest.mark.usefixtures("cli_ledger")

JSON = ("--output", "json")
HOUR = datetime.now(UTC).replace(minute=0, second=0, microsecond=0) - timedelta(hours=1)
KEY = f"{HOUR:%Y-%m-%dT%H:%MZ}"


def minute(number: int) -> str:
    """A time in the hour before this one."""
    return f"{HOUR + timedelta(minutes=number):%Y-%m-%dT%H:%MZ}"


@pytest.fixture(autouse=True)
def data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder with the data of an hourly feed with an SLA, which nobody here writes; its repo is found."""
    own = {"repo.yaml": "name: web-feeds\n", "clusters/primary.yaml": CLUSTER}
    place = FEED.replace('"/data/', f'"{tmp_path}/data/')
    own["feeds/clicks.yaml"] = f"{place}external: true\nsla: {{low: minutes(20), high: minutes(40)}}\n"
    for name, text in own.items():
        file = tmp_path / "repo" / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
    monkeypatch.setenv("FEEDCTL_REPO", str(tmp_path / "repo"))
    return tmp_path / "data" / "clicks"


def test_a_feed_that_stops_is_late_then_missing_and_closed_when_it_comes(feedctl: Feedctl, data: Path) -> None:
    first = feedctl("monitor", "--time", minute(0), *JSON)
    assert (first.code, first.document["counts"]["expected"], first.document["opened"]) == (0, 1, [])
    late = feedctl("monitor", "--time", minute(25), *JSON).last
    assert [(each["level"], each["opened_at"]) for each in late["opened"]] == [("low", f"{minute(20)[:-1]}:00Z")]
    missing = feedctl("monitor", "--time", minute(45), *JSON).last
    assert [(each["level"], each["escalated_at"]) for each in missing["escalated"]] == [
        ("high", f"{minute(40)[:-1]}:00Z")
    ]
    backlog = feedctl("sla", "backlog", "clicks", *JSON).last["backlog"]
    assert [(each["open"], each["late"], each["oldest_late"]) for each in backlog] == [(1, 1, KEY)]
    assert backlog[0]["minutes_behind"] >= 40
    (data / f"{HOUR:%Y/%m/%d/%H}").mkdir(parents=True)
    closed = feedctl("monitor", "--time", minute(50), *JSON).last
    assert [each["closed_because"] for each in closed["closed"]] == [f"storage at {minute(50)}: it is there"]
    assert feedctl("sla", "backlog", "clicks", *JSON).last["backlog"][0]["minutes_behind"] == 0


def test_alerts_of_a_period_have_the_tags_of_falcon(feedctl: Feedctl) -> None:
    for number in (0, 25, 45):
        feedctl("monitor", "--time", minute(number))
    period = ("--start", KEY, "--end", minute(60))
    found = feedctl("sla", "alerts", *period, "--feed", "clicks", *JSON).last["instances"]
    assert [(each["instance"], each["tag"], each["came_at"]) for each in found] == [(KEY, "Missed-SLA-High", None)]
    assert feedctl("sla", "alerts", "--start", minute(60), "--end", minute(61)).code == 0


def test_alerts_of_a_feed_that_no_pass_has_seen_come_from_storage(feedctl: Feedctl, data: Path) -> None:
    (data / f"{HOUR - timedelta(hours=1):%Y/%m/%d/%H}").mkdir(parents=True)
    hours_ago = f"{HOUR - timedelta(hours=2):%Y-%m-%dT%H:%MZ}"
    found = feedctl("sla", "alerts", "--start", hours_ago, "--end", KEY, *JSON).last["instances"]
    assert [(each["instance"], each["tag"], each["came_at"]) for each in found] == [
        (hours_ago, "Missed-SLA-High", None)
    ]
    assert "it is not there" in found[0]["evidence"]


def test_an_instance_whose_store_cannot_be_read_is_unknown_and_not_in_time(feedctl: Feedctl, tmp_path: Path) -> None:
    file = tmp_path / "repo" / "feeds" / "clicks.yaml"
    file.write_text(file.read_text().replace(f"{tmp_path}/data/", "viewfs://web/data/"))
    hours_ago = f"{HOUR - timedelta(hours=2):%Y-%m-%dT%H:%MZ}"
    found = feedctl("sla", "alerts", "--start", hours_ago, "--end", KEY, *JSON).last["instances"]
    assert [each["tag"] for each in found] == ["Unknown", "Unknown"]


def test_status_and_explain_say_what_is_known_of_an_instance(feedctl: Feedctl) -> None:
    assert "no pass was made yet" in feedctl("sla", "status").err
    feedctl("monitor", "--time", minute(0))
    feedctl("monitor", "--time", minute(45))
    found = feedctl("sla", "status", "--state", "missing", *JSON).last["instances"]
    assert [(each["entity"], each["instance"]) for each in found] == [("clicks", KEY)]
    explained = feedctl("sla", "explain", "clicks", "--time", KEY, *JSON).last
    assert (explained["state"], explained["why"]) == ("missing", f"storage at {minute(45)}: it is not there")
    assert explained["source"].startswith("events of the ledger, then storage")
    assert feedctl("sla", "explain", "nothing").code == 2


def test_a_pass_for_an_earlier_time_decides_nothing(feedctl: Feedctl) -> None:
    feedctl("monitor", "--time", minute(45))
    earlier = feedctl("monitor", "--time", minute(30), *JSON).last
    assert (earlier["later_pass"], earlier["opened"]) == (minute(45), [])


def test_a_future_time_is_refused(feedctl: Feedctl) -> None:
    assert feedctl("monitor", "--time", "2999-01-01T00:00Z").code == 2


def test_bytes_of_directories_within_an_instance_count(feedctl: Feedctl, data: Path, tmp_path: Path) -> None:
    file = tmp_path / "repo" / "feeds" / "clicks.yaml"
    file.write_text(file.read_text().replace("high: minutes(40)", "high: minutes(40), min_bytes: 5"))
    part = data / f"{HOUR:%Y/%m/%d/%H}" / "country=de"
    part.mkdir(parents=True)
    (part / "part-0").write_text("1234")
    feedctl("monitor", "--time", minute(0))
    empty = feedctl("monitor", "--time", minute(25), *JSON).last["opened"]
    assert [(each["kind"], each["level"]) for each in empty] == [("empty", "low")]
    (part / "part-1").write_text("5")
    closed = feedctl("monitor", "--time", minute(30), *JSON).last["closed"]
    assert [each["kind"] for each in closed] == ["empty"]


def test_the_result_file_has_the_document(feedctl: Feedctl, tmp_path: Path) -> None:
    result = tmp_path / "result.json"
    printed = feedctl("monitor", "--time", minute(0), "--result-file", str(result), *JSON).out
    assert result.read_text() == printed

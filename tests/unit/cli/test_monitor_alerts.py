"""`feedctl monitor` and alerts that have nothing to do with SLAs."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
import sqlalchemy as sa

from tests.contract.ledger.samples import begun, changed, key
from tests.unit.cli.running import Feedctl
from tests.unit.entities.config_repo import CLUSTER, FEED, PROCESS
from toolkit.ledger.database import Ledger
from toolkit.ledger.tables import outbox
from toolkit.ledger.vocabulary import LifeCycle, RunStatus

pytestmark = pytest.mark.usefixtures("cli_ledger")

JSON = ("--output", "json")
REPO = """\
name: web
monitoring:
  to: [ops@example.com]
  mail: {host: 127.0.0.1, port: 9, tls: none, sender: feedctl@example.com}
"""


@pytest.fixture(autouse=True)
def repo(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    texts = {"repo.yaml": REPO, "clusters/primary.yaml": CLUSTER, "feeds/clicks.yaml": FEED}
    for name, text in {**texts, "processes/clicks_hourly.yaml": PROCESS}.items():
        file = tmp_path / "repo" / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
    monkeypatch.setenv("FEEDCTL_REPO", str(tmp_path / "repo"))


def after(minutes: int) -> str:
    return f"{datetime.now(UTC) + timedelta(minutes=minutes):%Y-%m-%dT%H:%MZ}"


def test_a_failed_run_is_an_alert_with_a_mail_until_it_succeeds(feedctl: Feedctl, cli_ledger: Ledger) -> None:
    feedctl("monitor", "--time", after(-1), "--no-send")
    of_key = key("2026-03-20T12:00Z", entity="clicks_hourly", life_cycle=LifeCycle.EXECUTION)
    changed(cli_ledger, begun(cli_ledger, of_key), RunStatus.FAILED, "boom")
    opened = feedctl("monitor", "--time", after(1), "--no-send", *JSON).last["opened"]
    assert [(each["kind"], each["entity"], each["instance"]) for each in opened] == [
        ("failed", "clicks_hourly", "2026-03-20T12:00Z")
    ]
    recipients = cli_ledger.read(lambda tx: list(tx.execute(sa.select(outbox.c.recipient)).scalars()))
    assert recipients == ["ops@example.com"]
    assert "boom" in feedctl("alert", "show", "1").out
    changed(cli_ledger, begun(cli_ledger, of_key), RunStatus.SUCCEEDED)
    closed = feedctl("monitor", "--time", after(2), "--no-send", *JSON).last["closed"]
    assert [each["closed_because"] for each in closed] == ["attempt 2 of 2026-03-20T12:00Z succeeded"]
    assert "no alerts" in feedctl("alert", "list").err


def test_problems_of_the_installation_are_alerts_when_they_are_looked_for(feedctl: Feedctl, tmp_path: Path) -> None:
    repo = tmp_path / "repo"
    cluster = CLUSTER.replace("file:///", "hdfs://127.0.0.1:9")
    (repo / "clusters" / "primary.yaml").write_text(cluster)
    assert feedctl("monitor", "--time", after(0), "--no-send", *JSON).last["opened"] == []
    opened = feedctl("monitor", "--time", after(1), "--no-send", "--doctor", *JSON).last["opened"]
    found = {each["cluster"] for each in opened if each["level"] == "high"}
    assert found == {"primary"}
    assert {each["kind"] for each in opened} == {"doctor"}
    assert feedctl("monitor", "--time", after(2), "--no-send", "--doctor", *JSON).last["opened"] == []
    (repo / "clusters" / "primary.yaml").write_text(CLUSTER)
    closed = feedctl("monitor", "--time", after(3), "--no-send", "--doctor", *JSON).last["closed"]
    assert "primary" in {each["cluster"] for each in closed}


def test_a_ledger_that_cannot_be_used_is_told_once_and_when_it_is_back(
    feedctl: Feedctl, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    got = tmp_path / "got.jsonl"
    channel = f"  channels: [{{name: pager, type: command, command: [tee, -a, {got}]}}]\n"
    settings = "name: web\nmonitoring:\n" + channel
    (tmp_path / "repo" / "repo.yaml").write_text(settings)

    def messages() -> list[tuple[str, str]]:
        decoder, text, found = json.JSONDecoder(), got.read_text() if got.exists() else "", []
        while text.strip():
            message, end = decoder.raw_decode(text.strip())
            found.append((message["event"], message["status"]))
            text = text.strip()[end:]
        return found

    assert feedctl("monitor", "--time", after(0)).code == 0
    assert messages() == []
    with monkeypatch.context() as broken:
        broken.setenv("FEEDCTL_LEDGER", "postgresql://nobody@127.0.0.1:9/ledger")
        for _ in range(2):
            failed = feedctl("monitor", "--time", after(1))
            assert (failed.code, "cannot be used" in failed.err) == (1, True)
        assert messages() == [("alert_opened", "OPEN")]
        assert feedctl("monitor", "--no-send", "--time", after(1)).code == 1
    for _ in range(2):
        assert feedctl("monitor", "--time", after(2)).code == 0
    assert messages() == [("alert_opened", "OPEN"), ("alert_closed", "CLOSED")]

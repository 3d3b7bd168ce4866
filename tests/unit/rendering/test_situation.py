"""Texts of the screen of `feedctl status`."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tests.contract.ledger.samples import begun, key
from tests.databases.ledgers import START
from toolkit.ledger.database import Ledger
from toolkit.ledger.open_alerts import OpenAlert
from toolkit.ledger.runs.recent import RunProgress
from toolkit.ledger.vocabulary import AlertKind, AlertLevel, RunStatus
from toolkit.management.situation import FirstRows, OpenAlerts
from toolkit.rendering.situation import check_lines, progress_text, waiting_for

ALERT = OpenAlert(
    alert_id=7,
    kind=AlertKind.FAILED,
    entity="clicks",
    cluster="primary",
    instance_key="2026-03-20T12:00Z",
    level=AlertLevel.HIGH,
    opened_at=START,
    escalated_at=None,
    message="disk full",
    acked_by=None,
)


def lines(*alerts: OpenAlert, total: int | None = None) -> list[str]:
    rows = FirstRows(rows=alerts, total=len(alerts) if total is None else total)
    high = sum(each.level is AlertLevel.HIGH for each in alerts)
    return list(check_lines(OpenAlerts(alerts=rows, high=high, monitored_at=START, is_monitored=True)))


@pytest.mark.parametrize(
    ("progress", "text"),
    [
        (RunProgress(), ""),
        (RunProgress(done=1200, begun=3), "1,200 done, 3 begun"),
        (RunProgress(failed=1, steps=("load", "check")), "step load, check; 1 failed"),
    ],
)
def test_progress_names_steps_and_counts(progress: RunProgress, text: str) -> None:
    assert progress_text(progress) == text


def test_what_a_run_waits_for_follows_from_its_status(sqlite_ledger: Ledger) -> None:
    run = begun(sqlite_ledger, key())
    assert waiting_for(replace(run, status=RunStatus.WAITING, reason="clicks: 3 of 4 are there")) == (
        "clicks: 3 of 4 are there"
    )
    assert waiting_for(replace(run, status=RunStatus.WAITING)) == "its inputs"
    assert waiting_for(replace(run, status=RunStatus.READY)) == "a free slot"
    assert waiting_for(replace(run, status=RunStatus.SUSPENDED, reason="ticket 815")) == "a resume: ticket 815"
    failed = replace(run, status=RunStatus.FAILED, retry_at=START, reason="disk full")
    assert waiting_for(failed) == "its retry at 2026-03-20T12:00:00Z: disk full"


def test_a_check_names_who_takes_care_and_how_many_more_there_are() -> None:
    acked = replace(ALERT, acked_by="ada")
    assert lines(acked, total=3) == [
        "3 alerts are open, 1 of them high | open=3 high=1",
        (
            "high failed: clicks on primary 2026-03-20T12:00Z since 2026-03-20T12:00:00Z: "
            "disk full (acknowledged by ada); alert 7"
        ),
        "and 2 more",
    ]


def test_an_alert_without_an_entity_is_one_of_the_installation() -> None:
    (_, line) = lines(replace(ALERT, kind=AlertKind.LEDGER, entity="", cluster="", instance_key=""))
    assert line.startswith("high ledger: the installation since ")


def test_a_long_or_hostile_message_stays_on_one_line_of_a_check() -> None:
    (_, line) = lines(replace(ALERT, message="x\r\n\x1b[31m" + "long " * 10_000))
    assert line.isprintable()
    assert len(line) < 250

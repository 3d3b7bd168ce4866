"""Commands to entities, on both databases."""

from __future__ import annotations

import pytest

from tests.contract.ledger.samples import LEASE_SECONDS, ORIGIN, key
from tests.contract.ledger_management.commands import last_commands
from tests.unit.management.repo import repo
from toolkit.el import parse_instant
from toolkit.entities import Validity
from toolkit.ledger.database import Ledger
from toolkit.ledger.runs.run_start import StartRequest, start
from toolkit.ledger.state import start_check
from toolkit.ledger.state.start_check import EntityIsSuspended, SafeModeIsOn
from toolkit.management.entities import (
    EntityCommand,
    EntityReport,
    EntityStatus,
    entity_report,
    entity_status,
    resume_entity,
    suspend_entity,
    touch_entity,
)

DAILY = repo().process("daily_job")


def command(cluster: str | None = None) -> EntityCommand:
    return EntityCommand(entity=DAILY, cluster=cluster, who="ada", reason="because")


def suspended_on(report: EntityReport) -> list[str]:
    return [each.cluster for each in report.states if each.status is EntityStatus.SUSPENDED]


def on_both(ledger: Ledger) -> list[str]:
    return suspended_on(entity_report(ledger, DAILY, ["primary", "backup"]))


def test_an_entity_is_suspended_on_one_cluster_and_resumed(ledger: Ledger) -> None:
    assert suspend_entity(ledger, command("backup")).is_changed
    assert not suspend_entity(ledger, command("backup")).is_changed
    assert on_both(ledger) == ["backup"]
    assert resume_entity(ledger, command("backup")).is_changed
    assert not resume_entity(ledger, command("backup")).is_changed
    assert on_both(ledger) == []


def test_an_entity_is_suspended_everywhere(ledger: Ledger) -> None:
    report = suspend_entity(ledger, command())
    assert suspended_on(report) == ["primary", "backup"]
    suspension = report.states[0].suspension
    assert suspension is not None
    assert (suspension.changed_by, suspension.reason, suspension.cluster) == ("ada", "because", "")


def test_what_is_suspended_everywhere_is_not_resumed_on_one_cluster(ledger: Ledger) -> None:
    suspend_entity(ledger, command())
    report = resume_entity(ledger, command("primary"))
    assert (report.is_changed, suspended_on(report)) == (False, ["primary"])
    assert resume_entity(ledger, command()).is_changed
    assert on_both(ledger) == []


def test_nothing_of_a_suspended_entity_starts(ledger: Ledger) -> None:
    suspend_entity(ledger, command("primary"))
    request = StartRequest(key=key(entity="daily_job"), origin=ORIGIN, leases=(), lease_seconds=LEASE_SECONDS)
    with pytest.raises(EntityIsSuspended):
        ledger.write(lambda tx: start(tx, request))


def test_a_touch_is_remembered(ledger: Ledger) -> None:
    assert entity_report(ledger, DAILY, ["primary"]).touched_at is None
    touched = touch_entity(ledger, command())
    assert touched.is_changed
    assert touched.touched_at is not None
    assert entity_report(ledger, DAILY, ["primary"]).touched_at == touched.touched_at


def test_every_command_is_recorded(ledger: Ledger) -> None:
    suspend_entity(ledger, command("primary"))
    resume_entity(ledger, command())
    resume_entity(ledger, command())
    touch_entity(ledger, command())
    assert last_commands(ledger, 4)[::-1] == [
        ("entity suspend", "daily_job on primary", "ada", True, "because"),
        ("entity resume", "daily_job", "ada", True, "because"),
        ("entity resume", "daily_job", "ada", False, "because"),
        ("entity touch", "daily_job", "ada", True, "because"),
    ]


def test_safe_mode_allows_to_suspend_but_not_to_resume_or_touch(ledger: Ledger) -> None:
    ledger.write(lambda tx: start_check.switch_safe_mode(tx, on=True, who="ops", reason=None))
    assert suspend_entity(ledger, command()).is_changed
    for refused in (resume_entity, touch_entity):
        with pytest.raises(SafeModeIsOn):
            refused(ledger, command())
    assert on_both(ledger) == ["primary", "backup"]


@pytest.mark.parametrize(
    ("now", "expected"),
    [
        ("2026-02-28T23:59Z", EntityStatus.SUBMITTED),
        ("2026-03-01T00:00Z", EntityStatus.RUNNING),
        ("2026-03-31T23:59Z", EntityStatus.RUNNING),
        ("2026-04-01T00:00Z", EntityStatus.COMPLETED),
    ],
)
def test_the_state_follows_the_validity(now: str, expected: EntityStatus) -> None:
    validity = Validity(start=parse_instant("2026-03-01T00:00Z"), end=parse_instant("2026-04-01T00:00Z"))
    assert entity_status(validity, parse_instant(now), is_suspended=False) is expected
    assert entity_status(validity, parse_instant(now), is_suspended=True) is EntityStatus.SUSPENDED

"""Metrics that are collected from the ledger, on both databases."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta

import pytest
import sqlalchemy as sa

from tests.contract.ledger.samples import begun, changed, key, started
from tests.databases.ledgers import HandClock, open_ledger
from tests.unit.entities.config_repo import repository
from tests.unit.management.repo import FILES
from tests.unit.management.runs import eviction, execution
from toolkit.el import parse_instant
from toolkit.entities import Repository
from toolkit.ledger import sla
from toolkit.ledger.database import Ledger
from toolkit.ledger.runs import counters
from toolkit.ledger.runs.errors import LeaseHeld
from toolkit.ledger.runs.rows import Run
from toolkit.ledger.sla import SlaWindow
from toolkit.ledger.tables import alert, item, outbox, outbox_channel, sla_instance
from toolkit.ledger.vocabulary import (
    AlertKind,
    AlertLevel,
    ItemState,
    LifeCycle,
    RunStatus,
    SlaState,
    SlaSubject,
)
from toolkit.management.entities import EntityCommand, suspend_entity
from toolkit.metrics import definitions
from toolkit.metrics.collection import collect
from toolkit.metrics.metric import MetricDefinition

pytestmark = pytest.mark.both_databases

NOW = parse_instant("2026-03-12T12:20Z")
REPO = repository(FILES)
CLICKS = ("clicks", "primary")
JOB = ("count_job", "primary")
ALL = 10_000


@pytest.fixture
def clock() -> HandClock:
    return HandClock(NOW)


@pytest.fixture
def ledger(ledger_url: sa.URL, clock: HandClock) -> Iterator[Ledger]:
    opened = open_ledger(ledger_url, clock)
    yield opened
    opened.close()


def series(ledger: Ledger, metric: MetricDefinition, repo: Repository = REPO) -> dict[tuple[str, ...], float]:
    found = collect(ledger, repo, None, ALL)
    return {each.labels: each.value for each in found.samples if each.metric is metric}


def insert(ledger: Ledger, table: sa.Table, **values: object) -> None:
    ledger.write(lambda tx: tx.execute(sa.insert(table).values(**values)))


def expected_instance(ledger: Ledger, number: int, state: SlaState, low_minutes: int | None, high_minutes: int) -> None:
    """An instance of count_job, with the minutes since its limits."""
    low = None if low_minutes is None else NOW - timedelta(minutes=low_minutes)
    high = NOW - timedelta(minutes=high_minutes)
    insert(
        ledger,
        sla_instance,
        subject=SlaSubject.PROCESS,
        entity=JOB[0],
        cluster=JOB[1],
        instance_key=f"2026-03-12T0{number}:00Z",
        low_at=low,
        high_at=high,
        state=state,
        since=NOW,
        evidence="ledger",
    )


def opened_alert(
    ledger: Ledger, number: int, level: AlertLevel, *, entity: str = "count_job", **values: object
) -> None:
    """An alert of count_job on primary."""
    row = {
        "kind": AlertKind.SLA_END,
        "entity": entity,
        "cluster": "primary",
        "instance_key": str(number),
        "level": level,
        "opened_at": NOW,
        "message": "late",
        "facts": "{}",
        "recorded_at": NOW,
        **values,
    }
    insert(ledger, alert, **row)


def test_an_empty_ledger_has_zeros_for_what_alert_rules_compare(ledger: Ledger) -> None:
    assert series(ledger, definitions.UP) == {(): 1}
    assert series(ledger, definitions.INSTANCES_OPEN) == {JOB: 0}
    assert series(ledger, definitions.BEHIND) == {JOB: 0}
    assert series(ledger, definitions.MISSED) == {(*JOB, "low"): 0, (*JOB, "high"): 0}
    assert series(ledger, definitions.LAST_SUCCESS) == {}
    assert series(ledger, definitions.MONITOR_PASS) == {}


def test_the_last_success_has_a_time_and_a_duration(ledger: Ledger, clock: HandClock) -> None:
    run = execution(ledger, "2026-03-12T10:00Z", RunStatus.RUNNING)
    clock.forward(90)
    changed(ledger, run, RunStatus.SUCCEEDED)
    clock.forward(600)
    execution(ledger, "2026-03-12T11:00Z", RunStatus.FAILED)
    subject = (*JOB, "execution", "")
    assert series(ledger, definitions.LAST_SUCCESS) == {subject: NOW.timestamp() + 90}
    assert series(ledger, definitions.RUN_DURATION) == {subject: 90}


def test_runs_are_counted_by_status_and_open_ones_by_themselves(ledger: Ledger) -> None:
    for hour in (7, 8):
        execution(ledger, f"2026-03-12T0{hour}:00Z")
    execution(ledger, "2026-03-12T09:00Z", RunStatus.KILLED)
    execution(ledger, "2026-03-12T10:00Z", RunStatus.RUNNING)
    eviction(ledger, "2026-03-12T10:00Z", RunStatus.SKIPPED)
    assert series(ledger, definitions.RUNS) == {
        (*JOB, "execution", "succeeded"): 2,
        (*JOB, "execution", "killed"): 1,
        (*CLICKS, "eviction", "skipped"): 1,
    }
    assert series(ledger, definitions.RUNS_OPEN) == {(*JOB, "execution", "running"): 1}


def test_an_entity_that_left_the_repo_has_no_series(ledger: Ledger) -> None:
    execution(ledger, "2026-03-12T10:00Z", name="gone_job")
    opened_alert(ledger, 1, AlertLevel.HIGH, entity="gone_job")
    samples = collect(ledger, REPO, None, ALL).samples
    assert not [each for each in samples if "gone_job" in each.labels]
    assert series(ledger, definitions.ALERTS_OPEN) == {("", "primary", "sla_end", "high"): 1}


def test_a_cluster_of_another_environment_has_no_series(ledger: Ledger) -> None:
    samples = collect(ledger, repository(FILES, "dev"), None, ALL).samples
    assert not [each for each in samples if "backup" in each.labels]


def test_copied_bytes_and_evicted_instances_are_those_of_the_last_success(ledger: Ledger, clock: HandClock) -> None:
    for count in (7, 2):
        evicted(ledger, eviction(ledger, f"2026-03-12T0{count}:00Z", RunStatus.RUNNING), count)
        clock.forward(60)
    copy = begun(
        ledger, key(entity="clicks", cluster="backup", life_cycle=LifeCycle.REPLICATION, counterpart="primary")
    )
    ledger.write(lambda tx: counters.replace(tx, copy.run_id, {"COPY": 3, "BYTESCOPIED": 4096, "TIMETAKEN": 5}))
    changed(ledger, copy, RunStatus.SUCCEEDED)
    subject = ("clicks", "backup", "replication", "primary")
    assert series(ledger, definitions.EVICTED) == {CLICKS: 2}
    assert series(ledger, definitions.RUN_BYTES) == {subject: 4096}
    assert series(ledger, definitions.RUN_FILES) == {subject: 3}


def evicted(ledger: Ledger, run: Run, count: int) -> None:
    """Let an eviction end that has evicted so many instances, and an emptied parent."""
    for position in range(count + 1):
        name = f"2026-03-0{position + 1}" if position < count else ""
        values = {"kind": "instance", "path": f"/data/{position}", "instance_key": name, "intended_at": NOW}
        insert(ledger, item, run_id=run.run_id, position=position, state=ItemState.DONE, **values)
    changed(ledger, run, RunStatus.SUCCEEDED)


def test_an_instance_that_waits_for_a_lease_is_counted_until_it_runs(ledger: Ledger, clock: HandClock) -> None:
    holder = started(ledger)
    held = LeaseHeld(resource="evict/clicks", holder=holder.run, since=NOW, until=NOW)
    waiting = begun(ledger, key("2026-03-12T11:00Z"))
    changed(ledger, waiting, RunStatus.SKIPPED, str(held))
    suspended = begun(ledger, key("2026-03-12T10:00Z"))
    changed(ledger, suspended, RunStatus.SKIPPED, "clicks is suspended on primary")
    assert series(ledger, definitions.LEASE_WAITS) == {(*CLICKS, "eviction"): 1}
    clock.forward(60)
    begun(ledger, key("2026-03-12T11:00Z"))
    assert series(ledger, definitions.LEASE_WAITS) == {}


def test_the_oldest_late_instance_says_how_far_an_entity_is_behind(ledger: Ledger) -> None:
    window = SlaWindow(subject=SlaSubject.PROCESS, entity=JOB[0], cluster=JOB[1], next_key="2026-03-12T06:00Z")
    ledger.write(lambda tx: sla.put_windows(tx, [window]))
    expected_instance(ledger, 1, SlaState.FRESH, -30, -60)
    expected_instance(ledger, 2, SlaState.LATE, 20, -10)
    expected_instance(ledger, 3, SlaState.MISSING, 80, 50)
    expected_instance(ledger, 4, SlaState.EXEMPT, 500, 400)
    assert series(ledger, definitions.INSTANCES_OPEN) == {JOB: 3}
    assert series(ledger, definitions.INSTANCES_LATE) == {JOB: 2}
    assert series(ledger, definitions.BEHIND) == {JOB: 80 * 60}


def test_the_newest_pass_of_the_monitor_has_a_time(ledger: Ledger) -> None:
    ledger.write(lambda tx: sla.lock_position(tx, NOW - timedelta(minutes=1)))
    assert series(ledger, definitions.MONITOR_PASS) == {(): NOW.timestamp() - 60}


def test_missed_slas_only_rise_when_an_alert_rises_and_closes(ledger: Ledger) -> None:
    opened_alert(ledger, 1, AlertLevel.LOW)
    opened_alert(ledger, 2, AlertLevel.HIGH)
    opened_alert(ledger, 3, AlertLevel.HIGH, kind=AlertKind.FAILED)
    before = series(ledger, definitions.MISSED)
    assert before == {(*JOB, "low"): 1, (*JOB, "high"): 1}
    risen = sa.update(alert).where(alert.c.instance_key == "1").values(level=AlertLevel.HIGH, escalated_at=NOW)
    ledger.write(lambda tx: tx.execute(risen))
    ledger.write(lambda tx: tx.execute(sa.update(alert).values(closed_at=NOW)))
    assert series(ledger, definitions.MISSED) == {(*JOB, "low"): 1, (*JOB, "high"): 2}
    assert series(ledger, definitions.ALERTS_OPEN) == {}


def test_messages_are_counted_by_channel(ledger: Ledger) -> None:
    for number, ends in enumerate(({}, {}, {"sent_at": NOW}, {"dead_at": NOW})):
        created = NOW - timedelta(minutes=10 * (number + 1))
        about = {"message_id": str(number), "channel": "mail", "recipient": "a@example.com", "body": "{}"}
        insert(ledger, outbox, **about, created_at=created, expires_at=NOW, **ends)
    insert(ledger, outbox_channel, channel="mail", failures=4)
    assert series(ledger, definitions.OUTBOX_WAITING) == {("mail",): 2}
    assert series(ledger, definitions.OUTBOX_AGE) == {("mail",): 20 * 60}
    assert series(ledger, definitions.OUTBOX_DEAD) == {("mail",): 1}
    assert series(ledger, definitions.OUTBOX_FAILURES) == {("mail",): 4}


def test_what_is_suspended_is_a_series_while_it_is(ledger: Ledger) -> None:
    assert series(ledger, definitions.SUSPENDED) == {}
    suspend_entity(ledger, EntityCommand(entity=REPO.feeds["clicks"], cluster="backup", who="ada"))
    assert series(ledger, definitions.SUSPENDED) == {("clicks", "backup"): 1}


def test_the_bound_is_kept_and_what_is_beyond_is_said(ledger: Ledger) -> None:
    whole = collect(ledger, REPO, None, ALL)
    found = collect(ledger, REPO, None, len(whole.samples) - 4)
    assert len(found.samples) <= len(whole.samples) - 4
    assert found.folded > 0
    assert {each.value for each in found.samples if each.metric is definitions.SERIES_FOLDED} == {found.folded}
    assert "other" in {each.entity for each in found.samples}

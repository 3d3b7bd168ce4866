"""The situation of an installation, from the ledger and the config repo."""

from __future__ import annotations

from datetime import timedelta

import pytest
import sqlalchemy as sa

from tests.contract.ledger.samples import begun, changed, key
from tests.contract.ledger.test_recent_runs import add_alert
from tests.unit.entities.config_repo import repository
from tests.unit.management.repo import FILES, repo
from tests.unit.management.runs import execution
from toolkit.el import Frequency, Unit, parse_instant
from toolkit.ledger.database import Ledger
from toolkit.ledger.runs import retries
from toolkit.ledger.sla import lock_position
from toolkit.ledger.tables import run
from toolkit.ledger.vocabulary import AlertLevel, LifeCycle, RunStatus
from toolkit.management.entity_filter import EntityFilter
from toolkit.management.situation import Situation, check_alerts, situation

NOON = parse_instant("2026-03-20T12:00Z")
HOUR = Frequency(unit=Unit.HOURS, count=1)


def looked(ledger: Ledger, *names: str, limit: int = 10) -> Situation:
    return situation(ledger, repo(), NOON, names or None, limit=limit)


def test_each_cluster_has_its_numbers(sqlite_ledger: Ledger) -> None:
    execution(sqlite_ledger, "2026-03-20T10:00Z", RunStatus.RUNNING)
    execution(sqlite_ledger, "2026-03-20T09:00Z", RunStatus.FAILED)
    sqlite_ledger.write(lambda tx: [add_alert(tx, "clicks", AlertLevel.HIGH, hours) for hours in (1, 2)])
    found = looked(sqlite_ledger)
    backup, primary = found.clusters
    assert (backup.cluster, backup.actions, backup.running) == ("backup", 3, 0)
    assert (primary.running, primary.failed, primary.late, primary.alerts) == (1, 1, 2, 0)
    assert found.total("late") == found.alerts.total == 2


def test_what_waits_says_for_what(sqlite_ledger: Ledger) -> None:
    suspended = execution(sqlite_ledger, "2026-03-20T08:00Z", RunStatus.SUSPENDED)
    failed = execution(sqlite_ledger, "2026-03-20T09:00Z", RunStatus.FAILED)
    sqlite_ledger.write(lambda tx: retries.schedule(tx, failed.run_id, NOON))
    waiting = looked(sqlite_ledger).waiting
    assert [each.run_id for each in waiting.rows] == [suspended.run_id, failed.run_id]
    assert waiting.total == 2


def test_a_limit_bounds_the_rows_and_not_the_numbers(sqlite_ledger: Ledger) -> None:
    for hour in range(5):
        execution(sqlite_ledger, f"2026-03-20T0{hour}:00Z", RunStatus.FAILED)
    found = looked(sqlite_ledger, limit=2)
    assert (len(found.failures.rows), found.failures.total) == (2, 5)
    assert (len(found.next_due.rows), found.next_due.total) == (2, 4)


def test_only_the_chosen_entities_count(sqlite_ledger: Ledger) -> None:
    execution(sqlite_ledger, "2026-03-20T10:00Z", RunStatus.RUNNING)
    execution(sqlite_ledger, "2026-03-20T09:00Z", RunStatus.FAILED, name="daily_job")
    sqlite_ledger.write(lambda tx: [add_alert(tx, name, AlertLevel.LOW, 1) for name in ("clicks", "counts", "")])
    found = looked(sqlite_ledger, "count_job", "counts")
    assert (found.running.total, found.failures.total) == (1, 0)
    assert [each.entity for each in found.alerts.rows] == ["counts"]
    assert {row.entity for row in found.overview.rows} == {"count_job"}
    assert looked(sqlite_ledger).alerts.total == 3


def test_alerts_of_no_cluster_have_a_row_of_their_own(sqlite_ledger: Ledger) -> None:
    begun_run = begun(sqlite_ledger, key("2026-03-20T10:00Z", entity="gone", cluster="retired"))
    changed(sqlite_ledger, begun_run, RunStatus.FAILED)
    clusters = {each.cluster: each for each in looked(sqlite_ledger).clusters}
    assert (clusters["retired"].failed, clusters["retired"].actions) == (1, 0)


def test_the_next_due_instances_are_after_now_and_a_replication_waits_for_the_delay_of_its_source(
    sqlite_ledger: Ledger,
) -> None:
    due = {
        (each.subject.entity, each.subject.life_cycle, each.subject.cluster): each
        for each in looked(sqlite_ledger).next_due.rows
    }
    job = due["count_job", LifeCycle.EXECUTION, "primary"]
    assert (job.instance_key, job.due_at) == ("2026-03-20T13:00Z", NOON + timedelta(hours=1))
    copy = due["clicks", LifeCycle.REPLICATION, "backup"]
    assert (copy.instance_key, copy.due_at) == ("2026-03-20T12:00Z", NOON + timedelta(hours=1))
    assert ("clicks", LifeCycle.EVICTION, "primary") not in due, "overdue: it is stale"


def test_an_eviction_is_due_again_by_its_cadence(sqlite_ledger: Ledger) -> None:
    done = changed(sqlite_ledger, begun(sqlite_ledger, key("2026-03-20T10:00Z")), RunStatus.SUCCEEDED)
    ended = sa.update(run).where(run.c.run_id == done.run_id).values(ended_at=NOON - timedelta(hours=1))
    sqlite_ledger.write(lambda tx: tx.execute(ended))
    (eviction,) = [
        each for each in looked(sqlite_ledger).next_due.rows if each.subject.life_cycle is LifeCycle.EVICTION
    ]
    assert eviction.due_at == NOON + timedelta(hours=23)


def test_what_is_suspended_or_over_is_not_due(sqlite_ledger: Ledger) -> None:
    late = situation(sqlite_ledger, repo(), parse_instant("2026-06-01T00:00Z"), limit=10)
    assert late.next_due.total == 0


def test_the_check_counts_open_alerts_and_high_ones(sqlite_ledger: Ledger) -> None:
    sqlite_ledger.write(lambda tx: lock_position(tx, NOON))
    assert check_alerts(sqlite_ledger, None, HOUR, NOON, limit=10).is_fine
    sqlite_ledger.write(lambda tx: add_alert(tx, "clicks", AlertLevel.HIGH, 1))
    sqlite_ledger.write(lambda tx: add_alert(tx, "counts", AlertLevel.LOW, 2))
    found = check_alerts(sqlite_ledger, None, HOUR, NOON, limit=1)
    assert (found.alerts.total, found.high, len(found.alerts.rows), found.is_fine) == (2, 1, 1, False)
    assert check_alerts(sqlite_ledger, {"counts"}, HOUR, NOON, limit=1).high == 0


def test_no_alert_is_good_news_only_while_the_monitor_runs(sqlite_ledger: Ledger) -> None:
    never = check_alerts(sqlite_ledger, None, HOUR, NOON, limit=1)
    assert (never.is_monitored, never.is_fine) == (False, False)
    sqlite_ledger.write(lambda tx: lock_position(tx, NOON - timedelta(hours=1)))
    assert check_alerts(sqlite_ledger, None, HOUR, NOON, limit=1).is_fine
    assert not check_alerts(sqlite_ledger, None, HOUR, NOON + timedelta(minutes=1), limit=1).is_fine


@pytest.mark.parametrize(
    ("wanted", "expected"),
    [
        (EntityFilter(owner="a@example.com"), set()),
        (EntityFilter(pipelines=("web",)), set()),
        (EntityFilter(), {"clicks", "counts", "count_job", "daily_job"}),
    ],
)
def test_a_filter_takes_all_or_what_matches(wanted: EntityFilter, expected: set[str]) -> None:
    assert wanted.names(repo()) == expected
    assert wanted.takes_all is bool(expected)


def test_a_dataset_has_an_owner_and_no_pipeline() -> None:
    uri = "https://example.com/rates"
    settings = f"name: web\nenvironments: [dev]\ndatasets: [{{uri: {uri}, owner: bank@example.com}}]\n"
    loaded = repository({**FILES, "repo.yaml": settings})
    assert EntityFilter(owner="bank@example.com").names(loaded) == {uri}
    assert uri not in EntityFilter(owner="bank@example.com", pipelines=("web",)).names(loaded)

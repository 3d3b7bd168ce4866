"""The overview of all feeds and processes, and what is stale in it, on both databases."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
import sqlalchemy as sa

from tests.contract.ledger.samples import begun, changed, key
from tests.contract.ledger_management.unread import enqueue
from tests.databases.ledgers import HandClock, open_ledger
from tests.unit.management.repo import repo
from tests.unit.management.runs import eviction, execution
from toolkit.el import parse_instant
from toolkit.entities import Hold
from toolkit.ledger.database import Ledger
from toolkit.ledger.jobs.job_end import term_job
from toolkit.ledger.jobs.job_start import init_job
from toolkit.ledger.jobs.rows import JobRef
from toolkit.ledger.runs.rows import Origin
from toolkit.ledger.vocabulary import LifeCycle, RunStatus
from toolkit.management.entities import EntityCommand, EntityStatus, resume_entity, suspend_entity, touch_entity
from toolkit.management.holds import add_hold
from toolkit.management.overview import OverviewRow, overview

REPO = repo()


@pytest.fixture
def clock() -> HandClock:
    return HandClock(parse_instant("2026-03-05T12:20Z"))


@pytest.fixture
def ledger(ledger_url: sa.URL, clock: HandClock) -> Iterator[Ledger]:
    opened = open_ledger(ledger_url, clock)
    yield opened
    opened.close()


def row(
    ledger: Ledger, name: str, cluster: str = "primary", at: str | None = None, life_cycle: LifeCycle | None = None
) -> OverviewRow:
    found = overview(ledger, REPO, None if at is None else parse_instant(at))
    of_name = [each for each in found.rows if (each.entity, each.cluster) == (name, cluster)]
    return next(each for each in of_name if life_cycle in {None, each.life_cycle})


def stale_since(
    ledger: Ledger, name: str, at: str, cluster: str = "primary", life_cycle: LifeCycle | None = None
) -> str | None:
    since = row(ledger, name, cluster, at, life_cycle).stale_since
    return None if since is None else since.strftime("%Y-%m-%dT%H:%M")


def test_feeds_with_retention_and_processes_are_looked_at_on_each_cluster(ledger: Ledger) -> None:
    assert [(each.entity, each.life_cycle, each.cluster) for each in overview(ledger, REPO).rows] == [
        ("clicks", "eviction", "primary"),
        ("clicks", "eviction", "backup"),
        ("clicks", "replication", "backup"),
        ("count_job", "execution", "primary"),
        ("daily_job", "execution", "primary"),
        ("daily_job", "execution", "backup"),
    ]
    assert {each.cluster for each in overview(ledger, repo("dev")).rows} == {"primary"}


def test_the_last_success_is_the_one_that_ended_last(ledger: Ledger, clock: HandClock) -> None:
    execution(ledger, "2026-03-05T02:00Z")
    clock.forward(60)
    execution(ledger, "2026-03-05T01:00Z")
    clock.forward(60)
    execution(ledger, "2026-03-05T03:00Z", RunStatus.FAILED)
    last = row(ledger, "count_job").last_success
    assert last is not None
    assert last.instance_key == "2026-03-05T01:00Z"


def test_of_what_runs_the_oldest_is_named(ledger: Ledger, clock: HandClock) -> None:
    execution(ledger, "2026-03-05T03:00Z", RunStatus.RUNNING)
    clock.forward(60)
    execution(ledger, "2026-03-05T01:00Z", RunStatus.RUNNING)
    found = row(ledger, "count_job")
    assert found.oldest_running is not None
    assert (found.oldest_running.instance_key, found.running) == ("2026-03-05T03:00Z", 2)


def test_failed_is_what_failed_in_its_newest_attempt(ledger: Ledger) -> None:
    execution(ledger, "2026-03-05T01:00Z", RunStatus.FAILED)
    execution(ledger, "2026-03-05T02:00Z", RunStatus.TIMED_OUT)
    execution(ledger, "2026-03-05T03:00Z", RunStatus.KILLED)
    execution(ledger, "2026-03-05T04:00Z", RunStatus.FAILED)
    execution(ledger, "2026-03-05T04:00Z")
    assert row(ledger, "count_job").failed == 3


def test_a_failed_eviction_counts_until_a_later_one_succeeds(ledger: Ledger) -> None:
    eviction(ledger, "2026-03-05T00:00Z", RunStatus.FAILED)
    assert row(ledger, "clicks").failed == 1
    eviction(ledger, "2026-03-05T06:00Z")
    assert row(ledger, "clicks").failed == 0
    eviction(ledger, "2026-03-05T12:00Z", RunStatus.KILLED)
    assert row(ledger, "clicks").failed == 1


def test_the_backlog_is_what_is_due_and_has_not_succeeded(ledger: Ledger) -> None:
    due = 4 * 24 + 12
    assert row(ledger, "count_job").backlog == due
    execution(ledger, "2026-03-05T02:00Z")
    execution(ledger, "2026-03-05T02:00Z")
    execution(ledger, "2026-03-05T03:00Z", RunStatus.FAILED)
    execution(ledger, "2026-03-05T14:00Z")
    assert row(ledger, "count_job").backlog == due - 1
    assert row(ledger, "count_job", at="2026-03-05T13:00Z").backlog == due
    assert row(ledger, "clicks").backlog is None


def test_unread_batches_are_counted_once_however_many_steps_read_them(ledger: Ledger) -> None:
    enqueue(ledger, process="count_job", steps=("load", "sum"), batches=3)
    assert row(ledger, "count_job").unread == 3
    assert row(ledger, "daily_job").unread == 0


def test_a_process_is_on_the_queue_as_long_as_its_newest_job_is(ledger: Ledger) -> None:
    enqueue(ledger, process="count_job", steps=("load",), batches=0)

    def job(instance: str | None) -> int | None:
        ref = JobRef(process="count_job", cluster="primary", instance_key=instance)
        ledger.write(lambda tx: init_job(tx, ref, Origin(who="ada")))
        ledger.write(lambda tx: term_job(tx, ref))
        found = row(ledger, "count_job")
        assert found.failed == 1
        return found.backlog

    assert job(None) is None
    assert job("2026-03-05T02:00Z") == 4 * 24 + 12
    assert job(None) is None


def test_holds_are_counted_where_they_hold(ledger: Ledger) -> None:
    add_hold(ledger, Hold(feed="clicks", cluster="primary", reason="audit"), "ada")
    add_hold(ledger, Hold(feed="clicks", reason="audit"), "ada")
    assert (row(ledger, "clicks").holds, row(ledger, "clicks", "backup").holds) == (2, 1)


def test_a_process_is_stale_after_a_frequency_and_its_sla(ledger: Ledger) -> None:
    execution(ledger, "2026-03-05T12:00Z")
    assert stale_since(ledger, "count_job", "2026-03-05T13:50Z") is None
    assert stale_since(ledger, "count_job", "2026-03-05T13:51Z") == "2026-03-05T13:50"


def test_a_process_without_an_sla_has_a_quarter_of_its_frequency_more(ledger: Ledger) -> None:
    execution(ledger, "2026-03-05T00:00Z", name="daily_job")
    assert stale_since(ledger, "daily_job", "2026-03-06T18:20Z") is None
    assert stale_since(ledger, "daily_job", "2026-03-06T18:21Z") == "2026-03-06T18:20"


def test_an_eviction_is_stale_after_a_day_or_after_six_hours_of_a_short_limit(ledger: Ledger) -> None:
    eviction(ledger, "2026-03-05T12:00Z")
    assert stale_since(ledger, "clicks", "2026-03-06T18:21Z") == "2026-03-06T18:20"
    assert stale_since(ledger, "clicks", "2026-03-10T07:30Z", "backup") is None
    assert stale_since(ledger, "clicks", "2026-03-10T07:31Z", "backup") == "2026-03-10T07:30"


def replicated(ledger: Ledger, instance: str, source: str = "primary") -> None:
    copy = key(instance, entity="clicks", cluster="backup", life_cycle=LifeCycle.REPLICATION, counterpart=source)
    changed(ledger, begun(ledger, copy), RunStatus.SUCCEEDED)


def test_a_replication_that_does_not_run_is_stale(ledger: Ledger, clock: HandClock) -> None:
    """Both sides are valid from 2026-03-10 on, and the source's instances come an hour after their time."""
    of_copies = ("backup", LifeCycle.REPLICATION)
    assert stale_since(ledger, "clicks", "2026-03-10T02:15Z", *of_copies) is None
    assert stale_since(ledger, "clicks", "2026-03-10T02:16Z", *of_copies) == "2026-03-10T02:15"
    clock.forward(5 * 86400)
    replicated(ledger, "2026-03-10T12:00Z")
    found = row(ledger, "clicks", "backup", "2026-03-10T13:30Z", LifeCycle.REPLICATION)
    assert (found.counterpart, found.stale_since) == ("primary", None)
    assert found.last_success is not None
    assert stale_since(ledger, "clicks", "2026-03-10T13:36Z", *of_copies) == "2026-03-10T13:35"


def test_a_replication_from_one_source_does_not_hide_that_the_other_is_stale(ledger: Ledger, clock: HandClock) -> None:
    clock.forward(5 * 86400)
    replicated(ledger, "2026-03-10T12:00Z", source="third")
    assert stale_since(ledger, "clicks", "2026-03-10T13:00Z", "backup", LifeCycle.REPLICATION) == "2026-03-10T02:15"


def test_what_never_succeeded_is_late_from_its_validity_on(ledger: Ledger) -> None:
    assert stale_since(ledger, "count_job", "2026-03-05T12:00Z") == "2026-03-01T02:30"


def test_nothing_is_stale_outside_its_validity(ledger: Ledger) -> None:
    assert stale_since(ledger, "count_job", "2026-03-01T00:59Z") is None
    assert stale_since(ledger, "count_job", "2026-04-01T00:00Z") is None
    assert row(ledger, "count_job", at="2026-04-01T00:00Z").status is EntityStatus.COMPLETED


def test_what_is_suspended_is_not_stale_and_counts_anew_after_a_resume(ledger: Ledger) -> None:
    command = EntityCommand(entity=REPO.process("count_job"), cluster=None, who="ada")
    suspend_entity(ledger, command)
    assert row(ledger, "count_job").status is EntityStatus.SUSPENDED
    assert stale_since(ledger, "count_job", "2026-03-05T12:20Z") is None
    resume_entity(ledger, command)
    assert stale_since(ledger, "count_job", "2026-03-05T13:50Z") is None
    assert stale_since(ledger, "count_job", "2026-03-05T13:51Z") == "2026-03-05T13:50"


def test_what_was_touched_counts_anew(ledger: Ledger) -> None:
    touch_entity(ledger, EntityCommand(entity=REPO.process("count_job"), cluster=None, who="ada"))
    assert stale_since(ledger, "count_job", "2026-03-05T13:50Z") is None


def test_runs_on_other_clusters_and_in_other_life_cycles_do_not_count(ledger: Ledger) -> None:
    other = key("2026-03-05T00:00Z", entity="daily_job", cluster="backup", life_cycle=LifeCycle.EXECUTION)
    changed(ledger, begun(ledger, other), RunStatus.SUCCEEDED)
    changed(ledger, begun(ledger, key(entity="daily_job")), RunStatus.SUCCEEDED)
    assert row(ledger, "daily_job").last_success is None
    assert row(ledger, "daily_job", "backup").last_success is not None

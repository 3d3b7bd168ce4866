"""Status, running, list and summary of instances."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
import sqlalchemy as sa

from tests.contract.ledger.samples import begun, key, started
from tests.databases.ledgers import HandClock, open_ledger
from tests.unit.management.repo import managed
from tests.unit.management.runs import eviction, execution, requested, states
from toolkit.el import parse_instant
from toolkit.ledger.database import Ledger
from toolkit.ledger.runs.queries import RunOrder
from toolkit.ledger.vocabulary import LifeCycle, RunStatus
from toolkit.management.errors import NotRecorded
from toolkit.management.questions import instance_status, instance_summary, recorded_instances, running_instances
from toolkit.management.rows import View

FROM, TO = "2026-03-05T01:00Z", "2026-03-05T05:00Z"


@pytest.fixture
def ledger(sqlite_ledger_url: sa.URL) -> Iterator[Ledger]:
    opened = open_ledger(sqlite_ledger_url, HandClock(parse_instant("2026-03-05T12:20Z")))
    yield opened
    opened.close()


@pytest.fixture
def filled(ledger: Ledger) -> Ledger:
    """Of the four instances from 01:00 on, the second succeeded, the third failed and runs again, the others wait."""
    execution(ledger, "2026-03-05T02:00Z")
    execution(ledger, "2026-03-05T03:00Z", RunStatus.FAILED)
    execution(ledger, "2026-03-05T03:00Z", RunStatus.RUNNING)
    execution(ledger, "2026-03-05T00:00Z", name="daily_job")
    return ledger


def test_an_instance_without_a_run_is_waiting(filled: Ledger) -> None:
    found = instance_status(filled, managed("count_job"), requested(FROM, TO), View())
    assert states(found) == [
        ("2026-03-05T01:00Z", "waiting", 0),
        ("2026-03-05T02:00Z", "succeeded", 1),
        ("2026-03-05T03:00Z", "running", 2),
        ("2026-03-05T04:00Z", "waiting", 0),
    ]


def test_all_attempts_are_shown_when_they_are_asked_for(filled: Ledger) -> None:
    found = instance_status(filled, managed("count_job"), requested("2026-03-05T03:00Z"), View(all_attempts=True))
    assert states(found) == [("2026-03-05T03:00Z", "failed", 1), ("2026-03-05T03:00Z", "running", 2)]


def test_what_waits_can_be_selected_too(filled: Ledger) -> None:
    view = View(statuses=(RunStatus.WAITING, RunStatus.SUCCEEDED), is_descending=True, limit=2)
    found = instance_status(filled, managed("count_job"), requested(FROM, TO), view)
    assert states(found) == [("2026-03-05T04:00Z", "waiting", 0), ("2026-03-05T02:00Z", "succeeded", 1)]


def test_only_what_began_later_can_be_selected(filled: Ledger) -> None:
    at = parse_instant("2026-03-05T12:20Z")
    assert len(instance_status(filled, managed("count_job"), requested(FROM, TO), View(started_after=at)).rows) == 2
    later = parse_instant("2026-03-05T12:21Z")
    assert instance_status(filled, managed("count_job"), requested(FROM, TO), View(started_after=later)).rows == ()


def test_what_has_not_ended_comes_last_in_both_directions(filled: Ledger) -> None:
    for is_descending in (False, True):
        view = View(order=RunOrder.END, is_descending=is_descending)
        found = instance_status(filled, managed("count_job"), requested(FROM, TO), view)
        assert states(found)[0] == ("2026-03-05T02:00Z", "succeeded", 1)


def test_without_a_start_the_newest_come_first(ledger: Ledger) -> None:
    found = instance_status(ledger, managed("count_job"), requested(), View())
    assert [row.instance_key for row in found.rows][:2] == ["2026-03-05T12:00Z", "2026-03-05T11:00Z"]
    assert len(found.rows) == 10
    assert len(instance_status(ledger, managed("count_job"), requested(), View(limit=12)).rows) == 12


def test_a_page_is_a_part_of_the_rows(filled: Ledger) -> None:
    found = instance_status(filled, managed("count_job"), requested(FROM, TO), View(offset=1, limit=2))
    assert [row.instance_key for row in found.rows] == ["2026-03-05T02:00Z", "2026-03-05T03:00Z"]


def test_a_run_that_is_no_planned_instance_any_more_is_shown_all_the_same(ledger: Ledger) -> None:
    execution(ledger, "2026-03-05T01:30Z")
    found = instance_status(ledger, managed("count_job"), requested(FROM, "2026-03-05T02:00Z"), View())
    assert [row.instance_key for row in found.rows] == ["2026-03-05T01:00Z", "2026-03-05T01:30Z"]


def test_copies_from_each_source_are_instances_of_their_own(ledger: Ledger) -> None:
    begun(
        ledger,
        key("2026-03-10T01:00Z", cluster="backup", counterpart="primary", life_cycle=LifeCycle.REPLICATION),
    )
    found = instance_status(ledger, managed("clicks"), requested("2026-03-10T00:00Z", "2026-03-10T02:00Z"), View())
    assert [(row.cluster, row.counterpart, row.status) for row in found.rows] == [
        ("backup", "primary", "waiting"),
        ("backup", "primary", "running"),
    ]


def test_whether_somebody_works_on_it_is_said_of_what_runs(ledger: Ledger) -> None:
    started(ledger, key("2026-03-05T01:00Z", entity="count_job", life_cycle=LifeCycle.EXECUTION))
    execution(ledger, "2026-03-05T02:00Z", RunStatus.RUNNING)
    found = instance_status(ledger, managed("count_job"), requested(FROM, TO), View())
    assert [row.is_owned for row in found.rows] == [True, False, None, None]


def test_evictions_are_those_that_were_recorded(ledger: Ledger) -> None:
    eviction(ledger, "2026-03-05T06:07Z")
    evictions = managed("clicks", LifeCycle.EVICTION)
    assert states(instance_status(ledger, evictions, requested(), View())) == [("2026-03-05T06:07Z", "succeeded", 1)]
    assert instance_status(ledger, evictions, requested("2026-03-06T00:00Z", "2026-03-07T00:00Z"), View()).rows == ()
    with pytest.raises(
        NotRecorded, match=r"no eviction of clicks on primary, backup is recorded for 2026-03-05T06:08Z"
    ):
        instance_status(ledger, evictions, requested("2026-03-05T06:08Z"), View())


def test_running_is_what_runs_now_in_whatever_life_cycle(filled: Ledger) -> None:
    eviction(filled, "2026-03-05T06:07Z", RunStatus.RUNNING)
    found = running_instances(filled, "clicks", ("primary", "backup"), None, View())
    assert [(row.life_cycle, row.instance_key) for row in found.rows] == [("eviction", "2026-03-05T06:07Z")]
    assert running_instances(filled, "clicks", ("primary",), LifeCycle.REPLICATION, View()).rows == ()
    assert running_instances(filled, "clicks", ("backup",), None, View()).rows == ()
    assert states(running_instances(filled, "count_job", ("primary",), None, View())) == [
        ("2026-03-05T03:00Z", "running", 2)
    ]


def test_the_list_of_runs_has_no_waiting_instances(filled: Ledger) -> None:
    found = recorded_instances(filled, managed("count_job"), requested(FROM, TO), View())
    assert states(found) == [("2026-03-05T02:00Z", "succeeded", 1), ("2026-03-05T03:00Z", "running", 2)]


def test_the_list_of_runs_without_a_range_has_the_ten_newest(ledger: Ledger) -> None:
    for hour in range(12):
        eviction(ledger, f"2026-03-05T{hour:02}:00Z")
    found = recorded_instances(ledger, managed("clicks", LifeCycle.EVICTION), requested(), View())
    assert [row.instance_key[11:13] for row in found.rows] == [f"{hour:02}" for hour in range(11, 1, -1)]
    more = recorded_instances(ledger, managed("clicks", LifeCycle.EVICTION), requested(), View(limit=50))
    assert len(more.rows) == 12


def test_a_range_without_an_instance_lists_nothing(filled: Ledger) -> None:
    between = requested("2026-03-05T02:01Z", "2026-03-05T02:59Z")
    assert recorded_instances(filled, managed("count_job"), between, View()).rows == ()
    assert instance_status(filled, managed("count_job"), between, View()).rows == ()


def test_the_summary_counts_what_waits_by_arithmetic(filled: Ledger) -> None:
    (primary,) = instance_summary(filled, managed("count_job"), requested(FROM, "2026-04-01T00:00Z")).clusters
    assert dict(primary.counts) == {
        RunStatus.WAITING: 26 * 24 + 23 - 2,
        RunStatus.RUNNING: 1,
        RunStatus.SUCCEEDED: 1,
    }


def test_the_summary_of_no_range_is_of_all_that_are_due(filled: Ledger) -> None:
    found = instance_summary(filled, managed("daily_job"), requested())
    assert [(each.cluster, dict(each.counts)) for each in found.clusters] == [
        ("primary", {RunStatus.WAITING: 3, RunStatus.SUCCEEDED: 1})
    ]


def test_the_summary_of_evictions_counts_what_was_recorded(ledger: Ledger) -> None:
    eviction(ledger, "2026-03-05T06:07Z")
    found = instance_summary(ledger, managed("clicks", LifeCycle.EVICTION), requested())
    assert [(each.cluster, dict(each.counts)) for each in found.clusters] == [
        ("primary", {RunStatus.SUCCEEDED: 1}),
        ("backup", {}),
    ]

"""Tests of what an instance is made from, and what is made from it."""

from __future__ import annotations

import pytest

from tests.contract.ledger.samples import begun, key
from tests.unit.entities.config_repo import repository
from tests.unit.management.repo import FILES, repo
from tests.unit.management.runs import execution
from toolkit.el import NotAnInstance, parse_instant
from toolkit.entities.repository import Repository
from toolkit.ledger import events
from toolkit.ledger.database import Ledger
from toolkit.ledger.events import NewEvent
from toolkit.ledger.vocabulary import EventKind, LifeCycle
from toolkit.management.dependencies import Dependency, instance_dependencies
from toolkit.management.locations import runnable
from toolkit.planning.process_io import UnusableExpression

REPO = repo()


def found(
    ledger: Ledger, name: str, start: str, cluster: str = "primary", repo: Repository = REPO
) -> tuple[Dependency, ...]:
    entity = runnable(repo, name)
    answer = instance_dependencies(ledger, repo, entity, [cluster], parse_instant(start))
    ((where, dependencies),) = answer.dependencies
    assert where == cluster
    return dependencies


def words(dependencies: tuple[Dependency, ...]) -> list[tuple[str, str, str, str, str]]:
    return [
        (each.relation, each.name, each.through, each.instance_key or each.note, each.state or "")
        for each in dependencies
    ]


def happened(ledger: Ledger, feed: str, instance: str, *kinds: EventKind) -> None:
    new = [NewEvent(kind=kind, feed=feed, cluster="primary", instance_key=instance) for kind in kinds]
    ledger.write(lambda tx: events.append(tx, new))


def test_a_process_instance_has_inputs_and_outputs_with_what_happened_to_them(sqlite_ledger: Ledger) -> None:
    happened(sqlite_ledger, "clicks", "2026-03-05T01:00Z", EventKind.AVAILABLE, EventKind.UPDATED)
    happened(sqlite_ledger, "counts", "2026-03-05T02:00Z", EventKind.AVAILABLE)
    assert words(found(sqlite_ledger, "count_job", "2026-03-05T02:00Z")) == [
        ("input", "clicks", "clicks", "2026-03-05T01:00Z", "updated"),
        ("input", "clicks", "clicks", "2026-03-05T02:00Z", ""),
        ("input", "counts", "newest", "latest(0) to latest(0), by availability", ""),
        ("output", "counts", "counts", "2026-03-05T01:00Z", ""),
    ]


def test_a_feed_instance_has_consumers_with_their_status(sqlite_ledger: Ledger) -> None:
    execution(sqlite_ledger, "2026-03-05T03:00Z")
    copy = key("2026-03-05T02:00Z", cluster="backup", counterpart="primary", life_cycle=LifeCycle.REPLICATION)
    begun(sqlite_ledger, copy)
    assert words(found(sqlite_ledger, "clicks", "2026-03-05T02:00Z")) == [
        ("consumer", "count_job", "clicks", "2026-03-05T02:00Z", "waiting"),
        ("consumer", "count_job", "clicks", "2026-03-05T03:00Z", "succeeded"),
        ("consumer", "daily_job", "clicks", "2026-03-06T00:00Z", "waiting"),
    ]


def test_a_copy_is_the_producer_at_the_target_and_a_consumer_at_the_source(sqlite_ledger: Ledger) -> None:
    instance = "2026-03-21T02:00Z"
    begun(sqlite_ledger, key(instance, cluster="backup", counterpart="primary", life_cycle=LifeCycle.REPLICATION))
    at_target = found(sqlite_ledger, "clicks", instance, "backup")
    assert words(at_target) == [
        ("producer", "clicks", "replication", instance, "running"),
        ("consumer", "daily_job", "clicks", "2026-03-22T00:00Z", "waiting"),
    ]
    assert (at_target[0].cluster, at_target[0].counterpart) == ("backup", "primary")
    assert words(found(sqlite_ledger, "clicks", instance))[-1] == (
        ("consumer", "clicks", "replication", instance, "running")
    )


def test_a_feed_instance_has_its_producer(sqlite_ledger: Ledger) -> None:
    execution(sqlite_ledger, "2026-03-05T03:00Z")
    assert words(found(sqlite_ledger, "counts", "2026-03-05T02:00Z")) == [
        ("producer", "count_job", "counts", "2026-03-05T03:00Z", "succeeded"),
        ("consumer", "count_job", "newest", "whichever find it available", ""),
    ]


def test_an_output_before_the_first_instance_is_said_in_words(sqlite_ledger: Ledger) -> None:
    text = FILES["processes/count_job.yaml"]
    assert text is not None
    early = repository(
        {**FILES, "processes/count_job.yaml": text.replace('now(-1,0)"}\nworkflow', 'now(-9,0)"}\nworkflow')}
    )
    dependencies = found(sqlite_ledger, "count_job", "2026-03-01T01:00Z", repo=early)
    assert words(dependencies)[-1] == ("output", "counts", "counts", "no instance before 2026-03-01T00:00Z", "")


def test_a_time_that_is_no_instance_is_an_error(sqlite_ledger: Ledger) -> None:
    with pytest.raises(NotAnInstance, match="2026-03-05T02:30Z"):
        found(sqlite_ledger, "count_job", "2026-03-05T02:30Z")


MIXED = """
kind: process
name: mixed_job
frequency: hours(1)
clusters:
  - name: primary
    validity: {start: 2026-03-01T00:00Z, end: 2099-01-01T00:00Z}
inputs:
  both: {feed: clicks, start: "now(-1,0)", end: "latest(0)"}
workflow: {engine: command, path: workflows/job.sh}
"""


@pytest.mark.parametrize("name", ["clicks", "mixed_job"])
def test_a_range_that_ends_in_latest_is_told_with_its_process_and_input(sqlite_ledger: Ledger, name: str) -> None:
    files = {**FILES, "processes/mixed_job.yaml": MIXED}
    with pytest.raises(UnusableExpression, match=r"^the input both of mixed_job: .*latest") as error:
        found(sqlite_ledger, name, "2026-03-05T02:00Z", repo=repository(files))
    assert "resolve()" not in str(error.value)

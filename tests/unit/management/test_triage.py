"""Why an instance is not there, down to the causes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import pytest

from tests.contract.ledger.samples import ORIGIN, begun, changed, key
from tests.unit.entities.config_repo import repository
from tests.unit.management.repo import FILES, repo
from tests.unit.management.runs import execution
from tests.unit.planning.entities import cluster, table_feed
from tests.unit.retention.memory import MemoryFileSystem
from toolkit.availability import DataAccess, FeedInstances
from toolkit.el import NotAnInstance, parse_instant
from toolkit.entities.repository import Repository
from toolkit.ledger.database import Ledger
from toolkit.ledger.runs import attempts, status
from toolkit.ledger.state import start_check
from toolkit.ledger.vocabulary import LifeCycle, RunStatus
from toolkit.management.locations import chosen_clusters, runnable
from toolkit.management.triage import MOST, Triage, TriageNode, triage

_NOW = parse_instant("2026-03-25T00:00Z")
_CLICKS, _COUNTS = "/data/clicks/2026/03/05", "/data/counts/2026/03/05"
_OUTSIDE = "nothing in this config repo makes it: it has to come from outside"
_NOT_STARTED = "all that it reads is there, and nothing has started it"


def _data(system: MemoryFileSystem) -> DataAccess:
    return DataAccess(stores=lambda _: system)


@dataclass
class Site:
    """Two clusters with a store each."""

    ledger: Ledger
    repository: Repository = field(default_factory=repo)
    stores: Mapping[str, MemoryFileSystem] = field(
        default_factory=lambda: {"primary": MemoryFileSystem(), "backup": MemoryFileSystem()}
    )

    def look(self, feed: str, on: str) -> FeedInstances:
        return _data(self.stores[on]).instances_of(self.repository.feed(feed), self.repository.cluster(on))

    def triage(self, name: str, time: str, *clusters: str) -> Triage:
        entity = runnable(self.repository, name)
        chosen = chosen_clusters(self.repository, entity, clusters)
        return triage(self.ledger, self.repository, entity, chosen, parse_instant(time), _NOW, self.look)

    def causes(self, name: str, time: str, *clusters: str) -> list[tuple[str, str, str]]:
        """Which instance or run, its state, and why."""
        trees = self.triage(name, time, *clusters).trees
        found = [each for tree in trees for each in tree.causes()]
        return [(f"{each.what.name} {each.what.instance_key}", each.state, each.cause or "") for each in found]


@pytest.fixture
def site(sqlite_ledger: Ledger) -> Site:
    return Site(sqlite_ledger)


def everything(node: TriageNode) -> list[TriageNode]:
    return [node, *(each for need in node.needs for each in everything(need))]


def test_what_is_ready_waits_for_nothing(site: Site) -> None:
    site.stores["primary"].make(f"{_COUNTS}/02")
    (tree,) = site.triage("counts", "2026-03-05T02:00Z").trees
    assert (tree.state, tree.needs, list(tree.causes())) == ("empty", (), [])


def test_the_way_goes_over_the_process_to_the_input_that_is_missing(site: Site) -> None:
    site.stores["primary"].make(f"{_CLICKS}/02")
    (tree,) = site.triage("counts", "2026-03-05T02:00Z").trees
    (job,) = tree.needs
    (clicks,) = job.needs
    assert [(each.what.name, each.what.instance_key, each.state) for each in (tree, job, clicks)] == [
        ("counts", "2026-03-05T02:00Z", "missing"),
        ("count_job", "2026-03-05T03:00Z", "waiting"),
        ("clicks", "2026-03-05T03:00Z", "missing"),
    ]
    assert job.notes == ("clicks: 1 of 2 instances are there",)
    assert [each.cause for each in tree.causes()] == [_OUTSIDE]


def test_with_all_inputs_there_the_cause_is_that_nothing_started_the_process(site: Site) -> None:
    site.stores["primary"].make(f"{_CLICKS}/02", f"{_CLICKS}/03")
    expected = [("count_job 2026-03-05T03:00Z", "waiting", _NOT_STARTED)]
    assert site.causes("count_job", "2026-03-05T03:00Z") == expected
    site.ledger.write(lambda tx: start_check.suspend(tx, "count_job", None, "ada", "the disk is full"))
    ((_, _, why),) = site.causes("count_job", "2026-03-05T03:00Z")
    assert "suspended" in why
    assert "the disk is full" in why


def test_a_failed_run_is_the_cause_with_its_reason_and_log(site: Site) -> None:
    site.stores["primary"].make(f"{_CLICKS}/02", f"{_CLICKS}/03")
    run = execution(site.ledger, "2026-03-05T03:00Z", RunStatus.RUNNING)
    ((_, _, why),) = site.causes("counts", "2026-03-05T02:00Z")
    assert why == "attempt 1 was begun, but its process no longer runs"
    changed(site.ledger, run, RunStatus.FAILED, reason="exit code 3")
    assert site.causes("counts", "2026-03-05T02:00Z") == [
        ("count_job 2026-03-05T03:00Z", "failed", "attempt 1 has failed: exit code 3")
    ]
    (tree,) = site.triage("counts", "2026-03-05T02:00Z").trees
    job = next(tree.causes())
    assert (job.needs, job.run and job.run.log_location) == ((), "/logs/1")


def test_a_run_that_succeeded_and_left_nothing_is_the_cause(site: Site) -> None:
    execution(site.ledger, "2026-03-05T03:00Z")
    ((_, state, why),) = site.causes("counts", "2026-03-05T02:00Z")
    assert (state, why) == ("succeeded", "attempt 1 has succeeded, and what it makes is not ready")
    assert site.causes("count_job", "2026-03-05T03:00Z") == []


@pytest.mark.parametrize("ended", [RunStatus.FAILED, RunStatus.KILLED, RunStatus.TIMED_OUT])
def test_what_has_failed_shows_what_its_next_attempt_would_wait_for(site: Site, ended: RunStatus) -> None:
    execution(site.ledger, "2026-03-05T03:00Z", ended)
    found = site.causes("count_job", "2026-03-05T03:00Z")
    assert [(name, state) for name, state, _ in found] == [
        ("count_job 2026-03-05T03:00Z", ended),
        ("clicks 2026-03-05T02:00Z", "missing"),
        ("clicks 2026-03-05T03:00Z", "missing"),
    ]


def test_a_copy_waits_for_the_instance_at_the_source(site: Site) -> None:
    instance = "2026-03-21T02:00Z"
    (tree,) = site.triage("clicks", instance, "backup").trees
    (copy,) = tree.needs
    (source,) = copy.needs
    assert (copy.what.life_cycle, copy.what.counterpart, source.what.cluster) == ("replication", "primary", "primary")
    assert (source.state, source.cause) == ("missing", _OUTSIDE)
    site.stores["primary"].make("/data/clicks/2026/03/21/02")
    assert site.causes("clicks", instance, "backup") == [("clicks " + instance, "waiting", _NOT_STARTED)]
    run = begun(site.ledger, key(instance, cluster="backup", counterpart="primary", life_cycle=LifeCycle.REPLICATION))
    changed(site.ledger, run, RunStatus.FAILED, reason="no room")
    assert site.causes("clicks", instance, "backup") == [
        ("clicks " + instance, "failed", "attempt 1 has failed: no room")
    ]


def test_what_is_not_due_says_so(site: Site) -> None:
    assert site.causes("clicks", "2026-03-26T00:00Z", "primary") == [
        ("clicks 2026-03-26T00:00Z", "missing", "its time has not come")
    ]
    assert site.causes("count_job", "2026-03-26T00:00Z")[0][2] == "its time has not come"


def test_a_store_that_refuses_is_the_cause_and_not_a_missing_instance(site: Site) -> None:
    site.stores["primary"].make(f"{_CLICKS}/02", f"{_CLICKS}/03")
    site.stores["primary"].locked.add(_CLICKS)
    ((name, state, why),) = site.causes("count_job", "2026-03-05T03:00Z")
    assert (name, state) == ("clicks 2026-03-05T03:00Z", "unknown")
    assert "permission denied" in why


def test_of_many_missing_instances_some_are_shown_and_the_rest_counted(site: Site) -> None:
    (tree,) = site.triage("daily_job", "2026-03-06T00:00Z", "primary").trees
    assert len(tree.needs) == 10
    assert tree.notes == ("clicks: 0 of 24 instances are there", "14 more are not ready, and not shown")


_LOOP = """\
kind: process
name: count_job
frequency: hours(1)
clusters: [{name: primary, validity: {start: 2026-03-01T01:00Z, end: 2026-04-01T00:00Z}}]
inputs:
  before: {feed: counts, start: "now(-3,0)", end: "now(-1,0)"}
  newest: {feed: counts, start: "latest(0)", end: "latest(0)"}
outputs:
  counts: {feed: counts, instance: "now(0,0)"}
workflow: {engine: command, path: count.sh}
"""


def test_a_process_that_reads_what_it_makes_has_an_end(sqlite_ledger: Ledger) -> None:
    files = {**FILES, "processes/count_job.yaml": _LOOP}
    site = Site(sqlite_ledger, repository(files))
    (tree,) = site.triage("counts", "2026-03-20T02:00Z").trees
    nodes = everything(tree)
    again = [each for each in nodes if each.notes == ("see above",)]
    assert 0 < len(again) < len(nodes)
    assert len(nodes) < 5 * MOST
    assert any("too far" in each.notes[0] for each in nodes if each.notes)
    reasons = [note for each in nodes for note in each.notes if note.startswith("newest")]
    assert "latest(0) needs 1 available instances" in reasons[0]


def test_an_input_by_future_waits_for_the_instance_ahead(sqlite_ledger: Ledger) -> None:
    ahead = _LOOP.replace("latest(0)", "future(0,5)").replace(
        '{feed: counts, start: "now', '{feed: clicks, start: "now'
    )
    later = (FILES["feeds/counts.yaml"] or "").replace("2026-03-01", "2026-03-02")
    site = Site(sqlite_ledger, repository({**FILES, "processes/count_job.yaml": ahead, "feeds/counts.yaml": later}))
    site.stores["primary"].make(*(f"/data/clicks/2026/03/01/{hour}" for hour in (18, 19, 20)))
    (tree,) = site.triage("count_job", "2026-03-01T21:00Z").trees
    assert [(each.what.name, each.what.instance_key) for each in tree.needs] == [("counts", "2026-03-02T00:00Z")]


def test_an_attempt_that_found_its_inputs_missing_is_no_cause_itself(site: Site) -> None:
    run = execution(site.ledger, "2026-03-05T03:00Z", RunStatus.RUNNING)
    why = "clicks is not there yet"
    site.ledger.write(lambda tx: status.change(tx, run.run_id, RunStatus.FAILED, reason=why, exit_code=75))
    (tree,) = site.triage("count_job", "2026-03-05T03:00Z").trees
    assert (tree.notes[0], tree.cause, [each.what.name for each in tree.causes()]) == (why, None, ["clicks", "clicks"])


def test_what_a_waiting_run_said_is_told(site: Site) -> None:
    site.stores["primary"].make(f"{_CLICKS}/02", f"{_CLICKS}/03")
    job = key("2026-03-05T03:00Z", entity="count_job", life_cycle=LifeCycle.EXECUTION)
    site.ledger.write(lambda tx: attempts.skip(tx, job, ORIGIN, "another run was at it"))
    (tree,) = site.triage("count_job", "2026-03-05T03:00Z").trees
    assert tree.notes[0] == "another run was at it"


def test_a_table_without_a_metastore_cannot_be_looked_at_and_what_makes_it_can(sqlite_ledger: Ledger) -> None:
    site = Site(sqlite_ledger)
    tables = {"counts": table_feed("counts", "catalog:db:counts#ds=${YEAR}-${MONTH}-${DAY}-${HOUR}")}

    def look(feed: str, on: str) -> FeedInstances:
        return _data(site.stores[on]).instances_of(tables[feed], cluster()) if feed in tables else site.look(feed, on)

    site.stores["primary"].make(f"{_CLICKS}/02", f"{_CLICKS}/03")
    counts, instant = runnable(site.repository, "counts"), parse_instant("2026-03-05T02:00Z")
    found = triage(sqlite_ledger, site.repository, counts, ["primary"], instant, _NOW, look)
    assert found.trees[0].state == "unknown"
    assert [each.what.name for each in found.trees[0].causes()] == ["count_job"]


def test_what_is_no_instance_is_refused(site: Site) -> None:
    with pytest.raises(NotAnInstance):
        site.triage("counts", "2026-03-05T02:30Z")

"""Instances that other runs write stay, and directories above them do not go as a whole; the rest goes."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, replace
from typing import Any

import pytest

from tests.unit.retention.feeds import HOURLY, NOMINAL, FeedText, acted, cluster, context_on, request_of, retention
from tests.unit.retention.memory import AtomicMemory
from tests.unit.retention.tables import BASE, TableSite
from tests.unit.runs.fakes import THEN
from toolkit.actions.action import RunContext
from toolkit.actions.guard import Condition
from toolkit.availability import no_metastore
from toolkit.el import parse_instant
from toolkit.ledger.runs.errors import LeaseHeld
from toolkit.ledger.runs.outputs import HeldOutput, output_resource
from toolkit.ledger.runs.rows import Run
from toolkit.ledger.vocabulary import LifeCycle, RunStatus
from toolkit.retention import RetentionResolver, RetentionResult, SharedDataIndex
from toolkit.retention.shared_tables import SharedTables
from toolkit.runs.output_use import OutputUse
from toolkit.runs.stop import StopSignal

HOUR = "/data/clicks/2026/03/01/{:02}"
_NONE: Any = None
RUN = Run(
    run_id=7, life_cycle=LifeCycle.EXECUTION, entity="make", cluster="primary", counterpart="", who="ada",
    instance_key="2026-03-01T01:00Z", attempt=1, status=RunStatus.RUNNING, suspended_from=None, is_forced=False,
    created_at=THEN, **dict.fromkeys((
        "process_id", "mode", "target_batch_id", "target_marking", "snapshot", "digest", "versions", "host", "pid",
        "owner_mark", "application_id", "log_location", "exit_code", "reason", "started_at", "heartbeat_at", "ended_at",
    ), _NONE),
)  # fmt: skip


@dataclass(frozen=True, kw_only=True)
class Held(OutputUse):
    """A ledger in which one run holds one instance."""

    key: str
    feed: str = "clicks"
    cluster: str = "primary"
    whole: str = ""

    def held(
        self, places: Collection[tuple[str, str]], also: Collection[str] = (), *, instance_key: str = ""
    ) -> list[HeldOutput]:
        del instance_key
        if self.whole in also:
            return [HeldOutput(held=LeaseHeld(resource=self.whole, holder=RUN, since=THEN, until=THEN))]
        if (self.feed, self.cluster) not in places:
            return []
        resource = output_resource(self.feed, self.cluster, self.key)
        held = LeaseHeld(resource=resource, holder=RUN, since=THEN, until=THEN)
        return [HeldOutput(feed=self.feed, cluster=self.cluster, instance_key=self.key, held=held)]


def _run(system: AtomicMemory, use: OutputUse, *others: FeedText) -> RetentionResult:
    feeds = FeedText(data=HOURLY, frequency="hours(1)"), *others
    every = tuple(each.feed() for each in feeds)
    resolver = RetentionResolver(
        nominal_time=parse_instant(NOMINAL),
        keep_beyond_validity=True,
        holds=(),
        storage=lambda _: system,
        shared_data=SharedDataIndex(feeds=every, clusters=(cluster(),)),
    )

    def opened(run: StopSignal, conditions: Sequence[Condition]) -> RunContext:
        return replace(context_on(system, run, conditions), outputs=use)

    return acted(retention(), resolver.resolve([(every[0], cluster())], must_all_work=True), request_of(), opened)


def _left(system: AtomicMemory, hours: Sequence[int]) -> list[int]:
    return [hour for hour in hours if f"{HOUR.format(hour)}/part" in system.files]


@pytest.fixture
def system() -> AtomicMemory:
    memory = AtomicMemory()
    memory.put(*(f"{HOUR.format(hour)}/part" for hour in range(4)))
    return memory


def test_an_instance_in_a_directory_that_should_go_whole_stays(system: AtomicMemory) -> None:
    result = _run(system, Held(key="2026-03-01T01:00Z"))
    assert _left(system, range(4)) == [1]
    (skipped,) = [each for each in result.items if each.code]
    assert (skipped.code, result.exit_code) == ("lease_held", 0)
    assert "run 7 (" in skipped.message


def test_a_directory_in_which_a_new_instance_is_being_written_does_not_go(system: AtomicMemory) -> None:
    """Its instances go one by one: the writer may make its own between the last look and the call."""
    _run(system, Held(key="2026-03-01T09:00Z"))
    assert _left(system, range(4)) == []
    deleted = [each.split()[1] for each in system.effects if each.startswith("delete ")]
    assert sorted(deleted) == [HOUR.format(hour) for hour in range(4)]


@pytest.mark.parametrize("key", ["nonsense", "2026-03-01T00:30Z x"])
def test_a_lease_that_the_repo_knows_nothing_of_keeps_all(system: AtomicMemory, key: str) -> None:
    _run(system, Held(key=key))
    assert _left(system, range(4)) == [0, 1, 2, 3]


def test_a_writer_of_a_feed_that_shares_the_data_counts(system: AtomicMemory) -> None:
    daily = FeedText(name="daily", data=HOURLY.removesuffix("/${HOUR}"))
    _run(system, Held(key="2026-03-01T00:00Z", feed="daily"), daily)
    assert _left(system, range(4)) == [0, 1, 2, 3]


_IN_TABLE = f"{BASE}/ds=${{YEAR}}-${{MONTH}}-${{DAY}}"
"""The template of a path feed whose instances are the partitions of the table."""


def _beside_table(use: OutputUse, *, drops: bool = False, location: str = "") -> TableSite:
    """Retention of a path feed in a table's directory, or of the table, while another run writes."""
    files = FeedText(name="files", data=_IN_TABLE).feed()
    site = TableSite(text=FeedText(name="table"), others=(files,), outputs=use)
    site.add_days("01", "02")
    if location:
        site.metastore.drop_partitions(site.table.name, ["ds=2026-03-01"])
        site.add("2026-03-01", location=location)
    if drops:
        site.run()
        return site
    targets = site.resolver().resolve([(files, site.cluster)], must_all_work=True)
    acted(retention(), targets, request_of(), _opening(site, use))
    return site


def _opening(site: TableSite, use: OutputUse) -> Callable[[StopSignal, Sequence[Condition]], RunContext]:
    return lambda run, conditions: replace(context_on(site.system, run, conditions), outputs=use)


@pytest.mark.parametrize(
    ("use", "left"),
    [
        (Held(key="2026-03-01T00:00Z", feed="table"), ["ds=2026-03-01"]),
        (Held(key="2026-03-19T00:00Z", feed="table"), []),
        (Held(key="x", whole="table/primary/logs.clicks"), ["ds=2026-03-01", "ds=2026-03-02"]),
        (Held(key="nonsense", feed="table"), ["ds=2026-03-01", "ds=2026-03-02"]),
    ],
)
def test_what_a_run_writes_into_a_table_stays_for_a_path_feed_in_its_directory(use: Held, left: list[str]) -> None:
    assert _beside_table(use).directories == left


def test_a_partition_that_a_run_writes_is_found_by_its_location() -> None:
    use = Held(key="2026-03-01T00:00Z", feed="table")
    site = _beside_table(use, location=f"{BASE}/ds=2026-03-02/again")
    assert site.directories == ["ds=2026-03-01", "ds=2026-03-02", "ds=2026-03-02/again"]


def test_a_metastore_that_does_not_answer_keeps_all_while_a_run_writes_a_table() -> None:
    use = Held(key="2026-03-01T00:00Z", feed="table")
    site = TableSite(text=FeedText(name="table"), outputs=use)
    site.add_days("01", "02")
    files = FeedText(name="files", data=_IN_TABLE).feed()
    resolver = replace(site.resolver(), metastore=no_metastore, shared_data=SharedDataIndex(feeds=(files,)))
    targets = resolver.resolve([(files, site.cluster)], must_all_work=True)
    result = acted(retention(), targets, request_of(), _opening(site, use))
    assert {each.code for each in result.items} == {"lease_held"}
    assert site.directories == ["ds=2026-03-01", "ds=2026-03-02"]


def test_what_a_run_writes_for_a_path_feed_stays_for_the_table_around_it() -> None:
    site = _beside_table(Held(key="2026-03-01T00:00Z", feed="files"), drops=True)
    assert (site.directories, site.names) == (["ds=2026-03-01"], ["ds=2026-03-01"])


@pytest.mark.parametrize(
    ("use", "left"),
    [
        (Held(key="x", cluster="none", whole="table/backup/logs.clicks"), ["ds=2026-03-01", "ds=2026-03-02"]),
        (Held(key="x", cluster="none", whole="database/backup/logs"), ["ds=2026-03-01", "ds=2026-03-02"]),
        (Held(key="2026-03-01T00:00Z", feed="clicks", cluster="backup"), ["ds=2026-03-01"]),
    ],
)
def test_a_writer_on_another_cluster_of_the_same_metastore_counts(use: Held, left: list[str]) -> None:
    site = TableSite(outputs=use)
    site.add_days("01", "02")
    (on_primary,) = site.feed.clusters
    feed = replace(site.feed, clusters=(on_primary, replace(on_primary, name="backup")))
    clusters = (site.cluster, replace(site.cluster, name="backup"))
    resolver = replace(
        site.resolver(),
        shared_tables=SharedTables(feeds=(feed,), clusters=clusters),
        shared_data=SharedDataIndex(feeds=(feed,), clusters=clusters),
    )
    targets = resolver.resolve([(feed, site.cluster)], must_all_work=True)
    acted(retention(), targets, request_of(), _opening(site, use))
    assert (site.directories, site.names) == (left, left)

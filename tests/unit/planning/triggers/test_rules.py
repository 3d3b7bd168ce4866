"""Triggers of processes, compiled: datasets of entries, and the process instances that read an updated instance."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from types import SimpleNamespace
from typing import cast

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.examples import share_of
from tests.unit.planning.entities import cluster, path_feed, process, table_feed, validity
from toolkit.el import Frequency, format_instant, parse_instant
from toolkit.entities import Cluster, Feed, FeedCluster, Input, Order, Process, ProcessCluster, Repository
from toolkit.entities.trigger import Dataset, Trigger, TriggerCondition, TriggerEntry
from toolkit.entities.trigger_vocabulary import GroupBy, ScheduleMode
from toolkit.planning.process_io import ProcessSite, UnusableExpression
from toolkit.planning.trigger_rules import InstanceReaders, TriggerRules
from toolkit.planning.triggers import CompiledEntry, TriggerRule, Update

NOMINAL = parse_instant("2026-03-29T12:00Z")
CLICKS = path_feed("clicks", "/data/clicks/${YEAR}-${MONTH}-${DAY}-${HOUR}")
ORDERS = replace(path_feed("orders", "/data/orders/${YEAR}-${MONTH}-${DAY}", "days(1)"), groups=("sales",))
REFUNDS = replace(table_feed("refunds", "catalog:shop:refunds#ds=${YEAR}-${MONTH}-${DAY}"), groups=("sales",))
DAILY = process({"in": Input(feed="clicks", start="yesterday(0,0)", end="now(0,0)")}, frequency="days(1)")


@dataclass(frozen=True)
class _Repository:
    feeds: dict[str, Feed]
    datasets: dict[str, Dataset] = field(default_factory=dict)
    clusters: dict[str, Cluster] = field(default_factory=lambda: {"primary": cluster()})
    processes: dict[str, Process] = field(default_factory=dict)

    @property
    def settings(self) -> SimpleNamespace:
        return SimpleNamespace(datasets=tuple(self.datasets.values()))


def repository(*datasets: Dataset) -> Repository:
    feeds = {each.name: each for each in (CLICKS, ORDERS, REFUNDS)}
    return cast("Repository", _Repository(feeds, {each.uri: each for each in datasets}))


def compiled(
    *entries: str | TriggerEntry, of: Process = DAILY, by: GroupBy | None = None, datasets: Sequence[Dataset] = ()
) -> TriggerRule:
    parts = tuple(TriggerEntry(name=each) if isinstance(each, str) else each for each in entries)
    trigger = Trigger(condition=TriggerCondition(all=parts), by=by)
    site = ProcessSite(process=of, cluster=cluster(), feeds={"clicks": CLICKS})
    return TriggerRules(repository(*datasets), NOMINAL).rule(site, trigger)


def update(dataset: str, key: str = "", kind: str = "available", **partition: str) -> Update:
    uri = dataset if any(each in dataset for each in ":/") else f"feedctl:feed/{dataset}?cluster=primary"
    return Update(
        sequence=1, dataset=uri, feed="", instance_key=key, kind=kind, recorded_at=NOMINAL, partition=partition
    )


def only(rule: TriggerRule) -> CompiledEntry:
    (entry,) = rule.entries()
    return entry


@pytest.mark.parametrize(
    ("entry", "matching", "others"),
    [
        ("in", ["clicks"], ["orders"]),
        ("orders", ["orders"], ["clicks", "feedctl:feed/orders?cluster=backup"]),
        (TriggerEntry(feed="orders", cluster="backup"), ["feedctl:feed/orders?cluster=backup"], ["orders"]),
        ("sales", ["orders", "refunds"], ["clicks"]),
        ("s3a://B/x/", ["s3://b/x"], ["s3://b/x/y"]),
        ("s3://b/x/*", ["s3://b/x/y"], ["s3://b/z"]),
        ("file:///data/clicks", ["clicks", "file:///data/clicks"], ["orders"]),
        ("file:///data/*", ["clicks", "orders", "file:///data/other"], ["refunds"]),
        ("hive://localhost:29083/shop/*", ["refunds"], ["orders"]),
        ("feedctl:feed/orders?cluster=primary", ["orders"], ["clicks"]),
    ],
)
def test_an_entry_matches_its_datasets(
    entry: str | TriggerEntry, matching: Sequence[str], others: Sequence[str]
) -> None:
    found = only(compiled(entry))
    assert [each for each in (*matching, *others) if found.matches(update(each))] == matching
    if found.datasets is not None:
        assert found.datasets >= {update(each).dataset for each in matching}


def test_only_a_glob_can_match_any_dataset() -> None:
    assert only(compiled("s3://b/*")).datasets is None
    assert only(compiled("in")).datasets == frozenset({"feedctl:feed/clicks?cluster=primary"})


def test_a_group_has_the_feeds_that_are_on_the_cluster() -> None:
    assert only(compiled(TriggerEntry(group="sales", cluster="backup"))).datasets == frozenset()


@pytest.mark.parametrize(("kind", "is_read"), [("available", False), ("retracted", True)])
def test_a_partition_filters_updates_and_no_retraction(kind: str, is_read: bool) -> None:  # noqa: FBT001
    entry = only(compiled(TriggerEntry(feed="orders", partition={"region": "us"})))
    assert entry.matches(update("orders", region="us", day="1"))
    assert entry.matches(update("orders", kind=kind, region="in")) is is_read


@pytest.mark.parametrize(
    ("entries", "by"),
    [(["in", "orders", "sales"], GroupBy.KEY), (["in", "s3://b/x"], GroupBy.ANY_UPDATE)],
)
def test_a_trigger_is_by_key_where_all_entries_are_feeds(entries: list[str], by: GroupBy) -> None:
    assert compiled(*entries).by is by
    assert compiled(*entries, by=GroupBy.KEY).by is GroupBy.KEY


def test_the_order_is_that_of_the_process_unless_the_trigger_has_one() -> None:
    assert compiled("in", of=replace(DAILY, order=Order.LIFO)).order is Order.LIFO


def test_schedule_and_waits_for_the_time_of_the_instance() -> None:
    waits = compiled("in", of=replace(DAILY, schedule=ScheduleMode.AND))
    assert (waits.may_run("2026-03-29T12:00Z"), waits.may_run("2026-03-29T12:01Z")) == (True, False)
    assert compiled("in", of=replace(DAILY, schedule=ScheduleMode.NEVER)).may_run("2026-03-29T12:01Z")


def test_a_process_is_valid_from_its_start_to_before_its_end_on_the_cluster() -> None:
    validity = DAILY.cluster("primary").validity
    is_valid_at = compiled("in").is_valid_at
    moment = timedelta(microseconds=1)
    at = (validity.start - moment, validity.start, validity.end - moment, validity.end)
    assert [is_valid_at(each) for each in at] == [False, True, True, False]


def test_the_next_instance_follows() -> None:
    follows = compiled("in").follows
    assert follows("2026-03-01T00:40Z", "2026-03-02T00:40Z")
    assert not follows("2026-03-01T00:40Z", "2026-03-03T00:40Z")


def test_expiry_is_that_of_the_datasets_that_the_trigger_names() -> None:
    hours, days = Frequency.parse("hours(3)"), Frequency.parse("days(2)")
    known = [Dataset(uri="s3://b/x", expires=hours), Dataset(uri="s3://c/x", expires=days), Dataset(uri="s3://b/y")]
    assert compiled("s3://b/*", datasets=known).expires == {"s3://b/x": timedelta(hours=3)}


def test_a_month_of_valid_for_is_one_of_the_calendar() -> None:
    trigger = Trigger(
        condition=TriggerCondition(all=(TriggerEntry(name="in"),)), valid_for=Frequency.parse("months(1)")
    )
    site = ProcessSite(process=DAILY, cluster=cluster(), feeds={"clicks": CLICKS})
    assert TriggerRules(repository(), NOMINAL).rule(site, trigger).valid_for == timedelta(days=29)


def keys(entry: str | TriggerEntry, dataset: str, key: str, of: Process = DAILY) -> Sequence[str]:
    return list(only(compiled(entry, of=of, by=GroupBy.KEY)).keys(update(dataset, key)))


def test_an_instance_is_read_by_each_process_instance_whose_input_contains_it() -> None:
    assert keys("in", "clicks", "2026-03-05T00:00Z") == ["2026-03-05T00:40Z", "2026-03-06T00:40Z"]
    assert keys("in", "clicks", "2026-03-05T01:00Z") == ["2026-03-06T00:40Z"]


def test_a_feed_that_inputs_read_belongs_to_their_instances_however_the_entry_names_it() -> None:
    two = process(
        {
            "in": Input(feed="clicks", start="today(0,0)", end="today(0,0)"),
            "before": Input(feed="clicks", start="yesterday(0,0)", end="yesterday(0,0)", optional=True),
        },
        frequency="days(1)",
    )
    both = ["2026-03-05T00:40Z", "2026-03-06T00:40Z"]
    for entry in ("clicks", "file:///data/clicks", "file:///data/*"):
        assert keys(entry, "clicks", "2026-03-05T00:00Z", two) == both
    assert keys("before", "clicks", "2026-03-05T00:00Z", two) == both[1:]


@pytest.mark.parametrize(
    ("dataset", "key", "expected"),
    [
        ("orders", "2026-03-05T00:00Z", ["2026-03-04T00:40Z"]),
        ("s3://b/x", "2026-03-05T00:40Z", ["2026-03-05T00:40Z"]),
        ("s3://b/x", "2026-03-05T00:39Z", ["2026-03-04T00:40Z"]),
        ("s3://b/x", "2011-03-05T00:00Z", []),
        ("s3://b/x", "2030-01-01T00:00Z", []),
        ("s3://b/x", "part-7", []),
        ("orders", "2026-03-05T00:01Z", []),
        ("unknown", "2026-03-05T00:00Z", []),
        ("feedctl:feed/orders?cluster=backup", "2026-03-05T00:00Z", []),
    ],
)
def test_other_data_belongs_to_the_process_instance_in_whose_period_it_lies(
    dataset: str, key: str, expected: list[str]
) -> None:
    assert keys("*", dataset, key) == expected


def test_what_latest_counts_belongs_to_the_process_instance_in_whose_period_it_lies() -> None:
    newest = process({"in": Input(feed="clicks", start="latest(-3)", end="latest(0)")}, frequency="days(1)")
    assert keys("in", "clicks", "2026-03-05T05:00Z", newest) == ["2026-03-05T00:40Z"]


EXPRESSIONS = st.one_of(
    st.builds("now({},{})".format, st.integers(-30, 5), st.sampled_from([0, 0, 30])),
    st.builds("today({},{})".format, st.integers(-5, 26), st.just(0)),
    st.builds("yesterday({},{})".format, st.integers(0, 24), st.just(0)),
    st.builds("currentWeek({},{},{})".format, st.sampled_from(["MON", "SUN"]), st.integers(-30, 30), st.just(0)),
    st.builds("currentMonth({},{},{})".format, st.integers(0, 3), st.integers(0, 30), st.just(0)),
    st.builds("lastMonth({},{},{})".format, st.integers(0, 3), st.integers(0, 30), st.just(0)),
)
NEAR_CHANGES = st.sampled_from(["2026-03-07T", "2026-03-28T", "2026-10-24T", "2026-10-31T", "2026-01-31T"])
"""Days before clocks change in America, Europe and Australia, and the last of a month."""
ZONES = st.sampled_from(["UTC", "America/New_York", "Europe/Berlin", "Australia/Lord_Howe", "Asia/Kolkata"])
CLOCK_TIMES = st.sampled_from(["00:00Z", "02:30Z", "05:40Z", "22:00Z"])


@st.composite
def sites(draw: st.DrawFn) -> tuple[ProcessSite, Feed]:
    """Return a process with some dozens of instances around a change of clocks, and the feed that it reads."""
    begin = parse_instant(draw(NEAR_CHANGES) + draw(CLOCK_TIMES))
    frequency = Frequency.parse(draw(st.sampled_from(["hours(1)", "hours(5)", "days(1)", "months(1)"])))
    length = timedelta(days=3 if frequency.elapsed else 1000 if "month" in str(frequency) else 40)
    feed_start = begin - timedelta(days=draw(st.sampled_from([0, 2, 200])), minutes=draw(st.sampled_from([0, 90])))
    feed = replace(
        path_feed("clicks", "/d/${YEAR}-${MONTH}-${DAY}-${HOUR}"),
        frequency=Frequency.parse(draw(st.sampled_from(["hours(1)", "hours(7)", "days(1)", "months(1)"]))),
        timezone=draw(ZONES),
        clusters=(FeedCluster(name="primary", validity=validity(format_instant(feed_start), "2029-01-01T00:00Z")),),
    )
    read = Input(feed="clicks", start=draw(EXPRESSIONS), end=draw(EXPRESSIONS), optional=draw(st.booleans()))
    there = ProcessCluster(name="primary", validity=validity(format_instant(begin), format_instant(begin + length)))
    reader = replace(process({"in": read}, timezone=draw(ZONES)), frequency=frequency, clusters=(there,))
    return ProcessSite(process=reader, cluster=cluster(), feeds={"clicks": feed}), feed


@settings(max_examples=share_of(150), deadline=None)
@given(sites())
def test_an_update_belongs_to_exactly_the_process_instances_that_resolve_to_it(drawn: tuple[ProcessSite, Feed]) -> None:
    site, feed = drawn
    readers: dict[datetime, list[str]] = defaultdict(list)
    unresolved = set()
    for run in site.process.instances_on("primary"):
        try:
            instances = site.input("in", run).instances
        except UnusableExpression:  # its range ends before it starts: no run can read it
            unresolved.add(format_instant(run))
            continue
        for each in instances:
            readers[each.instant].append(format_instant(run))
    inverse = InstanceReaders(repository=cast("Repository", _Repository({"clicks": feed})), site=site)
    grid = feed.instances_on("primary")
    around = {each for run in list(readers)[:3] + list(readers)[-3:] for each in _beside(grid.index(run), len(grid))}
    for instant in {*readers, *(grid[position] for position in around), grid[0]}:
        found = inverse.keys(update("clicks", format_instant(instant)))
        assert [each for each in found if each not in unresolved] == readers.get(instant, [])


def _beside(position: int, length: int) -> Sequence[int]:
    return range(max(position - 2, 0), min(position + 3, length))

"""Feeds in one directory tree: what goes for one is gone for the other, so that its holds count and it is named."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

import pytest

from tests.unit.retention.feeds import DAILY, NOMINAL, FeedText, cluster
from tests.unit.retention.memory import MemoryFileSystem
from toolkit.el import CanonicalPath, parse_instant
from toolkit.entities import Hold
from toolkit.planning.delete_limits import DeleteLimits
from toolkit.retention import Neighbourhood, Resolver
from toolkit.retention.plan import FeedPlan
from toolkit.retention.planner import Planner
from toolkit.storage import FileSystem

NOTE = "feed other shares this data and loses what goes here, whatever its own retention; its holds count"


def _plan(system: MemoryFileSystem, other: FeedText, holds: Iterable[Hold] = ()) -> FeedPlan:
    """The plan for the feed clicks of a repo that has another feed as well."""

    def storage(_: CanonicalPath) -> FileSystem:
        return system

    clicks = FeedText().feed()
    resolver = Resolver(
        nominal_time=parse_instant(NOMINAL),
        keep_beyond_validity=True,
        holds=tuple(holds),
        storage=storage,
        neighbourhood=Neighbourhood(feeds=(clicks, other.feed())),
    )
    resolved = resolver.resolve([(clicks, cluster())], must_all_work=True)
    planner = Planner(storage=storage, check=lambda: None)
    (plan,) = planner.plan(resolved.targets, resolved.settled, DeleteLimits(instances=10)).feeds
    return plan


def _system() -> MemoryFileSystem:
    system = MemoryFileSystem()
    system.put("/data/clicks/2026/03/01/part", "/data/clicks/2026/03/02/part")
    return system


def _other(data: str) -> FeedText:
    return FeedText(name="other", data=data, frequency="hours(1)", limit="days(90)")


@pytest.mark.parametrize(
    "data",
    [
        DAILY,
        "file:///data/clicks/${YEAR}/${MONTH}/${DAY}/",
        "/data/clicks/${YEAR}/${MONTH}/${DAY}/inner/${HOUR}",
        "/data/clicks/${YEAR}/${MONTH}/${DAY}/${region}/${HOUR}",
        "/data/${name}/${YEAR}/${MONTH}/${DAY}",
        "/${root}/clicks/${YEAR}/${MONTH}",
    ],
)
def test_a_feed_that_shares_instances_is_named_and_its_holds_count(data: str) -> None:
    hold = Hold(
        feed="other", start=parse_instant("2026-03-01T05:00Z"), end=parse_instant("2026-03-01T06:00Z"), reason="x"
    )
    plan = _plan(_system(), _other(data), [hold, Hold(feed="other", cluster="backup", reason="elsewhere")])
    assert plan.notes == (NOTE,)
    assert [item.path.name for item in plan.items] == ["02"]
    assert [(kept.candidate.path.name, kept.detail) for kept in plan.kept] == [("01", "hold of feed other: x")]


def test_a_hold_file_in_the_base_of_such_a_feed_counts() -> None:
    system = _system()
    system.put("/data/clicks/2026/.feedctl-hold")
    other = _other("/data/clicks/2026/${MONTH}/${DAY}/${YEAR}")
    assert _plan(system, other).is_held


@pytest.mark.parametrize(
    "data",
    [
        "/data/clicks_stats/${YEAR}/${MONTH}/${DAY}",
        "/data/clicks/stats/${YEAR}/${MONTH}/${DAY}",
        "/data/clicks/x-${YEAR}",
        "/data/${YEAR}/${MONTH}/${DAY}",
        "/elsewhere/${YEAR}/${MONTH}/${DAY}",
    ],
)
def test_a_feed_beside_or_around_the_instances_is_no_neighbour(data: str) -> None:
    plan = _plan(_system(), _other(data), [Hold(feed="other", reason="x")])
    assert (plan.notes, len(plan.items)) == ((), 2)


def test_a_repo_of_one_feed_has_no_neighbours() -> None:
    plan = _plan(_system(), FeedText())
    assert (plan.notes, len(plan.items)) == ((), 2)


def test_a_name_node_and_its_name_service_are_one_place() -> None:
    conf = {"dfs.nameservices": "ns1", "dfs.namenode.rpc-address.ns1": "nn1:8020"}
    on = replace(cluster(default_fs="hdfs://ns1"), hadoop_conf=conf)
    clicks, other = FeedText().feed(), _other(f"hdfs://nn1:8020{DAILY}").feed()
    (found,) = Neighbourhood(feeds=(clicks, other)).of(clicks, on)
    assert (found.feed, str(found.location.base)) == ("other", "hdfs://ns1/data/clicks")
    assert Neighbourhood(feeds=(clicks, other)).of(clicks, cluster(default_fs="hdfs://ns1")) == ()

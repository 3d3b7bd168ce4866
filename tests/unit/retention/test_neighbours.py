"""Feeds in one directory tree: what goes for one is gone for the other, so that its holds count and it is named."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

import pytest

from tests.unit.retention.feeds import DAILY, NOMINAL, FeedText, cluster
from tests.unit.retention.memory import MemoryFileSystem
from toolkit.el import CanonicalPath, parse_instant
from toolkit.entities import Feed, Hold
from toolkit.planning.delete_limits import Excess
from toolkit.retention import RetentionResolver, SharedDataIndex
from toolkit.retention.plan import FeedPlan
from toolkit.retention.planner import RetentionPlanner, TooMuchOfFeed
from toolkit.retention.targets import FeedTarget
from toolkit.storage import FileSystem

NOTE = "feed other shares this data and loses what goes here, whatever its own retention; its holds count"


def _plan(system: MemoryFileSystem, other: FeedText, holds: Iterable[Hold] = ()) -> FeedPlan:
    """The plan for the feed clicks of a repo that has another feed as well."""

    def storage(_: CanonicalPath) -> FileSystem:
        return system

    clicks = FeedText(shares=("other",)).feed()
    resolver = RetentionResolver(
        nominal_time=parse_instant(NOMINAL),
        keep_beyond_validity=True,
        holds=tuple(holds),
        storage=storage,
        shared_data=SharedDataIndex(feeds=(clicks, other.feed()), clusters=(cluster(),)),
    )
    (target,) = resolver.resolve([(clicks, cluster())], must_all_work=True).to_do
    return RetentionPlanner(storage=storage, check=lambda: None).plan(target)


def _system() -> MemoryFileSystem:
    system = MemoryFileSystem()
    system.put("/data/clicks/2026/03/01/part", "/data/clicks/2026/03/02/part")
    return system


def _other(data: str) -> FeedText:
    return FeedText(name="other", data=data, frequency="hours(1)", limit="days(90)", shares=("clicks",))


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
    assert [(kept.candidate.path.name, kept.detail) for kept in plan.detail.kept] == [("01", "hold of feed other: x")]


def test_a_hold_file_in_the_base_of_such_a_feed_counts() -> None:
    system = _system()
    system.put("/data/clicks/2026/.feedctl-hold")
    other = _other("/data/clicks/2026/${MONTH}/${DAY}/${YEAR}")
    assert _plan(system, other).detail.hold_file is not None


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
    (found,) = SharedDataIndex(feeds=(clicks, other), clusters=(on,)).of(clicks, on)
    assert (found.feed, str(found.location.base)) == ("other", "hdfs://ns1/data/clicks")
    ignorant = cluster(default_fs="hdfs://ns1")
    assert SharedDataIndex(feeds=(clicks, other), clusters=(ignorant,)).of(clicks, ignorant) == ()


def _on_both(feed: Feed) -> Feed:
    """Also on a cluster that is on the same store."""
    return replace(feed, clusters=(*feed.clusters, replace(feed.clusters[0], name="adhoc")))


def _resolved(feeds: tuple[Feed, ...], *holds: Hold) -> FeedTarget:
    """The first of the feeds on the cluster primary; the cluster adhoc is on the same store."""
    resolver = RetentionResolver(
        nominal_time=parse_instant(NOMINAL),
        keep_beyond_validity=True,
        holds=holds,
        storage=lambda _: MemoryFileSystem(),
        shared_data=SharedDataIndex(feeds=feeds, clusters=(cluster(), replace(cluster(), name="adhoc"))),
    )
    (target,) = resolver.resolve([(feeds[0], cluster())], must_all_work=True).to_do
    return target


def test_a_hold_of_the_same_feed_on_another_cluster_of_one_store_counts() -> None:
    target = _resolved((_on_both(FeedText().feed()),), Hold(feed="clicks", cluster="adhoc", reason="audit"))
    assert target.neighbours == (("clicks", "adhoc"),)
    assert [hold.reason for hold in target.policy.holds] == ["hold of feed clicks on adhoc: audit"]
    assert target.notes == (NOTE.replace("other", "clicks on adhoc"),)
    assert [str(base) for base in target.neighbour_bases] == ["file:///data/clicks"]


def test_a_hold_of_another_feed_on_another_cluster_of_one_store_counts() -> None:
    on_both = _on_both(_other(DAILY).feed())
    other = replace(on_both, clusters=on_both.clusters[1:])
    target = _resolved((FeedText(shares=("other",)).feed(), other), Hold(feed="other", reason="audit"))
    assert target.neighbours == (("other", "adhoc"),)
    assert [hold.reason for hold in target.policy.holds] == ["hold of feed other on adhoc: audit"]


def test_a_hold_on_both_clusters_counts_once() -> None:
    target = _resolved((_on_both(FeedText().feed()),), Hold(feed="clicks", reason="audit"))
    assert [hold.reason for hold in target.policy.holds] == ["audit"]


def test_a_refusal_says_that_a_neighbour_is_not_refused_with_it() -> None:
    target = _plan(_system(), _other(DAILY)).target
    excess = Excess(limit="max_delete.instances", allowed="1", found="2 instances", by_feed={})
    shared = "touched by its own retention, but other on primary shares its data and has a limit of its own. Look"
    assert shared in str(TooMuchOfFeed(excess=excess, place="clicks", target=target, digest="0"))
    alone = replace(target, neighbours=())
    assert "nothing of this feed was touched. Look" in str(
        TooMuchOfFeed(excess=excess, place="clicks", target=alone, digest="0")
    )

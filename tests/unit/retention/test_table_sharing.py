"""Feeds on one table: they are found however the metastore is written, and a partition of both counts once."""

from __future__ import annotations

from dataclasses import replace
from functools import partial

import pytest

from tests.unit.retention.feeds import FeedText, acted, cluster, context_on, request_of, retention
from tests.unit.retention.tables import DS, TableSite
from tests.unit.runs.fakes import MemoryRecorder
from toolkit.entities import Cluster, Feed, Interface
from toolkit.planning.delete_limits import DeleteLimits
from toolkit.retention import RetentionResult
from toolkit.retention.shared_tables import SharedTables

_CLICKS: Feed = replace(FeedText().feed(), locations=None, table=DS)


def _with_registry(name: str, endpoint: str) -> Cluster:
    on = cluster()
    return replace(on, name=name, interfaces=replace(on.interfaces, registry=Interface(endpoint=endpoint)))


@pytest.mark.parametrize(
    ("endpoint", "is_one"),
    [
        ("thrift://ms1:9083,thrift://ms2:9083", True),
        ("thrift://ms2:9083,thrift://MS1:9083", True),
        ("thrift://ms3:9083, thrift://ms2", True),
        ("THRIFT://ms1/", True),
        ("thrift://ms1:9084", False),
        ("thrift://ms3:9083", False),
    ],
)
def test_a_metastore_is_one_when_a_server_is_in_both_lists(endpoint: str, *, is_one: bool) -> None:
    primary, second = (
        _with_registry("primary", "thrift://ms1:9083,thrift://ms2:9083"),
        _with_registry("second", endpoint),
    )
    other = replace(_CLICKS, name="other", clusters=(replace(_CLICKS.clusters[0], name="second"),))
    shared = SharedTables(feeds=(_CLICKS, other), clusters=(primary, second))
    assert shared.of(_CLICKS, primary) == ((("other", "second"),) if is_one else ())


def _ran(site: TableSite, other: Feed, limits: DeleteLimits) -> RetentionResult:
    return acted(
        retention(limits=limits),
        site.resolver().resolve([(site.feed, site.cluster), (other, site.cluster)], must_all_work=True),
        request_of(),
        partial(context_on, site.system),
        recorder=MemoryRecorder(),
    )


def _on_one_table(limit: str) -> tuple[TableSite, Feed]:
    other = replace(FeedText(name="other", limit=limit, shares=("clicks",)).feed(), locations=None, table=DS)
    return TableSite(others=(other,), text=FeedText(shares=("other",))), other


def test_what_goes_for_one_feed_is_not_kept_by_another_one_on_the_table() -> None:
    site, other = _on_one_table("days(1000)")
    site.add_days("01", "02", "03")
    assert _ran(site, other, DeleteLimits(fraction=0.5)).exit_code == 3
    assert len(site.names) == 3


def test_a_partition_that_two_feeds_keep_counts_once() -> None:
    site, other = _on_one_table("days(1000)")
    site.add_days("01", "02", "20", "21")
    assert _ran(site, other, DeleteLimits(fraction=0.45)).exit_code == 3
    assert _ran(site, other, DeleteLimits(fraction=0.5)).exit_code == 0
    assert site.names == ["ds=2026-03-20", "ds=2026-03-21"]


def test_a_partition_that_goes_for_two_feeds_counts_once() -> None:
    site, other = _on_one_table("days(10)")
    site.add_days("01", "02", "20")
    assert _ran(site, other, DeleteLimits(instances=2)).exit_code in {0, 4}
    assert site.names == ["ds=2026-03-20"]

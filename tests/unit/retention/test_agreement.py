"""Feeds that share data and keep it for different times: no run evicts them, unless each says that it shares it."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tests.unit.retention.feeds import DAILY, NOMINAL, FeedText, cluster
from tests.unit.retention.memory import MemoryFileSystem
from tests.unit.retention.tables import DS
from toolkit.el import parse_instant
from toolkit.entities import ExpiryAction, Feed
from toolkit.retention import RetentionResolver, SharedDataIndex
from toolkit.retention.agreement import ConflictingRetention
from toolkit.retention.resolve import FeedTargets
from toolkit.retention.shared_tables import SharedTables


def _resolved(*feeds: Feed, must_all_work: bool = True) -> FeedTargets:
    """The first of the feeds; the others are not what the run is about."""
    resolver = RetentionResolver(
        nominal_time=parse_instant(NOMINAL),
        keep_beyond_validity=True,
        holds=(),
        storage=lambda _: MemoryFileSystem(),
        shared_data=SharedDataIndex(feeds=feeds, clusters=(cluster(),)),
        shared_tables=SharedTables(feeds=feeds, clusters=(cluster(),)),
    )
    return resolver.resolve([(feeds[0], cluster())], must_all_work=must_all_work)


def _all(data: str = "/data/*/${YEAR}/${MONTH}/${DAY}", *, shares: tuple[str, ...] = ()) -> Feed:
    return FeedText(name="all", data=data, limit="days(3)", shares=shares).feed()


@pytest.mark.parametrize(
    "data",
    [
        "/data/*/${YEAR}/${MONTH}/${DAY}",
        "/data/${any}/${YEAR}/${MONTH}/${DAY}",
        "/data/cl*/${YEAR}/${MONTH}/${DAY}",
        "/data/clicks/${YEAR}/${MONTH}",
        "/data/clicks/${YEAR}/${MONTH}/${DAY}/parts-${HOUR}",
        "/*/clicks/${YEAR}/${MONTH}/${DAY}",
    ],
)
@pytest.mark.parametrize("limit", ["days(10)", None])
def test_a_feed_that_deletes_what_another_one_keeps_is_refused_and_named(data: str, limit: str | None) -> None:
    clicks = FeedText(limit=limit).feed()
    with pytest.raises(ConflictingRetention, match="feed all on primary shares data with clicks on primary"):
        _resolved(_all(data), clicks)


def test_patterns_that_have_a_name_in_common_meet() -> None:
    one, two = (
        FeedText(name=name, data=f"/data/{glob}/${{YEAR}}-${{MONTH}}") for name, glob in (("a", "a*"), ("b", "*b"))
    )
    with pytest.raises(ConflictingRetention, match="b on primary"):
        _resolved(one.feed(), replace(two, limit="days(11)").feed())


def test_in_a_run_over_all_feeds_only_those_are_refused() -> None:
    targets = _resolved(_all(), FeedText().feed(), must_all_work=False)
    assert targets.to_do == ()
    (one,) = targets.settled
    assert one.failed is not None
    assert one.failed.code == "conflicting_retention"


@pytest.mark.parametrize(("of_all", "of_clicks", "is_refused"), [(1, 1, False), (1, 0, True), (0, 1, True)])
def test_both_have_to_say_so(of_all: int, of_clicks: int, *, is_refused: bool) -> None:
    feeds = _all(shares=("clicks",) * of_all), FeedText(shares=("all",) * of_clicks).feed()
    targets = _resolved(*feeds, must_all_work=False)
    assert bool(targets.settled) == is_refused
    assert len(targets.to_do) == (not is_refused)


def test_feeds_that_keep_their_data_alike_need_not_say_so() -> None:
    assert len(_resolved(FeedText(name="all").feed(), FeedText().feed()).to_do) == 1


def test_what_one_archives_the_other_must_not_delete() -> None:
    (on,) = FeedText().feed().clusters
    assert on.retention is not None
    archives = replace(on, retention=replace(on.retention, action=ExpiryAction.ARCHIVE))
    with pytest.raises(ConflictingRetention, match="days\\(10\\), archive"):
        _resolved(FeedText(name="all").feed(), replace(FeedText().feed(), clusters=(archives,)))


def test_partitions_of_two_feeds_are_shared_data_as_well() -> None:
    one, two = (
        replace(FeedText(name=name, limit=limit).feed(), locations=None, table=DS)
        for name, limit in (("a", "days(3)"), ("b", "days(9)"))
    )
    with pytest.raises(ConflictingRetention, match="b on primary"):
        _resolved(one, two)


def test_feeds_apart_and_shared_statistics_are_nobodys_concern() -> None:
    stats = {"stats": "/data/stats"}
    one = FeedText(others=stats).feed()
    two = FeedText(name="other", data=DAILY.replace("clicks", "views"), limit="days(3)", others=stats).feed()
    assert len(_resolved(one, two).to_do) == 1

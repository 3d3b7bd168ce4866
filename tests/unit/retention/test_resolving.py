"""Tests of what retention cannot do yet is refused, never read as something else."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import replace

import pytest

from tests.unit.retention.feeds import FeedText, cluster
from tests.unit.retention.memory import MemoryFileSystem
from toolkit.el import CanonicalPath, parse_instant
from toolkit.entities import Cluster, Feed
from toolkit.errors import NotImplementedYet
from toolkit.retention import RetentionResolver
from toolkit.retention.resolve import FeedTargets, NotYetEvictable
from toolkit.storage import FileSystem, StorageSpec, open_file_system

ELSEWHERE = "viewfs://all/data/${YEAR}/${MONTH}/${DAY}"


def _storage(path: CanonicalPath) -> FileSystem:
    if path.scheme == "file":
        return MemoryFileSystem()
    return open_file_system(StorageSpec(scheme=path.scheme, authority=path.authority))


def _resolve(feeds: Iterable[Feed], *, named: bool, on: Cluster | None = None) -> FeedTargets:
    resolver = RetentionResolver(
        nominal_time=parse_instant("2026-03-20T12:00Z"), keep_beyond_validity=True, holds=(), storage=_storage
    )
    return resolver.resolve([(feed, on or cluster()) for feed in feeds], must_all_work=named)


REFUSED = [
    pytest.param(FeedText(data=ELSEWHERE).feed(), "storage viewfs://all", id="store"),
]


@pytest.mark.parametrize(("feed", "message"), REFUSED)
def test_a_named_feed_that_asks_for_what_does_not_exist_is_refused(feed: Feed, message: str) -> None:
    with pytest.raises(NotImplementedYet, match=message):
        _resolve([feed, FeedText(name="other").feed()], named=True)


@pytest.mark.parametrize(("feed", "message"), REFUSED)
@pytest.mark.parametrize("others", [(FeedText(name="other").feed(),), ()], ids=["among others", "alone"])
def test_a_feed_that_nobody_named_is_skipped_with_the_reason(
    feed: Feed, message: str, others: tuple[Feed, ...]
) -> None:
    resolved = _resolve([feed, *others], named=False)
    assert [target.feed for target in resolved.to_do] == [each.name for each in others]
    (left_out,) = resolved.settled
    assert left_out.failed is None
    assert left_out.skipped is not None
    assert (left_out.skipped.code, left_out.target.entity) == ("not_implemented", feed.name)
    assert re.search(message, left_out.skipped.message)


def test_a_storage_without_adapter_is_refused_before_anything_is_touched() -> None:
    with pytest.raises(NotImplementedYet, match=r"^feed clicks on primary: storage viewfs://all"):
        _resolve([FeedText().feed()], named=True, on=cluster(default_fs="viewfs://all"))


def test_the_clusters_file_system_may_begin_in_a_directory() -> None:
    resolved = _resolve([FeedText().feed()], named=True, on=cluster(default_fs="file:///tmp/demo"))
    (location,) = resolved.to_do[0].locations
    assert str(location.base) == "file:///tmp/demo/data/clicks"
    assert location.written(location.base.child("2026")) == "/data/clicks/2026"


def test_everything_that_cannot_be_done_is_named_at_once() -> None:
    elsewhere = FeedText(data=ELSEWHERE).feed()
    with pytest.raises(NotYetEvictable) as error:
        _resolve([elsewhere, replace(elsewhere, name="second")], named=True)
    for part in ("feed clicks on primary: storage viewfs://all", "feed second on primary: storage viewfs://all"):
        assert part in str(error.value)


def test_a_variable_without_a_value_is_told_since_it_reaches_over_all_its_values() -> None:
    feed = replace(FeedText(data="/data/${regio}/${cluster.name}/${YEAR}").feed(), properties={"region": "us"})
    (target,) = _resolve([feed], named=True).to_do
    assert target.notes == (
        "data: ${regio} in /data/${regio}/${cluster.name}/${YEAR} has no value, so every name in its place is taken",
    )

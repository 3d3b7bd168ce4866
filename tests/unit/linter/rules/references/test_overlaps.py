from __future__ import annotations

from collections.abc import Mapping

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.unit.linter.repos import snapshot
from toolkit.entities import Repository
from toolkit.entities.loader import load_all
from toolkit.linter.locations import FeedLocation, feed_locations
from toolkit.linter.overlap import can_overlap, overlaps

NAMES = st.sampled_from(["data", "clicks", "c*", "${YEAR}", "${YEAR}-${MONTH}", "2026", "${source}", "{clicks,views}"])
PATHS = st.lists(NAMES, min_size=1, max_size=4).map(lambda names: "/" + "/".join(names))


def repository(paths: Mapping[str, str]) -> Repository:
    files: dict[str, str | None] = {
        f"feeds/{name}.yaml": f"""\
kind: feed
name: {name}
frequency: days(1)
external: true
locations: {{data: "{path}"}}
properties: {{source: clicks}}
clusters:
  - {{name: primary, validity: {{start: 2026-01-01T00:00Z, end: 2099-01-01T00:00Z}}}}
"""
        for name, path in paths.items()
    }
    gone = dict.fromkeys(["feeds/clicks.yaml", "feeds/clicks_hourly.yaml", "feeds/clicks_by_day.yaml"])
    return load_all(snapshot({**gone, **files}), None)[0]


def meets(site: FeedLocation, other: FeedLocation) -> bool:
    return all(can_overlap(*pair) for pair in zip(site.names, other.names, strict=False))


@settings(max_examples=60, deadline=None)
@given(st.lists(PATHS, min_size=2, max_size=5))
def test_the_tree_finds_the_pairs_that_comparing_all_of_them_finds(paths: list[str]) -> None:
    loaded = repository({f"f{index}": path for index, path in enumerate(paths)})
    everything = list(feed_locations(loaded))
    same = {
        site.feed.name
        for index, site in enumerate(everything)
        for other in everything[:index]
        if len(site.names) == len(other.names) and meets(site, other)
    }
    nested = {
        site.feed.name
        for site in everything
        for other in everything
        if len(site.names) > len(other.names) and meets(site, other)
    }
    found = overlaps(loaded)
    assert {each.location.feed.name for each in found if each.same} == same
    assert {each.location.feed.name for each in found if each.around} == nested


@pytest.mark.parametrize(
    ("one", "other", "shared"),
    [
        ("hdfs://namenode.fra.example.com:8020/d/${YEAR}", "/d/${YEAR}", True),
        ("hdfs://NAMENODE.fra.example.com/d/${YEAR}/", "hdfs:/d/${YEAR}", True),
        ("hdfs://namenode.dub.example.com/d/${YEAR}", "/d/${YEAR}", False),
        ("s3a://bucket/d/${YEAR}", "s3://bucket/d/${YEAR}", True),
        ("/${cluster.name}/${YEAR}", "/primary/${YEAR}", True),
        ("/${cluster.colo}/${YEAR}", "/primary/${YEAR}", False),
    ],
)
def test_paths_are_compared_as_canonical_ones(one: str, other: str, *, shared: bool) -> None:
    assert bool(overlaps(repository({"one": one, "other": other}))) is shared


def test_one_repository_is_walked_once() -> None:
    loaded = repository({"one": "/d/${YEAR}", "other": "/d/${YEAR}"})
    assert overlaps(loaded) is overlaps(loaded)
    assert overlaps(loaded) is not overlaps(repository({"one": "/d/${YEAR}", "other": "/d/${YEAR}"}))

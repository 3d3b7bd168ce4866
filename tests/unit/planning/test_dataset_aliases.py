"""Physical URIs of feeds are aliases of their datasets."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import cast

import pytest

from tests.unit.planning.entities import cluster, path_feed, table_feed
from toolkit.el.dataset_uri import parse
from toolkit.entities import Cluster, Feed, Repository
from toolkit.planning.dataset_aliases import AmbiguousAlias, DatasetAliases, feed_aliases

CLICKS = path_feed("clicks", "/data/clicks/${YEAR}/${MONTH}")
ORDERS = table_feed("orders", "catalog:shop:orders#ds=${YEAR}-${MONTH}-${DAY}")


@dataclass(frozen=True)
class _Entities:
    feeds: dict[str, Feed]
    clusters: dict[str, Cluster] = field(default_factory=lambda: {"primary": cluster()})


def _aliases(*feeds: Feed) -> DatasetAliases:
    return DatasetAliases.of(cast("Repository", _Entities({each.name: each for each in feeds})))


@pytest.mark.parametrize(
    ("written", "dataset"),
    [
        ("file:///data/clicks/", "feedctl:feed/clicks?cluster=primary"),
        ("file:/data/x/../clicks", "feedctl:feed/clicks?cluster=primary"),
        ("file:///data/clicks/2026", "file:///data/clicks/2026"),
        ("hive://LOCALHOST:29083/shop/orders", "feedctl:feed/orders?cluster=primary"),
        ("hcat://localhost:29083/shop/orders", "feedctl:feed/orders?cluster=primary"),
        ("catalog:shop:orders", "feedctl:feed/orders?cluster=primary"),
        ("hive://localhost/shop/orders", "hive://localhost/shop/orders"),
        ("feedctl:feed/clicks?cluster=primary", "feedctl:feed/clicks?cluster=primary"),
    ],
)
def test_a_physical_uri_stands_for_the_feeds_dataset(written: str, dataset: str) -> None:
    assert _aliases(CLICKS, ORDERS).resolve(parse(written)).text == dataset


def test_a_place_of_several_feeds_stands_for_none_of_them() -> None:
    aliases = _aliases(CLICKS, path_feed("late_clicks", "/data/clicks/${YEAR}"))
    with pytest.raises(AmbiguousAlias, match=r"is the place of 2 datasets.*clicks\?cluster=primary, .*late_clicks"):
        aliases.resolve(parse("file:///data/clicks"))


def test_a_place_that_cannot_be_resolved_has_no_alias() -> None:
    assert list(feed_aliases(path_feed("odd", "hdfs:///data/${YEAR}"), cluster())) == []

"""Whose a partition is, as people, logs and results write it."""

from __future__ import annotations

import pytest

from tests.unit.planning.entities import cluster, table_feed
from toolkit.catalog.model import TableName
from toolkit.el import ElError, format_instant
from toolkit.management.table_owners import RequestedPartition, owners_of_partition
from toolkit.retention.plan import NamedPartition

_FEED = table_feed("clicks", "catalog:web:clicks#DS=${YEAR}-${MONTH}-${DAY};region=a/b", "days(1)")
_NAME = "ds=2026-03-01/region=a%2Fb"


@pytest.mark.parametrize(
    "text",
    [
        str(NamedPartition(TableName("web", "clicks"), _NAME)),
        f"{NamedPartition(TableName('web', 'clicks'), _NAME)}/hour=3",
        "catalog:Web:Clicks#DS=2026-03-01;region=a%2Fb",
        "hcat://localhost:29083/web/clicks/ds=2026-03-01;region=a/b",
        "web.clicks/DS=2026-03-01/region=a%2Fb",
    ],
)
def test_the_feed_of_a_partition_is_found_however_its_address_is_written(text: str) -> None:
    requested = RequestedPartition.parse(text)
    assert requested is not None
    (found,) = owners_of_partition(requested, [_FEED], [cluster()])
    assert found.period is not None
    assert (found.feed, format_instant(found.period.first)) == ("clicks", "2026-03-01T00:00Z")


@pytest.mark.parametrize(
    "text", ["catalog:web", "catalog:web:clicks#", "catalog:web:clicks#ds", "web.clicks/ds=1/ds=2"]
)
def test_what_begins_as_a_partition_and_is_none_is_refused(text: str) -> None:
    with pytest.raises(ElError, match="catalog:DATABASE:TABLE#KEY=VALUE"):
        RequestedPartition.parse(text)


def test_a_path_is_no_partition() -> None:
    assert RequestedPartition.parse("hdfs://nn:8020/web/clicks/ds=2026-03-01") is None

"""Which partitions an instance is made of."""

from __future__ import annotations

from datetime import UTC, datetime

from toolkit.el import TableUri
from toolkit.hive.sources import PartitionsByInstance

URI = TableUri.parse("catalog:logs:clicks#ds=${YEAR}-${MONTH}-${DAY};region=us")
NAMES = (
    "ds=2026-03-01/region=us/part=a%2Fb",
    "ds=2026-03-01/region=us/part=c",
    "ds=2026-03-01/region=in/part=c",
    "ds=2026-03-02/region=us/part=c",
    "ds=2026-3-2/region=us/part=c",
    "ds=__HIVE_DEFAULT_PARTITION__/region=us/part=c",
)


def day(number: int) -> datetime:
    return datetime(2026, 3, number, tzinfo=UTC)


def test_an_instance_is_made_of_the_partitions_with_its_date_and_the_fixed_keys() -> None:
    named = PartitionsByInstance(uri=URI, names=lambda: NAMES)
    assert named.of(day(1)) == NAMES[:2]
    assert named.of(day(2)) == NAMES[3:4]
    assert named.of(day(3)) == ()
    assert named.of(datetime(2025, 1, 1, tzinfo=UTC)) == ()


def test_a_feed_may_write_the_keys_in_another_case_than_hive_does() -> None:
    uri = TableUri.parse("catalog:logs:clicks#DS=${YEAR}-${MONTH}-${DAY};Region=us")
    assert PartitionsByInstance(uri=uri, names=lambda: NAMES).of(day(1)) == NAMES[:2]


def test_names_are_asked_for_once() -> None:
    calls: list[int] = []

    def names() -> tuple[str, ...]:
        calls.append(1)
        return NAMES

    named = PartitionsByInstance(uri=URI, names=names)
    assert [named.of(day(number)) for number in (1, 2, 3)]
    assert calls == [1]

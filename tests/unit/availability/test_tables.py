"""Which instances of a table feed are there, by the names of its partitions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import islice

import pytest

from tests.tables.memory_metastore import MemoryMetastore
from tests.tables.tables import partition_of, table_of
from tests.unit.planning.entities import cluster, table_feed
from tests.unit.retention.memory import MemoryFileSystem
from toolkit.availability import DataAccess, DataState, FeedInstances
from toolkit.availability.table_instances import OtherSpelling
from toolkit.catalog.errors import NoSuchTable
from toolkit.catalog.feed_keys import WrongKeys
from toolkit.catalog.model import Partition, TableName
from toolkit.catalog.port import NOTHING
from toolkit.el import format_instant, parse_instant
from toolkit.el.availability import newest_first

DAILY = "catalog:web:clicks#ds=${YEAR}-${MONTH}-${DAY};region=${region}"
NAME = TableName("web", "clicks")
FIRST = parse_instant("2026-03-01T00:00Z")


class CountingMetastore(MemoryMetastore):
    """Writes down what it is asked for: names of partitions, or all of them."""

    def __init__(self) -> None:
        super().__init__(("web",))
        self.calls: list[str] = []

    def partition_names(self, name: TableName, *, matching: Mapping[str, str] = NOTHING) -> tuple[str, ...]:
        self.calls.append("all")
        return super().partition_names(name, matching=matching)

    def partitions(self, name: TableName, names: Sequence[str]) -> tuple[Partition, ...]:
        self.calls += names
        return super().partitions(name, names)


def metastore(*partitions: tuple[str, ...], **keys: str) -> CountingMetastore:
    made = CountingMetastore()
    table = table_of(NAME, "file:///warehouse/clicks", **(keys or {"ds": "string", "region": "string"}))
    made.create_table(table)
    made.add_partitions(NAME, [partition_of(table, *values) for values in partitions])
    return made


def instances(made: CountingMetastore, uri: str = DAILY) -> FeedInstances:
    feed = replace(table_feed("clicks", uri, "days(1)"), properties={"region": "us"})
    data = DataAccess(stores=lambda _: MemoryFileSystem(), metastores=lambda _: made)
    return data.instances_of(feed, cluster())


def there(found: FeedInstances, *days: int) -> list[bool]:
    counted = found.counted()
    return [parse_instant(f"2026-03-{day:02}T00:00Z") in counted for day in days]


def test_an_instance_is_there_when_its_partition_with_all_fixed_values_is() -> None:
    found = instances(metastore(("2026-03-01", "us"), ("2026-03-02", "uk"), ("2026-03-03", "us")))
    assert there(found, 1, 2, 3, 4) == [True, False, True, False]
    assert [found.is_ready(parse_instant(f"2026-03-0{day}T00:00Z")) for day in (1, 2)] == [True, False]


def test_an_instance_is_told_with_its_address() -> None:
    (first, second) = instances(metastore(("2026-03-01", "us"))).look_at([FIRST, parse_instant("2026-03-02T00:00Z")])
    assert (first.state, first.is_ready) == (DataState.AVAILABLE, True)
    assert first.uri == "hcat://localhost:29083/web/clicks/ds=2026-03-01;region=us"
    assert (second.state, second.is_ready) == (DataState.MISSING, False)


def test_the_newest_that_are_there_are_counted_over_gaps() -> None:
    found = instances(metastore(("2026-02-01", "us"), ("2026-02-20", "us"), ("2026-03-02", "us")))
    newest = islice(newest_first(parse_instant("2026-03-03T00:00Z"), found.sequence, found.counted()), 3)
    assert [format_instant(each)[:10] for each in newest] == ["2026-03-02", "2026-02-20", "2026-02-01"]


def test_a_few_instances_are_asked_for_alone_and_many_by_one_list_of_names() -> None:
    made = metastore(("2026-03-01", "us"))
    assert there(instances(made), 1, 1) == [True, True]
    assert made.calls == ["ds=2026-03-01/region=us"]
    made.calls.clear()
    (*_, last) = instances(made).look_at(islice(iter(instances(made).sequence), 5000))
    assert last.state is DataState.MISSING
    assert (len(made.calls), made.calls[-1]) == (9, "all")


def test_keys_may_stand_in_another_order_in_other_case_and_be_more_than_the_feed_names() -> None:
    of_a_day = (("us", "2026-03-01", kind) for kind in ("web", "app"))
    made = metastore(*of_a_day, region="string", ds="string", kind="string")
    found = instances(made, "catalog:Web:Clicks#DS=${YEAR}-${MONTH}-${DAY};region=us")
    assert there(found, 1, 2) == [True, False]
    assert all(each.state is DataState.MISSING for each in found.look_at(islice(iter(found.sequence), 20)))
    assert there(found, *range(2, 12), 1) == [False] * 10 + [True]


def test_values_that_hive_escapes_in_names_are_compared_as_they_are() -> None:
    made = metastore(("2026-03-01 00:00", "a/b=c%"))
    uri = "catalog:web:clicks#ds=${YEAR}-${MONTH}-${DAY} ${HOUR}:00"
    assert there(instances(made, uri), *range(2, 12), 1) == [False] * 10 + [True]


def test_several_date_keys_make_one_instance() -> None:
    made = metastore(("2026", "03", "01"), year="string", month="string", day="string")
    uri = "catalog:web:clicks#year=${YEAR};month=${MONTH};day=${DAY}"
    assert there(instances(made, uri), 1, 2) == [True, False]


def test_an_integer_key_that_is_written_without_a_zero_is_told_and_not_waited_for() -> None:
    made = metastore(("2026", "3", "1"), ("2026", "11", "12"), year="int", month="int", day="int")
    found = instances(made, "catalog:web:clicks#year=${YEAR};month=${MONTH};day=${DAY}")
    assert parse_instant("2026-11-12T00:00Z") in found.counted()
    assert parse_instant("2026-03-02T00:00Z") not in found.counted()
    with pytest.raises(OtherSpelling, match="month=03/day=01 by the feed, and the table has year=2026/month=3/day=1;"):
        found.look(FIRST)


def test_a_date_key_is_compared_as_a_date_is_written() -> None:
    made = metastore(("2026-03-01",), ds="date")
    assert there(instances(made, "catalog:web:clicks#ds=${YEAR}-${MONTH}-${DAY}"), 1, 2) == [True, False]


@pytest.mark.parametrize(
    ("keys", "why"),
    [
        ({"day": "string"}, "it has no key ds; it has no key region; its keys are: day string"),
        ({"ds": "timestamp", "region": "string"}, "ds is a timestamp, which cannot be dated"),
    ],
)
def test_keys_that_do_not_fit_the_feed_are_named_all_at_once(keys: dict[str, str], why: str) -> None:
    with pytest.raises(WrongKeys, match=why):
        instances(metastore(**keys)).look(FIRST)


def test_a_table_that_is_not_there_is_no_missing_instance() -> None:
    with pytest.raises(NoSuchTable, match=r"web\.clicks"):
        instances(CountingMetastore()).look(FIRST)

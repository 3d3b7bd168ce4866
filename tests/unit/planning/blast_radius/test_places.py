"""Samples of the names that instances have, and whether they conform elsewhere."""

from __future__ import annotations

import pytest

from toolkit.el import PathTemplate, TableUri, parse_instant
from toolkit.entities import LocationType
from toolkit.planning.blast_radius.places import BoundLocation, places
from toolkit.planning.instance_storage import FeedStorage

NOON = parse_instant("2026-03-10T12:00Z")


def path(text: str, default_fs: str = "hdfs://nn1", **variables: str) -> BoundLocation:
    templates = {LocationType.DATA: PathTemplate(text).bind(variables)}
    return places(FeedStorage(feed="f", cluster="c", templates=templates, table=None), default_fs)["data"]


def table(text: str) -> BoundLocation:
    storage = FeedStorage(feed="f", cluster="c", templates={}, table=TableUri.parse(text))
    return places(storage, "hdfs://nn1")["table"]


@pytest.mark.parametrize(
    ("template", "expected"),
    [
        ("/d/${YEAR}/${MONTH}", [("hdfs", "nn1", "d", "2026", "03")]),
        ("/{a,b}/${YEAR}", [("hdfs", "nn1", "a", "2026"), ("hdfs", "nn1", "b", "2026")]),
        ("/${region}/${YEAR}", [("hdfs", "nn1", "region", "2026")]),
        ("/[!x7]b/${YEAR}", [("hdfs", "nn1", "ab", "2026"), ("hdfs", "nn1", "Ab", "2026")]),
    ],
)
def test_an_instance_may_have_each_of_these_names(template: str, expected: list[tuple[str, ...]]) -> None:
    assert list(path(template).samples(NOON)) == expected


@pytest.mark.parametrize(
    "template", ["/*/${YEAR}", "/a?/${YEAR}-${region}", "/[0-9]{x,y}/${YEAR}", "/a*[a-z]b/${YEAR}"]
)
def test_samples_conform_to_their_own_template(template: str) -> None:
    place = path(template)
    samples = list(place.samples(NOON))
    assert samples
    assert all(place.period(each) is not None for each in samples)


def test_a_table_is_a_place_too() -> None:
    place = table("catalog:web:clicks#ds=${YEAR}-${MONTH}-${DAY};region=us")
    (names,) = place.samples(NOON)
    assert names == ("catalog", "web", "clicks", "ds", "region", "2026-03-10", "us")
    assert place.period(names) is not None
    assert table("catalog:Web:clicks#DS=${YEAR}-${MONTH}-${DAY};region=us").names_text == place.names_text
    assert table("catalog:web:views#ds=${YEAR}-${MONTH}-${DAY};region=us").period(names) is None


@pytest.mark.parametrize(
    ("one", "other", "is_same"),
    [
        (path("/d/${YEAR}"), path("hdfs://nn1:8020/d/${YEAR}"), True),
        (path("/d/${YEAR}"), path("/d/${YEAR}", "hdfs://nn2"), False),
        (path("/${x}/${YEAR}", x="d"), path("/d/${YEAR}"), True),
        (path("/d/${YEAR}", "file:///tmp/demo"), path("file:///tmp/demo/d/${YEAR}"), True),
    ],
)
def test_two_ways_to_write_one_place_are_the_same(one: BoundLocation, other: BoundLocation, *, is_same: bool) -> None:
    assert (one.names_text == other.names_text) is is_same


def test_globs_and_variables_without_a_value_are_free() -> None:
    assert path("/${x}/{a,b}/${y}/a*/${YEAR}", x="d").free == ("{a,b}", "${y}", "*")


def test_a_sample_of_many_choices_is_short() -> None:
    assert len(list(path("/{a,b,c,d,e}/{a,b,c,d,e}/{a,b,c,d,e}/${YEAR}").samples(NOON))) == 16

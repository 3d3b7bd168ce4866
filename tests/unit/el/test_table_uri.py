"""TableUri: reading URIs, rendering partitions, and reading partitions back."""

from __future__ import annotations

import pickle

import pytest

from toolkit.el import ElError, Frequency, TableUri, format_instant, parse_instant

CLICKS = "catalog:logs-db:clicks#ds=${YEAR}-${MONTH}-${DAY}-${HOUR};region=${region}"


def test_a_uri_names_database_table_and_keys() -> None:
    uri = TableUri.parse(CLICKS)
    assert (uri.database, uri.table, uri.partition_keys) == ("logs-db", "clicks", ("ds", "region"))
    assert (uri.granularity, uri.variables) == (Frequency.parse("hours(1)"), frozenset({"region"}))


def test_an_instant_renders_to_its_partition_in_the_order_of_the_uri() -> None:
    rendered = TableUri.parse(CLICKS).render(parse_instant("2012-04-21T00:30Z"), {"region": "us"})
    assert list(rendered.items()) == [("ds", "2012-04-21-00"), ("region", "us")]


def test_values_are_in_the_zone_of_the_names() -> None:
    uri = TableUri.parse("catalog:db:t#ds=${YEAR}-${MONTH}-${DAY}", "America/Los_Angeles")
    assert uri.render(parse_instant("2026-03-01T07:59Z")) == {"ds": "2026-02-28"}


@pytest.mark.parametrize(
    "spec",
    [
        {"ds": "2012-04-21-00", "region": "us"},
        {"region": "us", "ds": "2012-04-21-00", "unnamed": "x"},
        "ds=2012-04-21-00/region=us",
        "ds=2012-04-21-00;region=us",
    ],
)
def test_a_partition_parses_to_its_period(spec: dict[str, str] | str) -> None:
    found = TableUri.parse(CLICKS).parse(spec)
    assert found is not None
    assert (format_instant(found.first), format_instant(found.end)) == ("2012-04-21T00:00Z", "2012-04-21T01:00Z")
    assert found.variables == {"region": "us"}


def test_the_escapes_of_partition_names_are_read() -> None:
    found = TableUri.parse("catalog:db:t#ds=${YEAR} ${MONTH};r=${r}").parse("ds=2026%2003/r=a%2Bb")
    assert found is not None
    assert found.variables == {"r": "a+b"}


@pytest.mark.parametrize("spec", ["ds=2026/region=us", "DS=2026/Region=us", {"ds": "2026", "REGION": "us"}])
def test_keys_are_those_of_the_table_in_whatever_case_they_are_written(spec: dict[str, str] | str) -> None:
    uri = TableUri.parse("catalog:db:t#DS=${YEAR};region=us")
    assert uri.parse(spec) is not None
    assert uri.explain(spec) == "conforms"
    assert uri.render(parse_instant("2026-01-01T00:00Z")) == {"DS": "2026", "region": "us"}


def test_a_fixed_region_never_touches_another() -> None:
    uri = TableUri.parse("catalog:db:t#ds=${YEAR};region=us")
    assert uri.parse("ds=2026/region=us") is not None
    assert uri.parse("ds=2026/region=in") is None
    assert (
        TableUri.parse("catalog:db:t#ds=${YEAR};region=${region}").bind({"region": "us"}).parse("ds=2026/region=in")
        is None
    )


@pytest.mark.parametrize(
    ("spec", "why"),
    [
        ("ds=2026-3/region=us", "ds is '2026-3', expected '${YEAR}-${MONTH}'"),
        ("ds=2026-03", "has no key 'region'"),
        ("ds=2026-00/region=us", "ds is '2026-00'"),
        ("ds=0000-01/region=us", "does not exist in UTC"),
    ],
)
def test_what_does_not_conform_is_explained(spec: str, why: str) -> None:
    uri = TableUri.parse("catalog:db:t#ds=${YEAR}-${MONTH};region=${region}")
    assert uri.parse(spec) is None
    assert why in uri.explain(spec)


def test_a_conforming_partition_is_explained_too() -> None:
    assert TableUri.parse("catalog:db:t#ds=${YEAR}").explain({"ds": "2026"}) == "conforms"


def test_dates_may_stand_in_several_keys() -> None:
    uri = TableUri.parse("catalog:db:t#year=${YEAR};month=${MONTH}")
    assert uri.render(parse_instant("2026-03-01T00:00Z")) == {"year": "2026", "month": "03"}
    assert uri.parse("year=2026/month=3") is None


@pytest.mark.parametrize(
    ("text", "position", "expected"),
    [
        ("db:t#ds=${YEAR}", 0, "'catalog:'"),
        ("catalog:#ds=${YEAR}", 8, "a database name"),
        ("catalog:db#ds=${YEAR}", 10, "':'"),
        ("catalog:db:t", 12, "'#'"),
        ("catalog:db:t#", 13, "a partition key"),
        ("catalog:db:t#ds", 15, "'='"),
        ("catalog:db:t#ds=", 16, "a value without globs"),
        ("catalog:db:t#ds=${YEAR};", 24, "a partition key"),
        ("catalog:db:t#ds=${YEAR};ds=x", 24, "each partition key once"),
        ("catalog:db:t#ds=${YEAR};DS=x", 24, "each partition key once"),
        ("catalog:db:t#ds=x;y=${YEAR}", 13, "a dated first key"),
        ("catalog:db:t#ds=${YEAR};r=*", 26, "a value without globs"),
        ("catalog:db:t#ds=${YEAR}-${DAY}", 24, "every field from"),
        ("catalog:db:t#ds=${yEAR}", 16, "${YEAR}"),
        ("catalog:db:t#ds=ds=${YEAR}", 18, "a value without '='"),
        ("catalog:db:t#ds=${YEAR}&region=eu", 30, "a value without '='"),
    ],
)
def test_a_malformed_uri_is_refused_with_its_place(text: str, position: int, expected: str) -> None:
    with pytest.raises(ElError) as error:
        TableUri.parse(text)
    assert error.value.position == position
    assert expected in error.value.expected


def test_uris_travel_to_executors() -> None:
    uri = TableUri.parse(CLICKS, "Europe/Berlin").bind({"region": "us"})
    assert pickle.loads(pickle.dumps(uri)) == uri  # noqa: S301 - our own bytes
    assert hash(uri) == hash(TableUri(CLICKS, "Europe/Berlin", {"region": "us"}))

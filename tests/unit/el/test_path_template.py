"""PathTemplate: rendering, parsing, bases and the words for what does not conform."""

from __future__ import annotations

import pickle
from datetime import datetime

import pytest

from toolkit.el import ElError, Frequency, PathTemplate, format_instant, parse_instant
from toolkit.el.pattern import NOTHING_KNOWN

HOURLY = "/data/clicks/${YEAR}/${MONTH}/${DAY}/${HOUR}"


def period(template: PathTemplate, path: str) -> tuple[str, str]:
    found = template.parse(path)
    assert found is not None, template.explain(path)
    return format_instant(found.first), format_instant(found.end)


def test_an_instant_renders_to_its_path() -> None:
    instant = parse_instant("2026-03-01T06:40Z")
    assert PathTemplate(HOURLY).render(instant) == "/data/clicks/2026/03/01/06"


def test_path_fields_are_in_the_path_timezone() -> None:
    template = PathTemplate(HOURLY, "Asia/Kolkata")
    assert template.render(parse_instant("2026-03-01T06:00Z")) == "/data/clicks/2026/03/01/11"
    assert period(template, "/data/clicks/2026/03/01/11") == ("2026-03-01T05:30Z", "2026-03-01T06:30Z")


@pytest.mark.parametrize(
    ("text", "path", "expected"),
    [
        ("/d/${YEAR}", "/d/2026", ("2026-01-01T00:00Z", "2027-01-01T00:00Z")),
        ("/d/${YEAR}-${MONTH}", "/d/2026-12", ("2026-12-01T00:00Z", "2027-01-01T00:00Z")),
        ("/d/${DAY}.${MONTH}.${YEAR}", "/d/28.02.2026", ("2026-02-28T00:00Z", "2026-03-01T00:00Z")),
        (HOURLY, "/data/clicks/2026/03/01/23", ("2026-03-01T23:00Z", "2026-03-02T00:00Z")),
        ("/d/${YEAR}${MONTH}${DAY}${HOUR}${MINUTE}", "/d/202603012359", ("2026-03-01T23:59Z", "2026-03-02T00:00Z")),
        ("/d/${YEAR}/${YEAR}-${MONTH}", "/d/2026/2026-01", ("2026-01-01T00:00Z", "2026-02-01T00:00Z")),
        ("s3a://bucket/d/${YEAR}", "s3a://bucket/d/2026", ("2026-01-01T00:00Z", "2027-01-01T00:00Z")),
        ("/d/${YEAR}/data", "/d/2026/data/", ("2026-01-01T00:00Z", "2027-01-01T00:00Z")),
    ],
)
def test_a_path_parses_to_the_period_it_names(text: str, path: str, expected: tuple[str, str]) -> None:
    assert period(PathTemplate(text), path) == expected


@pytest.mark.parametrize(
    ("path", "why"),
    [
        ("/data/clicks/2026/03/01/24", "name 6 is '24', expected '${HOUR}' (HOUR 00 to 23)"),
        ("/data/clicks/2026/3/01/00", "name 4 is '3', expected '${MONTH}' (MONTH 01 to 12)"),
        ("/data/clicks/2026/02/30/00", "the date 2026-02-30-00 does not exist in UTC"),
        ("/data/clicks/0000/01/01/00", "the date 0000-01-01-00 does not exist in UTC"),
        ("/data/clicks/2026/02/01", "has 5 names, the template has 6"),
        ("/data/clicks/2026/02/01/00/part-0", "has 7 names, the template has 6"),
        ("/data/views/2026/02/01/00", "name 2 is 'views', expected 'clicks'"),
        (
            "/data/clicks/\uff12\uff10\uff12\uff16/02/01/00",
            "name 3 is '\uff12\uff10\uff12\uff16', expected '${YEAR}' (YEAR four digits)",
        ),
        ("data/clicks/2026/02/01/00", "does not begin with '/'"),
    ],
)
def test_what_does_not_conform_is_explained(path: str, why: str) -> None:
    assert PathTemplate(HOURLY).parse(path) is None
    assert PathTemplate(HOURLY).explain(path) == why


def test_a_repeated_field_must_agree_with_its_first() -> None:
    template = PathTemplate("/d/${YEAR}/${YEAR}-${MONTH}")
    assert template.parse("/d/2026/2025-01") is None
    assert "contradicts" in template.explain("/d/2026/2025-01")
    assert PathTemplate("/d/${YEAR}-${YEAR}").parse("/d/2026-2025") is None


def test_a_local_hour_that_is_skipped_conforms_to_nothing() -> None:
    template = PathTemplate(HOURLY, "America/Los_Angeles")
    assert template.parse("/data/clicks/2026/03/08/02") is None
    assert "does not exist in America/Los_Angeles" in template.explain("/data/clicks/2026/03/08/02")


def test_a_local_hour_that_comes_twice_is_one_path_for_both() -> None:
    template = PathTemplate(HOURLY, "America/Los_Angeles")
    paths = {template.render(parse_instant(f"2026-11-01T{hour}:30Z")) for hour in ("08", "09")}
    assert paths == {"/data/clicks/2026/11/01/01"}
    assert period(template, paths.pop()) == ("2026-11-01T08:00Z", "2026-11-01T10:00Z")


def test_a_local_minute_that_comes_twice_is_two_runs_of_instants() -> None:
    found = PathTemplate("/d/${YEAR}${MONTH}${DAY}${HOUR}${MINUTE}", "America/Los_Angeles").parse("/d/202611010130")
    assert found is not None
    assert parse_instant("2026-11-01T08:30Z") in found
    assert parse_instant("2026-11-01T09:30Z") in found
    assert parse_instant("2026-11-01T09:00Z") not in found


def test_a_day_that_a_zone_skipped_conforms_to_nothing() -> None:
    template = PathTemplate("/d/${YEAR}-${MONTH}-${DAY}", "Pacific/Apia")
    assert template.parse("/d/2011-12-30") is None
    assert period(template, "/d/2011-12-29") == ("2011-12-29T10:00Z", "2011-12-30T10:00Z")
    assert period(template, "/d/2011-12-31") == ("2011-12-30T10:00Z", "2011-12-31T10:00Z")


def test_the_last_day_of_the_calendar_has_a_period() -> None:
    found = PathTemplate("/d/${YEAR}-${MONTH}-${DAY}").parse("/d/9999-12-31")
    assert found is not None
    assert parse_instant("9999-12-31T12:00Z") in found


@pytest.mark.parametrize(
    ("zone", "edge"), [("America/Los_Angeles", "0001-01-01T00:00Z"), ("Europe/Berlin", "9999-12-31T23:59Z")]
)
def test_an_instant_without_a_local_time_is_refused(zone: str, edge: str) -> None:
    with pytest.raises(ElError, match="in the years 1 to 9999"):
        PathTemplate(HOURLY, zone).render(parse_instant(edge))


def test_a_naive_time_has_no_path() -> None:
    with pytest.raises(ElError, match="timezone-aware"):
        PathTemplate(HOURLY).render(datetime(2026, 3, 1))  # noqa: DTZ001 - that is the point


def test_variables_are_bound_by_a_path_and_needed_for_one() -> None:
    template = PathTemplate("/d/${region}/${YEAR}-${cluster.colo}")
    found = template.parse("/d/eu/2026-gs")
    assert found is not None
    assert found.variables == {"region": "eu", "cluster.colo": "gs"}
    variables = {"region": "us", "cluster.colo": "la"}
    assert template.render(parse_instant("2026-01-01T00:00Z"), variables) == "/d/us/2026-la"


def test_a_bound_template_touches_its_value_only() -> None:
    template = PathTemplate("/d/${region}/${YEAR}").bind({"region": "us*", "unused": "x"})
    assert template.variables == frozenset()
    assert template.base == "/d/us*"
    assert template.parse("/d/us*/2026") is not None
    assert template.parse("/d/usa/2026") is None


@pytest.mark.parametrize("value", ["", "a/b", "..", ".", ".feedctl-x"])
def test_a_variables_value_is_one_name(value: str) -> None:
    template = PathTemplate("/d/${region}/${YEAR}")
    with pytest.raises(ElError, match="one name without a slash"):
        template.render(parse_instant("2026-01-01T00:00Z"), {"region": value})


def test_an_unbound_variable_names_its_place_and_what_is_known() -> None:
    with pytest.raises(ElError, match=r"at character 4: found '\$\{region\}', expected a value .*known.*: colo"):
        PathTemplate("/d/${region}/${YEAR}").render(parse_instant("2026-01-01T00:00Z"), {"colo": "x"})


@pytest.mark.parametrize(
    ("glob", "fits", "fails"),
    [
        ("*", ["a", "", "*", "a b"], ["a/b"]),
        ("?", ["a", "?"], ["", "ab"]),
        ("[a-c]x", ["ax", "cx"], ["dx", "x"]),
        ("[!a]", ["b"], ["a", "/"]),
        ("[^a]", ["b"], ["a", "/"]),
        ("{us,eu}", ["us", "eu"], ["use", "u"]),
    ],
)
def test_globs_stay_within_one_name(glob: str, fits: list[str], fails: list[str]) -> None:
    template = PathTemplate(f"/d/${{YEAR}}-{glob}")
    assert [name for name in fits if template.parse(f"/d/2026-{name}") is None] == []
    assert [name for name in fails if template.parse(f"/d/2026-{name}") is not None] == []


@pytest.mark.parametrize("text", ["/d/*/${YEAR}", "/d/${name}/${YEAR}", "/d/?feedctl/${YEAR}"])
def test_feedctls_own_names_conform_to_nothing(text: str) -> None:
    assert PathTemplate(text).parse("/d/.feedctl/2026") is None
    assert PathTemplate(text).parse("/d/.feedctl-evicting-x/2026") is None


@pytest.mark.parametrize(
    ("text", "base"),
    [
        ("/lone/feed-${YEAR}", "/lone"),
        ("/lone/${YEAR}", "/lone"),
        ("/${YEAR}", "/"),
        ("/a/*/b/${YEAR}", "/a"),
        ("/a/${region}/${YEAR}", "/a"),
        ("s3a://bucket/a/${YEAR}", "s3a://bucket/a"),
        ("/a/b", "/a/b"),
        ("/a/b/", "/a/b"),
    ],
)
def test_the_base_is_the_directory_before_the_first_variable_part(text: str, base: str) -> None:
    assert PathTemplate(text).base == base


@pytest.mark.parametrize(
    ("text", "granularity"),
    [("/${YEAR}", "months(12)"), ("/${YEAR}${MONTH}", "months(1)"), ("/${YEAR}${MONTH}${DAY}", "days(1)")],
)
def test_granularity_is_the_length_of_what_a_path_stands_for(text: str, granularity: str) -> None:
    assert PathTemplate(text).granularity == Frequency.parse(granularity)


def test_an_undated_template_has_no_granularity_and_no_period() -> None:
    template = PathTemplate("/data/clicks_meta")
    assert (template.granularity, template.dated) == (None, False)
    assert template.parse("/data/clicks_meta") is None
    assert template.explain("/data/clicks_meta") == "the template has no date fields, so a path has no period"


@pytest.mark.parametrize(
    ("text", "position", "expected"),
    [
        ("/d/${MONTH}", 3, "every field from ${YEAR} down to ${MONTH}"),
        ("/d/${YEAR}/${DAY}", 11, "every field from ${YEAR} down to ${DAY}"),
        ("d/${YEAR}", 0, "an absolute path"),
        ("", 0, "an absolute path"),
        ("/d//${YEAR}", 3, "a name that is not empty"),
        ("/d/../${YEAR}", 3, "a name that is not empty, '.', '..'"),
        ("/d/.feedctl/${YEAR}", 3, "feedctl's own"),
        ("/d/${year}", 3, "${YEAR}"),
        ("/d/${YEAR", 3, "${NAME}"),
        ("/d/$YEAR", 3, "${NAME}"),
        ("/d/${}", 3, "a variable's name"),
        ("/d/**/${YEAR}", 3, "one * for any text"),
        ("/d/[z-a]", 0, "a glob such as"),
        ("/d/[]", 3, "${NAME}"),
        ("/d/{}", 3, "${NAME}"),
        ("hdfs://${host}/d", 0, "an absolute path"),
    ],
)
def test_a_malformed_text_is_refused_with_its_place(text: str, position: int, expected: str) -> None:
    with pytest.raises(ElError) as error:
        PathTemplate(text)
    assert error.value.position == position
    assert expected in error.value.expected


def test_a_walk_learns_the_reach_of_a_directory_from_its_names() -> None:
    template = PathTemplate(HOURLY)
    year = template.step(NOTHING_KNOWN, 2, "2026")
    assert year is not None
    assert template.reach(NOTHING_KNOWN) is None
    spans = template.reach(year)
    assert spans is not None
    assert [format_instant(at) for at in spans[0]] == ["2026-01-01T00:00Z", "2027-01-01T00:00Z"]


def test_names_sort_as_dates_only_where_nothing_stands_before_the_date() -> None:
    assert PathTemplate("/d/${YEAR}/x-${MONTH}-${DAY}-*").pattern.chronological == (False, True, False)
    assert PathTemplate("/d/${YEAR}/x-${MONTH}-${DAY}").pattern.chronological == (False, True, True)
    assert PathTemplate("/d/${MONTH}-${YEAR}").pattern.chronological == (False, False)
    assert PathTemplate("/d/${DAY}/${YEAR}-${MONTH}").pattern.chronological == (False, False, True)


def test_templates_travel_to_executors() -> None:
    template = PathTemplate("/d/${region}/${YEAR}", "Europe/Berlin").bind({"region": "eu"})
    assert pickle.loads(pickle.dumps(template)) == template  # noqa: S301 - our own bytes
    assert len({template, PathTemplate("/d/${region}/${YEAR}", "Europe/Berlin", {"region": "eu"})}) == 1

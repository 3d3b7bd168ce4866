"""The quick reading of a directory's names gives what the general one does, in every zone."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from toolkit.el import PathTemplate, is_name, parse_instant
from toolkit.el.pattern import NOTHING_KNOWN, name_reader, start_name
from toolkit.el.segment import Found

TEMPLATES = [
    "/d/${YEAR}/${MONTH}/${DAY}/${HOUR}",
    "/d/${YEAR}-${MONTH}-${DAY}-${HOUR}",
    "/d/${YEAR}${MONTH}${DAY}/x-${HOUR}${MINUTE}.log",
    "/d/${YEAR}/${MONTH}-${DAY}",
    "/d/${YEAR}/${YEAR}-${MONTH}",
    "/d/${YEAR}",
    "/d/${DAY}.${MONTH}.${YEAR}/${HOUR}",
    "/d/${DAY}/${YEAR}-${MONTH}",
    "/d/${region}/${YEAR}-${MONTH}-${DAY}",
    "/d/${YEAR}-${MONTH}/${region}/${DAY}",
    "/d/${YEAR}-${MONTH}-${DAY}-*",
    "/d/${YEAR}/raw/${MONTH}",
    "/d/${YEAR}-${MONTH}-${DAY}T${HOUR}:${MINUTE}",
]
ZONES = ["UTC", "Europe/Berlin", "America/New_York", "Asia/Kolkata", "Pacific/Apia", "Africa/Monrovia", "Asia/Manila"]
JUNK = ["", ".", "..", "x", "2026", "0000", "2026-02-30", "2026-02-30-25", "13", "24", ".feedctl-hold", "a\0b", "9999"]

templates = st.builds(PathTemplate, st.sampled_from(TEMPLATES), st.sampled_from(ZONES))
days = st.integers(0, 9_980 * 365).map(lambda day: datetime(2, 1, 2, tzinfo=UTC) + timedelta(days=day))
half_hours = st.integers(0, 4 * 366 * 48).map(lambda step: datetime(2024, 1, 1, tzinfo=UTC) + timedelta(hours=step / 2))
instants = days | half_hours
LONG_AGO = datetime(2, 1, 2, tzinfo=UTC)


def _steps(template: PathTemplate, instant: datetime) -> list[tuple[int, Found, str]]:
    """Depth, what is known above, and the name, from the base down."""
    names = template.render(instant, {"region": "eu"})[1:].replace("*", "x").split("/")
    known, steps = NOTHING_KNOWN, []
    for depth, name in enumerate(names):
        steps.append((depth, known, name))
        following = template.step(known, depth, name)
        assert following is not None
        known = following
    return steps


def _defined(template: PathTemplate, known: Found, depth: int, name: str) -> object:
    following = template.step(known, depth, name) if is_name(name) else None
    return () if following is None else template.reach(following)


@given(template=templates, instant=instants, other=instants, junk=st.sampled_from(JUNK) | st.text(max_size=6))
@example(PathTemplate(TEMPLATES[1], "Europe/Berlin"), parse_instant("2026-03-29T01:00Z"), LONG_AGO, "2026-03-29-02")
@example(PathTemplate(TEMPLATES[3], "Pacific/Apia"), parse_instant("2011-12-30T12:00Z"), LONG_AGO, "12-30")
@example(PathTemplate(TEMPLATES[1]), datetime(9999, 12, 31, 23, tzinfo=UTC), LONG_AGO, "9999-12-31-23")
@example(PathTemplate(TEMPLATES[5]), datetime(9999, 12, 31, 23, tzinfo=UTC), LONG_AGO, "0000")
def test_a_name_is_read_as_step_and_reach_read_it(
    template: PathTemplate, instant: datetime, other: datetime, junk: str
) -> None:
    elsewhere = [name for _, _, name in _steps(template, other)] if other != LONG_AGO else []
    for depth, known, name in _steps(template, instant):
        read = name_reader(template.pattern, known, depth)
        for each in (name, junk, *elsewhere):
            assert read(each) == _defined(template, known, depth, each), (depth, each)


@pytest.mark.parametrize("text", TEMPLATES[:4])
def test_plain_layouts_are_read_quickly(text: str) -> None:
    assert PathTemplate(text).pattern.plain_dates[0] is None
    assert None not in PathTemplate(text).pattern.plain_dates[1:]


@given(template=templates, horizon=instants, later=st.integers(0, 100_000), within=instants)
@example(PathTemplate(TEMPLATES[1], "Europe/Berlin"), parse_instant("2026-10-25T01:30Z"), 0, LONG_AGO)
@example(PathTemplate(TEMPLATES[1], "Pacific/Apia"), parse_instant("2011-12-30T12:00Z"), 0, LONG_AGO)
@example(PathTemplate(TEMPLATES[1], "Asia/Manila"), parse_instant("1844-12-31T12:00Z"), 0, LONG_AGO)
def test_nothing_that_is_not_before_the_instant_sorts_before_the_start(
    template: PathTemplate, horizon: datetime, later: int, within: datetime
) -> None:
    instant = horizon + timedelta(minutes=30 * later)
    for place in (instant, within):
        for depth, known, name in _steps(template, place):
            start = start_name(template.pattern, known, depth, horizon)
            reach = _defined(template, known, depth, name)
            if isinstance(reach, tuple) and reach[-1][1] > horizon:
                assert name >= start


@given(horizon=instants.filter(lambda each: each.year > 2), zone=st.sampled_from(ZONES))
def test_in_a_flat_directory_the_start_is_near(horizon: datetime, zone: str) -> None:
    template = PathTemplate("/d/${YEAR}-${MONTH}-${DAY}-${HOUR}", zone)
    before = template.render(horizon - timedelta(days=4)).rpartition("/")[2]
    assert before < start_name(template.pattern, NOTHING_KNOWN, 1, horizon)


def test_where_names_do_not_sort_as_dates_do_all_are_listed() -> None:
    horizon = parse_instant("2026-03-01T00:00Z")
    for text in ("/d/${DAY}.${MONTH}.${YEAR}", "/d/${region}-${YEAR}", "/d/*"):
        assert start_name(PathTemplate(text).pattern, NOTHING_KNOWN, 1, horizon) == ""


def test_in_the_directory_of_another_date_all_are_listed() -> None:
    template, horizon = PathTemplate("/d/${YEAR}/${MONTH}-${DAY}"), parse_instant("2026-03-10T00:00Z")
    for year, start in (("2025", ""), ("2026", "03-08"), ("2027", "")):
        known = template.step(NOTHING_KNOWN, 1, year)
        assert known is not None
        assert start_name(template.pattern, known, 2, horizon) == start

from __future__ import annotations

from datetime import datetime, timedelta

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from toolkit.el import (
    ElError,
    Frequency,
    OutOfRange,
    evaluate,
    format_instant,
    load_zone,
    parse_expression,
    parse_instant,
    shift,
    to_local,
)


@pytest.mark.parametrize(
    ("expression", "nominal", "expected"),
    [
        ("now(-2,40)", "2010-01-02T01:30Z", "2010-01-02T00:10Z"),
        ("now(0,-80)", "2010-01-02T01:30Z", "2010-01-02T00:10Z"),
        ("today(-3,-20)", "2010-01-02T01:30Z", "2010-01-01T20:40Z"),
        ("today(3,20)", "2010-01-02T01:30Z", "2010-01-02T03:20Z"),
        ("yesterday(24,30)", "2010-01-02T01:30Z", "2010-01-02T00:30Z"),
        ("currentMonth(3,2,40)", "2010-01-12T01:30Z", "2010-01-04T02:40Z"),
        ("currentMonth(0,0,0)", "2010-01-12T01:30Z", "2010-01-01T00:00Z"),
        ("lastMonth(2,3,30)", "2010-01-12T01:30Z", "2009-12-03T03:30Z"),
        ("currentYear(0,0,0,0)", "2010-01-02T00:30Z", "2010-01-01T00:00Z"),
        ("currentYear(0,2,2,20)", "2010-01-02T00:30Z", "2010-01-03T02:20Z"),
        ("currentYear(11,2,2,20)", "2010-01-02T00:30Z", "2010-12-03T02:20Z"),
        ("lastYear(4,2,2,20)", "2010-01-02T00:30Z", "2009-05-03T02:20Z"),
        ("lastYear(12,2,2,20)", "2010-01-02T00:30Z", "2010-01-03T02:20Z"),
        ("today(0,0)", "2012-03-01T06:40Z", "2012-03-01T00:00Z"),
        ("today(1,0)", "2012-03-01T06:40Z", "2012-03-01T01:00Z"),
    ],
)
def test_falcons_examples(expression: str, nominal: str, expected: str) -> None:
    """Falcon overview, EL expressions; Falcon entity specification, Inputs."""
    assert format_instant(evaluate(expression, parse_instant(nominal))) == expected


@pytest.mark.parametrize(
    ("day", "current", "last"),
    [
        ("SUN", "2010-01-10", "2010-01-03"),
        ("MON", "2010-01-11", "2010-01-04"),
        ("TUE", "2010-01-12", "2010-01-05"),
        ("WED", "2010-01-06", "2009-12-30"),
        ("THU", "2010-01-07", "2009-12-31"),
        ("FRI", "2010-01-08", "2010-01-01"),
        ("SAT", "2010-01-09", "2010-01-02"),
    ],
)
def test_the_current_week_begins_with_its_day_on_or_before_today(day: str, current: str, last: str) -> None:
    tuesday = parse_instant("2010-01-12T01:30Z")
    assert format_instant(evaluate(f"currentWeek('{day}',2,30)", tuesday)) == f"{current}T02:30Z"
    assert format_instant(evaluate(f"lastWeek('{day}',2,30)", tuesday)) == f"{last}T02:30Z"


@pytest.mark.parametrize(
    ("expression", "nominal", "zone", "expected"),
    [
        ("today(0,0)", "2012-03-11T06:00Z", "America/Los_Angeles", "2012-03-10T08:00Z"),
        ("today(3,0)", "2012-03-11T18:00Z", "America/Los_Angeles", "2012-03-11T11:00Z"),
        ("yesterday(24,0)", "2012-03-12T18:00Z", "America/Los_Angeles", "2012-03-12T08:00Z"),
        ("currentMonth(11,0,0)", "2012-03-30T18:00Z", "America/Los_Angeles", "2012-03-12T07:00Z"),
        ("lastWeek(SUN,0,0)", "2012-03-15T18:00Z", "America/Los_Angeles", "2012-03-04T08:00Z"),
        ("currentYear(6,0,0,0)", "2012-03-15T18:00Z", "Europe/Berlin", "2012-06-30T22:00Z"),
        ("currentYear(1,30,0,0)", "2026-05-01T00:00Z", "UTC", "2026-03-03T00:00Z"),
        ("lastMonth(0,0,0)", "2026-03-31T12:00Z", "UTC", "2026-02-01T00:00Z"),
        ("lastMonth(0,0,0)", "2026-01-31T12:00Z", "UTC", "2025-12-01T00:00Z"),
        ("today(0,0)", "2018-11-04T12:00Z", "America/Sao_Paulo", "2018-11-04T03:00Z"),
        ("yesterday(0,0)", "2011-12-30T22:00Z", "Pacific/Apia", "2011-12-30T10:00Z"),
        ("today(0,0)", "2011-12-30T22:00Z", "Pacific/Apia", "2011-12-30T10:00Z"),
        ("today(0,0)", "2026-01-01T12:00Z", "Asia/Kathmandu", "2025-12-31T18:15Z"),
        ("now(1,1)", "2026-01-01T12:34Z", "Asia/Kathmandu", "2026-01-01T13:35Z"),
        ("instanceTime()", "2026-01-01T12:34Z", "Asia/Kathmandu", "2026-01-01T12:34Z"),
    ],
)
def test_the_zone_truncates_and_counts_days_but_hours_are_elapsed(
    expression: str, nominal: str, zone: str, expected: str
) -> None:
    assert format_instant(evaluate(expression, parse_instant(nominal), zone)) == expected


def test_a_parsed_expression_evaluates_like_its_text() -> None:
    nominal = parse_instant("2010-01-02T01:30Z")
    assert evaluate(parse_expression("today(3,20)"), nominal) == evaluate("today(3,20)", nominal)


@pytest.mark.parametrize("expression", ["latest(0)", "future(0,3)"])
def test_what_depends_on_availability_is_refused_with_the_reason(expression: str) -> None:
    with pytest.raises(ElError, match=r"latest and future count what is available"):
        evaluate(expression, parse_instant("2026-01-01T00:00Z"))


def test_naive_and_sub_minute_nominal_times_are_errors() -> None:
    with pytest.raises(ElError, match="found no time zone"):
        evaluate("now(0,0)", datetime(2026, 1, 1))  # noqa: DTZ001 - the naive time is the point
    with pytest.raises(ElError, match="expected a whole minute"):
        evaluate("now(0,0)", parse_instant("2026-01-01T00:00Z") + timedelta(seconds=1))


@pytest.mark.parametrize(
    ("expression", "nominal", "zone"),
    [
        ("now(999999999,0)", "2026-01-01T00:00Z", "UTC"),
        ("now(0,1)", "9999-12-31T23:59Z", "UTC"),
        ("yesterday(0,0)", "0001-01-01T12:00Z", "UTC"),
        ("lastMonth(0,0,0)", "0001-01-12T12:00Z", "UTC"),
        ("lastYear(0,0,0,0)", "0001-06-01T12:00Z", "UTC"),
        ("currentYear(999999999,0,0,0)", "2026-01-01T00:00Z", "UTC"),
        ("currentMonth(-999999999,0,0)", "2026-01-01T00:00Z", "UTC"),
        ("today(0,0)", "9999-12-31T23:59Z", "Asia/Kolkata"),
        ("today(0,0)", "0001-01-01T00:00Z", "America/Los_Angeles"),
    ],
)
def test_results_beyond_the_calendar_are_out_of_range(expression: str, nominal: str, zone: str) -> None:
    with pytest.raises(OutOfRange):
        evaluate(expression, parse_instant(nominal), zone)


ZONES = st.sampled_from(
    [
        "UTC",
        "America/Los_Angeles",
        "Europe/Berlin",
        "Asia/Kolkata",
        "Australia/Lord_Howe",
        "America/St_Johns",
        "Pacific/Apia",
        "Asia/Kathmandu",
    ]
)
EXPRESSIONS = st.sampled_from(
    [
        "now(-1,5)",
        "today(0,0)",
        "yesterday(2,0)",
        "currentWeek(WED,0,0)",
        "lastWeek(SUN,3,0)",
        "currentMonth(4,0,0)",
        "lastMonth(30,0,0)",
        "currentYear(1,30,0,0)",
        "lastYear(13,0,0,0)",
        "instanceTime()",
    ]
)
NOMINALS = st.integers(0, 40 * 365 * 24 * 60).map(lambda n: parse_instant("1990-01-01T00:00Z") + timedelta(minutes=n))


@given(expression=EXPRESSIONS, zone=ZONES, nominal=NOMINALS, later=st.integers(0, 3 * 24 * 60))
def test_a_later_day_never_means_an_earlier_instant(expression: str, zone: str, nominal: datetime, later: int) -> None:
    second = nominal + timedelta(minutes=later)
    # St John's put its clocks back over midnight: there, a later instant can lie in the day before.
    if to_local(nominal, load_zone(zone)).date() <= to_local(second, load_zone(zone)).date():
        assert evaluate(expression, nominal, zone) <= evaluate(expression, second, zone)


@given(zone=ZONES, nominal=NOMINALS)
def test_today_began_by_the_nominal_time_and_less_than_26_hours_before(zone: str, nominal: datetime) -> None:
    began = evaluate("today(0,0)", nominal, zone)
    assert began <= nominal < began + timedelta(hours=26)


@given(zone=ZONES, nominal=NOMINALS, hours=st.integers(-9999, 9999), minutes=st.integers(-9999, 9999))
def test_hours_and_minutes_are_always_elapsed_time(zone: str, nominal: datetime, hours: int, minutes: int) -> None:
    moved = evaluate(f"currentMonth(3,{hours},{minutes})", nominal, zone)
    assert moved - evaluate("currentMonth(3,0,0)", nominal, zone) == timedelta(hours=hours, minutes=minutes)


@given(nominal=NOMINALS, zone=ZONES, day=st.sampled_from(["MON", "TUE", "WED", "THU", "FRI", "SAT", "SUN"]))
def test_last_week_is_the_current_week_of_seven_days_ago(nominal: datetime, zone: str, day: str) -> None:
    week_ago = shift(nominal, Frequency.parse("days(7)"), -1, zone)
    assume(to_local(week_ago, load_zone(zone)) == to_local(nominal, load_zone(zone)) - timedelta(days=7))
    assert evaluate(f"lastWeek({day},0,0)", nominal, zone) == evaluate(f"currentWeek({day},0,0)", week_ago, zone)

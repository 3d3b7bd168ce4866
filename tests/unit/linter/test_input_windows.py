from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime, timedelta

from hypothesis import given, settings
from hypothesis import strategies as st

from tests.unit.linter.repos import snapshot
from toolkit.el import Frequency, InstanceSequence, evaluate, parse_instant, shift
from toolkit.entities.loader import load_all
from toolkit.linter.clock_changes import year_from
from toolkit.linter.input_windows import InputWindow, critical_runs, input_windows

TIME = parse_instant("2026-03-10T12:00Z")
GRID = InstanceSequence(parse_instant("2025-01-01T00:00Z"), Frequency.parse("hours(1)"))
EXPRESSIONS = st.sampled_from(
    [
        "now(-5,0)",
        "today(0,0)",
        "yesterday(3,0)",
        "currentWeek(WED,0,0)",
        "lastWeek(MON,0,0)",
        "currentMonth(0,0,0)",
        "lastMonth(2,0,0)",
        "currentYear(0,0,0,0)",
    ]
)
LIMITS = st.sampled_from(["hours(30)", "days(7)", "months(1)", "months(2)"]).map(Frequency.parse)


def overdue(expression: str, limit: Frequency, zone: str, runs: Iterable[datetime]) -> timedelta:
    """By how much the window begins before what the limit keeps, at the run where that is the most."""
    return max(shift(run, limit, -1, zone) - evaluate(expression, run, zone) for run in runs)


@settings(max_examples=40)
@given(EXPRESSIONS, LIMITS, st.sampled_from(["UTC", "Europe/Berlin"]), st.integers(0, 23))
def test_no_run_of_the_year_reaches_further_beyond_a_limit_than_the_critical_ones(
    expression: str, limit: Frequency, zone: str, hour: int
) -> None:
    runs = InstanceSequence(parse_instant(f"2025-06-01T{hour:02}:00Z"), Frequency.parse("hours(12)"), zone)
    begin = runs.at_or_after(TIME)
    assert begin is not None
    every = runs.between(begin, year_from(begin)[1])
    critical = critical_runs(runs, GRID, zone, TIME)
    slack = timedelta() if zone == "UTC" else timedelta(hours=1)  # a change of the clocks within the limit
    assert overdue(expression, limit, zone, critical) >= overdue(expression, limit, zone, every) - slack


def test_critical_runs_are_runs_and_few() -> None:
    runs = InstanceSequence(parse_instant("2026-01-01T00:00Z"), Frequency.parse("minutes(5)"), "Europe/Berlin")
    found = critical_runs(runs, GRID, "Europe/Berlin", TIME)
    assert all(each in runs for each in found)
    assert len(found) < 300


def test_a_process_that_ended_is_looked_at_from_its_first_run() -> None:
    end = parse_instant("2025-02-01T00:00Z")
    runs = InstanceSequence(parse_instant("2025-01-01T00:00Z"), Frequency.parse("days(1)"), "UTC", end)
    assert critical_runs(runs, GRID, "UTC", TIME)[0] == runs.start


def test_the_ends_of_the_calendar_do_no_harm() -> None:
    for start in ("0001-01-01T00:00Z", "9998-12-31T00:00Z"):
        runs = InstanceSequence(parse_instant(start), Frequency.parse("days(1)"))
        assert critical_runs(runs, runs, "Europe/Berlin", parse_instant("9999-12-30T00:00Z"))


def found_readings() -> list[InputWindow]:
    return list(input_windows(load_all(snapshot({}), None)[0]))


def test_every_input_is_read_on_each_cluster_of_its_process() -> None:
    assert [(each.process.name, each.name, each.feed.name, each.cluster) for each in found_readings()] == [
        ("daily_report", "counts", "clicks_hourly", "primary"),
        ("daily_report", "by_day", "clicks_by_day", "primary"),
        ("hourly_job", "clicks", "clicks", "primary"),
    ]


def test_an_expression_that_leaves_the_calendar_means_nothing() -> None:
    reading = found_readings()[0]
    assert reading.instant(reading.start, parse_instant("0001-01-01T00:00Z")) is None
    assert reading.instant(reading.start, parse_instant("2026-03-02T03:00Z")) == parse_instant("2026-03-01T00:00Z")

"""Consumers of a feed instance: the inverse of inputs, compared with trying every run."""

from __future__ import annotations

from datetime import datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.unit.planning.entities import path_feed, process
from toolkit.el import NotAnInstance, evaluate, parse_instant
from toolkit.entities import Input, Process
from toolkit.planning.moving_ranges import Consumer, consumers

HOURLY = path_feed("feed1", "/d/${YEAR}-${MONTH}-${DAY}-${HOUR}")


def found(instant: str, *processes: Process) -> list[Consumer]:
    return list(consumers(HOURLY, "primary", parse_instant(instant), processes))


def test_a_window_of_two_hours_is_read_by_the_runs_of_the_day() -> None:
    daily = process({"in": Input(feed="feed1", start="today(0,0)", end="today(1,0)")})
    (consumer,) = found("2012-03-01T01:00Z", daily)
    assert consumer.instances == (parse_instant("2012-03-01T00:40Z"), parse_instant("2012-03-01T23:40Z"))
    assert consumer.count == 24
    assert found("2012-03-01T02:00Z", daily) == []


def test_an_input_of_available_instances_depends_on_the_run() -> None:
    newest = process({"in": Input(feed="feed1", start="latest(-1)", end="latest(0)")})
    (consumer,) = found("2012-03-01T01:00Z", newest)
    assert consumer.depends_on_availability


def test_processes_that_read_other_feeds_or_run_elsewhere_are_passed_over() -> None:
    other = process({"in": Input(feed="feed2", start="now(0,0)", end="now(0,0)")})
    assert found("2012-03-01T01:00Z", other) == []


def test_a_time_that_is_no_instance_is_an_error() -> None:
    with pytest.raises(NotAnInstance):
        found("2012-03-01T01:30Z")


def test_the_runs_that_read_an_instance_are_looked_for_close_to_it(monkeypatch: pytest.MonkeyPatch) -> None:
    """A plan asks for the readers of thousands of instances; halving all runs looks at 20 of them each time."""
    looked: list[datetime] = []

    def counted(text: str, instant: datetime, timezone: str) -> datetime:
        looked.append(instant)
        return evaluate(text, instant, timezone)

    monkeypatch.setattr("toolkit.planning.moving_ranges.evaluate", counted)
    of_the_hour = process({"in": Input(feed="feed1", start="now(0,0)", end="now(0,0)")})
    (consumer,) = found("2020-03-01T01:00Z", of_the_hour)
    assert consumer.count == 1
    assert len(looked) <= 4


EXPRESSIONS = st.one_of(
    st.builds("now({},{})".format, st.integers(-50, 20), st.integers(-90, 90)),
    st.builds("today({},{})".format, st.integers(-30, 30), st.integers(-90, 90)),
    st.builds("currentWeek({},{},{})".format, st.sampled_from(["MON", "SUN"]), st.integers(-30, 30), st.just(0)),
    st.builds("lastMonth({},{},{})".format, st.integers(0, 40), st.integers(-5, 30), st.just(0)),
)


@pytest.mark.extended
@given(
    st.tuples(EXPRESSIONS, EXPRESSIONS),
    st.sampled_from(["hours(1)", "hours(5)", "days(1)", "minutes(45)", "months(1)"]),
    st.sampled_from(["UTC", "America/Los_Angeles", "Asia/Kolkata"]),
    st.integers(0, 24 * 20),
)
def test_consumers_are_just_the_runs_that_read_the_instance(
    ends: tuple[str, str], frequency: str, timezone: str, hours: int
) -> None:
    start = "2026-02-20T08:30Z"
    reader = process({"in": Input(feed="feed1", start=ends[0], end=ends[1])}, None, frequency, timezone, start)
    instant = parse_instant("2026-02-20T00:00Z") + timedelta(hours=hours)
    grid = HOURLY.instances_on("primary")

    def floor(expression: str, run: datetime) -> datetime:
        return grid.at_or_before(evaluate(expression, run, timezone)) or grid.start

    runs = reader.instances_on("primary").between(parse_instant(start), parse_instant("2026-06-20T00:00Z"))
    reading = [run for run in runs if floor(ends[0], run) <= instant <= floor(ends[1], run)]
    answer = [consumer.instances for consumer in consumers(HOURLY, "primary", instant, [reader])]
    assert answer == ([(reading[0], reading[-1])] if reading else [])

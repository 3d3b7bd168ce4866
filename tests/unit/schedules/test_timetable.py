from __future__ import annotations

from datetime import UTC, datetime, timedelta
from itertools import islice

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.unit.schedules.cron_clock import MINUTE, CronClock
from toolkit.el import Frequency, InstanceSequence, Unit, parse_instant, shift
from toolkit.schedules.timetable import Timetable, cron_times

YEAR = (datetime(2026, 3, 1, tzinfo=UTC), datetime(2027, 3, 1, tzinfo=UTC))
ZONES = ("UTC", "Europe/Berlin", "America/New_York", "Asia/Kolkata", "Australia/Lord_Howe", "Africa/Casablanca")
MOST = 250
"""So many turns of a year are looked at."""


def timetable(
    frequency: str, start: str = "2026-01-01T00:00Z", timezone: str = "UTC", delay: str | None = None
) -> Timetable:
    parsed = None if delay is None else Frequency.parse(delay)
    return Timetable(start=parse_instant(start), frequency=Frequency.parse(frequency), timezone=timezone, delay=parsed)


@pytest.mark.parametrize(
    ("wanted", "expression", "is_exact"),
    [
        (timetable("minutes(15)", "2026-01-01T00:05Z"), "5,20,35,50 * * * *", True),
        (timetable("minutes(15)"), "*/15 * * * *", True),
        (timetable("minutes(7)"), "*/6 * * * *", False),
        (timetable("minutes(90)", "2026-01-01T00:10Z"), "10 * * * *", False),
        (timetable("hours(1)", delay="minutes(40)"), "40 * * * *", True),
        (timetable("hours(6)", "2026-01-01T01:30Z"), "30 1,7,13,19 * * *", True),
        (timetable("hours(5)"), "0 */4 * * *", False),
        (timetable("hours(48)"), "0 0 * * *", False),
        (timetable("days(1)", "2026-01-01T03:00Z"), "0 3 * * *", True),
        (timetable("days(1)", "2025-12-31T23:00Z", "Europe/Berlin"), "0 22,23 * * *", False),
        (timetable("days(7)", "2026-01-05T03:00Z"), "0 3 * * 1", True),
        (timetable("days(14)", "2026-01-05T03:00Z"), "0 3 * * 1", False),
        (timetable("days(2)"), "0 0 * * *", False),
        (timetable("days(7)", "2026-01-05T03:00Z", delay="months(1)"), "0 3 * * *", False),
        (timetable("months(1)", "2026-01-15T04:20Z"), "20 4 15 * *", True),
        (timetable("months(3)", "2026-02-01T00:00Z"), "0 0 1 2,5,8,11 *", True),
        (timetable("months(1)", "2026-01-31T00:00Z"), "0 0 28,29,30,31 * *", False),
        (timetable("months(1)", "2025-12-31T23:00Z", "Europe/Berlin"), "0 22,23 28,29,30,31 * *", False),
    ],
)
def test_cron_says_what_it_can_and_else_the_next_finer_step(
    wanted: Timetable, expression: str, *, is_exact: bool
) -> None:
    times = cron_times(wanted, "UTC")
    assert (str(times), times.is_exact) == (expression, is_exact)


@pytest.mark.parametrize(
    ("wanted", "clock", "expression"),
    [
        (timetable("hours(6)", "2026-01-01T01:30Z"), "Asia/Kolkata", "0 1,7,13,19 * * *"),
        (timetable("days(1)", "2026-01-01T03:00Z"), "Europe/Berlin", "0 * * * *"),
        (timetable("hours(1)"), "Australia/Lord_Howe", "*/30 * * * *"),
        (timetable("days(1)", "2026-01-01T20:00Z"), "Asia/Kolkata", "30 1 * * *"),
    ],
)
def test_a_clock_of_another_zone_is_reckoned_with(wanted: Timetable, clock: str, expression: str) -> None:
    assert str(cron_times(wanted, clock)) == expression


def _frequencies(most: dict[Unit, int]) -> st.SearchStrategy[Frequency]:
    return st.sampled_from(sorted(most)).flatmap(
        lambda unit: st.integers(1, most[unit]).map(lambda count: Frequency(unit=unit, count=count))
    )


WANTED = st.builds(
    Timetable,
    start=st.datetimes(datetime(2012, 1, 1), datetime(2026, 2, 1)).map(  # noqa: DTZ001 - made aware below
        lambda at: at.replace(second=0, microsecond=0, tzinfo=UTC)
    ),
    frequency=_frequencies({Unit.MINUTES: 2000, Unit.HOURS: 200, Unit.DAYS: 40, Unit.MONTHS: 30}),
    timezone=st.sampled_from(ZONES),
    delay=st.none() | _frequencies({Unit.MINUTES: 900, Unit.HOURS: 60, Unit.DAYS: 3, Unit.MONTHS: 2}),
)


def _due(wanted: Timetable) -> list[datetime]:
    """When something is due, some of a year."""
    instances = InstanceSequence(wanted.start, wanted.frequency, wanted.timezone)
    apart = max(1, instances.count(*YEAR) // MOST)
    found = islice(instances.between(*YEAR), 0, None, apart)
    return [at if wanted.delay is None else shift(at, wanted.delay, 1, wanted.timezone) for at in found]


@given(wanted=WANTED, clock=st.sampled_from(ZONES))
@settings(max_examples=60, deadline=None)
def test_in_a_year_nothing_due_is_left_for_a_step_and_what_cron_can_say_is_met_in_its_minute(
    wanted: Timetable, clock: str
) -> None:
    times = cron_times(wanted, clock)
    cron = CronClock(str(times), clock)
    step = timedelta(seconds=wanted.seconds)
    is_on_time = times.is_exact or not wanted.frequency.unit.is_elapsed
    has_calendar_delay = wanted.delay is not None and not wanted.delay.unit.is_elapsed
    for due in _due(wanted):
        fired = cron.first_from(due, step)
        assert fired is not None, f"{wanted} by {clock}: nothing within {step} of {due}, by {times}"
        if is_on_time and not (has_calendar_delay and wanted.frequency.unit.is_elapsed):
            assert fired == due


@given(wanted=WANTED, clock=st.sampled_from(ZONES))
@settings(max_examples=30, deadline=None)
def test_what_is_exact_fires_for_turns_alone(wanted: Timetable, clock: str) -> None:
    times = cron_times(wanted, clock)
    has_calendar_delay = wanted.delay is not None and not wanted.delay.unit.is_elapsed
    if not times.is_exact or has_calendar_delay or wanted.seconds < 3600:
        return
    cron, at = CronClock(str(times), clock), YEAR[0]
    instances = InstanceSequence(wanted.start, wanted.frequency, wanted.timezone)
    delay = timedelta() if wanted.delay is None else wanted.delay.elapsed
    assert delay is not None
    while at < YEAR[0] + timedelta(days=40):
        assert not cron.fires_at(at) or at - delay in instances
        at += MINUTE


@pytest.mark.parametrize("clock", [zone for zone in ZONES if zone not in {"UTC", "Asia/Kolkata"}])
@given(wanted=WANTED)
@settings(max_examples=10, deadline=None)
def test_by_a_clock_that_is_changed_every_hour_is_named_since_crons_differ_in_the_hours_that_come_twice(
    clock: str, wanted: Timetable
) -> None:
    assert str(cron_times(wanted, clock)).split()[1] == "*"

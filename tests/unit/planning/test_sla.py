"""Moments of SLAs and deadlines, and the times for which they were missed."""

from __future__ import annotations

from datetime import date, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from toolkit.el import Frequency, InstanceSequence, format_instant, parse_instant
from toolkit.entities.calendar import Calendar
from toolkit.entities.sla import FeedSla, ProcessSla, SlaDeadline
from toolkit.planning.sla import (
    NoDeadline,
    PresenceChange,
    SlaMoments,
    deadline_of,
    feed_moments,
    first_open,
    is_day_off,
    presence_spans,
    process_moments,
    sla_episodes,
    state_of,
)
from toolkit.planning.sla_vocabulary import DataPresence, SlaState

BUSINESS = Calendar(name="business", holidays=(date(2026, 3, 30),))
ABSENT, SMALL, PRESENT, EXEMPT = DataPresence.ABSENT, DataPresence.SMALL, DataPresence.PRESENT, DataPresence.EXEMPT
NOON = parse_instant("2026-03-01T12:00Z")
MOMENTS = SlaMoments(low_at=NOON, high_at=NOON + timedelta(hours=2))


def every(text: str) -> Frequency:
    return Frequency.parse(text)


def texts(moments: SlaMoments) -> list[str]:
    return ["" if each is None else format_instant(each) for each in (moments.low_at, moments.high_at)]


def deadline(cron: str, instant: str, calendar: Calendar | None = None, *, zone: str = "UTC", after: str = "") -> str:
    written = SlaDeadline(
        cron=cron,
        timezone=zone,
        calendar=None if calendar is None else calendar.name,
        after=every(after) if after else None,
    )
    return format_instant(deadline_of(written, parse_instant(instant), calendar))


def test_low_and_high_count_from_the_time_of_the_instance() -> None:
    sla = FeedSla(low=every("hours(2)"), high=every("hours(4)"))
    assert texts(feed_moments(sla, NOON, "UTC")) == ["2026-03-01T14:00Z", "2026-03-01T16:00Z"]


def test_days_and_months_of_limits_are_those_of_the_feeds_zone() -> None:
    sla = FeedSla(low=every("days(1)"), high=every("months(1)"))
    start = parse_instant("2026-03-28T07:00Z")
    assert texts(feed_moments(sla, start, "Europe/Berlin")) == ["2026-03-29T06:00Z", "2026-04-28T06:00Z"]
    last = parse_instant("2026-01-31T00:00Z")
    assert texts(feed_moments(sla, last, "UTC"))[1] == "2026-02-28T00:00Z"


def test_limits_of_a_deadline_count_from_it_and_without_any_it_is_high_itself() -> None:
    at_nine = SlaDeadline(cron="0 9 * * *", after=every("days(1)"))
    both = FeedSla(low=every("minutes(10)"), high=every("hours(1)"), deadline=at_nine)
    midnight = parse_instant("2026-03-02T00:00Z")
    assert texts(feed_moments(both, midnight, "UTC")) == ["2026-03-03T09:10Z", "2026-03-03T10:00Z"]
    assert texts(feed_moments(FeedSla(deadline=at_nine), midnight, "UTC")) == ["", "2026-03-03T09:00Z"]


def test_a_process_is_late_when_it_has_not_started_and_missing_when_it_has_not_ended() -> None:
    sla = ProcessSla(should_start_in=every("minutes(20)"), should_end_in=every("hours(2)"))
    assert texts(process_moments(sla, NOON, "UTC")) == ["2026-03-01T12:20Z", "2026-03-01T14:00Z"]
    assert process_moments(ProcessSla(), NOON, "UTC").last is None


@pytest.mark.parametrize(
    ("cron", "instant", "expected"),
    [
        ("0 9 * * *", "2026-03-02T09:00Z", "2026-03-02T09:00Z"),
        ("0 9 * * *", "2026-03-02T09:01Z", "2026-03-03T09:00Z"),
        ("*/15 * * * *", "2026-03-02T09:01Z", "2026-03-02T09:15Z"),
        ("0 6 1 * *", "2026-03-02T00:00Z", "2026-04-01T06:00Z"),
    ],
)
def test_a_deadline_is_the_first_match_at_or_after_the_instance(cron: str, instant: str, expected: str) -> None:
    assert deadline(cron, instant) == expected


def test_a_deadline_is_on_a_day_of_the_calendar() -> None:
    assert deadline("0 9 * * *", "2026-03-27T00:00Z", BUSINESS, after="days(1)") == "2026-03-31T09:00Z"
    assert deadline("0 9 * * *", "2026-03-27T00:00Z", after="days(1)") == "2026-03-28T09:00Z"


def test_a_local_time_that_does_not_exist_is_shifted_and_an_ambiguous_one_is_its_first() -> None:
    berlin = "Europe/Berlin"
    assert deadline("30 2 * * *", "2026-03-28T12:00Z", zone=berlin) == "2026-03-29T01:30Z"
    assert deadline("30 2 * * *", "2026-10-24T12:00Z", zone=berlin) == "2026-10-25T00:30Z"
    assert deadline("30 2 * * *", "2026-10-25T00:31Z", zone=berlin) == "2026-10-26T01:30Z"


def test_a_deadline_on_no_day_of_the_calendar_is_an_error() -> None:
    with pytest.raises(NoDeadline, match="on a day of the calendar business"):
        deadline("0 9 * * sun", "2026-03-01T00:00Z", BUSINESS)


@pytest.mark.parametrize("cron", ["* * * * sun", "0 6 * 1 sat#1", "0 9 29 2 sun"])
def test_the_search_for_a_deadline_that_never_comes_ends_soon(cron: str) -> None:
    with pytest.raises(NoDeadline):
        deadline(cron, "2026-03-01T00:00Z", Calendar(name="monday", weekdays=("mon",)))


def test_a_deadline_of_every_minute_comes_after_three_weeks_of_holidays() -> None:
    closed = Calendar(name="closed", holidays=tuple(date(2026, 8, day) for day in range(1, 24)))
    assert deadline("* * * * *", "2026-08-01T00:00Z", closed) == "2026-08-24T00:00Z"
    assert deadline("0 6 29 2 *", "2096-03-01T00:00Z") == "2104-02-29T06:00Z"


def test_a_deadline_at_the_end_of_the_years_that_times_can_have_never_comes() -> None:
    with pytest.raises(NoDeadline):
        deadline("0 9 * 1 *", "9999-12-30T00:00Z")


def test_an_instance_of_a_day_that_the_calendar_leaves_out_is_not_expected() -> None:
    late = SlaDeadline(cron="0 9 * * *", timezone="America/New_York", calendar="business")
    assert not is_day_off(late, parse_instant("2026-03-28T03:00Z"), BUSINESS)  # still Friday there
    assert is_day_off(late, parse_instant("2026-03-28T04:00Z"), BUSINESS)
    assert is_day_off(late, parse_instant("2026-03-30T12:00Z"), BUSINESS)
    assert not is_day_off(None, parse_instant("2026-03-28T04:00Z"), BUSINESS)


def test_a_monitor_begins_with_the_first_instance_whose_sla_is_not_over() -> None:
    sequence = InstanceSequence(parse_instant("2020-01-01T00:00Z"), every("hours(1)"))
    sla = FeedSla(low=every("hours(1)"), high=every("hours(3)"))
    found = first_open(sequence, lambda each: feed_moments(sla, each, "UTC"), NOON)
    assert found == NOON - timedelta(hours=2)
    assert first_open(sequence, lambda each: feed_moments(sla, each, "UTC"), sequence.start) == sequence.start


def test_a_sequence_that_has_ended_expects_nothing() -> None:
    sequence = InstanceSequence(NOON - timedelta(days=9), every("days(1)"), end=NOON - timedelta(days=5))
    assert first_open(sequence, lambda each: SlaMoments(high_at=each), NOON) is None


def episodes(*changes: tuple[int, DataPresence], now: int = 600) -> list[tuple[int, bool, int | None, int | None]]:
    """Episodes of one instance in minutes after noon; high is at 120."""
    start = NOON - timedelta(hours=2)
    found = presence_spans(
        ABSENT, start, [PresenceChange(at=NOON + timedelta(minutes=at), presence=what) for at, what in changes]
    )

    def minutes(at: datetime | None) -> int | None:
        return None if at is None else int((at - NOON).total_seconds() / 60)

    return [
        (minutes(each.opened_at) or 0, each.is_high, minutes(each.escalated_at), minutes(each.closed_at))
        for each in sla_episodes(MOMENTS, found, NOON + timedelta(minutes=now))
    ]


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ([], [(0, True, 120, None)]),
        ([(0, PRESENT)], []),
        ([(1, PRESENT)], [(0, False, None, 1)]),
        ([(120, PRESENT)], [(0, False, None, 120)]),
        ([(121, PRESENT)], [(0, True, 120, 121)]),
        ([(-5, PRESENT), (30, ABSENT), (40, PRESENT)], [(30, False, None, 40)]),
        ([(-5, PRESENT), (200, ABSENT)], [(200, True, None, None)]),
        ([(-5, EXEMPT), (60, ABSENT), (70, PRESENT)], [(60, False, None, 70)]),
        ([(30, SMALL), (130, PRESENT)], [(0, False, None, 30), (30, True, 120, 130)]),
        ([(30, ABSENT)], [(0, True, 120, None)]),
    ],
)
def test_an_sla_is_missed_from_its_moment_until_the_data_comes(
    changes: list[tuple[int, DataPresence]], expected: list[tuple[int, bool, int | None, int | None]]
) -> None:
    assert episodes(*changes) == expected


def test_a_moment_that_has_not_come_is_not_missed() -> None:
    assert episodes(now=-1) == []
    assert episodes(now=0) == [(0, False, None, None)]
    assert episodes(now=119) == [(0, False, None, None)]


@pytest.mark.parametrize(
    ("presence", "minutes", "expected"),
    [
        (ABSENT, -1, SlaState.FRESH),
        (ABSENT, 0, SlaState.LATE),
        (ABSENT, 120, SlaState.MISSING),
        (SMALL, 0, SlaState.EMPTY),
        (EXEMPT, 500, SlaState.EXEMPT),
        (PRESENT, 500, SlaState.FRESH),
    ],
)
def test_states(presence: DataPresence, minutes: int, expected: SlaState) -> None:
    assert state_of(MOMENTS, presence, NOON + timedelta(minutes=minutes)) is expected


@given(minutes=st.integers(0, 60 * 24 * 400), zone=st.sampled_from(["UTC", "Europe/Berlin", "Australia/Lord_Howe"]))
def test_a_deadline_is_never_before_the_instance_and_does_not_fall_as_time_goes_on(minutes: int, zone: str) -> None:
    written = SlaDeadline(cron="30 2 * * *", timezone=zone)
    instant = parse_instant("2026-01-01T00:00Z") + timedelta(minutes=minutes)
    found = deadline_of(written, instant)
    assert found >= instant
    assert deadline_of(written, instant + timedelta(minutes=1)) >= found

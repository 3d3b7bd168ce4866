from __future__ import annotations

import copy
import pickle
from collections.abc import Callable
from datetime import UTC, datetime, timedelta, timezone
from itertools import islice

import pytest

from toolkit.el import (
    ElError,
    Frequency,
    InstanceSequence,
    NoSuchInstance,
    NotAnInstance,
    OutOfRange,
    format_instant,
    load_zone,
    parse_instant,
    to_local,
)

NAIVE = datetime(2026, 1, 1)  # noqa: DTZ001 - the naive time is the point


def sequence(start: str, frequency: str, zone: str = "UTC", end: str | None = None) -> InstanceSequence:
    return InstanceSequence(
        parse_instant(start), Frequency.parse(frequency), zone, None if end is None else parse_instant(end)
    )


def texts(instances: InstanceSequence, count: int) -> list[str]:
    return [format_instant(instances[position]) for position in range(count)]


HOURLY = sequence("2026-01-01T00:00Z", "hours(1)", end="2026-01-01T05:30Z")


def test_falcons_march_11_2012_has_23_hourly_instances_in_local_time() -> None:
    """Falcon entity specification, Validity: 00:40 PST, 01:40 PST, 03:40 PDT ... 23:40 PDT."""
    zone = load_zone("PST8PDT")
    instances = sequence("2012-03-11T08:40Z", "hours(1)", "PST8PDT", "2012-03-12T08:00Z")
    local = [
        to_local(instance, zone) for instance in instances.between(instances.start, parse_instant("2012-03-12T07:00Z"))
    ]
    assert [time.strftime("%dT%H:%M") for time in local] == [f"11T{hour:02}:40" for hour in range(24) if hour != 2]


def test_falcons_hourly_process_of_three_months_ends_on_march_31_at_23_40() -> None:
    """Falcon entity specification, Validity."""
    instances = sequence("2012-01-01T00:40Z", "hours(1)", "UTC", "2012-04-01T00:00Z")
    assert instances.at_or_before(parse_instant("2012-12-31T00:00Z")) == parse_instant("2012-03-31T23:40Z")
    assert instances.count(instances.start, parse_instant("2099-01-01T00:00Z")) == 91 * 24


@pytest.mark.parametrize(
    ("start", "frequency", "zone", "expected"),
    [
        ("2026-01-31T12:00Z", "months(1)", "UTC", ["2026-01-31", "2026-02-28", "2026-03-31", "2026-04-30"]),
        (
            "2024-02-29T12:00Z",
            "months(12)",
            "UTC",
            ["2024-02-29", "2025-02-28", "2026-02-28", "2027-02-28", "2028-02-29"],
        ),
        ("2026-02-27T12:00Z", "days(2)", "UTC", ["2026-02-27", "2026-03-01", "2026-03-03"]),
    ],
)
def test_calendar_steps_are_counted_from_the_start(start: str, frequency: str, zone: str, expected: list[str]) -> None:
    assert texts(sequence(start, frequency, zone), len(expected)) == [f"{day}T12:00Z" for day in expected]


def test_days_keep_the_local_time_across_a_clock_change() -> None:
    daily = sequence("2012-03-10T08:00Z", "days(1)", "America/Los_Angeles")
    assert texts(daily, 4) == ["2012-03-10T08:00Z", "2012-03-11T08:00Z", "2012-03-12T07:00Z", "2012-03-13T07:00Z"]


def test_a_local_time_that_does_not_exist_is_shifted_forward_once() -> None:
    daily = sequence("2012-03-10T10:30Z", "days(1)", "America/Los_Angeles")
    assert texts(daily, 3) == ["2012-03-10T10:30Z", "2012-03-11T10:30Z", "2012-03-12T09:30Z"]


def test_of_an_ambiguous_local_time_the_first_is_the_instance() -> None:
    daily = sequence("2026-10-24T00:30Z", "days(1)", "Europe/Berlin")
    assert texts(daily, 3) == ["2026-10-24T00:30Z", "2026-10-25T00:30Z", "2026-10-26T01:30Z"]


def test_the_start_stays_the_start_when_it_is_the_second_of_two() -> None:
    daily = sequence("2026-10-25T01:30Z", "days(1)", "Europe/Berlin")
    assert texts(daily, 2) == ["2026-10-25T01:30Z", "2026-10-26T01:30Z"]
    assert daily.at_or_before(parse_instant("2026-10-25T00:30Z")) is None


def test_instants_that_coincide_around_a_skipped_day_are_one_instance() -> None:
    daily = sequence("2011-12-28T22:00Z", "days(1)", "Pacific/Apia")
    expected = ["2011-12-28T22:00Z", "2011-12-29T22:00Z", "2011-12-30T22:00Z", "2011-12-31T22:00Z"]
    assert texts(daily, 4) == expected
    assert [daily.index(parse_instant(text)) for text in expected] == [0, 1, 2, 3]
    assert [
        format_instant(instance) for instance in daily.between(daily.start, parse_instant("2012-01-01T00:00Z"))
    ] == expected


def test_two_day_steps_do_not_fold_at_a_skipped_day() -> None:
    alternate = sequence("2011-12-28T22:00Z", "days(2)", "Pacific/Apia")
    assert texts(alternate, 3) == ["2011-12-28T22:00Z", "2011-12-30T22:00Z", "2011-12-31T22:00Z"]


@pytest.mark.parametrize(
    ("instant", "before", "after"),
    [
        ("2025-12-31T23:59Z", None, "2026-01-01T00:00Z"),
        ("2026-01-01T00:00Z", "2026-01-01T00:00Z", "2026-01-01T00:00Z"),
        ("2026-01-01T00:01Z", "2026-01-01T00:00Z", "2026-01-01T01:00Z"),
        ("2026-01-01T05:00Z", "2026-01-01T05:00Z", "2026-01-01T05:00Z"),
        ("2026-01-01T05:01Z", "2026-01-01T05:00Z", None),
        ("2026-01-01T06:00Z", "2026-01-01T05:00Z", None),
        ("2099-01-01T00:00Z", "2026-01-01T05:00Z", None),
    ],
)
def test_the_neighbours_of_an_instant_are_clipped_to_the_validity(
    instant: str, before: str | None, after: str | None
) -> None:
    time = parse_instant(instant)
    assert HOURLY.at_or_before(time) == (before and parse_instant(before))
    assert HOURLY.at_or_after(time) == (after and parse_instant(after))


def test_the_end_is_exclusive() -> None:
    assert parse_instant("2026-01-01T02:00Z") not in sequence("2026-01-01T00:00Z", "hours(1)", end="2026-01-01T02:00Z")
    assert parse_instant("2026-01-01T02:00Z") in sequence("2026-01-01T00:00Z", "hours(1)", end="2026-01-01T02:01Z")


@pytest.mark.parametrize(
    ("first", "end", "hours"),
    [
        ("2026-01-01T01:00Z", "2026-01-01T03:00Z", [1, 2]),
        ("2026-01-01T00:30Z", "2026-01-01T02:01Z", [1, 2]),
        ("2020-01-01T00:00Z", "2030-01-01T00:00Z", [0, 1, 2, 3, 4, 5]),
        ("2026-01-01T05:30Z", "2030-01-01T00:00Z", []),
        ("2026-01-01T03:00Z", "2026-01-01T03:00Z", []),
        ("2026-01-01T04:00Z", "2026-01-01T02:00Z", []),
        ("2020-01-01T00:00Z", "2026-01-01T00:00Z", []),
    ],
)
def test_between_is_half_open_and_clipped_to_the_validity(first: str, end: str, hours: list[int]) -> None:
    a, b = parse_instant(first), parse_instant(end)
    assert [instance.hour for instance in HOURLY.between(a, b)] == hours
    assert HOURLY.count(a, b) == len(hours)


def test_between_makes_instances_one_at_a_time() -> None:
    minutely = sequence("0001-01-01T00:00Z", "minutes(1)")
    ever = minutely.between(minutely.start, parse_instant("9999-12-31T23:59Z"))
    assert [format_instant(instance) for instance in islice(ever, 2)] == ["0001-01-01T00:00Z", "0001-01-01T00:01Z"]


def test_a_sequence_can_be_iterated() -> None:
    assert [instance.hour for instance in HOURLY] == [0, 1, 2, 3, 4, 5]


@pytest.mark.parametrize("position", [-1, 6, 10**30])
def test_a_position_outside_the_sequence_is_an_index_error(position: int) -> None:
    with pytest.raises(NoSuchInstance) as caught:
        HOURLY[position]
    assert isinstance(caught.value, IndexError)
    assert isinstance(caught.value, ElError)


@pytest.mark.parametrize("frequency", ["minutes(1)", "days(1)", "months(1)"])
@pytest.mark.parametrize("zone", ["UTC", "Asia/Kolkata", "America/Los_Angeles"])
def test_a_sequence_without_end_ends_with_the_calendar(frequency: str, zone: str) -> None:
    ever = sequence("2026-01-01T08:00Z", frequency, zone)
    last = ever.at_or_before(datetime.max.replace(tzinfo=UTC))
    assert last is not None
    assert last > parse_instant("9999-11-30T00:00Z")
    with pytest.raises(NoSuchInstance):
        ever[ever.index(last) + 1]


@pytest.mark.parametrize("instant", ["2025-12-31T23:00Z", "2026-01-01T00:30Z", "2026-01-01T06:00Z"])
def test_the_index_of_a_non_member_is_an_error(instant: str) -> None:
    with pytest.raises(NotAnInstance, match=r"hours\(1\) from 2026-01-01T00:00Z until 2026-01-01T05:30Z"):
        HOURLY.index(parse_instant(instant))


@pytest.mark.parametrize(
    ("instant", "output"),
    [
        ("2025-12-31T23:00Z", "; the nearest is 2026-01-01T00:00Z"),
        ("2026-01-01T00:30Z", "; the nearest are 2026-01-01T00:00Z and 2026-01-01T01:00Z"),
        ("2026-01-01T06:00Z", "; the nearest is 2026-01-01T05:00Z"),
    ],
)
def test_the_error_names_the_instances_before_and_after_in_the_form_of_instants(instant: str, output: str) -> None:
    with pytest.raises(NotAnInstance) as raised:
        HOURLY.index(parse_instant(instant))
    assert str(raised.value).startswith(f'"{instant}": expected an instance of hours(1)')
    assert str(raised.value).endswith(output)


def test_a_time_within_a_minute_is_no_member_but_has_neighbours() -> None:
    time = parse_instant("2026-01-01T02:00Z") + timedelta(microseconds=1)
    assert time not in HOURLY
    assert (HOURLY.at_or_before(time), HOURLY.at_or_after(time)) == (HOURLY[2], HOURLY[3])


def test_other_zones_of_the_same_instant_are_the_same_member() -> None:
    east = timezone(timedelta(hours=5, minutes=30))
    assert HOURLY.index(HOURLY[3].astimezone(east)) == 3
    assert InstanceSequence(HOURLY.start.astimezone(east), HOURLY.frequency, end=HOURLY.end) == HOURLY


@pytest.mark.parametrize(
    "ask",
    [
        HOURLY.at_or_before,
        HOURLY.at_or_after,
        HOURLY.index,
        HOURLY.__contains__,
        lambda time: HOURLY.between(time, HOURLY.start),
        lambda time: HOURLY.count(HOURLY.start, time),
        lambda time: InstanceSequence(time, HOURLY.frequency),
        lambda time: InstanceSequence(HOURLY.start, HOURLY.frequency, end=time),
    ],
)
def test_naive_times_are_errors(ask: Callable[[datetime], object]) -> None:
    with pytest.raises(ElError, match="found no time zone"):
        ask(NAIVE)


@pytest.mark.parametrize("end", ["2026-01-01T00:00Z", "2025-12-31T00:00Z"])
def test_an_end_that_is_not_after_the_start_is_an_error(end: str) -> None:
    with pytest.raises(ElError, match="expected an end after the start 2026-01-01T00:00Z"):
        sequence("2026-01-01T00:00Z", "hours(1)", end=end)


def test_a_start_or_end_within_a_minute_is_an_error() -> None:
    part = timedelta(seconds=30)
    with pytest.raises(ElError, match="expected a whole minute"):
        InstanceSequence(HOURLY.start + part, HOURLY.frequency)
    with pytest.raises(ElError, match="expected a whole minute"):
        InstanceSequence(HOURLY.start, HOURLY.frequency, end=HOURLY.start + part)


def test_an_unknown_zone_is_an_error_whatever_the_frequency() -> None:
    with pytest.raises(ElError, match="expected the name of a time zone"):
        sequence("2026-01-01T00:00Z", "hours(1)", "Mars/Olympus")


@pytest.mark.parametrize("frequency", ["minutes(7)", "hours(5)", "days(1)", "days(3)", "months(1)"])
@pytest.mark.parametrize("zone", ["UTC", "Asia/Kolkata", "America/Los_Angeles", "Pacific/Kiritimati"])
def test_a_validity_until_the_end_of_the_calendar_works(frequency: str, zone: str) -> None:
    end = "9999-12-31T23:59Z"
    instances = sequence("2026-01-01T08:00Z", frequency, zone, end)
    last = instances.at_or_before(parse_instant(end))
    assert last is not None
    assert instances.at_or_after(last) == last
    assert instances.at_or_after(last + timedelta(minutes=1)) is None
    assert instances.count(last, parse_instant(end)) == 1


def test_a_start_without_a_local_time_is_out_of_range() -> None:
    with pytest.raises(OutOfRange):
        sequence("0001-01-01T00:00Z", "days(1)", "America/Los_Angeles")
    assert sequence("0001-01-01T00:00Z", "days(1)", "Asia/Kolkata")[1] == parse_instant("0001-01-02T00:00Z")


def test_sequences_are_equal_by_value_and_can_be_hashed_and_sent() -> None:
    daily = sequence("2011-12-28T22:00Z", "days(1)", "Pacific/Apia")
    assert daily == sequence("2011-12-28T22:00Z", "days(1)", "Pacific/Apia")
    assert daily != sequence("2011-12-28T22:00Z", "days(1)", "Pacific/Fakaofo")
    assert len({daily, copy.deepcopy(daily), pickle.loads(pickle.dumps(daily))}) == 1  # noqa: S301 - our own bytes

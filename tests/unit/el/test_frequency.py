from __future__ import annotations

from datetime import datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from toolkit.el import ElError, Frequency, OutOfRange, Unit, format_instant, parse_instant, shift


@pytest.mark.parametrize(
    ("text", "unit", "count"),
    [
        ("minutes(5)", Unit.MINUTES, 5),
        ("hours(06)", Unit.HOURS, 6),
        ("days(1)", Unit.DAYS, 1),
        ("months(12)", "months", 12),
    ],
)
def test_a_frequency_has_a_unit_and_a_count(text: str, unit: Unit, count: int) -> None:
    frequency = Frequency.parse(text)
    assert (frequency.unit, frequency.count) == (unit, count)


@given(unit=st.sampled_from(Unit), count=st.integers(1, 9999))
def test_its_text_parses_back_to_the_frequency(unit: Unit, count: int) -> None:
    frequency = Frequency(unit=unit, count=count)
    assert Frequency.parse(str(frequency)) == frequency


@pytest.mark.parametrize(
    ("text", "position", "expected"),
    [
        ("houres(6)", 0, "minutes(N) or hours(N) or days(N) or months(N)"),
        ("HOURS(6)", 0, "minutes(N) or hours(N) or days(N) or months(N)"),
        ("", 0, "minutes(N) or hours(N) or days(N) or months(N)"),
        ("6", 0, "minutes(N) or hours(N) or days(N) or months(N)"),
        ("hours", 5, "'('"),
        ("hours(", 6, "a number above 0"),
        ("hours(-6)", 6, "a number above 0"),
        ("hours(x)", 6, "a number above 0"),
        ("hours(6", 7, "')'"),
        ("hours(6.5)", 7, "')'"),
        ("hours(6) ", 8, "nothing more after ')'"),
        ("hours(0)", 6, "a number from 1 to 87831216"),
        ("months(119989)", 7, "a number from 1 to 119988"),
        ("minutes(99999999999)", 8, "at most 10 digits"),
    ],
)
def test_a_bad_frequency_is_an_error_at_its_place(text: str, position: int, expected: str) -> None:
    with pytest.raises(ElError) as caught:
        Frequency.parse(text)
    assert (caught.value.position, caught.value.expected) == (position, expected)


def test_the_message_shows_what_was_found_and_expected() -> None:
    with pytest.raises(ElError) as caught:
        Frequency.parse("houres(6)")
    assert str(caught.value) == (
        "\"houres(6)\": at character 1: found 'houres', expected minutes(N) or hours(N) or days(N) or months(N)"
    )


def test_frequencies_multiply_but_have_no_order() -> None:
    assert str(Frequency.parse("minutes(10)").times(3)) == "minutes(30)"
    assert "__lt__" not in vars(Frequency)


def test_a_frequency_times_zero_is_none() -> None:
    with pytest.raises(ElError, match="a number from 1"):
        Frequency.parse("days(1)").times(0)


@pytest.mark.parametrize(
    ("start", "frequency", "times", "zone", "expected"),
    [
        ("2026-03-01T06:40Z", "hours(6)", -2, "UTC", "2026-02-28T18:40Z"),
        ("2012-03-11T08:40Z", "hours(24)", 1, "America/Los_Angeles", "2012-03-12T08:40Z"),
        ("2012-03-11T08:40Z", "days(1)", 1, "America/Los_Angeles", "2012-03-12T07:40Z"),
        ("2012-03-12T07:40Z", "days(1)", -1, "America/Los_Angeles", "2012-03-11T08:40Z"),
        ("2012-03-10T10:30Z", "days(1)", 1, "America/Los_Angeles", "2012-03-11T10:30Z"),
        ("2026-10-24T00:30Z", "days(1)", 1, "Europe/Berlin", "2026-10-25T00:30Z"),
        ("2026-10-25T01:30Z", "days(1)", 0, "Europe/Berlin", "2026-10-25T01:30Z"),
        ("2026-01-31T00:00Z", "months(1)", 1, "UTC", "2026-02-28T00:00Z"),
        ("2026-01-31T00:00Z", "months(1)", 2, "UTC", "2026-03-31T00:00Z"),
        ("2026-03-31T00:00Z", "months(1)", -1, "UTC", "2026-02-28T00:00Z"),
        ("2026-01-01T00:00Z", "months(1)", -1, "UTC", "2025-12-01T00:00Z"),
        ("2024-02-29T00:00Z", "months(12)", 1, "UTC", "2025-02-28T00:00Z"),
        ("2011-12-29T22:00Z", "days(1)", 1, "Pacific/Apia", "2011-12-30T22:00Z"),
        ("2011-12-29T22:00Z", "days(1)", 2, "Pacific/Apia", "2011-12-30T22:00Z"),
        ("1971-12-31T00:00Z", "days(1)", 10, "Africa/Monrovia", "1972-01-09T23:15Z"),
    ],
)
def test_shift_counts_elapsed_time_or_calendar_steps(
    start: str, frequency: str, times: int, zone: str, expected: str
) -> None:
    assert format_instant(shift(parse_instant(start), Frequency.parse(frequency), times, zone)) == expected


@pytest.mark.parametrize("frequency", ["minutes(1)", "hours(1)", "days(1)", "months(1)"])
@pytest.mark.parametrize("times", [10**10, -(10**10), 10**30, -(10**30)])
@pytest.mark.parametrize("zone", ["UTC", "Asia/Kolkata"])
def test_shift_out_of_the_calendar_is_out_of_range(frequency: str, times: int, zone: str) -> None:
    with pytest.raises(OutOfRange):
        shift(parse_instant("2026-01-01T00:00Z"), Frequency.parse(frequency), times, zone)


def test_shift_refuses_a_naive_time() -> None:
    with pytest.raises(ElError, match="found no time zone"):
        shift(datetime(2026, 1, 1), Frequency.parse("hours(1)"), 1)  # noqa: DTZ001 - the naive time is the point

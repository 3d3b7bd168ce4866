from __future__ import annotations

from datetime import UTC, date, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from toolkit.el import Frequency, shift
from toolkit.linter.durations import always_longer, length_words, longest, shortest, sometimes_shorter

MIDNIGHTS = st.dates(date(1999, 1, 1), date(2060, 1, 1)).map(
    lambda each: datetime(each.year, each.month, min(each.day, 28), tzinfo=UTC)
)


def frequency(text: str) -> Frequency:
    return Frequency.parse(text)


@pytest.mark.parametrize(
    ("text", "least", "most"),
    [
        ("minutes(90)", timedelta(minutes=90), timedelta(minutes=90)),
        ("days(3)", timedelta(days=3), timedelta(days=3)),
        ("months(1)", timedelta(days=28), timedelta(days=31)),
        ("months(2)", timedelta(days=59), timedelta(days=62)),
        ("months(12)", timedelta(days=365), timedelta(days=366)),
        ("months(48)", timedelta(days=1460), timedelta(days=1461)),
    ],
)
def test_a_frequency_is_as_short_and_as_long_as_the_calendar_makes_it(
    text: str, least: timedelta, most: timedelta
) -> None:
    assert (shortest(frequency(text)), longest(frequency(text))) == (least, most)


@given(MIDNIGHTS, st.integers(1, 60))
def test_no_step_of_months_is_out_of_bounds(instant: datetime, count: int) -> None:
    step = frequency(f"months({count})")
    assert shortest(step) <= instant - shift(instant, step, -1) <= longest(step)


@pytest.mark.parametrize(
    ("left", "right", "longer", "shorter"),
    [
        ("days(10)", "hours(6)", True, False),
        ("hours(72)", "days(3)", False, False),
        ("months(1)", "days(28)", False, False),
        ("months(1)", "days(27)", True, False),
        ("months(1)", "days(30)", False, True),
        ("days(31)", "months(1)", False, False),
        ("days(32)", "months(1)", True, False),
        ("months(2)", "months(1)", True, False),
        ("months(1)", "months(1)", False, False),
        ("minutes(59)", "hours(1)", False, True),
    ],
)
def test_frequencies_compare_for_every_place_in_the_calendar(
    left: str, right: str, *, longer: bool, shorter: bool
) -> None:
    assert always_longer(frequency(left), frequency(right)) is longer
    assert sometimes_shorter(frequency(left), frequency(right)) is shorter


@pytest.mark.parametrize(
    ("length", "words"),
    [
        (timedelta(), "0 minutes"),
        (timedelta(minutes=1), "1 minute"),
        (timedelta(days=30, hours=23), "30 days 23 hours"),
        (timedelta(days=1, hours=1, minutes=45), "1 day 1 hour 45 minutes"),
    ],
)
def test_a_length_is_told_in_days_hours_and_minutes(length: timedelta, words: str) -> None:
    assert length_words(length) == words

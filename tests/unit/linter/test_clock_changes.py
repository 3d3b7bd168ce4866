from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from toolkit.el import format_instant, parse_instant
from toolkit.linter.clock_changes import clock_changes, year_from


def changes(timezone: str, start: str = "2026-01-01T00:00Z") -> list[str]:
    return [format_instant(each.at) for each in clock_changes(timezone, *year_from(parse_instant(start)))]


@pytest.mark.parametrize(
    ("timezone", "found"),
    [
        ("UTC", []),
        ("Asia/Kolkata", []),
        ("Europe/Berlin", ["2026-03-29T01:00Z", "2026-10-25T01:00Z"]),
        ("America/New_York", ["2026-03-08T07:00Z", "2026-11-01T06:00Z"]),
        ("Australia/Lord_Howe", ["2026-04-04T15:00Z", "2026-10-03T15:30Z"]),
    ],
)
def test_the_changes_of_a_year_are_found_to_the_minute(timezone: str, found: list[str]) -> None:
    assert changes(timezone) == found


def test_two_changes_for_the_month_of_ramadan_are_told_apart() -> None:
    assert changes("Africa/Casablanca", "2024-01-01T00:00Z") == ["2024-03-10T02:00Z", "2024-04-14T02:00Z"]


def test_a_clock_that_is_set_back_repeats_local_times_and_one_set_forward_skips_them() -> None:
    forward, back = clock_changes("Europe/Berlin", *year_from(parse_instant("2026-01-01T00:00Z")))
    assert not forward.is_set_back
    assert [f"{each:%m-%d %H:%M}" for each in forward.local] == ["03-29 02:00", "03-29 03:00"]
    assert back.is_set_back
    assert [f"{each:%m-%d %H:%M}" for each in back.local] == ["10-25 02:00", "10-25 03:00"]


def test_half_an_hour_is_half_an_hour() -> None:
    change = clock_changes("Australia/Lord_Howe", *year_from(parse_instant("2026-01-01T00:00Z")))[0]
    assert change.local[1] - change.local[0] == timedelta(minutes=30)


def test_a_year_begins_at_a_whole_minute_and_ends_with_the_calendar() -> None:
    assert year_from(datetime(2026, 3, 1, 6, 40, 31, 5, tzinfo=UTC))[0] == parse_instant("2026-03-01T06:40Z")
    assert year_from(parse_instant("9999-06-01T00:00Z"))[1] == parse_instant("9999-12-31T23:59Z")

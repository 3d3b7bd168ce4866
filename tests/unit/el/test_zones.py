from __future__ import annotations

import zoneinfo
from datetime import UTC, datetime

import pytest

from toolkit.el import ElError, OutOfRange, format_instant, load_zone, localize, parse_instant, to_local


def at(text: str) -> datetime:
    return parse_instant(text + "Z").replace(tzinfo=None)


def test_a_zone_is_read_from_the_wheel_not_from_the_machine(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(zoneinfo, "TZPATH", ())
    assert load_zone("Antarctica/Troll").key == "Antarctica/Troll"


def test_a_zone_is_loaded_once() -> None:
    assert load_zone("Europe/Berlin") is load_zone("Europe/Berlin")


@pytest.mark.parametrize(
    ("name", "nearest"), [("Europe/Berlni", "Europe/Berlin"), ("europe/berlin", "Europe/Berlin"), ("utc", "UTC")]
)
def test_an_unknown_zone_names_the_nearest(name: str, nearest: str) -> None:
    with pytest.raises(ElError, match=nearest):
        load_zone(name)


@pytest.mark.parametrize("name", ["", "../zones", "/etc/passwd", "Europe", "Europe/", "xyzzy"])
def test_what_is_no_zone_is_an_error_and_no_path(name: str) -> None:
    with pytest.raises(ElError, match="expected the name of a time zone"):
        load_zone(name)


@pytest.mark.parametrize(
    ("zone", "local", "instant"),
    [
        ("America/Los_Angeles", "2012-03-11T01:59", "2012-03-11T09:59Z"),
        ("America/Los_Angeles", "2012-03-11T02:30", "2012-03-11T10:30Z"),
        ("America/Los_Angeles", "2012-03-11T03:00", "2012-03-11T10:00Z"),
        ("Europe/Berlin", "2026-10-25T02:30", "2026-10-25T00:30Z"),
        ("Australia/Lord_Howe", "2026-10-04T02:15", "2026-10-03T15:45Z"),
        ("Pacific/Apia", "2011-12-30T12:00", "2011-12-30T22:00Z"),
        ("Pacific/Apia", "2011-12-31T12:00", "2011-12-30T22:00Z"),
        ("Asia/Kathmandu", "2026-01-01T00:00", "2025-12-31T18:15Z"),
    ],
)
def test_a_gap_shifts_forward_and_the_first_of_two_counts(zone: str, local: str, instant: str) -> None:
    assert format_instant(localize(at(local), load_zone(zone))) == instant


def test_the_fold_of_a_local_time_does_not_matter() -> None:
    second = at("2026-10-25T02:30").replace(fold=1)
    assert format_instant(localize(second, load_zone("Europe/Berlin"))) == "2026-10-25T00:30Z"


def test_offsets_with_seconds_count_in_whole_minutes() -> None:
    monrovia = load_zone("Africa/Monrovia")
    instant = localize(at("1970-06-01T00:00"), monrovia)
    assert format_instant(instant) == "1970-06-01T00:45Z"
    assert to_local(instant, monrovia) == at("1970-06-01T00:00")


def test_both_of_two_ambiguous_instants_have_the_same_local_time() -> None:
    berlin = load_zone("Europe/Berlin")
    locals_ = {to_local(parse_instant(text), berlin) for text in ("2026-10-25T00:30Z", "2026-10-25T01:30Z")}
    assert locals_ == {at("2026-10-25T02:30")}


def test_times_beyond_the_calendar_are_out_of_range() -> None:
    last = datetime(9999, 12, 31, 23, 59, tzinfo=UTC)
    with pytest.raises(OutOfRange, match="Asia/Kolkata"):
        to_local(last, load_zone("Asia/Kolkata"))
    with pytest.raises(OutOfRange, match="America/Los_Angeles"):
        localize(last.replace(tzinfo=None), load_zone("America/Los_Angeles"))

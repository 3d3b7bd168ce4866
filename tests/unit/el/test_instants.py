from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone

import pytest

from toolkit.el import ElError, OutOfRange, format_instant, parse_instant, to_utc


@pytest.mark.parametrize(
    "text", ["2026-03-01T06:40Z", "2026-03-01T06:40:00Z", "2026-03-01T06:40+00:00", "2026-03-01T06:40:00+00:00"]
)
def test_every_accepted_form_names_the_same_instant(text: str) -> None:
    assert parse_instant(text) == datetime(2026, 3, 1, 6, 40, tzinfo=UTC)


@pytest.mark.parametrize("text", ["0001-01-01T00:00Z", "2024-02-29T23:59Z", "9999-12-31T23:59Z"])
def test_canonical_text_survives_the_round_trip(text: str) -> None:
    assert format_instant(parse_instant(text)) == text


@pytest.mark.parametrize(
    ("text", "position", "found"),
    [
        ("2026-03-01T06:40", 16, ""),
        ("2026-03-01T06:40+01:00", 16, "+01:00"),
        ("2026-03-01T06:40-00:00", 16, "-00:00"),
        ("2026-03-01T06:40z", 16, "z"),
        ("2026-03-01T06:40:30Z", 16, ":30Z"),
        ("2026-03-01T06:40:00.5Z", 16, ":00.5Z"),
        ("2026-03-01T06:40.0Z", 16, ".0Z"),
        ("2026-03-01 06:40Z", 10, " 06:40Z"),
        ("2026-03-01", 10, ""),
        ("2026-3-1T06:40Z", 0, "2026-3-1T06:40Z"),
        ("02026-03-01T06:40Z", 0, "02026-03-01T06:40Z"),
        ("2026-03-01T06:40Z\n", 17, "\n"),
        (" 2026-03-01T06:40Z", 0, " 2026-03-01T06:40Z"),
        ("\uff12026-03-01T06:40Z", 0, "\uff12026-03-01T06:40Z"),
        ("", 0, ""),
    ],
)
def test_another_shape_is_an_error_at_its_place(text: str, position: int, found: str) -> None:
    with pytest.raises(ElError) as caught:
        parse_instant(text)
    assert (caught.value.text, caught.value.position, caught.value.found) == (text, position, found)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("0000-01-01T00:00Z", "at character 1: found '0000', expected a year from 0001 to 9999"),
        ("2026-13-20T00:00Z", "at character 6: found '13', expected a month from 01 to 12"),
        ("2026-00-20T24:00Z", "at character 6: found '00', expected a month from 01 to 12"),
        ("2026-04-32T00:00Z", "at character 9: found '32', expected a day from 01 to 31"),
        ("2026-04-31T00:00Z", "at character 9: found '31', expected a day from 01 to 30, which 2026-04 has"),
        ("2026-02-29T00:00Z", "at character 9: found '29', expected a day from 01 to 28, which 2026-02 has"),
        ("1900-02-29T00:00Z", "at character 9: found '29', expected a day from 01 to 28, which 1900-02 has"),
        ("2026-01-01T24:00Z", "found '24', expected an hour from 00 to 23: midnight is T00:00 of the next day"),
        ("2026-01-01T00:60Z", "at character 15: found '60', expected a minute from 00 to 59"),
    ],
)
def test_a_date_or_time_that_does_not_exist_is_an_error_that_names_the_part_and_what_it_can_be(
    text: str, message: str
) -> None:
    with pytest.raises(ElError) as caught:
        parse_instant(text)
    assert str(caught.value).startswith(f'"{text}": ')
    assert str(caught.value).endswith(message)


def test_the_message_counts_characters_from_one() -> None:
    with pytest.raises(ElError) as caught:
        parse_instant("2026-03-01T06:40:30Z")
    assert str(caught.value) == (
        "\"2026-03-01T06:40:30Z\": at character 17: found ':30Z', "
        "expected whole minutes: no seconds but :00 and no fraction"
    )


def test_the_message_stays_on_one_line() -> None:
    with pytest.raises(ElError) as caught:
        parse_instant("2026-03-01T06:40Z\n")
    assert "\n" not in str(caught.value)


def test_another_time_zone_is_written_in_utc() -> None:
    assert format_instant(datetime(2026, 3, 1, 6, 40, tzinfo=timezone(timedelta(hours=2)))) == "2026-03-01T04:40Z"


def test_a_naive_time_has_no_text() -> None:
    with pytest.raises(ElError, match="found no time zone"):
        format_instant(datetime(2026, 3, 1, 6, 40))  # noqa: DTZ001 - the naive time is the point


@pytest.mark.parametrize("part", [timedelta(seconds=1), timedelta(microseconds=1)])
def test_a_time_within_a_minute_has_no_text(part: timedelta) -> None:
    with pytest.raises(ElError, match="expected a whole minute"):
        format_instant(datetime(2026, 3, 1, 6, 40, tzinfo=UTC) + part)


def test_a_time_that_utc_cannot_express_is_out_of_range() -> None:
    with pytest.raises(OutOfRange, match="years 1 to 9999"):
        to_utc(datetime(9999, 12, 31, 23, tzinfo=timezone(timedelta(hours=-2))))

"""Instants as text: `2026-03-01T06:40Z`, minute precision, always UTC (DESIGN section 3)."""

from __future__ import annotations

import re
from calendar import monthrange
from datetime import UTC, datetime, timedelta

from toolkit.el.errors import ElError, OutOfRange

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
"""The instant that times of files are counted from; also of a file without a time."""
_MICROSECOND = timedelta(microseconds=1)
_SHAPE = "an instant such as 2026-03-01T06:40Z"
_PIECES = (
    (re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}(?![0-9])"), f"a date such as 2026-03-01, as in {_SHAPE}"),
    (re.compile(r"T[0-9]{2}:[0-9]{2}(?![0-9])"), f"'T' and a time such as T06:40, as in {_SHAPE}"),
    (re.compile(r"(?::00)?(?![:.,0-9])"), "whole minutes: no seconds but :00 and no fraction"),
    (re.compile(r"Z|\+00:00"), "'Z' or '+00:00': times are in UTC"),
    (re.compile(r"\Z"), f"nothing more after {_SHAPE}"),
)
_PARTS = (
    (1, 9999, "a year from 0001 to 9999"),
    (1, 12, "a month from 01 to 12"),
    (1, 31, "a day from 01 to 31"),
    (0, 23, "an hour from 00 to 23: midnight is T00:00 of the next day"),
    (0, 59, "a minute from 00 to 59"),
)
_DAY = 3
_WHOLE = re.compile(r"([0-9]{4})-([0-9]{2})-([0-9]{2})T([0-9]{2}):([0-9]{2})(?::00)?(?:Z|\+00:00)")


def parse_instant(text: str) -> datetime:
    """The UTC instant that the text names.

    Takes `2026-03-01T06:40Z`; `:00` seconds and `+00:00` in place of `Z` are fine (DESIGN section 3).

    Raises:
        ElError: another shape, no time zone or not UTC, seconds, fractions, or a date that does not exist.
    """
    match = _WHOLE.fullmatch(text)
    if match is None:
        raise _shape_error(text)
    year, month, day, hour, minute = map(int, match.groups())
    try:
        return datetime(year, month, day, hour, minute, tzinfo=UTC)
    except ValueError as error:
        raise _calendar_error(match) from error


def format_instant(instant: datetime) -> str:
    """The canonical text of an instant, its key for ever: `2026-03-01T06:40Z`.

    Raises:
        ElError: the time is naive, or not a whole minute.
    """
    utc = to_whole_minute(instant)
    return f"{utc.year:04}-{utc.month:02}-{utc.day:02}T{utc.hour:02}:{utc.minute:02}Z"


def to_whole_minute(instant: datetime) -> datetime:
    """The same instant in UTC, when it is a whole minute, as the times of instances are.

    Raises:
        ElError: the time is naive, or not a whole minute.
        OutOfRange: it is outside the years 1 to 9999 in UTC.
    """
    utc = to_utc(instant)
    if utc.second or utc.microsecond:
        raise ElError(text=instant.isoformat(), expected="a whole minute, without seconds")
    return utc


def to_utc(instant: datetime) -> datetime:
    """The same instant in UTC.

    Raises:
        ElError: the time is naive.
        OutOfRange: it is outside the years 1 to 9999 in UTC.
    """
    if instant.tzinfo is UTC:
        return instant
    if instant.utcoffset() is None:
        raise ElError(text=instant.isoformat(), found="no time zone", expected="a timezone-aware time")
    try:
        return instant.astimezone(UTC)
    except OverflowError as error:
        raise OutOfRange(text=instant.isoformat()) from error


def _calendar_error(match: re.Match[str]) -> ElError:
    """The first part that no calendar or clock has, with what it can be."""
    text, (year, month, *_) = match.string, map(int, match.groups())
    for part, (least, most, what) in enumerate(_PARTS, 1):
        if not least <= int(match[part]) <= most:
            return ElError(text=text, position=match.start(part), found=match[part], expected=what)
    last = monthrange(year, month)[1]
    expected = f"a day from 01 to {last}, which {year:04}-{month:02} has"
    return ElError(text=text, position=match.start(_DAY), found=match[_DAY], expected=expected)


def _shape_error(text: str) -> ElError:
    position = 0
    for pattern, expected in _PIECES:
        match = pattern.match(text, position)
        if match is None:
            return ElError(text=text, position=position, found=text[position:], expected=expected)
        position = match.end()
    return ElError(text=text, expected=_SHAPE)


def microseconds_of(instant: datetime) -> int:
    """Return the microseconds from `EPOCH` to an instant."""
    return (instant - EPOCH) // _MICROSECOND


def at_microseconds(number: int) -> datetime:
    """Return the instant so many microseconds after `EPOCH`."""
    return EPOCH + number * _MICROSECOND

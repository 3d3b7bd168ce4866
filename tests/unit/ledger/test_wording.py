"""Instants in messages."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone

from toolkit.ledger.errors import moment


def test_an_instant_is_told_to_the_second_in_utc() -> None:
    kolkata = timezone(timedelta(hours=5, minutes=30))
    assert moment(datetime(2026, 3, 20, 12, 0, 5, 999, tzinfo=UTC)) == "2026-03-20T12:00:05Z"
    assert moment(datetime(2026, 3, 20, 17, 30, tzinfo=kolkata)) == "2026-03-20T12:00:00Z"


def test_no_instant_is_a_question_mark() -> None:
    assert moment(None) == "?"

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime, timedelta

import pytest

from toolkit.el import (
    Availability,
    ElError,
    Frequency,
    InstanceSequence,
    evaluate,
    format_instant,
    parse_expression,
    parse_instant,
    resolve,
)

HOURLY = InstanceSequence(parse_instant("2026-01-01T00:00Z"), Frequency.parse("hours(1)"))
ENDED = InstanceSequence(HOURLY.start, HOURLY.frequency, end=parse_instant("2026-01-01T13:00Z"))
NOON = parse_instant("2026-01-01T12:30Z")


def hours(*numbers: int) -> set[datetime]:
    return {HOURLY[number] for number in numbers}


def as_predicate(available: set[datetime]) -> Availability:
    return lambda instance: instance in available


def as_collection(available: set[datetime]) -> Availability:
    return available


class _OnlyContains:
    """A container that cannot be listed, such as a view of a storage."""

    def __init__(self, available: set[datetime]) -> None:
        self._available = available

    def __contains__(self, instant: object) -> bool:
        return instant in self._available


KINDS = pytest.mark.parametrize("kind", [as_predicate, as_collection, _OnlyContains])


@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        ("now(0,0)", "2026-01-01T12:00Z"),
        ("now(0,30)", "2026-01-01T13:00Z"),
        ("now(0,29)", "2026-01-01T12:00Z"),
        ("today(0,0)", "2026-01-01T00:00Z"),
        ("instanceTime()", "2026-01-01T12:00Z"),
        ("yesterday(24,59)", "2026-01-01T00:00Z"),
    ],
)
def test_a_time_that_is_no_instance_means_the_instance_before_it(expression: str, expected: str) -> None:
    assert resolve(expression, NOON, HOURLY) == parse_instant(expected)


def test_before_the_start_there_is_no_instance() -> None:
    assert resolve("yesterday(0,0)", NOON, HOURLY) is None


def test_a_time_past_the_end_means_the_last_instance() -> None:
    assert resolve("now(9,0)", NOON, ENDED) == parse_instant("2026-01-01T12:00Z")


def test_days_are_truncated_in_the_zone_of_the_process_not_of_the_feed() -> None:
    daily = InstanceSequence(parse_instant("2026-01-01T08:00Z"), Frequency.parse("days(1)"), "America/Los_Angeles")
    nominal = parse_instant("2026-01-05T06:00Z")
    assert resolve("today(0,0)", nominal, daily) == parse_instant("2026-01-04T08:00Z")
    assert resolve("today(0,0)", nominal, daily, "America/Los_Angeles") == parse_instant("2026-01-04T08:00Z")
    assert resolve("today(8,0)", nominal, daily) == parse_instant("2026-01-05T08:00Z")
    assert evaluate("today(0,0)", nominal, "America/Los_Angeles") == parse_instant("2026-01-04T08:00Z")


def test_a_fixed_function_does_not_ask_what_is_available() -> None:
    assert resolve("now(0,0)", NOON, HOURLY, availability=set()) == HOURLY[12]


@KINDS
@pytest.mark.parametrize(("rank", "expected"), [(0, 11), (-1, 7), (-2, 3), (-3, None)])
def test_latest_counts_available_instances_back_from_the_nominal_time(
    kind: Callable[[set[datetime]], Availability], rank: int, expected: int | None
) -> None:
    available = kind(hours(3, 7, 11, 13, 20))
    assert resolve(f"latest({rank})", NOON, HOURLY, availability=available) == (expected and HOURLY[expected])


@KINDS
def test_latest_takes_the_nominal_time_itself(kind: Callable[[set[datetime]], Availability]) -> None:
    assert resolve("latest(0)", HOURLY[12], HOURLY, availability=kind(hours(3, 12))) == HOURLY[12]


@KINDS
@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        ("future(0,0)", 13),
        ("future(1,3)", 16),
        ("future(1,2)", None),
        ("future(2,7)", 20),
        ("future(2,6)", None),
        ("future(3,90)", None),
    ],
)
def test_future_counts_available_instances_within_its_limit(
    kind: Callable[[set[datetime]], Availability], expression: str, expected: int | None
) -> None:
    available = kind(hours(3, 12, 13, 16, 20))
    assert resolve(expression, NOON, HOURLY, availability=available) == (expected and HOURLY[expected])


@KINDS
def test_future_takes_the_nominal_time_itself(kind: Callable[[set[datetime]], Availability]) -> None:
    assert resolve("future(0,0)", HOURLY[12], HOURLY, availability=kind(hours(12))) == HOURLY[12]


@KINDS
@pytest.mark.parametrize("expression", ["latest(0)", "future(0,5)"])
def test_what_is_no_instance_is_never_available(kind: Callable[[set[datetime]], Availability], expression: str) -> None:
    strangers = {NOON, NOON + timedelta(minutes=1), HOURLY.start - timedelta(hours=1)}
    assert resolve(expression, NOON, HOURLY, availability=kind(strangers)) is None


@KINDS
def test_instances_past_the_end_are_never_available(kind: Callable[[set[datetime]], Availability]) -> None:
    available = kind(hours(*range(11, 30)))
    assert resolve("latest(0)", HOURLY[29], ENDED, availability=available) == HOURLY[12]
    assert resolve("future(0,99)", HOURLY[12], ENDED, availability=available) == HOURLY[12]
    assert resolve("future(1,99)", HOURLY[12], ENDED, availability=available) is None
    assert resolve("future(0,99)", HOURLY[13], ENDED, availability=available) is None


@KINDS
def test_latest_before_the_start_is_not_yet(kind: Callable[[set[datetime]], Availability]) -> None:
    before = HOURLY.start - timedelta(hours=3)
    assert resolve("latest(0)", before, HOURLY, availability=kind(hours(0, 1))) is None


def test_a_predicate_is_asked_newest_first_and_no_further_than_needed() -> None:
    calls: list[datetime] = []

    def available(instance: datetime) -> bool:
        calls.append(instance)
        return True

    assert resolve("latest(-1)", NOON, HOURLY, availability=available) == HOURLY[11]
    assert calls == [HOURLY[12], HOURLY[11]]


@pytest.mark.parametrize("expression", ["latest(0)", "future(0,5)"])
def test_latest_and_future_must_be_told_what_is_available(expression: str) -> None:
    with pytest.raises(ElError, match="pass an availability"):
        resolve(expression, NOON, HOURLY)


def test_a_naive_nominal_time_is_an_error() -> None:
    naive = NOON.replace(tzinfo=None)
    with pytest.raises(ElError, match="found no time zone"):
        resolve("latest(0)", naive, HOURLY, availability=set())


def test_a_parsed_expression_resolves_like_its_text() -> None:
    assert format_instant(resolve(parse_expression("now(0,0)"), NOON, HOURLY) or NOON) == "2026-01-01T12:00Z"

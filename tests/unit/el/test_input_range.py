from __future__ import annotations

from collections.abc import Callable
from datetime import datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from toolkit.el import (
    Availability,
    ElError,
    Frequency,
    InstanceSequence,
    UnreadyRange,
    format_instant,
    parse_instant,
    resolve,
    resolve_range,
)

HOURLY = InstanceSequence(parse_instant("2026-01-01T00:00Z"), Frequency.parse("hours(1)"))
NOON = parse_instant("2026-01-01T12:30Z")


def hours(*numbers: int) -> tuple[datetime, ...]:
    return tuple(HOURLY[number] for number in numbers)


def as_predicate(available: set[datetime]) -> Availability:
    return lambda instance: instance in available


def as_collection(available: set[datetime]) -> Availability:
    return available


KINDS = pytest.mark.parametrize("kind", [as_predicate, as_collection])


def test_falcons_inputs_of_2012_03_01_06_40_are_the_first_two_hours_of_the_day() -> None:
    """Falcon entity specification, Inputs: today(0,0) to today(1,0) of an hourly feed."""
    feed = InstanceSequence(parse_instant("2009-01-01T00:00Z"), Frequency.parse("hours(1)"))
    found = resolve_range("today(0,0)", "today(1,0)", parse_instant("2012-03-01T06:40Z"), feed)
    assert found == (parse_instant("2012-03-01T00:00Z"), parse_instant("2012-03-01T01:00Z"))


def test_falcons_table_input_is_21_hours_of_yesterday() -> None:
    """Falcon entity specification, Inputs: yesterday(0,0) to yesterday(20,0)."""
    feed = InstanceSequence(parse_instant("2009-01-01T00:00Z"), Frequency.parse("hours(1)"))
    found = resolve_range("yesterday(0,0)", "yesterday(20,0)", parse_instant("2012-03-01T06:40Z"), feed)
    assert isinstance(found, tuple)
    assert [format_instant(instance) for instance in found] == [f"2012-02-29T{hour:02}:00Z" for hour in range(21)]


@pytest.mark.parametrize(
    ("start", "end", "expected"),
    [
        ("now(-2,0)", "now(0,0)", hours(10, 11, 12)),
        ("now(0,0)", "now(0,0)", hours(12)),
        ("now(0,0)", "now(0,29)", hours(12)),
        ("now(0,20)", "now(0,40)", hours(12, 13)),
        ("yesterday(0,0)", "today(1,0)", hours(0, 1)),
        ("yesterday(0,0)", "yesterday(23,59)", ()),
    ],
)
def test_both_ends_are_floored_and_included_and_nothing_exists_before_the_start(
    start: str, end: str, expected: tuple[datetime, ...]
) -> None:
    assert resolve_range(start, end, NOON, HOURLY) == expected


@KINDS
def test_a_fixed_range_waits_for_what_is_not_available(kind: Callable[[set[datetime]], Availability]) -> None:
    found = resolve_range("now(-3,0)", "now(0,0)", NOON, HOURLY, availability=kind(set(hours(9, 11))))
    assert isinstance(found, UnreadyRange)
    assert found.missing == hours(10, 12)
    assert found.expression == "now(-3,0)..now(0,0)"
    assert found.reason == (
        "now(-3,0)..now(0,0) needs 4 instances, of which 2 are not available: "
        "the first is 2026-01-01T10:00Z, the last 2026-01-01T12:00Z"
    )


def test_the_reason_names_the_only_missing_instance() -> None:
    found = resolve_range("now(-1,0)", "now(0,0)", NOON, HOURLY, availability=set(hours(11)))
    assert isinstance(found, UnreadyRange)
    assert found.reason.endswith("of which 1 is not available: 2026-01-01T12:00Z")


@KINDS
def test_a_fixed_range_that_is_available_is_read(kind: Callable[[set[datetime]], Availability]) -> None:
    available = kind(set(hours(10, 11, 12)))
    assert resolve_range("now(-1,0)", "now(0,0)", NOON, HOURLY, availability=available) == hours(11, 12)


@KINDS
@pytest.mark.parametrize(
    ("start", "end", "expected"),
    [
        ("latest(-2)", "latest(0)", hours(3, 7, 11)),
        ("latest(-2)", "latest(-1)", hours(3, 7)),
        ("latest(0)", "latest(0)", hours(11)),
    ],
)
def test_latest_to_latest_are_the_available_instances_between_the_ranks(
    kind: Callable[[set[datetime]], Availability], start: str, end: str, expected: tuple[datetime, ...]
) -> None:
    available = kind(set(hours(1, 3, 7, 11, 13)))
    assert resolve_range(start, end, NOON, HOURLY, availability=available) == expected


@KINDS
@pytest.mark.parametrize(
    ("start", "end", "expected"),
    [
        ("future(0,9)", "future(2,9)", hours(13, 16, 20)),
        ("future(1,3)", "future(2,7)", hours(16, 20)),
        ("future(0,0)", "future(0,9)", hours(13)),
    ],
)
def test_future_to_future_are_the_available_instances_between_the_counts(
    kind: Callable[[set[datetime]], Availability], start: str, end: str, expected: tuple[datetime, ...]
) -> None:
    available = kind(set(hours(3, 13, 16, 20)))
    assert resolve_range(start, end, NOON, HOURLY, availability=available) == expected


@KINDS
@pytest.mark.parametrize(
    ("start", "end", "reason"),
    [
        ("latest(-2)", "latest(0)", "latest(-2) needs 3 available instances at or before 2026-01-01T12:30Z, found 2"),
        (
            "future(0,9)",
            "future(2,6)",
            "future(2,6) needs 3 available instances in the 7 grid instants at or after 2026-01-01T12:30Z, found 2",
        ),
        (
            "future(1,2)",
            "future(2,9)",
            "future(1,2) needs 2 available instances in the 3 grid instants at or after 2026-01-01T12:30Z, found 1",
        ),
    ],
)
def test_too_few_available_instances_are_waited_for(
    kind: Callable[[set[datetime]], Availability], start: str, end: str, reason: str
) -> None:
    found = resolve_range(start, end, NOON, HOURLY, availability=kind(set(hours(3, 11, 13, 16, 20))))
    assert found == UnreadyRange(expression=f"{start}..{end}", missing=(), reason=f"{start}..{end}: {reason}")


def test_a_predicate_is_asked_once_for_each_instance() -> None:
    calls: list[datetime] = []

    def available(instance: datetime) -> bool:
        calls.append(instance)
        return True

    resolve_range("latest(-2)", "latest(-1)", NOON, HOURLY, availability=available)
    resolve_range("future(0,5)", "future(1,5)", NOON, HOURLY, availability=available)
    assert calls == [*hours(12, 11, 10), *hours(13, 14)]


@pytest.mark.parametrize(
    ("start", "end", "found"),
    [
        ("now(0,0)", "now(-1,0)", "2026-01-01T12:30Z..2026-01-01T11:30Z"),
        ("today(0,0)", "yesterday(0,0)", "2026-01-01T00:00Z..2025-12-31T00:00Z"),
        ("latest(0)", "latest(-2)", "latest(0) after latest(-2)"),
        ("future(2,9)", "future(1,9)", "future(2,9) after future(1,9)"),
    ],
)
def test_a_start_after_the_end_is_an_error_that_names_both(start: str, end: str, found: str) -> None:
    with pytest.raises(ElError) as caught:
        resolve_range(start, end, NOON, HOURLY, availability=set())
    assert (caught.value.found, caught.value.expected) == (found, "a start that is not after the end")


@pytest.mark.parametrize(
    ("start", "end"),
    [("latest(0)", "now(0,0)"), ("today(0,0)", "latest(0)"), ("latest(0)", "future(0,3)"), ("now(0,0)", "future(0,3)")],
)
def test_latest_and_future_stand_at_both_ends_or_at_neither(start: str, end: str) -> None:
    with pytest.raises(ElError, match="latest or future at both ends of a range, or at neither"):
        resolve_range(start, end, NOON, HOURLY, availability=set())


def test_latest_and_future_must_be_told_what_is_available() -> None:
    with pytest.raises(ElError, match="pass an availability"):
        resolve_range("latest(-1)", "latest(0)", NOON, HOURLY)


@given(
    start=st.integers(-400, 400),
    length=st.integers(0, 400),
    frequency=st.sampled_from(["minutes(7)", "hours(1)", "days(1)"]),
    zone=st.sampled_from(["UTC", "Pacific/Apia", "America/St_Johns"]),
)
def test_a_range_has_the_instances_of_both_ends_and_all_between(
    start: int, length: int, frequency: str, zone: str
) -> None:
    sequence = InstanceSequence(parse_instant("2011-12-29T07:00Z"), Frequency.parse(frequency), zone)
    nominal = sequence.start + timedelta(days=3)
    ends = (f"now({start},0)", f"now({start + length},0)")
    found = resolve_range(*ends, nominal, sequence, zone)
    first, last = (resolve(end, nominal, sequence, zone) for end in ends)
    if last is None:
        assert found == ()
    else:
        known = [instance for _, instance in zip(range(sequence.index(last) + 1), sequence, strict=False)]
        assert found == tuple(t for t in known if first is None or first <= t)

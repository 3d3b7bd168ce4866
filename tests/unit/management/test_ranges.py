"""Ranges of instance commands: half-open, within the validity."""

from __future__ import annotations

import pytest

from tests.unit.management.repo import managed
from toolkit.el import NotAnInstance, parse_instant
from toolkit.ledger.vocabulary import LifeCycle
from toolkit.management.errors import EmptyRange, EndWithoutStart, OutsideValidity
from toolkit.management.locations import RequestedRange, stretches

NOW = parse_instant("2026-03-05T12:20Z")


def requested(start: str | None = None, end: str | None = None) -> RequestedRange:
    return RequestedRange(
        start=None if start is None else parse_instant(start), end=None if end is None else parse_instant(end)
    )


def keys(name: str, start: str | None = None, end: str | None = None) -> list[tuple[str, list[str]]]:
    return [
        (each.location.cluster, list(each.instance_keys()))
        for each in stretches(managed(name), requested(start, end), NOW)
    ]


def test_the_end_is_left_out() -> None:
    found = keys("count_job", "2026-03-05T01:00Z", "2026-03-05T03:00Z")
    assert found == [("primary", ["2026-03-05T01:00Z", "2026-03-05T02:00Z"])]


def test_a_start_alone_is_that_one_instance() -> None:
    assert keys("count_job", "2026-03-05T01:00Z") == [("primary", ["2026-03-05T01:00Z"])]
    assert keys("daily_job", "2026-03-05T00:00Z") == [("primary", ["2026-03-05T00:00Z"])]


def test_a_start_alone_must_be_an_instance() -> None:
    with pytest.raises(NotAnInstance, match="expected an instance of hours"):
        keys("count_job", "2026-03-05T01:30Z")


@pytest.mark.parametrize(
    ("start", "end"),
    [
        ("2026-03-01T00:00Z", "2026-03-05T00:00Z"),
        ("2026-03-31T00:00Z", "2026-04-01T00:01Z"),
        ("2026-02-01T00:00Z", None),
        ("9999-12-31T23:59Z", None),
    ],
)
def test_a_range_outside_the_validity_is_an_error_that_names_it(start: str, end: str | None) -> None:
    with pytest.raises(OutsideValidity, match=r"primary: 2026-03-01T01:00Z to 2026-04-01T00:00Z"):
        keys("count_job", start, end)


def test_the_whole_validity_is_a_range() -> None:
    ((_, found),) = keys("count_job", "2026-03-01T01:00Z", "2026-04-01T00:00Z")
    assert len(found) == 31 * 24 - 1


def test_on_a_cluster_with_a_shorter_validity_only_its_own_instances_count() -> None:
    found = dict(keys("daily_job", "2026-03-18T00:00Z", "2026-03-22T00:00Z"))
    assert len(found["primary"]) == 4
    assert found["backup"] == ["2026-03-20T00:00Z", "2026-03-21T00:00Z"]


def test_without_a_start_the_ten_newest_that_are_due_are_meant() -> None:
    ((_, found),) = keys("count_job")
    assert (found[0], found[-1], len(found)) == ("2026-03-05T03:00Z", "2026-03-05T12:00Z", 10)


def test_without_a_start_nothing_is_due_before_the_validity() -> None:
    assert stretches(managed("count_job"), requested(), parse_instant("2026-03-01T00:59Z")) == ()
    (first,) = stretches(managed("count_job"), requested(), parse_instant("2026-03-01T01:00Z"))
    assert list(first.instance_keys()) == ["2026-03-01T01:00Z"]


def test_without_a_start_and_a_number_all_that_are_due_are_meant() -> None:
    (whole,) = stretches(managed("count_job"), requested(), parse_instant("2027-01-01T00:00Z"), newest=None)
    assert whole.count == 31 * 24 - 1


def test_the_newest_copies_begin_with_the_overlap_of_both_validities() -> None:
    found = stretches(managed("clicks"), requested(), parse_instant("2026-03-10T02:00Z"))
    assert [list(each.instance_keys()) for each in found] == [
        ["2026-03-10T00:00Z", "2026-03-10T01:00Z", "2026-03-10T02:00Z"]
    ]


def test_recorded_times_need_not_lie_within_the_validity() -> None:
    found = stretches(managed("clicks", LifeCycle.EVICTION), requested("2027-01-01T00:07Z"), NOW)
    assert [each.location.cluster for each in found] == ["primary", "backup"]


def test_an_end_needs_a_start_and_comes_after_it() -> None:
    with pytest.raises(EndWithoutStart):
        requested(None, "2026-03-05T00:00Z")
    with pytest.raises(EmptyRange):
        requested("2026-03-05T00:00Z", "2026-03-05T00:00Z")

"""Which instances go: the horizon, the time of an instance, and every reason to stay."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.unit.planning.decisions import decided
from toolkit.el import CanonicalPath, Frequency, InstanceSequence, PathTemplate, Unit, format_instant, parse_instant
from toolkit.entities import Hold, LocationType
from toolkit.planning.delete_limits import DeleteLimits, excess, kept_needed
from toolkit.planning.retention import (
    Candidate,
    EvictionPolicy,
    KeepReason,
    Kept,
    LateWindow,
    effective_time,
    horizon,
    instance_time,
)

NOMINAL = parse_instant("2026-03-20T12:00Z")
HOUR = timedelta(hours=1)


def _candidate(time: str | datetime, location: LocationType = LocationType.DATA) -> Candidate:
    instant = parse_instant(time) if isinstance(time, str) else time
    path = CanonicalPath("file", "", f"/{location}/{format_instant(instant)}")
    base = CanonicalPath("file", "", f"/{location}")
    return Candidate(location=location, time=instant, first=instant, end=instant + HOUR, path=path, base=base)


def _policy(before: str = "2026-03-10T12:00Z", **settings: object) -> EvictionPolicy:
    return EvictionPolicy(nominal_time=NOMINAL, horizon=parse_instant(before), **settings)  # type: ignore[arg-type]


def _gone(evicted: list[Candidate]) -> list[str]:
    return [format_instant(each.time) for each in evicted]


def _reasons(kept: list[Kept]) -> list[tuple[str, str]]:
    return [(format_instant(each.candidate.time), each.reason.value) for each in kept]


@pytest.mark.parametrize(
    ("keep_beyond_validity", "expected"), [(True, "2026-02-01T00:00Z"), (False, "2026-03-20T12:00Z")]
)
def test_a_feed_that_ended_keeps_its_last_instances(*, keep_beyond_validity: bool, expected: str) -> None:
    end = parse_instant("2026-02-01T00:00Z")
    assert effective_time(NOMINAL, end, keep_beyond_validity=keep_beyond_validity) == parse_instant(expected)


@pytest.mark.parametrize(
    ("limit", "timezone", "expected"),
    [
        ("hours(10)", "UTC", "2026-03-20T02:00Z"),
        ("days(10)", "UTC", "2026-03-10T12:00Z"),
        ("months(1)", "UTC", "2026-02-20T12:00Z"),
        ("days(20)", "America/Los_Angeles", "2026-02-28T13:00Z"),  # 05:00 local before and after the clocks changed
        ("months(100000)", "UTC", "0001-01-01T00:00Z"),
    ],
)
def test_the_horizon_lies_the_limit_back_by_the_feeds_calendar(limit: str, timezone: str, expected: str) -> None:
    assert format_instant(horizon(NOMINAL, Frequency.parse(limit), timezone)) == expected


@pytest.mark.parametrize(
    ("frequency", "template", "path", "expected"),
    [
        ("hours(6)", "/d/${YEAR}/${MONTH}/${DAY}", "/d/2026/03/01", "2026-03-01T18:00Z"),
        ("hours(1)", "/d/${YEAR}/${MONTH}/${DAY}/${HOUR}", "/d/2026/03/01/05", "2026-03-01T05:00Z"),
        ("days(2)", "/d/${YEAR}/${MONTH}/${DAY}", "/d/2026/01/02", "2026-01-02T00:00Z"),  # off the grid
        ("days(1)", "/d/${YEAR}/${MONTH}/${DAY}", "/d/2025/12/31", "2025-12-31T00:00Z"),  # before the validity
        ("hours(1)", "/d/${YEAR}", "/d/2026", "2026-05-31T23:00Z"),  # the validity ends in it
    ],
)
def test_an_instance_has_the_time_of_the_grids_last_instant_in_its_period(
    frequency: str, template: str, path: str, expected: str
) -> None:
    start, end = parse_instant("2026-01-01T00:00Z"), parse_instant("2026-06-01T00:00Z")
    period = PathTemplate(template).parse(path)
    assert period is not None
    time = instance_time(period, InstanceSequence(start, Frequency.parse(frequency), "UTC", end))
    assert format_instant(time) == expected


def test_a_name_that_a_clock_change_repeats_has_the_later_of_its_times() -> None:
    """Los Angeles had 01:00 twice on 2026-11-01; both hours render to one path, which goes when the later may go."""
    template = PathTemplate("/d/${YEAR}/${MONTH}/${DAY}/${HOUR}", "America/Los_Angeles")
    period = template.parse("/d/2026/11/01/01")
    assert period is not None
    instances = InstanceSequence(parse_instant("2026-01-01T00:00Z"), Frequency.parse("hours(1)"))
    assert format_instant(instance_time(period, instances)) == "2026-11-01T09:00Z"


def test_a_minute_that_comes_twice_has_the_time_of_its_second_coming() -> None:
    """Its two instants lie an hour apart."""
    template = PathTemplate("/d/${YEAR}/${MONTH}/${DAY}/${HOUR}/${MINUTE}", "America/Los_Angeles")
    period = template.parse("/d/2026/11/01/01/30")
    assert period is not None
    instances = InstanceSequence(parse_instant("2026-01-01T00:00Z"), Frequency.parse("minutes(30)"))
    assert format_instant(instance_time(period, instances)) == "2026-11-01T09:30Z"


def test_what_is_exactly_as_old_as_the_limit_stays() -> None:
    times = ["2026-03-10T11:59Z", "2026-03-10T12:00Z", "2026-03-10T12:01Z"]
    gone, kept = decided(map(_candidate, times), _policy())
    assert _gone(gone) == times[:1]
    assert _reasons(kept) == [(time, "too_young") for time in times[1:]]


def test_keep_last_counts_distinct_data_times_up_to_the_nominal_time() -> None:
    future, newest, older, oldest = "2026-03-21T00:00Z", "2026-03-09T00:00Z", "2026-03-08T00:00Z", "2026-03-07T00:00Z"
    found = [_candidate(time) for time in (future, newest, newest, older, oldest)]
    found += [_candidate(time, LocationType.STATS) for time in ("2026-03-08T12:00Z", "2026-03-07T00:00Z")]
    gone, kept = decided(found, _policy(keep_last=2))
    assert [str(each.path) for each in gone] == [
        "file:///data/2026-03-07T00:00Z",
        "file:///stats/2026-03-07T00:00Z",
    ]
    assert {each.reason for each in kept if each.candidate.time < _policy().horizon} == {KeepReason.KEEP_LAST}


def test_fewer_instances_than_keep_last_all_stay() -> None:
    found = [_candidate("2026-02-01T00:00Z"), _candidate("2026-01-01T00:00Z", LocationType.STATS)]
    assert decided(found, _policy(keep_last=2))[0] == []


@pytest.mark.parametrize(
    ("start", "end", "is_held"),
    [
        (None, None, True),
        ("2026-03-01T00:00Z", None, True),
        ("2026-03-01T00:30Z", "2026-03-01T00:31Z", True),  # part of the hour
        (None, "2026-03-01T00:00Z", False),
        ("2026-03-01T01:00Z", None, False),
    ],
)
def test_an_instance_is_held_when_any_of_its_period_is(start: str | None, end: str | None, *, is_held: bool) -> None:
    hold = Hold(
        feed="clicks",
        start=start and parse_instant(start),  # type: ignore[arg-type]
        end=end and parse_instant(end),  # type: ignore[arg-type]
        reason="audit",
    )
    _, kept = decided([_candidate("2026-03-01T00:00Z")], _policy(holds=(hold,)))
    assert [(each.reason, each.detail) for each in kept] == ([(KeepReason.HOLD, "audit")] if is_held else [])


@pytest.mark.parametrize(
    ("cut_off", "max_age", "gone"),
    [
        ("days(18)", None, ["2026-03-01T00:00Z", "2026-03-02T00:00Z"]),
        ("days(19)", None, ["2026-03-01T00:00Z"]),  # 2 March + 19 days is 21 March: still to come
        ("days(20)", None, []),
        ("days(20)", "days(19)", ["2026-03-01T00:00Z"]),
    ],
)
def test_the_late_window_protects_until_the_cut_off_is_over(cut_off: str, max_age: str | None, gone: list[str]) -> None:
    window = LateWindow(cut_off=Frequency.parse(cut_off), max_age=None if max_age is None else Frequency.parse(max_age))
    evicted, _ = decided(map(_candidate, ["2026-03-01T00:00Z", "2026-03-02T00:00Z"]), _policy(late_window=window))
    assert _gone(evicted) == gone


def test_a_cut_off_that_ends_at_the_nominal_time_is_over() -> None:
    window = LateWindow(cut_off=Frequency.parse("days(19)"))
    evicted, _ = decided(
        [_candidate("2026-03-01T12:00Z"), _candidate("2026-03-01T12:01Z")], _policy(late_window=window)
    )
    assert _gone(evicted) == ["2026-03-01T12:00Z"]


@pytest.mark.parametrize(
    ("evicted", "fraction", "needed"),
    [(10, None, 0), (0, 0.1, 0), (10, 0.5, 10), (1, 0.1, 9), (3, 1.0, 0), (7, 0.3, 17), (1, 0.0, None)],
)
def test_so_many_kept_instances_make_a_fraction_acceptable(
    evicted: int, fraction: float | None, needed: int | None
) -> None:
    assert kept_needed(evicted, DeleteLimits(instances=100, fraction=fraction)) == needed


@given(st.integers(1, 500), st.fractions(min_value="1/100", max_value=1, max_denominator=100))
def test_one_kept_instance_fewer_would_exceed_the_fraction(evicted: int, part: object) -> None:
    limits = DeleteLimits(instances=10_000, fraction=float(part))  # type: ignore[arg-type]
    needed = kept_needed(evicted, limits)
    assert needed is not None
    assert excess({"clicks": evicted}, needed, limits) is None
    if needed:
        assert excess({"clicks": evicted}, needed - 1, limits) is not None
        assert limits.fraction is not None
        assert evicted / (evicted + needed - 1) > limits.fraction - 1e-9


def test_the_number_of_instances_counts_over_all_feeds() -> None:
    limits = DeleteLimits(instances=10)
    assert excess({"a": 5, "b": 5}, 0, limits) is None
    found = excess({"a": 5, "b": 6}, 0, limits)
    assert found is not None
    assert (found.limit, found.allowed, found.found) == ("max_delete.instances", "10", "11 instances")


times = st.datetimes(datetime(2026, 1, 1), datetime(2026, 5, 1), timezones=st.just(UTC)).map(  # noqa: DTZ001 - hypothesis adds the zone
    lambda each: each.replace(second=0, microsecond=0)
)


@given(st.lists(times, max_size=30), times, st.integers(0, 8))
def test_nothing_young_goes_and_every_old_instance_is_decided(
    found: list[datetime], before: datetime, last: int
) -> None:
    """Against an independent count: what goes is old, and older than the last N times at or before the nominal time."""
    policy = EvictionPolicy(nominal_time=NOMINAL, horizon=min(before, NOMINAL), keep_last=last)
    gone, kept = decided([_candidate(each) for each in found], policy)
    assert len(gone) + len(kept) == len(found)
    ranked = sorted({each for each in found if each <= NOMINAL})
    protected = set(ranked[max(0, len(ranked) - last) :]) if last else set()
    assert sorted(each.time for each in gone) == sorted(
        each for each in found if each < policy.horizon and each not in protected
    )


@given(st.integers(1, 400), st.integers(1, 400))
def test_a_longer_limit_never_evicts_more(short: int, longer: int) -> None:
    small, large = sorted((short, longer))
    limits = [Frequency(unit=Unit.DAYS, count=count) for count in (small, large)]
    assert horizon(NOMINAL, limits[1], "Europe/Berlin") <= horizon(NOMINAL, limits[0], "Europe/Berlin")

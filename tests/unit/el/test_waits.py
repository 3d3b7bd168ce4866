from __future__ import annotations

from datetime import timedelta
from itertools import islice, pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from toolkit.el import ElError, Frequency, WaitPolicy, format_instant, late_checks, parse_instant, retry_waits

TEN = Frequency.parse("minutes(10)")
NOMINAL = parse_instant("2026-03-01T00:00Z")


@pytest.mark.parametrize(
    ("policy", "expected"),
    [
        (WaitPolicy.PERIODIC, ["minutes(10)", "minutes(10)", "minutes(10)"]),
        (WaitPolicy.BACKOFF, ["minutes(10)", "minutes(20)", "minutes(30)"]),
        (WaitPolicy.EXP_BACKOFF, ["minutes(10)", "minutes(20)", "minutes(40)"]),
    ],
)
def test_falcons_three_retries_after_ten_minutes(policy: WaitPolicy, expected: list[str]) -> None:
    """Falcon entity specification, Retry; periodic is DESIGN section 8."""
    assert [str(wait) for wait in retry_waits(policy, TEN, 3)] == expected


def test_no_attempts_are_no_retries() -> None:
    assert retry_waits(WaitPolicy.BACKOFF, TEN, 0) == ()


def test_final_is_no_policy_of_retries() -> None:
    with pytest.raises(ElError, match="expected a policy for retries: one of periodic, backoff, exp_backoff"):
        retry_waits(WaitPolicy.FINAL, TEN, 1)


def test_negative_attempts_are_an_error() -> None:
    with pytest.raises(ElError, match="expected 0 or more attempts"):
        retry_waits(WaitPolicy.PERIODIC, TEN, -1)


def test_a_wait_longer_than_the_calendar_is_an_error() -> None:
    with pytest.raises(ElError, match="expected a number from 1"):
        retry_waits(WaitPolicy.EXP_BACKOFF, TEN, 1_000_000)


@pytest.mark.parametrize(
    ("policy", "minutes"),
    [
        (WaitPolicy.PERIODIC, [10, 20, 30, 40, 50, 60, 65]),
        (WaitPolicy.BACKOFF, [10, 30, 60, 65]),
        (WaitPolicy.EXP_BACKOFF, [10, 30, 65]),
        (WaitPolicy.FINAL, [65]),
    ],
)
def test_late_checks_add_up_and_end_at_the_cut_off(policy: WaitPolicy, minutes: list[int]) -> None:
    checks = late_checks(policy, TEN, NOMINAL, NOMINAL + timedelta(minutes=65))
    assert [(check - NOMINAL) // timedelta(minutes=1) for check in checks] == minutes


def test_exponential_checks_go_on_doubling() -> None:
    checks = islice(late_checks(WaitPolicy.EXP_BACKOFF, TEN, NOMINAL, NOMINAL + timedelta(days=9)), 4)
    assert [(check - NOMINAL) // timedelta(minutes=1) for check in checks] == [10, 30, 70, 150]


def test_a_check_that_falls_on_the_cut_off_is_made_once() -> None:
    checks = list(late_checks(WaitPolicy.PERIODIC, TEN, NOMINAL, NOMINAL + timedelta(minutes=20)))
    assert checks == [NOMINAL + timedelta(minutes=10), NOMINAL + timedelta(minutes=20)]


@pytest.mark.parametrize("policy", WaitPolicy)
@pytest.mark.parametrize("minutes", [-60, 0, 5, 10])
def test_a_cut_off_before_the_first_wait_leaves_the_last_check_only(policy: WaitPolicy, minutes: int) -> None:
    cut_off = NOMINAL + timedelta(minutes=minutes)
    assert list(late_checks(policy, TEN, NOMINAL, cut_off)) == [cut_off]


def test_days_are_calendar_days_in_the_zone() -> None:
    nominal = parse_instant("2026-03-07T08:00Z")
    checks = late_checks(
        WaitPolicy.PERIODIC, Frequency.parse("days(1)"), nominal, nominal + timedelta(days=3), "America/Los_Angeles"
    )
    assert [format_instant(check) for check in checks] == [
        "2026-03-08T08:00Z",
        "2026-03-09T07:00Z",
        "2026-03-10T07:00Z",
        "2026-03-10T08:00Z",
    ]


def test_checks_that_meet_around_a_skipped_day_are_one() -> None:
    nominal = parse_instant("2011-12-28T22:00Z")
    checks = late_checks(
        WaitPolicy.PERIODIC, Frequency.parse("days(1)"), nominal, nominal + timedelta(days=4), "Pacific/Apia"
    )
    assert [format_instant(check)[8:10] for check in checks] == ["29", "30", "31", "01"]


def test_final_needs_no_delay_and_the_others_do() -> None:
    assert list(late_checks(WaitPolicy.FINAL, None, NOMINAL, NOMINAL)) == [NOMINAL]
    with pytest.raises(ElError, match="expected a delay"):
        late_checks(WaitPolicy.BACKOFF, None, NOMINAL, NOMINAL)


def test_naive_times_and_unknown_zones_are_errors_before_the_first_check() -> None:
    with pytest.raises(ElError, match="found no time zone"):
        late_checks(WaitPolicy.PERIODIC, TEN, NOMINAL.replace(tzinfo=None), NOMINAL)
    with pytest.raises(ElError, match="expected the name of a time zone"):
        late_checks(WaitPolicy.PERIODIC, TEN, NOMINAL, NOMINAL, "Mars/Olympus")


def test_a_cut_off_at_the_end_of_the_calendar_is_reached() -> None:
    last = parse_instant("9999-12-31T23:59Z")
    checks = list(late_checks(WaitPolicy.EXP_BACKOFF, Frequency.parse("months(1)"), NOMINAL, last))
    assert checks[-1] == last
    assert len(checks) > 10


@given(
    policy=st.sampled_from(WaitPolicy),
    delay=st.sampled_from(["minutes(7)", "hours(5)", "days(1)", "months(1)"]),
    hours=st.integers(-10, 2000),
    zone=st.sampled_from(["UTC", "Pacific/Apia", "Europe/Berlin"]),
)
def test_checks_strictly_rise_between_the_nominal_time_and_the_cut_off(
    policy: WaitPolicy, delay: str, hours: int, zone: str
) -> None:
    nominal = parse_instant("2011-12-20T01:30Z")
    cut_off = nominal + timedelta(hours=hours)
    checks = list(late_checks(policy, Frequency.parse(delay), nominal, cut_off, zone))
    assert checks[-1] == cut_off
    assert all(earlier < later for earlier, later in pairwise([nominal, *checks])) or cut_off <= nominal


def test_falcons_spelling_of_a_policy_is_never_read_as_final() -> None:
    with pytest.raises(
        ElError, match="expected a policy for late checks: one of periodic, backoff, exp_backoff, final"
    ):
        late_checks("exp-backoff", TEN, NOMINAL, NOMINAL + timedelta(hours=1))  # type: ignore[arg-type]

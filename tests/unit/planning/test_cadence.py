"""How often something must succeed."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tests.unit.planning.entities import path_feed, process
from toolkit.el import Frequency, format_instant, parse_instant
from toolkit.entities import FeedSla, Lifecycle, ProcessSla, Retention, RetentionStage, SlaDeadline
from toolkit.planning.cadence import Cadence, eviction_cadence, execution_cadence, replication_cadence

FEED = path_feed("feed1", "/d/${YEAR}-${MONTH}-${DAY}-${HOUR}")


def deadline(frequency: str, last: str, timezone: str = "UTC", allowance: str | None = None) -> str:
    own = None if allowance is None else Frequency.parse(allowance)
    cadence = Cadence(frequency=Frequency.parse(frequency), timezone=timezone, allowance=own)
    return format_instant(cadence.deadline(parse_instant(last)))


@pytest.mark.parametrize(
    ("frequency", "last", "expected"),
    [
        ("hours(1)", "2026-03-05T00:00Z", "2026-03-05T01:15Z"),
        ("minutes(5)", "2026-03-05T00:00Z", "2026-03-05T00:10Z"),
        ("days(1)", "2026-03-05T00:00Z", "2026-03-06T06:00Z"),
    ],
)
def test_a_quarter_of_the_frequency_is_allowed_and_at_least_five_minutes(
    frequency: str, last: str, expected: str
) -> None:
    assert deadline(frequency, last) == expected


def test_an_allowance_of_its_own_takes_the_place_of_the_quarter() -> None:
    assert deadline("hours(1)", "2026-03-05T00:00Z", allowance="minutes(2)") == "2026-03-05T01:02Z"


def test_days_are_those_of_the_time_zone() -> None:
    summer_time_begins = "2026-03-28T23:00Z"  # midnight in Berlin, before a day of 23 hours
    assert deadline("days(1)", summer_time_begins, "Europe/Berlin") == "2026-03-30T03:45Z"


def test_a_process_has_its_frequency_and_the_sla_of_the_cluster() -> None:
    plain = process(frequency="hours(2)", timezone="Europe/Berlin")
    assert execution_cadence(plain, "primary") == Cadence(
        frequency=Frequency.parse("hours(2)"), timezone="Europe/Berlin"
    )
    bound = replace(plain, sla=ProcessSla(should_end_in=Frequency.parse("minutes(90)")))
    assert execution_cadence(bound, "primary").allowance == Frequency.parse("minutes(90)")


def test_a_copy_has_the_high_limit_of_its_sla_unless_that_counts_from_a_deadline() -> None:
    two = Frequency.parse("hours(2)")
    feed = path_feed("clicks", "/data/${YEAR}")
    bound = replace(feed, sla=FeedSla(low=two, high=two))
    assert replication_cadence(bound, "primary").allowance == two
    late = replace(feed, sla=FeedSla(high=two, deadline=SlaDeadline(cron="0 9 * * *")))
    assert replication_cadence(late, "primary").allowance is None


@pytest.mark.parametrize(
    ("frequency", "limit", "expected"),
    [
        ("minutes(5)", "hours(12)", "hours(6)"),
        ("minutes(1439)", "minutes(1439)", "hours(6)"),
        ("hours(7)", "hours(12)", "hours(6)"),
        ("minutes(5)", "hours(24)", "days(1)"),
        ("hours(25)", "days(90)", "days(1)"),
        ("days(1)", "days(90)", "days(1)"),
        ("days(2)", "days(90)", "days(1)"),
        ("months(1)", "days(45)", "days(1)"),
        ("months(12)", "months(36)", "days(1)"),
    ],
)
def test_evictions_come_as_often_as_the_limit_asks_whatever_the_feed_frequency(
    frequency: str, limit: str, expected: str
) -> None:
    on_primary = replace(FEED.clusters[0], retention=Retention(limit=Frequency.parse(limit)))
    feed = replace(FEED, frequency=Frequency.parse(frequency), clusters=(on_primary,))
    cadence = eviction_cadence(feed, "primary")
    assert cadence is not None
    assert str(cadence.frequency) == expected


@pytest.mark.parametrize(
    ("frequency", "expected"),
    [("minutes(5)", "hours(6)"), ("hours(7)", "hours(7)"), ("days(1)", "days(1)"), ("months(1)", "days(1)")],
)
def test_a_retention_stage_without_frequency_runs_with_the_feed_but_daily_at_least(
    frequency: str, expected: str
) -> None:
    stage = Lifecycle(retention_stage=RetentionStage())
    on_primary = replace(FEED.clusters[0], retention=Retention(limit=Frequency.parse("days(45)")), lifecycle=stage)
    feed = replace(FEED, frequency=Frequency.parse(frequency), clusters=(on_primary,))
    cadence = eviction_cadence(feed, "primary")
    assert cadence is not None
    assert str(cadence.frequency) == expected


def test_a_monthly_feed_goes_within_a_day_of_its_limit() -> None:
    """The instance of April becomes older than 45 days on 16 May; a monthly run would delete it on 1 June."""
    on_primary = replace(FEED.clusters[0], retention=Retention(limit=Frequency.parse("days(45)")))
    feed = replace(FEED, frequency=Frequency.parse("months(1)"), clusters=(on_primary,))
    cadence = eviction_cadence(feed, "primary")
    assert cadence is not None
    assert cadence.deadline(parse_instant("2026-05-15T00:00Z")) == parse_instant("2026-05-16T06:00Z")


def test_the_lifecycle_may_say_how_often() -> None:
    stage = Lifecycle(retention_stage=RetentionStage(frequency=Frequency.parse("hours(8)")))
    on_primary = replace(FEED.clusters[0], retention=Retention(limit=Frequency.parse("days(9)")), lifecycle=stage)
    cadence = eviction_cadence(replace(FEED, clusters=(on_primary,)), "primary")
    assert cadence is not None
    assert str(cadence.frequency) == "hours(8)"


def test_a_feed_without_retention_has_no_evictions() -> None:
    assert eviction_cadence(FEED, "primary") is None

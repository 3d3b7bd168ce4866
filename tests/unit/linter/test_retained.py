from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.unit.planning.decisions import decided
from toolkit.el import CanonicalPath, Frequency, parse_instant, shift
from toolkit.entities import (
    Feed,
    FeedCluster,
    LateArrival,
    Locations,
    LocationType,
    Protection,
    ProtectionName,
    RepoSettings,
    Retention,
    Validity,
)
from toolkit.linter.retained import Retained
from toolkit.planning.retention import Candidate, EvictionPolicy, LateWindow, effective_time, horizon

START, END = parse_instant("2026-01-01T00:00Z"), parse_instant("2026-06-01T00:00Z")
LIMITS = st.sampled_from(["hours(6)", "days(3)", "days(30)", "months(1)"]).map(Frequency.parse)
ZONES = st.sampled_from(["UTC", "Europe/Berlin"])
MOMENTS = st.integers(0, 200 * 24 * 60).map(lambda minutes: START + timedelta(minutes=minutes))


def feed_with(retention: Retention | None, zone: str = "UTC", cut_off: str | None = None) -> Feed:
    cluster = FeedCluster(name="primary", validity=Validity(start=START, end=END), retention=retention)
    return Feed(
        name="clicks",
        frequency=Frequency.parse("hours(12)"),
        timezone=zone,
        locations=Locations(data="/data/${YEAR}-${MONTH}-${DAY}-${HOUR}"),
        late_arrival=LateArrival(cut_off=Frequency.parse(cut_off)) if cut_off else None,
        clusters=(cluster,),
    )


def keeping_of(feed: Feed) -> Retained:
    found = Retained.of(feed, feed.clusters[0], RepoSettings())
    assert found is not None
    return found


def kept_by_retention(feed: Feed, at: datetime) -> set[datetime]:
    """Return what the decision of the eviction itself leaves, of all instances there are by then."""
    retention = feed.clusters[0].retention
    assert retention is not None
    effective = effective_time(at, END, keep_beyond_validity=True)
    late = None if feed.late_arrival is None else LateWindow(cut_off=feed.late_arrival.cut_off)
    policy = EvictionPolicy(
        nominal_time=at,
        horizon=horizon(effective, retention.limit, feed.timezone),
        timezone=feed.timezone,
        keep_last=retention.keep_last or 0,
        late_window=late,
    )
    place = CanonicalPath.parse("file:///data")
    candidates = [
        Candidate(location=LocationType.DATA, time=each, first=each, end=each, path=place, base=place)
        for each in feed.instances_on("primary").between(START, at + timedelta(minutes=1))
    ]
    return {each.candidate.time for each in decided(candidates, policy)[1]}


@given(LIMITS, ZONES, st.sampled_from([None, 1, 5, 400]), st.sampled_from([None, "hours(3)", "days(5)"]), MOMENTS)
def test_what_is_kept_is_what_eviction_keeps(
    limit: Frequency, zone: str, keep_last: int | None, cut_off: str | None, at: datetime
) -> None:
    feed = feed_with(Retention(limit=limit, keep_last=keep_last), zone, cut_off)
    kept_from = keeping_of(feed).kept_from(at)
    there = feed.instances_on("primary").between(START, at + timedelta(minutes=1))
    assert {each for each in there if each >= kept_from} == kept_by_retention(feed, at)


@pytest.mark.parametrize(("max_age", "kept_from"), [(None, "2026-03-20T00:01Z"), ("days(2)", "2026-03-23T00:00Z")])
def test_a_protected_late_window_ends_with_its_greatest_age(max_age: str | None, kept_from: str) -> None:
    age = None if max_age is None else Frequency.parse(max_age)
    retention = Retention(
        limit=Frequency.parse("hours(6)"), protect=(Protection(name=ProtectionName.LATE_WINDOW, max_age=age),)
    )
    moment = parse_instant("2026-03-25T00:00Z")
    assert keeping_of(feed_with(retention, cut_off="days(5)")).kept_from(moment) == parse_instant(kept_from)


def test_a_late_window_that_does_not_protect_keeps_nothing() -> None:
    moment = parse_instant("2026-03-25T00:00Z")
    keeping = keeping_of(feed_with(Retention(limit=Frequency.parse("days(2)"), protect=()), cut_off="days(5)"))
    assert keeping.kept_from(moment) == shift(moment, Frequency.parse("days(2)"), -1)


def test_the_last_instances_of_a_feed_that_ended_stay_unless_it_says_otherwise() -> None:
    feed = feed_with(Retention(limit=Frequency.parse("days(2)")))
    later = datetime(2027, 1, 1, tzinfo=UTC)
    ends = Retained.of(feed, feed.clusters[0], RepoSettings(keep_instances_beyond_validity=False))
    assert keeping_of(feed).kept_from(later) == parse_instant("2026-05-30T00:00Z")
    assert ends is not None
    assert ends.kept_from(later) == parse_instant("2026-12-30T00:00Z")


def test_without_retention_there_is_nothing_to_ask() -> None:
    feed = feed_with(None)
    assert Retained.of(feed, feed.clusters[0], RepoSettings()) is None

"""Retention as pure decisions: the horizon, the time of an instance, which instances go (DESIGN sections 7, 8)."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from enum import StrEnum

from toolkit.el import CanonicalPath, Frequency, InstanceSequence, OutOfRange, PathPeriod, shift
from toolkit.el.periods import Span
from toolkit.entities import Feed, FeedCluster, Hold, LocationType, ProtectionName, Retention

_EARLIEST = datetime.min.replace(tzinfo=UTC)
_END = datetime.max.replace(tzinfo=UTC)
_MINUTE = timedelta(minutes=1)
_TICK = timedelta(microseconds=1)


class KeepReason(StrEnum):
    """Why an instance stays."""

    TOO_YOUNG = "too_young"
    """Its time is not before the horizon."""
    HOLD = "hold"
    """A hold of `holds.yaml` covers it."""
    KEEP_LAST = "keep_last"
    """It is among the newest instances that `keep_last` protects."""
    LATE_WINDOW = "late_window"
    """Late data may still come for it."""
    UNREAD_BATCHES = "unread_batches"
    """A step has not finished a batch that stands for it."""
    UNREPLICATED = "unreplicated"
    """It is not at every target yet."""
    UNREAD_CONSUMERS = "unread_consumers"
    """A process instance that reads it has not succeeded yet."""
    SHARED_LOCATION = "shared_location"
    """Its place has, or may have, data of other owners as well (ADR 0045)."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Candidate:
    """An instance that was found.

    Attributes:
        location: which of the feed's locations it is in.
        time: its instance time.
        first: the earliest instant that its path stands for.
        end: the instant just after the latest one.
        path: where it is.
        base: what bounds effects on it.
        partition: its name, when it is a partition of a table.
        is_staged: it is staged, or belongs to what does: no reader has it, so that it counts for no `keep_last`.
    """

    location: LocationType
    time: datetime
    first: datetime
    end: datetime
    path: CanonicalPath
    base: CanonicalPath
    partition: str = ""
    is_staged: bool = False


@dataclass(frozen=True, kw_only=True, slots=True)
class LateWindow:
    """Period for which an instance waits for late data.

    Attributes:
        cut_off: of the feed, counted from the instance's time.
        max_age: instances older than this are not protected any more; None: no such bound.
    """

    cut_off: Frequency
    max_age: Frequency | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class EvictionPolicy:
    """Rules by which a run decides about the instances of one feed on one cluster.

    Attributes:
        nominal_time: for which the run acts.
        horizon: instances before it are old enough to go; equal stays.
        timezone: of the feed, for calendar steps.
        keep_last: so many of the newest instance times stay; 0 for none.
        late_window: None when it does not protect.
        holds: those that concern the feed on the cluster.
    """

    nominal_time: datetime
    horizon: datetime
    timezone: str = "UTC"
    keep_last: int = 0
    late_window: LateWindow | None = None
    holds: tuple[Hold, ...] = ()


@dataclass(frozen=True, kw_only=True, slots=True)
class Kept:
    """An instance that stays, and why."""

    candidate: Candidate
    reason: KeepReason
    detail: str = ""


def effective_time(nominal: datetime, validity_end: datetime, *, keep_beyond_validity: bool) -> datetime:
    """The time from which the limit is counted back: a feed that ended keeps its last instances (DESIGN section 7)."""
    return min(nominal, validity_end) if keep_beyond_validity else nominal


def horizon(effective: datetime, limit: Frequency, timezone: str) -> datetime:
    """The effective time less the limit, by the feed's calendar; before the year 1 it is the beginning of time."""
    try:
        return shift(effective, limit, -1, timezone)
    except OutOfRange:
        return _EARLIEST


def instance_time(period: PathPeriod, instances: InstanceSequence) -> datetime:
    """The latest instant of the feed's grid inside the period, else the period's first (DESIGN section 7)."""
    return time_within(period.spans, instances)


def time_within(spans: tuple[Span, ...], instances: InstanceSequence) -> datetime:
    """Do as `instance_time` does, of a period's runs of instants."""
    for first, end in reversed(spans):
        member = instances.at_or_before(end - _TICK)
        if member is not None and member >= first:
            return first if member == first else member
    return spans[0][0]


def keep_last_from(candidates: Iterable[Candidate], policy: EvictionPolicy) -> datetime:
    """The earliest instance time that `keep_last` protects; instances of every location at or after it stay.

    Counted are distinct times of the data location at or before the nominal time; fewer than asked for: all stay.
    """
    if policy.keep_last <= 0:
        return _END
    times = {
        each.time
        for each in candidates
        if each.location is LocationType.DATA and not each.is_staged and each.time <= policy.nominal_time
    }
    newest = sorted(times, reverse=True)[: policy.keep_last]
    return newest[-1] if len(newest) == policy.keep_last else _EARLIEST


def holding(first: datetime, end: datetime, holds: Iterable[Hold]) -> Hold | None:
    """The first hold that covers any instant of the period; a period that is partly held stays as a whole."""
    for hold in holds:
        begins_before_end = hold.start is None or hold.start < end
        if begins_before_end and (hold.end is None or first < hold.end):
            return hold
    return None


def kept_by(policy: EvictionPolicy, candidate: Candidate, kept_from: datetime) -> Kept | None:
    """Why a candidate stays; None when it goes.

    Args:
        policy: what decides.
        candidate: to decide about.
        kept_from: see `keep_last_from`, of all candidates.
    """
    reason = kept_by_time(policy, candidate.time, kept_from)
    hold = None if reason is KeepReason.TOO_YOUNG else holding(candidate.first, candidate.end, policy.holds)
    if hold is not None:
        return Kept(candidate=candidate, reason=KeepReason.HOLD, detail=hold.reason)
    return None if reason is None else Kept(candidate=candidate, reason=reason, detail=_detail(reason, policy))


def _detail(reason: KeepReason, policy: EvictionPolicy) -> str:
    if reason is KeepReason.KEEP_LAST:
        return f"the newest {policy.keep_last}"
    if reason is KeepReason.LATE_WINDOW and policy.late_window is not None:
        return f"cut-off {policy.late_window.cut_off}"
    return ""


def kept_by_time(policy: EvictionPolicy, time: datetime, kept_from: datetime) -> KeepReason | None:
    """Why an instance of this time stays though nothing holds it; None when it goes. Later ones stay, too.

    Args:
        policy: what decides.
        time: of the instance.
        kept_from: see `keep_last_from`.
    """
    if time >= policy.horizon:
        return KeepReason.TOO_YOUNG
    if time >= kept_from:
        return KeepReason.KEEP_LAST
    if policy.late_window is not None and in_late_window(time, policy.late_window, policy):
        return KeepReason.LATE_WINDOW
    return None


def earliest_kept(policy: EvictionPolicy, kept_from: datetime) -> datetime:
    """The earliest instance time that `kept_by_time` keeps, to the minute.

    Args:
        policy: what decides.
        kept_from: see `keep_last_from`.
    """
    return min(policy.horizon, kept_from, _late_from(policy))


def _late_from(policy: EvictionPolicy) -> datetime:
    window, at = policy.late_window, policy.nominal_time
    if window is None:
        return _END
    before = horizon(at, window.cut_off, policy.timezone)
    by_cut_off = before + min(_MINUTE, _END - before)  # data may come until just before it
    by_age = horizon(at, window.max_age, policy.timezone) if window.max_age else by_cut_off
    return max(by_cut_off, by_age)


def in_late_window(time: datetime, window: LateWindow, policy: EvictionPolicy) -> bool:
    """Return whether late data may come for an instance of this time; from some time on it may for all of them."""
    if _later(time, window.cut_off, policy.timezone) <= policy.nominal_time:
        return False
    return window.max_age is None or _later(time, window.max_age, policy.timezone) >= policy.nominal_time


def _later(time: datetime, distance: Frequency, timezone: str) -> datetime:
    try:
        return shift(time, distance, 1, timezone)
    except OutOfRange:
        return _END


@dataclass(frozen=True, kw_only=True, slots=True)
class RetentionClock:
    """When a run acts, and from which time the limit is counted back there.

    Attributes:
        nominal_time: of the run, UTC.
        keep_beyond_validity: the repo's setting; a feed's cluster may override it (DESIGN section 7).
    """

    nominal_time: datetime
    keep_beyond_validity: bool

    def effective_time(self, feed: Feed, cluster: str) -> datetime:
        """The time from which the limit is counted back.

        Raises:
            UnknownName: the feed is not on that cluster.
        """
        on_cluster = feed.cluster(cluster)
        keeps = keeps_beyond_validity(on_cluster, default=self.keep_beyond_validity)
        return effective_time(self.nominal_time, on_cluster.validity.end, keep_beyond_validity=keeps)


def keeps_beyond_validity(on_cluster: FeedCluster, *, default: bool) -> bool:
    """Return whether the last instances stay after the end of the validity, as the feed's cluster or the repo says."""
    own = on_cluster.keep_instances_beyond_validity
    return default if own is None else own


def eviction_policy(
    feed: Feed, cluster: str, retention: Retention, clock: RetentionClock, holds: Iterable[Hold]
) -> EvictionPolicy:
    """Return the rules by which a run decides about the instances of a feed on a cluster.

    Args:
        feed: the feed.
        cluster: the cluster's name.
        retention: of the feed there.
        clock: of the run.
        holds: of the whole repo.

    Raises:
        UnknownName: the feed is not on that cluster.
    """
    return EvictionPolicy(
        nominal_time=clock.nominal_time,
        horizon=horizon(clock.effective_time(feed, cluster), retention.limit, feed.timezone),
        timezone=feed.timezone,
        keep_last=retention.keep_last or 0,
        late_window=late_window_of(feed, retention),
        holds=tuple(hold for hold in holds if hold.concerns(feed.name, cluster)),
    )


def late_window_of(feed: Feed, retention: Retention) -> LateWindow | None:
    """Return how long late data protects an instance; None: the feed expects none, or retention ignores it."""
    if feed.late_arrival is None:
        return None
    for protection in retention.protect:
        if protection.name is ProtectionName.LATE_WINDOW:
            return LateWindow(cut_off=feed.late_arrival.cut_off, max_age=protection.max_age)
    return None

"""Cadence: how often an action must succeed, and when it is late (DESIGN section 7, Cadence)."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta

from toolkit.el import Frequency, Unit, shift
from toolkit.entities import Feed, Process

LEAST_SLACK = timedelta(minutes=5)
"""Nothing that is late by less than this is worth a word."""

_PART = 4
_SIX_HOURS = Frequency(unit=Unit.HOURS, count=6)
_DAY = Frequency(unit=Unit.DAYS, count=1)


@dataclass(frozen=True, kw_only=True, slots=True)
class Cadence:
    """Frequency with which an action succeeds when all is well.

    Attributes:
        frequency: from one success to the next.
        timezone: where its days and months are counted.
        allowance: how long one run may take; None: a quarter of the frequency, and at least `LEAST_SLACK`.
    """

    frequency: Frequency
    timezone: str = "UTC"
    allowance: Frequency | None = None

    def deadline(self, last: datetime) -> datetime:
        """The last moment at which the next success is still in time.

        Args:
            last: when it succeeded last, or could have begun.

        Raises:
            OutOfRange: that is outside the calendar.
        """
        due = shift(last, self.frequency, 1, self.timezone)
        if self.allowance is not None:
            return shift(due, self.allowance, 1, self.timezone)
        return due + max((due - last) / _PART, LEAST_SLACK)


def execution_cadence(process: Process, cluster: str) -> Cadence:
    """Return how often a process succeeds on a cluster: once a frequency, and each within its SLA when it has one.

    Raises:
        UnknownName: the process is not on that cluster.
    """
    sla = process.sla_on(cluster)
    allowance = None if sla is None else sla.should_end_in
    return Cadence(frequency=process.frequency, timezone=process.timezone, allowance=allowance)


def replication_cadence(feed: Feed, target: str) -> Cadence:
    """Return how often a copy arrives at a target: once a frequency, each within the target's SLA when it has one.

    The limits of an SLA with a deadline do not count from an instance's time, so they are no allowance.

    Raises:
        UnknownName: the feed is not on that cluster.
    """
    sla = feed.sla_on(target)
    allowance = None if sla is None or sla.deadline is not None else sla.high
    return Cadence(frequency=feed.frequency, timezone=feed.timezone, allowance=allowance)


def eviction_cadence(feed: Feed, cluster: str) -> Cadence | None:
    """Return how often retention of a feed runs on a cluster, or None without retention there.

    The lifecycle's retention stage may give the frequency. Without a stage it is every 6 hours when the limit is less
    than a day, else daily, whatever the feed's frequency: an instance goes on the day on which it is older than the
    limit (Falcon overview, Retention; DESIGN section 7). A stage without a frequency runs as often as the feed, but
    not more often than every 6 hours and at least daily.

    Raises:
        UnknownName: the feed is not on that cluster.
    """
    retention = feed.cluster(cluster).retention
    if retention is None:
        return None
    lifecycle = feed.lifecycle_on(cluster)
    if lifecycle is None:
        frequency = _SIX_HOURS if _is_under_a_day(retention.limit) else _DAY
    else:
        frequency = lifecycle.retention_stage.frequency or _with_feed(feed.frequency)
    return Cadence(frequency=frequency, timezone=feed.timezone)


def _with_feed(frequency: Frequency) -> Frequency:
    """Return the frequency of a feed, from every 6 hours to daily."""
    if not _is_under_a_day(frequency):
        return _DAY
    return max(frequency, _SIX_HOURS, key=lambda each: each.elapsed or timedelta(days=1))


def _is_under_a_day(frequency: Frequency) -> bool:
    """Return whether a frequency is less than 24 hours; days and months never are."""
    return frequency.elapsed is not None and frequency.elapsed < timedelta(days=1)

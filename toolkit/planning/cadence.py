"""How often something must succeed, and by when it is late (DESIGN section 7, Cadence)."""

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
    """How often an action succeeds when all is well.

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
    """How often a process succeeds on a cluster: once a frequency, and each within its SLA when it has one.

    Raises:
        UnknownName: the process is not on that cluster.
    """
    sla = process.sla_on(cluster)
    allowance = None if sla is None else sla.should_end_in
    return Cadence(frequency=process.frequency, timezone=process.timezone, allowance=allowance)


def eviction_cadence(feed: Feed, cluster: str) -> Cadence | None:
    """How often a feed's old instances go on a cluster; None: never, it has no retention there.

    As the lifecycle's retention stage says. Without it every 6 hours when less than a day is kept, or when there is a
    stage that does not say, and else daily (Falcon overview, Retention; DESIGN section 7); but not more often than the
    feed has instances, since sooner there is nothing new to remove.

    Raises:
        UnknownName: the feed is not on that cluster.
    """
    retention = feed.cluster(cluster).retention
    if retention is None:
        return None
    lifecycle = feed.lifecycle_on(cluster)
    own = None if lifecycle is None else lifecycle.retention_stage.frequency
    is_short = lifecycle is not None or _is_shorter(retention.limit, _DAY)
    longest = _longer(feed.frequency, _SIX_HOURS if is_short else _DAY)
    return Cadence(frequency=own or longest, timezone=feed.timezone)


def _longer(one: Frequency, other: Frequency) -> Frequency:
    return other if _is_shorter(one, other) else one


def _is_shorter(one: Frequency, other: Frequency) -> bool:
    """Of two of which the second is a day at most; a day counts as 24 hours, and months are always longer."""
    elapsed, least = one.elapsed, other.elapsed or timedelta(days=1)
    return elapsed is not None and elapsed < least

"""From a feed on a cluster to what decides about its instances: one reading for retention and for the linter."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime

from toolkit.entities import Feed, FeedCluster, Hold, ProtectionName, Retention
from toolkit.planning.retention import EvictionPolicy, LateWindow, effective_time, horizon


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
    """Whether the last instances stay after the validity has ended: as the feed's cluster says, else the repo."""
    own = on_cluster.keep_instances_beyond_validity
    return default if own is None else own


def eviction_policy(
    feed: Feed, cluster: str, retention: Retention, clock: RetentionClock, holds: Iterable[Hold]
) -> EvictionPolicy:
    """What decides about the instances of a feed on a cluster.

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
    """How long late data protects an instance; None when the feed expects none, or retention does not protect it."""
    if feed.late_arrival is None:
        return None
    for protection in retention.protect:
        if protection.name is ProtectionName.LATE_WINDOW:
            return LateWindow(cut_off=feed.late_arrival.cut_off, max_age=protection.max_age)
    return None

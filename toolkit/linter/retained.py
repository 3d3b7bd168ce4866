"""Instances that retention leaves at a moment, by the entities alone (DESIGN section 7, Retention)."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta

from toolkit.el import InstanceSequence
from toolkit.entities import Feed, FeedCluster, RepoSettings, Retention
from toolkit.planning.retention import RetentionClock, earliest_kept, eviction_policy

_MINUTE = timedelta(minutes=1)
_EARLIEST = datetime.min.replace(tzinfo=UTC)
_END = datetime.max.replace(tzinfo=UTC)


@dataclass(frozen=True, kw_only=True, slots=True)
class Retained:
    """The retention of a feed on one of its clusters; holds are left out, since they come and go.

    Attributes:
        cluster: the cluster's name.
        grid: the feed's instances on the cluster.
        keep_beyond_validity: the repo's setting.
    """

    feed: Feed
    cluster: str
    retention: Retention
    grid: InstanceSequence
    keep_beyond_validity: bool
    _kept_from: dict[datetime, datetime] = field(default_factory=dict, init=False, compare=False, repr=False)

    @classmethod
    def of(cls, feed: Feed, feed_cluster: FeedCluster, settings: RepoSettings) -> Retained | None:
        """The retention on a cluster; None when nothing is ever evicted there."""
        if feed_cluster.retention is None:
            return None
        return cls(
            feed=feed,
            cluster=feed_cluster.name,
            retention=feed_cluster.retention,
            grid=feed_cluster.validity.sequence(feed.frequency, feed.timezone),
            keep_beyond_validity=settings.keep_instances_beyond_validity,
        )

    def kept_from(self, at: datetime) -> datetime:
        """The earliest instance time that a retention run at this moment leaves; all later ones stay too."""
        if at not in self._kept_from:
            self._kept_from[at] = self._computed(at)
        return self._kept_from[at]

    def _computed(self, at: datetime) -> datetime:
        clock = RetentionClock(nominal_time=at, keep_beyond_validity=self.keep_beyond_validity)
        policy = eviction_policy(self.feed, self.cluster, self.retention, clock, holds=())
        return earliest_kept(policy, self._newest_from(at))

    def _newest_from(self, at: datetime) -> datetime:
        """Do as `keep_last_from` does, when every instance is there."""
        keep_last = self.retention.keep_last or 0
        if not keep_last:
            return _END
        there = self.grid.count(self.grid.start, at + min(_MINUTE, _END - at))
        return self.grid[there - keep_last] if there > keep_last else _EARLIEST

"""Which instances retention leaves at a moment, as far as the entities alone tell (DESIGN section 7, Retention)."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from toolkit.el import InstanceSequence
from toolkit.entities import Feed, FeedCluster, RepoSettings, Retention
from toolkit.planning.retention import effective_time, horizon, keeps_beyond_validity, late_window_of

_MINUTE = timedelta(minutes=1)
_BEGINNING = datetime.min.replace(tzinfo=UTC)
_END = datetime.max.replace(tzinfo=UTC)


@dataclass(frozen=True, kw_only=True, slots=True)
class Retained:
    """The retention of a feed on one of its clusters; holds are left out, since they come and go.

    Attributes:
        grid: the feed's instances on the cluster.
        keep_beyond_validity: a feed that ended keeps its last instances.
    """

    feed: Feed
    retention: Retention
    grid: InstanceSequence
    keep_beyond_validity: bool

    @classmethod
    def of(cls, feed: Feed, feed_cluster: FeedCluster, settings: RepoSettings) -> Retained | None:
        """The retention on a cluster; None when nothing is ever evicted there."""
        if feed_cluster.retention is None:
            return None
        return cls(
            feed=feed,
            retention=feed_cluster.retention,
            grid=feed_cluster.validity.sequence(feed.frequency, feed.timezone),
            keep_beyond_validity=keeps_beyond_validity(feed_cluster, default=settings.keep_instances_beyond_validity),
        )

    def kept_from(self, at: datetime) -> datetime:
        """The earliest instance time that a retention run at this moment leaves; all later ones stay too."""
        end = self.grid.end or _END
        effective = effective_time(at, end, keep_beyond_validity=self.keep_beyond_validity)
        by_age = horizon(effective, self.retention.limit, self.feed.timezone)
        return min(by_age, self._newest_from(at), self._late_from(at))

    def _newest_from(self, at: datetime) -> datetime:
        keep_last = self.retention.keep_last or 0
        if not keep_last:
            return _END
        there = self.grid.count(self.grid.start, _later(at))
        return self.grid[there - keep_last] if there > keep_last else _BEGINNING

    def _late_from(self, at: datetime) -> datetime:
        window = late_window_of(self.feed, self.retention)
        if window is None:
            return _END
        by_cut_off = _later(horizon(at, window.cut_off, self.feed.timezone))  # data may come until just before it
        by_age = horizon(at, window.max_age, self.feed.timezone) if window.max_age else by_cut_off
        return max(by_cut_off, by_age)


def _later(at: datetime) -> datetime:
    return at + min(_MINUTE, _END - at)

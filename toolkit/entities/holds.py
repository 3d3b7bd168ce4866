"""Holds: instances that nothing may delete (`holds.yaml`)."""

from dataclasses import dataclass
from datetime import datetime


@dataclass(frozen=True, kw_only=True, slots=True)
class Hold:
    """Keeps a feed's instances with start <= time < end.

    Attributes:
        feed: the feed's name.
        cluster: absent: on every cluster.
        start: absent: from the first instance on.
        end: absent: for ever.
        reason: why; shown for every instance that it keeps.
        owner: whom to ask.
        since: when it was set; only then it can be too old, see `RepoSettings.hold_reminder`.
    """

    feed: str
    cluster: str | None = None
    start: datetime | None = None
    end: datetime | None = None
    reason: str
    owner: str | None = None
    since: datetime | None = None

    def concerns(self, feed: str, cluster: str) -> bool:
        """Return whether the hold is on this feed on this cluster."""
        return self.feed == feed and self.cluster in (None, cluster)

    def covers(self, instant: datetime) -> bool:
        """Return whether the hold covers an instance of this time."""
        after_start = self.start is None or self.start <= instant
        return after_start and (self.end is None or instant < self.end)


@dataclass(frozen=True, kw_only=True, slots=True)
class Holds:
    """All holds of a config repo."""

    holds: tuple[Hold, ...] = ()

"""What a change of the config repo does to data, in figures."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime, time
from enum import StrEnum

from toolkit.el import Frequency, Unit, format_instant


class EffectKind(StrEnum):
    """What happens to data, the most dangerous first."""

    EVICTABLE = "evictable"
    """More instances become old enough to go."""
    KEEP_LAST_LOWERED = "keep_last_lowered"
    """Fewer of the newest instances are protected."""
    HOLD_REMOVED = "hold_removed"
    """Instances are no longer on hold."""
    TEMPLATE_WIDENED = "template_widened"
    """Retention looks at names that it did not look at before."""
    NEW_RETENTION = "new_retention"
    """A feed is new on a cluster and has retention there: data may be there already."""
    ACTION_CHANGED = "action_changed"
    """Something else happens to what is old enough."""
    TEMPLATE_CHANGED = "template_changed"
    """Data stays behind under the old names."""
    DATES_CHANGED = "dates_changed"
    """Names stand for other times than before."""
    LEFT_BEHIND = "left_behind"
    """The feed is gone, or gone from the cluster; its data is not."""
    END_POINT_CHANGED = "end_point_changed"
    """A cluster's paths are looked for on another file system."""
    PARTITIONS_CHANGED = "partitions_changed"
    """Old instances have other sub-directories than new ones."""
    GRID_CHANGED = "grid_changed"
    """Old instances have other times than new ones."""
    RETENTION_REMOVED = "retention_removed"
    """Nothing will ever be evicted."""
    HELD = "held"
    """Instances that were to go are on hold now."""
    KEPT_LONGER = "kept_longer"
    """Fewer instances are old enough to go."""


@dataclass(frozen=True, kw_only=True, slots=True)
class InstanceRange:
    """Some instances of a feed on a cluster.

    Attributes:
        count: how many.
        first: the earliest, UTC.
        end: just after the latest: the time of the instance that follows it, UTC.
        has_gaps: others lie between them.
    """

    count: int
    first: datetime
    end: datetime
    has_gaps: bool = False

    def __str__(self) -> str:
        between = "between" if self.has_gaps else ""
        return (
            f"({between} {day_or_instant(self.first)} {'and' if between else 'to'} {day_or_instant(self.end)})".replace(
                "( ", "("
            )
        )


@dataclass(frozen=True, kw_only=True, slots=True)
class Effect:
    """One thing that a change does to the data of a feed on a cluster.

    Attributes:
        kind: what happens.
        feed: the feed's present name, or its last one; empty when it is about a cluster as a whole.
        cluster: where.
        was: the name that the feed had before; empty when it is the same.
        key: the value that changed, below the feed's cluster or else the feed: ``("retention", "limit")``.
        before: the old value in words; empty: there was none.
        after: the new one in words; empty: there is none.
        instances: which; None: none, or it cannot be known without looking at the data.
    """

    kind: EffectKind
    feed: str
    cluster: str
    was: str = ""
    key: tuple[str, ...] = ()
    before: str = ""
    after: str = ""
    instances: InstanceRange | None = None

    @property
    def count(self) -> int:
        """How many instances it is known to concern."""
        return 0 if self.instances is None else self.instances.count

    @property
    def place(self) -> str:
        """The feed on the cluster, as messages name it."""
        was = f" (was {self.was})" if self.was else ""
        return f"{self.feed}{was} on {self.cluster}"

    @property
    def change(self) -> str:
        """From the old value to the new one; empty when there is neither."""
        if self.before == self.after:
            return ""
        return f"{self.before or 'none'} -> {self.after or 'none'}"


_UNITS = {Unit.MINUTES: "min", Unit.HOURS: "h", Unit.DAYS: "d", Unit.MONTHS: "mo"}


def short(frequency: Frequency) -> str:
    """A frequency as messages have it: ``30d``, ``6h``, ``90min``, ``1mo``."""
    return f"{frequency.count}{_UNITS[frequency.unit]}"


def day_or_instant(instant: datetime) -> str:
    """``2026-03-01`` for midnight UTC, else ``2026-03-01T06:40Z``."""
    utc = instant.astimezone(UTC)
    return utc.date().isoformat() if utc.time() == time() else format_instant(utc)

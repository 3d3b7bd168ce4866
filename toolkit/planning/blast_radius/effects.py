"""Effects of a config change on data, in figures and in words."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime, time
from enum import StrEnum

from toolkit.el import Frequency, Unit, format_instant
from toolkit.entities.vocabulary import OnSourceDelete


class EffectKind(StrEnum):
    """Kind of an effect on data, the most dangerous first."""

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
    SOURCE_DELETE = "source_delete"
    """Something else happens to directories that the source of a copy no longer has."""
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
    INGEST_REREAD = "ingest_reread"
    """An ingest takes files or records that it has committed for new ones."""
    INGEST_ROWS = "ingest_rows"
    """Rows that are committed stay as they were, and new ones are made in another way."""
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
        end: just after the latest: the time of the instance that follows it, or of the run when that is earlier, UTC.
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
    """A thing that a change does to the data of a feed on a cluster.

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
        """Return how many instances it is known to concern."""
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


def message_of(effect: Effect) -> str:
    """Return the effect in one sentence with its figures."""
    return _WORDS[effect.kind](effect)


def _counted(effect: Effect, more: str = "") -> str:
    """``480 more instances (2026-02-18 to 2026-03-10)``."""
    noun = "instance" if effect.count == 1 else "instances"
    return f"{effect.count:,}{more} {noun} {effect.instances}"


def _evictable(effect: Effect) -> str:
    if effect.instances is None:
        return "nothing more becomes evictable at the next run"
    return f"{_counted(effect, ' more')} {'becomes' if effect.count == 1 else 'become'} evictable at the next run"


def _left(effect: Effect) -> str:
    if effect.instances is None:
        return "what is there is left behind"
    return (
        f"{_counted(effect)} {'is' if effect.count == 1 else 'are'} left behind: nothing reads or evicts them any more"
    )


def _old(effect: Effect) -> str:
    return "no instance is there yet" if effect.instances is None else f"{_counted(effect)} there"


def _widened(effect: Effect) -> str:
    return (
        f"{effect.key[-1]} template of {effect.place} is wider: {effect.change}: what is old under names that it did"
        " not match before becomes evictable, too"
    )


def _retention(effect: Effect) -> str:
    return f"retention of {effect.place} {effect.change}".rstrip()


def _kept_longer(effect: Effect) -> str:
    verb = "is" if effect.count == 1 else "are"
    return f"{_counted(effect)} {verb} no longer evictable at the next run"


def _new_retention(effect: Effect) -> str:
    found = "no instance is old enough yet" if effect.instances is None else f"up to {_counted(effect)}"
    return f"{effect.place} is new, with retention {effect.after}: what is there already can be evicted: {found}"


def _source_delete(effect: Effect) -> str:
    return "are removed by the next replication" if effect.after == OnSourceDelete.DELETE else "stay"


_INGESTED = {("ingest", "source"): "ingest source", ("ingest",): "Iceberg catalog", ("table",): "name"}
"""Words for what a source's progress depends on, by the key of the effect."""

_WORDS: dict[EffectKind, Callable[[Effect], str]] = {
    EffectKind.EVICTABLE: lambda each: f"{_retention(each)}: {_evictable(each)}",
    EffectKind.KEEP_LAST_LOWERED: lambda each: f"keep_last of {each.place} {each.change}: {_evictable(each)}",
    EffectKind.HOLD_REMOVED: lambda each: f"hold on {each.place} {each.change}: {_evictable(each)}",
    EffectKind.TEMPLATE_WIDENED: _widened,
    EffectKind.NEW_RETENTION: _new_retention,
    EffectKind.ACTION_CHANGED: lambda each: f"retention of {each.place}: action {each.change}",
    EffectKind.SOURCE_DELETE: lambda each: (
        f"on_source_delete of {each.place} {each.change}: directories that the source no longer has "
        f"{_source_delete(each)}"
    ),
    EffectKind.TEMPLATE_CHANGED: lambda each: f"{each.key[-1]} template of {each.place} {each.change}: {_left(each)}",
    EffectKind.DATES_CHANGED: lambda each: (
        f"path_timezone of {each.place} {each.change}: names stand for other times: {_old(each)}"
    ),
    EffectKind.LEFT_BEHIND: lambda each: f"{each.feed} is gone from {each.cluster} ({each.before}): {_left(each)}",
    EffectKind.END_POINT_CHANGED: lambda each: (
        f"file system of {each.cluster} {each.change}: the instances of its feeds are looked for on the new one"
    ),
    EffectKind.PARTITIONS_CHANGED: lambda each: (
        f"partitions of {each.place} {each.change}: old instances have other sub-directories: {_old(each)}"
    ),
    EffectKind.GRID_CHANGED: lambda each: (
        f"{each.key[-1]} of {each.place} {each.change}: old instances have other times: {_old(each)}"
    ),
    EffectKind.INGEST_REREAD: lambda each: (
        f"{_INGESTED[each.key]} of {each.place} {each.change}: committed files or records that are still there count as"
        " new ones, and are committed again"
    ),
    EffectKind.INGEST_ROWS: lambda each: (
        f"{each.key[-1]} of the ingest of {each.place} {each.change}: the table and the rows in it stay as they are"
    ),
    EffectKind.RETENTION_REMOVED: lambda each: (
        f"retention of {each.place} {each.change}: nothing is ever evicted there"
    ),
    EffectKind.HELD: lambda each: f"{each.place} has a new hold: {_kept_longer(each)}",
    EffectKind.KEPT_LONGER: lambda each: f"{_retention(each)}: {_kept_longer(each)}",
}

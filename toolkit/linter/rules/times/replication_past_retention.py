"""An instance is still there when replication comes for it, and stays at the target when it has come."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta

from toolkit.el import ElError, Frequency, format_instant, shift
from toolkit.entities import ClusterRole, Feed, FeedCluster, Pointer, ProtectionName, RepoSettings
from toolkit.linter.bounds import length_words, longest, shortest
from toolkit.linter.clock_changes import year_from
from toolkit.linter.context import LintContext
from toolkit.linter.findings import Hit, Severity
from toolkit.linter.keeping import Keeping
from toolkit.linter.rule import Rule

_SAMPLES = 53
_CLOCK_CHANGES = timedelta(hours=3)


@dataclass(frozen=True, kw_only=True, slots=True)
class _Lost:
    """An instance that is deleted before the replication run that would copy it."""

    instance: datetime
    copied: datetime
    kept_from: datetime


def _check(context: LintContext) -> Iterator[Hit]:
    for _, feed in sorted(context.repository.feeds.items()):
        sources = [each for each in feed.clusters if each.type is ClusterRole.SOURCE]
        if sources and any(each.type is ClusterRole.TARGET for each in feed.clusters):
            for position, each in enumerate(feed.clusters):
                yield from _hits(feed, position, _delay(each, sources), context)


def _delay(each: FeedCluster, sources: list[FeedCluster]) -> Frequency | None:
    """How long after its time an instance leaves this source, or reaches this target at the latest."""
    if each.type is ClusterRole.SOURCE:
        return each.delay
    delays = [source.delay for source in sources if source.delay is not None]
    return max(delays, key=longest) if delays else None


def _hits(feed: Feed, position: int, delay: Frequency | None, context: LintContext) -> Iterator[Hit]:
    each = feed.clusters[position]
    if each.type is None or each.retention is None or _is_protected(each):
        return
    needed = longest(feed.frequency) + (longest(delay) if delay else timedelta())
    if needed <= shortest(each.retention.limit) - _CLOCK_CHANGES:
        return
    lost = _lost(feed, each, delay, context.repository.settings, context.time)
    if lost is not None:
        yield _hit(feed, each, ("clusters", position, "retention", "limit"), delay, lost)


def _is_protected(each: FeedCluster) -> bool:
    protection = each.retention.protect if each.retention else ()
    return any(one.name is ProtectionName.UNREPLICATED for one in protection)


def _lost(
    feed: Feed, each: FeedCluster, delay: Frequency | None, settings: RepoSettings, time: datetime
) -> _Lost | None:
    keeping = Keeping.of(feed, each, settings)
    if keeping is None:
        return None
    for instance in _samples(keeping, time):
        copied = _copied(instance, feed, delay)
        kept_from = instance if copied is None else keeping.kept_from(copied)
        if copied is not None and instance < kept_from:
            return _Lost(instance=instance, copied=copied, kept_from=kept_from)
    return None


def _samples(keeping: Keeping, time: datetime) -> Iterator[datetime]:
    """Instances of every week of a year: months differ in length, and days where clocks are changed."""
    first = keeping.grid.at_or_after(time) or keeping.grid.start
    step = (year_from(first)[1] - first) / _SAMPLES
    for position in range(_SAMPLES):
        instance = keeping.grid.at_or_after(first + position * step)
        if instance is not None:
            yield instance


def _copied(instance: datetime, feed: Feed, delay: Frequency | None) -> datetime | None:
    """When the instance is copied at the latest: the replication runs once every frequency of the feed."""
    try:
        eligible = shift(instance, delay, 1, feed.timezone) if delay else instance
        return shift(eligible, feed.frequency, 1, feed.timezone)
    except ElError:
        return None


def _hit(feed: Feed, each: FeedCluster, pointer: Pointer, delay: Frequency | None, lost: _Lost) -> Hit:
    limit = "" if each.retention is None else str(each.retention.limit)
    after = (
        f"the delay of {delay} and one frequency of {feed.frequency}" if delay else f"one frequency, {feed.frequency}"
    )
    kept_from = format_instant(lost.kept_from)
    outcome = (
        f"by then {each.name} has deleted what is before {kept_from}"
        if each.type is ClusterRole.SOURCE
        else f"{each.name} would delete what is before {kept_from} at once, so it is not copied"
    )
    return Hit(
        subject=feed.name,
        pointer=pointer,
        message=(
            f"the limit of {limit} is shorter than {after}: the instance {format_instant(lost.instance)} "
            f"may be copied as late as {format_instant(lost.copied)}, and {outcome}"
        ),
        hint=f"keep instances for {length_words(lost.copied - lost.instance)} or more, longer for runs that are late",
    )


RULE = Rule(
    id="replication-past-retention",
    name="An instance is kept until replication has copied it",
    severity=Severity.ERROR,
    rationale=(
        "Replication runs once every frequency of the feed, and takes an instance when its source's delay is over: "
        "at the latest one delay and one frequency after the instance's time. With a shorter limit the source has "
        "deleted it by then, or the target would delete it at once and does not take it."
    ),
    bad="""\
# feeds/clicks.yaml
frequency: days(1)
clusters:
  - {name: primary, type: source, delay: hours(12), retention: {limit: days(1)}}
  - {name: backup, type: target, retention: {limit: days(30)}}
""",
    good="""\
# feeds/clicks.yaml
frequency: days(1)
clusters:
  - {name: primary, type: source, delay: hours(12), retention: {limit: days(3)}}
  - {name: backup, type: target, retention: {limit: days(30)}}
""",
    source="Falcon overview, Replication; DESIGN section 7, Replication",
    check=_check,
)

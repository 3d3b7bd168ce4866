"""Replication as pure decisions: which instances of a feed are due, and where they are on both sides (DESIGN 7, 8)."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from functools import cached_property
from typing import TYPE_CHECKING

from toolkit.el import Frequency, OutOfRange, format_instant, shift
from toolkit.entities import ClusterRole, LocationType
from toolkit.entities.errors import UnfitFeed, UnknownName
from toolkit.planning.instance_storage import FeedStorage, PartitionExpression
from toolkit.planning.retention import RetentionClock, eviction_policy, horizon, kept_by_time

if TYPE_CHECKING:
    from collections.abc import Mapping

    from toolkit.el import CanonicalPath, InstanceSequence, PathTemplate
    from toolkit.el.segment import Segment
    from toolkit.entities import Cluster, Feed, FeedCluster


class NotReplicated(UnfitFeed):
    """A feed that cannot be pulled as it was asked for."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Range:
    """Requested instances, and their order.

    Attributes:
        first: none before it; None: from the beginning.
        end: none at or after it; None: to the end.
        newest_first: the newest is copied first.
    """

    first: datetime | None = None
    end: datetime | None = None
    newest_first: bool = False

    @property
    def is_given(self) -> bool:
        """True if the user named instances; then all of them are examined, copied before or not."""
        return self.first is not None or self.end is not None


@dataclass(frozen=True, kw_only=True)
class Side:
    """A feed on one end of a copy.

    Attributes:
        feed: the feed.
        cluster: where.
        on: what the feed says about the cluster.
    """

    feed: Feed
    cluster: Cluster
    on: FeedCluster

    @cached_property
    def template(self) -> PathTemplate:
        """The template of the data."""
        return FeedStorage.of(self.feed, self.cluster).templates[LocationType.DATA]

    @cached_property
    def base(self) -> CanonicalPath:
        """The directory that bounds every effect: the part before the first variable."""
        return self.cluster.place(self.template.base)

    @cached_property
    def base_for_reading(self) -> CanonicalPath:
        """The same directory, where others read it."""
        return self.cluster.place_for_reading(self.template.base)

    @cached_property
    def instances(self) -> InstanceSequence:
        """The instances that the feed has here."""
        return self.feed.instances_on(self.cluster.name)

    @cached_property
    def parts(self) -> tuple[Segment, ...]:
        """Its partition expression, with the values of this cluster; empty: all of an instance."""
        if self.on.partition is None:
            return ()
        return PartitionExpression(self.on.partition).bind(self.feed.variables_on(self.cluster))

    def at(self, instant: datetime) -> CanonicalPath:
        """The directory of an instance, where it is written.

        Raises:
            ElError: the template has a variable without a value.
        """
        return self.cluster.place(self.template.render(instant))

    def read_at(self, instant: datetime) -> CanonicalPath:
        """The directory of an instance, where others read it: by the cluster's ``readonly`` end point if it has one.

        Raises:
            ElError: the template has a variable without a value.
        """
        return self.cluster.place_for_reading(self.template.render(instant))


@dataclass(frozen=True, kw_only=True)
class Route:
    """From one source of a feed to one of its targets.

    Attributes:
        source: read from.
        target: copied to.
        others: the other sources of the feed; those that are valid at its time make an instance together.
    """

    source: Side
    target: Side
    others: tuple[Side, ...] = ()

    @property
    def feed(self) -> Feed:
        """The feed that is copied."""
        return self.source.feed

    @cached_property
    def parts(self) -> tuple[Segment, ...]:
        """Return the sub-directories of an instance to copy: the source's expression, then the target's (DESIGN 8)."""
        return (*self.source.parts, *self.target.parts)

    @cached_property
    def span(self) -> tuple[datetime, datetime]:
        """When both sides are valid, as [start, end): latest start, earliest end (Falcon overview, Replication).

        Empty when it ends before it starts.
        """
        one, other = self.source.on.validity, self.target.on.validity
        return max(one.start, other.start), min(one.end, other.end)

    def is_expired_at_source(self, instant: datetime, clock: RetentionClock | None) -> bool:
        """Return whether the source's retention removes an instance of this time; computed from the config alone.

        Args:
            instant: of the instance.
            clock: of the run; None: there is no run, so that nothing is removed.
        """
        retention = self.source.on.retention
        if retention is None or clock is None:
            return False
        policy = eviction_policy(self.feed, self.source.cluster.name, retention, clock, ())
        newest = self.source.instances.at_or_before(clock.nominal_time)
        if newest is None:
            return False
        after_newest = self.source.instances.index(newest) + 1
        kept_from = self.source.instances[max(0, after_newest - max(1, policy.keep_last))]
        return kept_by_time(policy, instant, kept_from) is None

    def eligible_at(self, instant: datetime) -> datetime:
        """When an instance may be pulled first."""
        delay = self.source.on.delay
        return instant if delay is None else shift(instant, delay, 1, self.feed.timezone)

    def waits_until(self, instant: datetime) -> datetime | None:
        """When an instance that has not come counts as timed out (property ``timeout``); None: never."""
        text = self.feed.properties.get("timeout")
        if text is None:
            return None
        try:
            return shift(self.eligible_at(instant), Frequency.parse(str(text)), 1, self.feed.timezone)
        except OutOfRange:
            return None

    def late_until(self, instant: datetime) -> datetime | None:
        """Until when late data of an instance may come; None: none is expected."""
        late = self.feed.late_arrival
        if late is None:
            return None
        try:
            return shift(instant, late.cut_off, 1, self.feed.timezone)
        except OutOfRange:
            return None

    def kept_from(self, clock: RetentionClock) -> datetime:
        """Return the time of the oldest instance that the target's retention does not evict at once."""
        retention = self.target.on.retention
        if retention is None:
            return self.span[0]
        effective = clock.effective_time(self.feed, self.target.cluster.name)
        return horizon(effective, retention.limit, self.feed.timezone)


def routes(
    feed: Feed, clusters: Mapping[str, Cluster], *, target: str | None = None, source: str | None = None
) -> tuple[Route, ...]:
    """The ways on which a feed is pulled.

    Args:
        feed: with sources and targets.
        clusters: by name.
        target: only to this one; None: to the only target that there is.
        source: only from this one; None: from all.

    Raises:
        UnknownName: the feed is not on a cluster that was named.
        NotReplicated: a cluster has another role, there is no source, or the target is not given.
    """
    by_role = {role: [each for each in feed.clusters if each.type is role] for role in ClusterRole}
    sources, targets = by_role[ClusterRole.SOURCE], by_role[ClusterRole.TARGET]
    to = _chosen(feed, target, targets, ClusterRole.TARGET)
    if not sources:
        raise NotReplicated(feed=feed.name, why="has no source; give the cluster that makes it type: source")
    if target is None and len(to) > 1:
        names = ", ".join(each.name for each in to)
        raise NotReplicated(feed=feed.name, why=f"has the targets {names}; name one with --target")
    given = _chosen(feed, source, sources, ClusterRole.SOURCE)
    sides = {each.name: Side(feed=feed, cluster=clusters[each.name], on=each) for each in (*sources, *to)}
    found = tuple(
        Route(
            source=sides[one.name],
            target=sides[other.name],
            others=tuple(sides[each.name] for each in sources if each.name != one.name),
        )
        for other in to
        for one in given
    )
    if all(start >= end for start, end in (route.span for route in found)):
        (start, end), (its_start, its_end) = (
            (format_instant(side.on.validity.start), format_instant(side.on.validity.end))
            for side in (found[0].source, found[0].target)
        )
        on, to_name = found[0].source.cluster.name, found[0].target.cluster.name
        why = f"has no instance on both sides: valid {start} to {end} on {on}, {its_start} to {its_end} on {to_name}"
        raise NotReplicated(feed=feed.name, why=why)
    return found


def _chosen(feed: Feed, name: str | None, having: list[FeedCluster], role: ClusterRole) -> list[FeedCluster]:
    if name is None:
        if not having:
            raise NotReplicated(feed=feed.name, why=f"has no {role}; give one of its clusters type: {role}")
        return having
    names = [each.name for each in feed.clusters]
    if name not in names:
        raise UnknownName(what="cluster", name=name, known=names, where=f"feed {feed.name}")
    found = [each for each in having if each.name == name]
    if not found:
        others = ", ".join(each.name for each in having) or "none"
        raise NotReplicated(feed=feed.name, why=f"does not have {name} as a {role}; it has: {others}")
    return found

"""The feeds on clusters before and after a change: kept, renamed, new, gone."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property

from toolkit.el import ElError, InstanceSequence, NoSuchInstance
from toolkit.entities import Cluster, Feed, FeedCluster, Hold, LocationType
from toolkit.entities.repository import Repository
from toolkit.planning.blast_radius.effects import Effect, EffectKind, InstanceRange
from toolkit.planning.blast_radius.existing import Existing, Positions
from toolkit.planning.blast_radius.places import TABLE, BoundLocation, places
from toolkit.planning.instance_storage import FeedStorage
from toolkit.planning.retention import EvictionPolicy, RetentionClock, eviction_policy, keeps_beyond_validity


@dataclass(frozen=True, kw_only=True)
class FeedState:
    """A feed on a cluster, before or after.

    Attributes:
        feed: the feed.
        cluster: the cluster.
        default_fs: what paths without a scheme are on, for comparing: the same before and after.
        keep_beyond_validity: the repo's setting.
        holds: those that concern the feed on the cluster.
    """

    feed: Feed
    cluster: Cluster
    default_fs: str
    keep_beyond_validity: bool
    holds: tuple[Hold, ...]

    @classmethod
    def of(cls, repository: Repository, feed: str, cluster: str, default_fs: str) -> FeedState:
        """Return the state in a repo.

        Raises:
            UnknownName: the repo has no such feed or cluster.
        """
        return cls(
            feed=repository.feed(feed),
            cluster=repository.cluster(cluster),
            default_fs=default_fs,
            keep_beyond_validity=repository.settings.keep_instances_beyond_validity,
            holds=repository.holds_on(feed, cluster),
        )

    @property
    def on_cluster(self) -> FeedCluster:
        """The settings of the feed for the cluster."""
        return self.feed.cluster(self.cluster.name)

    @cached_property
    def instances(self) -> InstanceSequence:
        """The instances of the feed there."""
        return self.feed.instances_on(self.cluster.name)

    @cached_property
    def places(self) -> dict[str, BoundLocation]:
        """Its locations by role.

        Raises:
            ElError: a location cannot be resolved.
        """
        return places(FeedStorage.of(self.feed, self.cluster), self.default_fs)

    @property
    def is_resolved(self) -> bool:
        """True if its locations can be computed; where they cannot, other rules say why."""
        try:
            return self.places is not None
        except ElError:
            return False

    @property
    def main(self) -> BoundLocation | None:
        """Location of the instances themselves."""
        return self.places.get(TABLE) or self.places.get(LocationType.DATA)

    @property
    def keeps_beyond_validity(self) -> bool:
        """True if the last instances stay after the validity has ended."""
        return keeps_beyond_validity(self.on_cluster, default=self.keep_beyond_validity)

    def policy(self, time: datetime) -> EvictionPolicy | None:
        """Return the eviction policy of a run at a time; None: the feed has no retention."""
        retention = self.on_cluster.retention
        if retention is None:
            return None
        clock = RetentionClock(nominal_time=time, keep_beyond_validity=self.keep_beyond_validity)
        return eviction_policy(self.feed, self.cluster.name, retention, clock, self.holds)


@dataclass(frozen=True, kw_only=True)
class BeforeAfter:
    """A feed on a cluster before and after a change, with the instances that it has had by a time.

    Attributes:
        before: as it was.
        after: as it is.
        time: of the next run of retention, a whole minute.
    """

    before: FeedState
    after: FeedState
    time: datetime

    @cached_property
    def existing(self) -> Existing | None:
        """The instances as the old templates read them; None when they have no place that is known."""
        return self._read_by(self.before)

    @cached_property
    def now_evictable(self) -> Positions:
        """Instances that a run evicts after the change."""
        return evictable(self._read_by(self.after), self.after.policy(self.time))

    @cached_property
    def before_evictable(self) -> Positions:
        """Instances that a run would have evicted before the change."""
        return evictable(self.existing, self.before.policy(self.time))

    @cached_property
    def newly_evictable(self) -> Positions:
        """Instances that a run evicts after the change and would not have evicted before it."""
        return self.now_evictable.minus(self.before_evictable)

    @property
    def still_there(self) -> Positions:
        """Instances that retention has kept so far."""
        return Positions() if self.existing is None else self.existing.all.minus(self.before_evictable)

    @property
    def is_still_managed(self) -> bool:
        """True if names of the old template conform to the new one."""
        read = self._read_by(self.after)
        return read is not None and read.is_managed

    @property
    def now_held(self) -> Positions:
        """Instances that are on hold after the change."""
        read = self._read_by(self.after)
        return Positions() if read is None else read.held(self.after.holds)

    def reads(self, before: BoundLocation, after: BoundLocation) -> bool:
        """Return whether names of one place conform to another."""
        made = self.before.instances
        return Existing(made=made, count=self._count, written=before, read=after, instances=made).is_managed

    def effect(
        self, kind: EffectKind, *, key: tuple[str, ...], before: str, after: str, positions: Positions | None = None
    ) -> Effect:
        """An effect on the feed on the cluster.

        Args:
            kind: what happens.
            key: the value that changed.
            before: the old value.
            after: the new one.
            positions: the instances that it concerns.
        """
        was, name = self.before.feed.name, self.after.feed.name
        return Effect(
            kind=kind,
            feed=name,
            cluster=self.after.cluster.name,
            was="" if was == name else was,
            key=key,
            before=before,
            after=after,
            instances=range_of(positions or Positions(), self.before.instances, self.time),
        )

    @cached_property
    def _count(self) -> int:
        return instances_by(self.time, self.before.instances)

    def _read_by(self, state: FeedState) -> Existing | None:
        written, read = self.before.main, state.main
        if written is None or read is None:
            return None
        made = self.before.instances
        return Existing(made=made, count=self._count, written=written, read=read, instances=state.instances)


def instances_by(time: datetime, made: InstanceSequence) -> int:
    """Return how many instances of a sequence are at or before a time, a whole minute."""
    last = made.at_or_before(time)
    return 0 if last is None else made.index(last) + 1


def range_of(positions: Positions, made: InstanceSequence, time: datetime) -> InstanceRange | None:
    """Positions of a sequence as figures; None when there are none. Positions after the time do not exist yet."""
    if not positions:
        return None
    last = made[positions.last]
    try:
        end = made[positions.last + 1]
    except NoSuchInstance:
        end = made.end or last
    gaps = len(positions.runs) > 1
    return InstanceRange(count=len(positions), first=made[positions.first], end=min(end, time), has_gaps=gaps)


def evictable(existing: Existing | None, policy: EvictionPolicy | None) -> Positions:
    """Return the instances that a run would evict; none without retention."""
    return Positions() if existing is None or policy is None else existing.evictable(policy)


_Key = tuple[str, str]
"""A feed and a cluster."""

_Data = tuple[str, tuple[str, ...]]
"""A cluster, and the names of a feed's instances there."""


@dataclass(frozen=True, kw_only=True)
class Pairing:
    """The feeds on clusters of a config repo before and after a change.

    What has problems of its own before or after is left out of both: it is unknown what it is.

    Attributes:
        before: the config repo as it was.
        after: as it is, in the same environment.
    """

    before: Repository
    after: Repository

    def kept(self) -> Iterator[tuple[FeedState, FeedState]]:
        """Before and after of every feed on a cluster that is different, or has another name for the same data."""
        for key in sorted(self._old.keys() & self._new.keys()):
            yield from self._both(key, key)
        for old, new in self._renamed.items():
            yield from self._both(old, new)

    def gone(self) -> Iterator[FeedState]:
        """The feeds that are on a cluster no more."""
        for key in sorted(self._old.keys() - self._new.keys() - self._renamed.keys()):
            state = self._state(self.before, key)
            if state.is_resolved and _is_known(self.after, key):
                yield state

    def new(self) -> Iterator[FeedState]:
        """The feeds that are new on a cluster."""
        for key in sorted(self._new.keys() - self._old.keys() - set(self._renamed.values())):
            state = self._state(self.after, key)
            if state.is_resolved and _is_known(self.before, key):
                yield state

    @cached_property
    def _old(self) -> Mapping[_Key, None]:
        return dict.fromkeys(self._pairs(self.before))

    @cached_property
    def _new(self) -> Mapping[_Key, None]:
        return dict.fromkeys(self._pairs(self.after))

    def _pairs(self, repository: Repository) -> Iterator[_Key]:
        """Only clusters that the environment may act on have retention runs."""
        environment = self.after.environment
        for feed in repository.feeds.values():
            for each in feed.clusters:
                if each.name in repository.clusters and (environment is None or environment.allows(each.name)):
                    yield feed.name, each.name

    @cached_property
    def _renamed(self) -> Mapping[_Key, _Key]:
        """Old feeds on a cluster to new ones with the same data there."""
        old_only, new_only = self._old.keys() - self._new.keys(), self._new.keys() - self._old.keys()
        gone = [key for key in sorted(old_only) if key[0] not in self.after.entries]
        added = [key for key in sorted(new_only) if key[0] not in self.before.entries]
        by_data = {self._data(self.after, key): key for key in added} if gone else {}
        found = ((key, self._data(self.before, key)) for key in gone)
        return {key: by_data[data] for key, data in found if data is not None and data in by_data}

    def _data(self, repository: Repository, key: _Key) -> _Data | None:
        state = self._state(repository, key)
        main = state.main if state.is_resolved else None
        return None if main is None else (key[1], (*main.names_text, main.timezone))

    def _both(self, old: _Key, new: _Key) -> Iterator[tuple[FeedState, FeedState]]:
        before, after = self._state(self.before, old), self._state(self.after, new)
        if before != after and before.is_resolved and after.is_resolved:
            yield before, after

    def _state(self, repository: Repository, key: _Key) -> FeedState:
        return FeedState.of(repository, *key, self._default_fs(key[1]))

    def _default_fs(self, cluster: str) -> str:
        """Return one file system for both: a changed end point is reported by itself, and may be a new name only."""
        clusters = self.before.clusters if cluster in self.before.clusters else self.after.clusters
        return clusters[cluster].default_fs


def _is_known(repository: Repository, key: _Key) -> bool:
    """Return whether a repo says for certain that the feed is not on the cluster."""
    feed, cluster = key
    return (feed in repository.feeds or feed not in repository.entries) and (
        cluster in repository.clusters or cluster not in repository.entries
    )

"""Evidence of protections: which instances are unread or not replicated, by config repo, stores and ledger."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import timedelta
from functools import cached_property, partial
from typing import TYPE_CHECKING

from toolkit.availability import DATA_ERRORS, PathInstances
from toolkit.el import ElError, format_instant
from toolkit.entities import ClusterRole, ProtectionName
from toolkit.errors import InvalidInput
from toolkit.ledger import manifests
from toolkit.ledger.batches.unread import unread_instances
from toolkit.ledger.runs.route_keys import CopyRoute, unfinished_keys
from toolkit.planning.replication import Route, Side
from toolkit.retention.consumers import WINDOW, FeedConsumers
from toolkit.retention.protection import Needed, Protector, all_needed, protectors

if TYPE_CHECKING:
    from datetime import datetime

    from toolkit.availability import DataAccess, FeedInstances, FoundInstance
    from toolkit.entities import Cluster, Feed, Repository
    from toolkit.ledger.database import Ledger, Transaction
    from toolkit.planning.retention import RetentionClock
    from toolkit.retention.consumers import Reader

_TIME_STEP = timedelta(seconds=2)
"""Stores that keep the time of a copied file may round it by this much."""


@dataclass(frozen=True, kw_only=True)
class NeededInstances:
    """Instances that somebody still needs, for the feeds of a config repo.

    Attributes:
        repository: all entities.
        clock: of the run; what the target's retention would evict is not waited for there.
        data: where instances are looked at.
        ledger: of the runs; None: what readers have read is unknown, so that everything is unread.
    """

    repository: Repository
    clock: RetentionClock
    data: DataAccess
    ledger: Ledger | None

    def protectors(self, feed: Feed, cluster: Cluster) -> tuple[Protector, ...]:
        """Return the protections of a feed on a cluster; what they find raises LedgerUnavailable and StopRequested."""
        return protectors(feed, cluster, partial(self._needed, feed, cluster))

    def _needed(self, feed: Feed, cluster: Cluster, name: ProtectionName) -> Needed:
        if name is ProtectionName.UNREPLICATED:
            return partial(self._unreplicated, feed, cluster)
        if self.ledger is None:
            return all_needed("without the ledger it is unknown who has read it")
        if name is ProtectionName.UNREAD_BATCHES:
            return partial(_unread_batches, self.ledger, feed.name, cluster.name)
        return partial(self._unread, self.ledger, feed.name, cluster.name)

    def _unread(self, ledger: Ledger, feed: str, cluster: str, instants: Sequence[datetime]) -> Mapping[datetime, str]:
        """Return the instances that an instance of a process reads that has not succeeded; its end may be to come."""
        readers = self._consumers.readers(feed, cluster)
        found: dict[datetime, str] = {}
        for first in range(0, len(instants) if readers else 0, WINDOW):
            window = instants[first : first + WINDOW]
            found.update(ledger.read(lambda tx: dict(_unread_of(tx, readers, feed, window))))  # noqa: B023 - used at once
        return found

    @cached_property
    def _consumers(self) -> FeedConsumers:
        return FeedConsumers(repository=self.repository)

    def _unreplicated(self, feed: Feed, cluster: Cluster, instants: Sequence[datetime]) -> Mapping[datetime, str]:
        """Return the instances that are missing at a target that has to keep them; none where the feed is no source."""
        on = feed.cluster(cluster.name)
        found: dict[datetime, str] = {}
        for each in feed.clusters if on.type is ClusterRole.SOURCE else ():
            if each.type is not ClusterRole.TARGET:
                continue
            target = Side(feed=feed, cluster=self.repository.cluster(each.name), on=each)
            route = Route(source=Side(feed=feed, cluster=cluster, on=on), target=target)
            for instant, why in self._not_at(route, instants):
                found.setdefault(instant, why)
        return found

    def _not_at(self, route: Route, instants: Sequence[datetime]) -> Iterator[tuple[datetime, str]]:
        """Yield the instances that the target of a route has to have and has not, or that a later run copies again."""
        (start, end), name = route.span, route.target.cluster.name
        start = max(start, route.kept_from(self.clock))
        due = [each for each in instants if start <= each < end and each in route.target.instances]
        if not due:
            return
        environment = self.repository.environment
        if environment is not None and not environment.allows(name):
            yield from all_needed(f"the environment has no cluster {name}, where it may be missing")(due).items()
            return
        try:
            there = self._ready(route.target, due)
            outdated = frozenset(self._outdated(route, there))
            short = {**self._short(route, there), **dict(self._left_out(route, there))}
        except (*DATA_ERRORS, ElError, InvalidInput) as error:
            yield from all_needed(f"it is unknown whether {name} has it: {error}")(due).items()
            return
        unfinished = self._unfinished(route)
        for instant in due:
            if instant not in there:
                yield instant, f"it is not complete on {name}"
            elif instant in outdated:
                yield instant, f"it was written again after it was copied to {name}"
            elif format_instant(instant) in unfinished:
                yield instant, f"a copy to {name} began and is not finished"
            elif instant in short:
                yield instant, f"{name} has {short[instant]}"

    def _ready(self, target: Side, due: Sequence[datetime]) -> Mapping[datetime, FoundInstance | None]:
        """Return the instances that readers may read at a target, with what is there of path feeds."""
        reader = self._reader(target)
        if isinstance(reader, PathInstances):
            return {each.instant: each for each in reader.look_at(due) if each.is_ready}
        counted = reader.counted()
        return {each: None for each in due if each in counted}

    def _outdated(self, route: Route, there: Mapping[datetime, FoundInstance | None]) -> Iterator[datetime]:
        """Yield the instances whose files are younger than their copies: a rerun or late data wrote them again."""
        source = self._reader(route.source)
        copied = {at: each.modified for at, each in there.items() if each is not None and each.modified is not None}
        if isinstance(source, PathInstances):
            for found in source.look_at(sorted(copied)):
                if found.modified is not None and found.modified > copied[found.instant] + _TIME_STEP:
                    yield found.instant

    def _reader(self, side: Side) -> FeedInstances:
        reader = self.data.instances_of(side.feed, side.cluster)
        if isinstance(reader, PathInstances):
            return replace(reader, place=side.cluster.place_for_reading)
        return reader

    def _content_of(self, side: Side, found: FoundInstance) -> tuple[int, int]:
        """Return how many files and bytes an instance has; one with directories, or many files, is counted anew."""
        if found.files is not None and found.bytes is not None:
            return found.files, found.bytes
        reader = self._reader(side)
        return reader.content_of(found.instant) if isinstance(reader, PathInstances) else (0, 0)

    def _unfinished(self, route: Route) -> Collection[str]:
        """Return the keys of copies that are not finished; the ledger may only keep more than the target says."""
        if self.ledger is None:
            return ()
        return self.ledger.read(lambda tx: unfinished_keys(tx, _copy_route(route)))

    def _short(self, route: Route, there: Mapping[datetime, FoundInstance | None]) -> Mapping[datetime, str]:
        """Return the instances with less at the target than was copied there, by their manifests in the ledger.

        More is no loss, and without a manifest only the store is asked: the ledger adds to what is kept.
        """
        ledger, names = self.ledger, _copy_route(route)
        counted = {format_instant(at): each for at, each in there.items() if each is not None}
        if ledger is None or not counted:
            return {}
        copied = ledger.read(lambda tx: manifests.sizes_among(tx, route=names, keys=sorted(counted)))
        flag = route.feed.availability_flag or ""
        short: dict[datetime, str] = {}
        for key, (files, size) in copied.items():
            found = counted[key]
            own_files, own_size = self._content_of(route.target, found)
            if own_files + bool(flag) >= files and own_size >= size:
                continue
            units = ledger.read(partial(_units, key=key, route=names))
            data = [each.size for unit in units.values() for name, each in unit.items() if name != flag]
            if own_files < len(data) or own_size < sum(data):
                own = f"{own_files:,} files with {own_size:,} bytes"
                short[found.instant] = f"{own}, and {len(data):,} with {sum(data):,} were copied there"
        return short

    def _left_out(self, route: Route, there: Mapping[datetime, FoundInstance | None]) -> Iterator[tuple[datetime, str]]:
        """Yield the instances that were published without files which could not be read, as the feed allows.

        No manifest has such a file, so that the target is compared with the source as it is now.
        """
        source, copies = self._reader(route.source), {at: each for at, each in there.items() if each is not None}
        if route.feed.properties.get("publishIncomplete") is not True or not isinstance(source, PathInstances):
            return
        for found in source.look_at(sorted(copies)):
            files, size = self._content_of(route.source, found)
            own_files, own_size = self._content_of(route.target, copies[found.instant])
            if own_files < files or own_size < size:
                own = f"{own_files:,} files with {own_size:,} bytes"
                yield found.instant, f"{own}, and the source has {files:,} with {size:,}"


def looked_at_targets(feed: Feed, cluster: Cluster) -> Iterator[str]:
    """Yield the clusters where a protection of a feed looks for copies of its instances."""
    on = feed.cluster(cluster.name)
    protections = () if on.retention is None else on.retention.protect
    if on.type is ClusterRole.SOURCE and any(each.name is ProtectionName.UNREPLICATED for each in protections):
        yield from (each.name for each in feed.clusters if each.type is ClusterRole.TARGET)


def _copy_route(route: Route) -> CopyRoute:
    return CopyRoute(feed=route.feed.name, target=route.target.cluster.name, source=route.source.cluster.name)


def _units(tx: Transaction, key: str, route: CopyRoute) -> Mapping[str, manifests.Manifest]:
    return manifests.of_instance(tx, route.feed, route.target, key, route.source)


def _unread_batches(ledger: Ledger, feed: str, cluster: str, instants: Sequence[datetime]) -> Mapping[datetime, str]:
    keys = {format_instant(each): each for each in instants}
    unread = ledger.read(lambda tx: unread_instances(tx, feed, cluster, keys))
    return {keys[key]: f"step {step} has not finished it" for key, step in unread.items()}


def _unread_of(
    tx: Transaction, readers: Sequence[Reader], feed: str, window: Sequence[datetime]
) -> Iterator[tuple[datetime, str]]:
    for reader in readers:
        try:
            keys = reader.keys(feed, window)
        except ElError as error:
            yield from all_needed(f"it is unknown which instances of {reader.site.process.name} read it: {error}")(
                window
            ).items()
            continue
        done = reader.succeeded(tx, [key for each in keys.values() for key in each])
        for instant, of_it in keys.items():
            missing = next((key for key in of_it if key not in done), None)
            if missing is not None:
                yield instant, f"{reader.site.process.name} of {missing} reads it and has not succeeded yet"

"""Protection of instances that are old enough to go: somebody still has to read or to copy them (`protect`).

What cannot be found out protects. No row of the ledger lets more go than the limit without any protection would.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Generic, TypeAlias, TypeVar

from toolkit.el import format_instant
from toolkit.entities import ProtectionName
from toolkit.planning.retention import Candidate, KeepReason, Kept, horizon, in_late_window

if TYPE_CHECKING:
    from toolkit.el import Frequency, InstanceSequence
    from toolkit.entities import Cluster, Feed
    from toolkit.planning.retention import EvictionPolicy

_LOG = logging.getLogger(__name__)
_EARLIEST = datetime.min.replace(tzinfo=UTC)
_K = TypeVar("_K")

PROTECTED = frozenset({KeepReason.UNREAD_BATCHES, KeepReason.UNREPLICATED, KeepReason.UNREAD_CONSUMERS})
"""Reasons of what a protection keeps."""
Needed = Callable[[Sequence[datetime]], Mapping[datetime, str]]
"""Returns which of some instances, in order, are still needed, and why."""


@dataclass(frozen=True, kw_only=True)
class Protector:
    """One protection of the instances of a feed on a cluster.

    Attributes:
        feed: name; it may be another feed that shares the data.
        cluster: name.
        name: of the protection.
        instances: of the feed on the cluster.
        timezone: of the feed, for `max_age`.
        max_age: instances older than this are not protected any more; None: no such bound.
        needed: finds the instances that are still needed.
    """

    feed: str
    cluster: str
    name: ProtectionName
    instances: InstanceSequence
    timezone: str
    max_age: Frequency | None = None
    needed: Needed = field(compare=False)

    def protects_from(self, policy: EvictionPolicy) -> datetime:
        """Return the earliest instance that is young enough to be protected."""
        return _EARLIEST if self.max_age is None else horizon(policy.nominal_time, self.max_age, self.timezone)


ProtectorsOf = Callable[["Feed", "Cluster"], Sequence[Protector]]
"""Returns the protections of a feed on a cluster besides the late window, which needs no look."""


def protectors(feed: Feed, cluster: Cluster, find: Callable[[ProtectionName], Needed]) -> tuple[Protector, ...]:
    """Return the protections that a feed asks for on a cluster, each with what finds the instances it keeps."""
    retention = feed.cluster(cluster.name).retention
    return tuple(
        Protector(
            feed=feed.name,
            cluster=cluster.name,
            name=each.name,
            instances=feed.instances_on(cluster.name),
            timezone=feed.timezone,
            max_age=each.max_age,
            needed=find(each.name),
        )
        for each in (() if retention is None else retention.protect)
        if each.name is not ProtectionName.LATE_WINDOW
    )


def all_needed(why: str) -> Needed:
    """Return a finder for which all instances are still needed, since nobody can tell."""
    return lambda instants: dict.fromkeys(instants, why)


def unknown_protectors(feed: Feed, cluster: Cluster) -> tuple[Protector, ...]:
    """Return the protections of a feed where nothing can be found out, so that each keeps all that is young enough."""
    return protectors(feed, cluster, lambda name: all_needed(f"nothing here tells what {name} asks for"))


_Members: TypeAlias = Mapping[tuple[datetime, datetime], Sequence[datetime]]
"""Instances in the periods that paths stand for."""


def _members(candidates: Iterable[Candidate], instances: InstanceSequence) -> _Members:
    """Return the instances of each candidate, by its period; many partitions are of one instance."""
    periods = {(each.first, each.end) for each in candidates}
    return {period: tuple(instances.between(*period)) for period in periods}


@dataclass(kw_only=True)
class ProtectedInstances(Generic[_K]):
    """Instances that protections keep, among those that would go.

    Attributes:
        kept: by the keys of those that would go.
        notes: what is too old to be protected, and goes.
    """

    kept: dict[_K, Kept] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)

    @classmethod
    def among(
        cls, going: Mapping[_K, Candidate], policy: EvictionPolicy, by: Sequence[Protector]
    ) -> ProtectedInstances[_K]:
        """Return which instances that would go are protected; staged data is not, since nobody reads or copies it."""
        found = cls()
        published = {key: each for key, each in going.items() if not each.is_staged}
        expired: list[tuple[Protector, dict[_K, str]]] = []
        sequences = {each.instances for each in by}  # mostly one
        members = {each: _members(published.values(), each) for each in sequences}
        for protector in by:
            rest = {key: each for key, each in published.items() if key not in found.kept}
            expired.append((protector, found._take(rest, policy, protector, members[protector.instances])))
        for protector, whys in expired:
            gone = {key: why for key, why in whys.items() if key not in found.kept}
            found._report(protector.name, protector.max_age, {key: published[key] for key in gone}, gone)
        found._report_late({key: each for key, each in published.items() if key not in found.kept}, policy)
        return found

    def _take(
        self, rest: Mapping[_K, Candidate], policy: EvictionPolicy, protector: Protector, members: _Members
    ) -> dict[_K, str]:
        """Keep what the protection keeps; return what it would keep if that were younger, and why."""
        instants = sorted({instant for each in rest.values() for instant in members[each.first, each.end]})
        needed = protector.needed(instants) if instants else {}
        expired: dict[_K, str] = {}
        if not needed:
            return expired
        since = protector.protects_from(policy)
        for key, each in rest.items():
            whys = [(at, needed[at]) for at in members[each.first, each.end] if at in needed]
            young = next((why for at, why in whys if at >= since), None)
            if young is not None:
                self.kept[key] = Kept(candidate=each, reason=KeepReason(protector.name), detail=young)
            elif whys:
                expired[key] = whys[0][1]
        return expired

    def _report_late(self, going: Mapping[_K, Candidate], policy: EvictionPolicy) -> None:
        window = policy.late_window
        if window is None or window.max_age is None:
            return
        unbounded = replace(window, max_age=None)
        late = {key: f"cut-off {window.cut_off}" for key in going if in_late_window(going[key].time, unbounded, policy)}
        self._report(ProtectionName.LATE_WINDOW, window.max_age, going, late)

    def _report(
        self,
        name: ProtectionName,
        max_age: Frequency | None,
        going: Mapping[_K, Candidate],
        whys: Mapping[_K, str],
    ) -> None:
        if not whys:
            return
        oldest = min(whys, key=lambda key: going[key].time)
        self.notes.append(
            f"{len(whys):,} instances go although {name} would keep them: they are older than its max_age {max_age}; "
            f"the oldest is {format_instant(going[oldest].time)} ({whys[oldest]})"
        )
        _LOG.warning("event=protection_expired name=%s instances=%d", name, len(whys))


def neighbours_protectors(
    pairs: Sequence[tuple[str, str]], feeds: Sequence[Feed], clusters: Sequence[Cluster], of: ProtectorsOf
) -> Iterator[Protector]:
    """Yield the protections of feeds that share the data, each with its cluster: what goes is gone for them, too."""
    by_name, places = {each.name: each for each in feeds}, {each.name: each for each in clusters}
    for name, on in pairs:
        yield from of(by_name[name], places[on])

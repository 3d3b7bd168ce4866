"""From entities to what a retention run works on."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from toolkit.el import CanonicalPath
from toolkit.entities import LocationType, ProtectionName
from toolkit.entities.not_implemented import Area, not_implemented
from toolkit.errors import InvalidInput, NotImplementedYet
from toolkit.planning.instance_storage import FeedStorage
from toolkit.planning.retention import EvictionPolicy, LateWindow, effective_time, horizon
from toolkit.retention.errors import NotYetEvictable, UndatedData
from toolkit.retention.plan import Failure, FeedPlan
from toolkit.retention.targets import FeedTarget, Location

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence
    from datetime import datetime

    from toolkit.el import PathTemplate
    from toolkit.entities import Cluster, Feed, FeedCluster, Hold, Retention
    from toolkit.storage import FileSystem

NOT_IMPLEMENTED = "not_implemented"
"""The code of a feed that asks for something that does not exist yet."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Resolved:
    """The feeds of a run: those to look at, and those that are over before they begin."""

    targets: tuple[FeedTarget, ...]
    settled: tuple[FeedPlan, ...]


@dataclass(frozen=True, kw_only=True, slots=True)
class Resolver:
    """Resolves feeds on clusters.

    Attributes:
        nominal_time: of the run.
        keep_beyond_validity: the repo's setting; a feed's cluster may override it.
        holds: of the repo.
        storage: the store that a path is on.
    """

    nominal_time: datetime
    keep_beyond_validity: bool
    holds: tuple[Hold, ...]
    storage: Callable[[CanonicalPath], FileSystem]

    def resolve(self, pairs: Iterable[tuple[Feed, Cluster]], *, must_all_work: bool) -> Resolved:
        """All feeds of a run.

        Args:
            pairs: feeds with their clusters.
            must_all_work: the user named the feeds; else those that cannot be done are reported beside the others.

        Raises:
            NotImplementedYet: a named feed asks for something that does not exist yet, or no feed can be done.
            InvalidInput: an entity cannot be used.
        """
        targets: list[FeedTarget] = []
        settled: list[FeedPlan] = []
        refused: list[InvalidInput] = []
        for feed, cluster in pairs:
            try:
                self._sort_in(feed, cluster, targets, settled)
            except (NotImplementedYet, NotYetEvictable) as error:
                refused.append(error)
                failure = Failure(code=NOT_IMPLEMENTED, message=str(error))
                settled.append(FeedPlan(feed=feed.name, cluster=cluster.name, failure=failure))
        if refused and (must_all_work or not targets):
            raise _together(refused)
        return Resolved(targets=tuple(targets), settled=tuple(settled))

    def _sort_in(self, feed: Feed, cluster: Cluster, targets: list[FeedTarget], settled: list[FeedPlan]) -> None:
        retention = feed.cluster(cluster.name).retention
        if retention is None:
            note = "no retention on this cluster: nothing is ever evicted"
            settled.append(FeedPlan(feed=feed.name, cluster=cluster.name, notes=(note,)))
            return
        if missing := tuple(_what_is_missing(feed, cluster)):
            raise _together(missing)
        targets.append(self._target(feed, cluster, retention))

    def _target(self, feed: Feed, cluster: Cluster, retention: Retention) -> FeedTarget:
        on_cluster = feed.cluster(cluster.name)
        effective = effective_time(
            self.nominal_time, on_cluster.validity.end, keep_beyond_validity=self._keeps_beyond(on_cluster)
        )
        templates = FeedStorage.of(feed, cluster).templates
        undated = {kind: each for kind, each in templates.items() if not each.dated}
        if LocationType.DATA in undated:
            raise UndatedData(feed=feed.name, cluster=cluster.name, template=undated[LocationType.DATA].text)
        dated = {kind: each for kind, each in templates.items() if each.dated}
        return FeedTarget(
            feed=feed.name,
            cluster=cluster.name,
            limit=retention.limit,
            effective_time=effective,
            instances=feed.instances_on(cluster.name),
            policy=self._policy(feed, cluster, retention, horizon(effective, retention.limit, feed.timezone)),
            locations=tuple(self._location(kind, each, cluster) for kind, each in dated.items()),
            notes=tuple(f"{kind}: {each.text} has no dates and stays" for kind, each in undated.items()),
        )

    def _keeps_beyond(self, on_cluster: FeedCluster) -> bool:
        own = on_cluster.keep_instances_beyond_validity
        return self.keep_beyond_validity if own is None else own

    def _location(self, kind: LocationType, template: PathTemplate, cluster: Cluster) -> Location:
        base = CanonicalPath.parse(template.base, cluster.default_fs)
        self.storage(base)  # a store without adapter is refused before anything is touched
        return Location(type=kind, template=template, base=base)

    def _policy(self, feed: Feed, cluster: Cluster, retention: Retention, before: datetime) -> EvictionPolicy:
        return EvictionPolicy(
            nominal_time=self.nominal_time,
            horizon=before,
            timezone=feed.timezone,
            keep_last=retention.keep_last or 0,
            late_window=_late_window(feed, retention),
            holds=tuple(hold for hold in self.holds if hold.concerns(feed.name, cluster.name)),
        )


def _late_window(feed: Feed, retention: Retention) -> LateWindow | None:
    if feed.late_arrival is None:
        return None
    for protection in retention.protect:
        if protection.name is ProtectionName.LATE_WINDOW:
            return LateWindow(cut_off=feed.late_arrival.cut_off, max_age=protection.max_age)
    return None


def _what_is_missing(feed: Feed, cluster: Cluster) -> Iterator[NotImplementedYet]:
    """What the schema allows and retention cannot do yet: an archive must never be read as a delete."""
    where = f"feed {feed.name} on {cluster.name}"
    if feed.table_on(cluster.name) is not None:
        yield NotImplementedYet(what="retention of a table", instead="use a path feed", where=where)
    for value in not_implemented(feed, Area.RETENTION, cluster.name):
        yield value.error(where)


def _together(refusals: Sequence[InvalidInput]) -> InvalidInput:
    return refusals[0] if len(refusals) == 1 else NotYetEvictable(refusals=refusals)

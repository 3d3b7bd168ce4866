"""From feeds on clusters to what a retention run works on, or why it does not."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cache, partial
from typing import TYPE_CHECKING, TypeAlias

from toolkit.actions.model import NoTarget, Problem, TargetPlan
from toolkit.actions.runner import Targets
from toolkit.availability import no_metastore
from toolkit.catalog.location_policy import LocationPolicy
from toolkit.el import format_instant
from toolkit.entities import ExpiryAction, LocationType, Retention
from toolkit.entities.not_implemented import not_evictable
from toolkit.errors import InvalidInput, NotImplementedYet
from toolkit.planning.delete_limits import DeleteLimits
from toolkit.planning.instance_storage import FeedStorage
from toolkit.planning.retention import RetentionClock, eviction_policy
from toolkit.retention.agreement import ConflictingRetention, require_agreement
from toolkit.retention.foreign_data import table_directories
from toolkit.retention.plan import PlanItem, RetentionDetail
from toolkit.retention.protection import ProtectorsOf, neighbours_protectors, unknown_protectors
from toolkit.retention.shared_data import SharedDataIndex, holds_of, listed_authorities, place_of
from toolkit.retention.shared_tables import SharedTables, table_name
from toolkit.retention.table_writers import TableWriters
from toolkit.retention.targets import (
    ArchiveLocation,
    ArchiveTarget,
    FeedTable,
    FeedTarget,
    IcebergAccess,
    Location,
    NoArchive,
    no_catalog,
)
from toolkit.retention.temporary import PolicyOf, by_age_alone

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence
    from datetime import datetime

    from toolkit.catalog.model import TableName
    from toolkit.catalog.port import Metastore
    from toolkit.el import CanonicalPath, PathTemplate, TableUri
    from toolkit.entities import Cluster, Feed, Hold
    from toolkit.retention.protection import Protector
    from toolkit.storage import FileSystem

_Directories: TypeAlias = "Callable[[], Iterable[tuple[TableName, str | None]]]"


class NotYetEvictable(InvalidInput):
    """Feeds that ask for more than one thing that does not exist yet.

    Args:
        refusals: one for each of these things.
    """

    def __init__(self, *, refusals: Sequence[InvalidInput]) -> None:
        self.refusals = tuple(refusals)
        super().__init__("\n".join(["these feeds cannot be evicted:", *map(str, refusals)]))


class UndatedData(InvalidInput):
    """A feed with retention whose data has no dates in its path.

    Args:
        feed: name.
        cluster: name.
        template: the location's text.
    """

    def __init__(self, *, feed: str, cluster: str, template: str) -> None:
        self.feed, self.cluster, self.template = feed, cluster, template
        super().__init__(
            f"feed {feed} on {cluster}: data location '{template}' has no date fields, but the feed has retention; "
            f"add ${{YEAR}} and what is below it down to the feed's frequency, or remove the retention"
        )


NOT_IMPLEMENTED = "not_implemented"
"""The code of a feed that asks for something that does not exist yet."""
NO_ARCHIVE = "no_archive"
"""The code of a feed whose instances would have to be archived, and cannot be."""
_Settled: TypeAlias = "TargetPlan[NoTarget, PlanItem, RetentionDetail]"
FeedTargets: TypeAlias = "Targets[FeedTarget, PlanItem, RetentionDetail]"
"""The feeds of a run: those to look at, and those that are over before they begin."""


@dataclass(frozen=True, kw_only=True, slots=True)
class RetentionResolver:
    """Resolves feeds on clusters.

    Attributes:
        nominal_time: of the run.
        keep_beyond_validity: the repo's setting; a feed's cluster may override it.
        holds: of the repo.
        storage: the store that a path is on.
        shared_data: where all feeds of the repo are, also those that the run is not about.
        archives: the clusters that something may be archived on, by name.
        shared_tables: which feeds are on which tables, also those that the run is not about.
        metastore: opens that of a cluster; it raises `CatalogError`.
        temporary: lets temporary data go once its consumers have succeeded.
        iceberg: access to the table of a feed that is ingested; it raises `FeedctlError`.
        protectors: the protections of a feed on a cluster; by default each keeps everything, since nothing tells.
    """

    nominal_time: datetime
    keep_beyond_validity: bool
    holds: tuple[Hold, ...]
    storage: Callable[[CanonicalPath], FileSystem]
    shared_data: SharedDataIndex = field(default_factory=SharedDataIndex)
    archives: Mapping[str, Cluster] = field(default_factory=dict)
    shared_tables: SharedTables = field(default_factory=SharedTables)
    metastore: Callable[[Cluster], Metastore] = no_metastore
    temporary: PolicyOf = by_age_alone
    iceberg: Callable[[Feed, Cluster], IcebergAccess] = no_catalog
    protectors: ProtectorsOf = unknown_protectors
    _directories: dict[str, _Directories] = field(default_factory=dict, init=False)
    _table_writers: TableWriters = field(init=False)

    def __post_init__(self) -> None:
        tables, real = self.shared_tables, self.shared_data.real
        found = TableWriters(feeds=tables.feeds, clusters=tables.clusters, metastore=self.metastore, real=real)
        object.__setattr__(self, "_table_writers", found)

    def resolve(self, pairs: Iterable[tuple[Feed, Cluster]], *, must_all_work: bool) -> FeedTargets:
        """Return the targets of a run.

        Args:
            pairs: feeds with their clusters.
            must_all_work: the user named the feeds; else feeds that need a missing feature are reported and left
                out; lint has an error for each.

        Raises:
            NotImplementedYet: a named feed asks for something that does not exist yet.
            NoArchive: the instances of a named feed cannot be archived where it says.
            ConflictingRetention: a named feed shares data with another one that keeps it otherwise.
            InvalidInput: an entity cannot be used.
        """
        targets: list[FeedTarget] = []
        settled: list[_Settled] = []
        refused: list[InvalidInput] = []
        for feed, cluster in pairs:
            try:
                self._sort_in(feed, cluster, targets, settled)
            except (NotImplementedYet, NotYetEvictable) as error:
                refused.append(error)
                problem = Problem(code=NOT_IMPLEMENTED, message=str(error))
                settled.append(replace(self._settled(feed, cluster), skipped=problem))
            except (NoArchive, ConflictingRetention) as error:
                refused.append(error)
                code = NO_ARCHIVE if isinstance(error, NoArchive) else error.code
                problem = Problem(code=code, message=str(error))
                settled.append(replace(self._settled(feed, cluster), failed=problem))
        if refused and must_all_work:
            raise _together(refused)
        return Targets(to_do=tuple(targets), settled=tuple(settled))

    def restorable(self, pairs: Iterable[tuple[Feed, Cluster]]) -> Iterator[FeedTarget]:
        """Yield the feeds that can have something in quarantine, whatever their retention is now."""
        for feed, cluster in pairs:
            storage, own = FeedStorage.of(feed, cluster), feed.cluster(cluster.name)
            shared = () if storage.table is None else self.shared_tables.of(feed, cluster)
            target = self._any_target(feed, cluster, own.retention or Retention(limit=feed.frequency), shared)
            if storage.table is None:
                dated = (each for each in storage.templates.items() if each[1].dated)
                yield replace(target, locations=tuple(self._location(*each, feed, cluster) for each in dated))
            elif own.ingest is None and cluster.interfaces.registry is not None:
                yield replace(target, table=self._feed_table(feed, cluster, storage.table))

    def _sort_in(self, feed: Feed, cluster: Cluster, targets: list[FeedTarget], settled: list[_Settled]) -> None:
        retention = feed.cluster(cluster.name).retention
        if retention is None:
            note = "no retention on this cluster: nothing is ever evicted"
            settled.append(replace(self._settled(feed, cluster), notes=(note,)))
            return
        where = f"feed {feed.name} on {cluster.name}"
        if missing := [value.error(where) for value in not_evictable(feed, cluster)]:
            raise _together(missing)
        targets.append(self._target(feed, cluster, retention))

    def _settled(self, feed: Feed, cluster: Cluster) -> _Settled:
        target = NoTarget(entity=feed.name, cluster=cluster.name, instance_key=format_instant(self.nominal_time))
        return TargetPlan(target=target, detail=RetentionDetail())

    def _target(self, feed: Feed, cluster: Cluster, retention: Retention) -> FeedTarget:
        storage = FeedStorage.of(feed, cluster)
        if storage.table is not None:
            return self._table_target(feed, cluster, retention, storage.table)
        templates = storage.templates
        undated = {kind: each for kind, each in templates.items() if not each.dated}
        if LocationType.DATA in undated:
            raise UndatedData(feed=feed.name, cluster=cluster.name, template=undated[LocationType.DATA].text)
        dated = {kind: each for kind, each in templates.items() if each.dated}
        locations = tuple(self._location(kind, each, feed, cluster) for kind, each in dated.items())
        require_agreement(feed, cluster.name, self.shared_data.losing(feed, cluster), self.shared_data.feeds)
        neighbours = self.shared_data.of(feed, cluster)
        pairs = tuple(sorted({each.pair for each in neighbours}))
        tables, resources = self._table_writers.on({each.base.root for each in locations})
        return replace(
            self._any_target(feed, cluster, retention, pairs),
            locations=locations,
            neighbour_bases=tuple(dict.fromkeys(each.location.base for each in neighbours)),
            archive=self._archive(feed, cluster, retention, tuple(dated)),
            table_feeds=tables,
            table_resources=resources,
            table_written=self._table_writers.written,
            notes=(*_undated_notes(undated), *_open_variable_notes(dated), *_neighbour_notes(pairs, cluster)),
        )

    def _table_target(self, feed: Feed, cluster: Cluster, retention: Retention, uri: TableUri) -> FeedTarget:
        pairs = self.shared_tables.of(feed, cluster)
        require_agreement(feed, cluster.name, pairs, self.shared_tables.feeds)
        open_keys = (
            f"${{{name}}} in {uri.text} has no value, so every value is taken" for name in sorted(uri.variables)
        )
        return replace(
            self._any_target(feed, cluster, retention, pairs),
            table=self._feed_table(feed, cluster, uri),
            archive=self._archive(feed, cluster, retention, (LocationType.DATA,)),
            notes=(*open_keys, *_neighbour_notes(pairs, cluster)),
        )

    def _feed_table(self, feed: Feed, cluster: Cluster, uri: TableUri) -> FeedTable:
        return FeedTable(
            with_path_feeds=partial(self._with_path_feeds, feed, cluster),
            uri=uri,
            name=table_name(uri),
            metastore=partial(self.metastore, cluster),
            place=cluster.place,
            feed_at=self.shared_data.feed_at,
            listed=listed_authorities((cluster,)),
            why_not_used=LocationPolicy(cluster=cluster).why_not_registered,
            directories=self._directories_of(cluster),
            iceberg=partial(self.iceberg, feed, cluster) if feed.cluster(cluster.name).ingest else None,
        )

    def _with_path_feeds(self, feed: Feed, cluster: Cluster, target: FeedTarget, base: CanonicalPath) -> FeedTarget:
        """Path feeds in the table's own directory lose what it loses; only the metastore tells where that is."""
        pairs = tuple(pair for pair in self.shared_data.based_at(base) if pair not in target.neighbours)
        require_agreement(feed, cluster.name, pairs, self.shared_data.feeds)
        holds = tuple(holds_of(pairs, feed, cluster, self.holds))
        return replace(
            target,
            neighbours=tuple(sorted((*target.neighbours, *pairs))),
            policy=replace(target.policy, holds=(*target.policy.holds, *holds)),
            protectors=(*target.protectors, *self._protectors(pairs)),
            notes=(*target.notes, *_neighbour_notes(pairs, cluster)),
        )

    def _directories_of(self, cluster: Cluster) -> _Directories:
        """Asked once a run for all feeds of a metastore."""
        registry = cluster.interfaces.registry
        key = "" if registry is None else registry.endpoint
        return self._directories.setdefault(key, cache(lambda: table_directories(self.metastore(cluster))))

    def _any_target(
        self, feed: Feed, cluster: Cluster, retention: Retention, neighbours: tuple[tuple[str, str], ...]
    ) -> FeedTarget:
        """Return the target with the fields that path and table feeds share."""
        clock = RetentionClock(nominal_time=self.nominal_time, keep_beyond_validity=self.keep_beyond_validity)
        holds = (*self.holds, *holds_of(neighbours, feed, cluster, self.holds))
        own = feed.max_delete_on(cluster.name)
        policy = eviction_policy(feed, cluster.name, retention, clock, holds)
        is_kept = clock.effective_time(feed, cluster.name) < self.nominal_time  # the last ones stay for good
        if not neighbours and not is_kept:  # neighbours' data would go with it
            policy = self.temporary(feed, cluster.name, policy)
        return FeedTarget(
            feed=feed.name,
            cluster=cluster.name,
            limit=retention.limit,
            effective_time=clock.effective_time(feed, cluster.name),
            instances=feed.instances_on(cluster.name),
            policy=policy,
            neighbours=neighbours,
            availability_flag=feed.availability_flag or "",
            name_services=cluster.name_services,
            max_delete=DeleteLimits(instances=own.instances, fraction=own.fraction, bytes=own.bytes),
            protectors=(*self.protectors(feed, cluster), *self._protectors(neighbours)),
            quarantine=retention.quarantine if retention.action is ExpiryAction.QUARANTINE else None,
            written_at=self.shared_data.written_at,
            real=self.shared_data.real,
        )

    def _protectors(self, pairs: Sequence[tuple[str, str]]) -> Iterator[Protector]:
        shared = self.shared_data
        return neighbours_protectors(pairs, shared.feeds, shared.clusters, self.protectors)

    def _location(self, kind: LocationType, template: PathTemplate, feed: Feed, cluster: Cluster) -> Location:
        base = cluster.place(template.base)
        try:
            self.storage(base)  # a store without adapter is refused before anything is touched
        except NotImplementedYet as error:
            where = f"feed {feed.name} on {cluster.name}"
            raise NotImplementedYet(what=error.what, instead=error.instead, where=where) from error
        return Location(type=kind, template=template, base=base)

    def _archive(
        self, feed: Feed, cluster: Cluster, retention: Retention, dated: Sequence[LocationType]
    ) -> ArchiveTarget | None:
        """Return the archive; loading has refused invalid ones, and one that gets here all the same deletes nothing."""
        if retention.action is not ExpiryAction.DELETE and feed.cluster(cluster.name).ingest is not None:
            why = "its Iceberg table has no directories of partitions to keep; let a process copy what has to stay"
            raise NoArchive(feed=feed.name, cluster=cluster.name, why=why)
        if retention.action is not ExpiryAction.ARCHIVE:
            return None
        archived = feed.archive_on(cluster.name)
        if archived is None or any(
            archived.locations_on(archived.clusters[0].name).get(each) is None for each in dated
        ):
            raise NoArchive(feed=feed.name, cluster=cluster.name, why="it does not say where to, for each location")
        there = self.archives.get(archived.clusters[0].name)
        if there is None:
            why = f"the environment has no cluster {archived.clusters[0].name}; use one that has, or archive elsewhere"
            raise NoArchive(feed=feed.name, cluster=cluster.name, why=why)
        meets = next(iter(self.shared_data.meeting(archived, there)), None)
        if meets is not None:
            why = f"its place in the archive is in the data of {place_of(meets.pair, cluster.name)}, {meets.sample}"
            raise NoArchive(feed=feed.name, cluster=cluster.name, why=f"{why}; archive it beside the feeds")
        templates = FeedStorage.of(archived, there).templates
        places = {kind: self._location(kind, templates[kind], archived, there) for kind in dated}
        return ArchiveTarget(
            cluster=there.name,
            locations={kind: ArchiveLocation(template=each.template, base=each.base) for kind, each in places.items()},
        )


def _undated_notes(undated: Mapping[LocationType, PathTemplate]) -> Iterator[str]:
    for kind, template in undated.items():
        yield f"{kind}: {template.text} has no dates and stays"


def _open_variable_notes(dated: Mapping[LocationType, PathTemplate]) -> Iterator[str]:
    """A misspelt variable must not silently reach over the directories of all its values."""
    for kind, template in dated.items():
        for name in sorted(template.variables):
            yield f"{kind}: ${{{name}}} in {template.text} has no value, so every name in its place is taken"


def _neighbour_notes(neighbours: Iterable[tuple[str, str]], cluster: Cluster) -> Iterator[str]:
    for pair in neighbours:
        name = place_of(pair, cluster.name)
        yield f"feed {name} shares this data and loses what goes here, whatever its own retention; its holds count"


def _together(refusals: Sequence[InvalidInput]) -> InvalidInput:
    return refusals[0] if len(refusals) == 1 else NotYetEvictable(refusals=refusals)

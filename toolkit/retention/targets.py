"""Targets of a retention run: feeds on clusters, with everything about them resolved."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING

from toolkit.catalog.partition_name import values_by_key
from toolkit.el import format_instant
from toolkit.entities import LocationType
from toolkit.errors import InvalidInput, NotImplementedYet
from toolkit.ingest.slot import last_fence
from toolkit.planning.delete_limits import DeleteLimits
from toolkit.retention.quarantine import quarantine_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from contextlib import AbstractContextManager
    from datetime import datetime

    from toolkit.catalog.model import Partition, TableName
    from toolkit.catalog.port import Metastore
    from toolkit.el import CanonicalPath, Frequency, InstanceSequence, PathPeriod, PathTemplate, TableUri
    from toolkit.entities import Cluster, Feed
    from toolkit.ingest.port import IngestTable
    from toolkit.ingest.settlement import IngestEvents
    from toolkit.ledger.database import Ledger
    from toolkit.ledger.runs.outputs import HeldOutput
    from toolkit.planning.retention import EvictionPolicy
    from toolkit.retention.protection import Protector


class NoArchive(InvalidInput):
    """A feed whose instances cannot be archived where it says; none of them is deleted instead.

    Args:
        feed: name.
        cluster: where they are.
        why: what is wrong, and what to do.
    """

    def __init__(self, *, feed: str, cluster: str, why: str) -> None:
        self.feed, self.cluster, self.why = feed, cluster, why
        super().__init__(f"feed {feed} on {cluster} cannot be archived: {why}")


@dataclass(frozen=True, kw_only=True)
class Location:
    """A dated location of a feed on a cluster.

    Attributes:
        type: what is in it.
        template: with the feed's and the cluster's variables bound.
        base: the directory that bounds every effect: the part before the first variable.
    """

    type: LocationType
    template: PathTemplate
    base: CanonicalPath

    @cached_property
    def last_depth(self) -> int:
        """The index of the segment that names instances."""
        return len(self.template.segments) - 1

    def has(self, path: CanonicalPath) -> bool:
        """Return whether a path is one of its instances'."""
        return path.is_within(self.base) and self.template.parse(self.written(path)) is not None

    def written(self, path: CanonicalPath) -> str:
        """The path in the way that the template writes it, for `explain`."""
        return f"{self.template.base.removesuffix('/')}/{path.relative_to(self.base)}"


@dataclass(frozen=True, kw_only=True)
class ArchiveLocation:
    """Archive of the instances of one location.

    Attributes:
        template: has all that tells the instances of that location apart.
        base: the directory that bounds every effect in the archive.
    """

    template: PathTemplate
    base: CanonicalPath

    def place(self, location: Location, path: CanonicalPath) -> CanonicalPath:
        """Return the archive path of an instance of the location.

        Args:
            location: the instances' own.
            path: conforms to it.
        """
        period = location.template.parse(location.written(path))
        assert period is not None  # noqa: S101 - the walk has parsed each name of it
        return self.at(period)

    def at(self, period: PathPeriod) -> CanonicalPath:
        """Return the place of what stands for a period."""
        place = self.base
        names = tuple(self.template.pattern.render(period.first, period.variables))
        for name in names[self.template.base_depth :]:
            place = place.child(name)
        return place


@dataclass(frozen=True, kw_only=True)
class ArchiveTarget:
    """The archive of a feed's instances.

    Attributes:
        cluster: name.
        locations: of the archive, by the feed's own dated ones.
    """

    cluster: str
    locations: Mapping[LocationType, ArchiveLocation]

    def base_of(self, place: CanonicalPath) -> CanonicalPath:
        """The deepest base around a place."""
        bases = [each.base for each in self.locations.values() if place.is_within(each.base)]
        return max(bases, key=lambda base: len(base.path))


@dataclass(frozen=True, kw_only=True)
class IcebergAccess:
    """Access to the Iceberg table of a feed that is ingested.

    Attributes:
        name: ``catalog.namespace.table``.
        opened: opens the table; raises `NoSuchIngestTable`.
        late_events: of commits of killed writers, see `IngestEvents`.
        ledger: with which the table is written; None: of a dry run without one.
    """

    name: str
    opened: Callable[[], AbstractContextManager[IngestTable]]
    late_events: IngestEvents
    ledger: Ledger | None = None

    def last_fence(self) -> int:
        """Return the fence of the last commit; see `toolkit.ingest.slot.last_fence`."""
        return last_fence(self.ledger, self.name)


@dataclass(frozen=True, kw_only=True)
class FeedTable:
    """The table of a feed on a cluster.

    Attributes:
        uri: with the feed's and the cluster's variables bound.
        name: of the table.
        metastore: opens the cluster's; it raises `CatalogError`.
        place: where a location is, as the metastore writes it; it raises `ElError`.
        feed_at: see `SharedDataIndex.feed_at`.
        listed: authorities of ``hdfs`` that the cluster lists; see `LocationIndex`.
        with_path_feeds: the target, with path feeds whose directory is the table's as neighbours.
        why_not_used: why a partition that is not in the metastore is not registered, given the table's directory;
            empty: it may be.
        directories: the locations of all tables of the metastore; see `foreign_data.table_directories`.
        iceberg: looks up how to open a table that is ingested; it raises `FeedctlError`. None: it is one of Hive.
    """

    uri: TableUri
    name: TableName
    metastore: Callable[[], Metastore]
    place: Callable[[str], CanonicalPath]
    feed_at: Callable[[CanonicalPath, CanonicalPath | None], str] = lambda _place, _own: ""
    listed: frozenset[str] = frozenset()
    with_path_feeds: Callable[[FeedTarget, CanonicalPath], FeedTarget] = lambda target, _: target
    why_not_used: Callable[[Partition, CanonicalPath], str] = lambda *_: "no policy says that it may be used"
    directories: Callable[[], Iterable[tuple[TableName, str | None]]] = tuple
    iceberg: Callable[[], IcebergAccess] | None = None

    def values_of(self, name: str) -> dict[str, str]:
        """The values of a partition's name by the keys that the URI names, as it writes them; Hive's are lower case.

        Raises:
            ValueError: it is no name of a partition.
        """
        return values_by_key(name, self.uri.partition_keys)

    def period_of(self, name: str) -> PathPeriod | None:
        """Return the period that a partition stands for; None: it does not conform."""
        return self.uri.period_of(self.values_of(name))


@dataclass(frozen=True, kw_only=True, slots=True)
class WrittenInstance:
    """Place where a run writes an instance of a feed, by the config repo.

    Attributes:
        paths: of each location, in the spelling of `FeedTarget.real`; of a table feed none.
        partition: key to value of a table feed's instance; None: it is a path feed.
    """

    paths: tuple[CanonicalPath, ...] = ()
    partition: Mapping[str, str] | None = None


def _untold(_feed: str, _cluster: str, _instance_key: str) -> WrittenInstance | None:
    return None


@dataclass(frozen=True, kw_only=True, slots=True)
class FeedTarget:
    """A feed on a cluster whose old instances a run may remove.

    Attributes:
        feed: name.
        cluster: name.
        limit: instances older than this go.
        effective_time: from which the limit is counted back.
        instances: the feed's grid on the cluster.
        policy: what decides about each instance.
        locations: the dated ones; of a table feed none.
        table: None: it is a path feed.
        neighbour_bases: of feeds that share this data; a hold file there counts as well.
        neighbours: those feeds, each with its cluster; a hold on them counts as well.
        availability_flag: the file that says that an instance is complete; empty: there is none.
        name_services: authorities that are one store with a name service, see `Cluster.name_services`.
        max_delete: how much of it one run may delete, whatever goes of other feeds.
        protectors: the protections of the feed, and of those that share this data.
        archive: what goes is copied there before; None: it is deleted at once.
        quarantine: for so long what goes can be restored; None: it is deleted at once.
        notes: what the user should know, for example an undated location that stays.
        written_at: where a run writes an instance of a feed on a cluster; None: that cannot be told.
        table_feeds: of a path feed, the table feeds that may have data on its stores, each with its cluster.
        table_resources: the leases of runs that write a whole table of these.
        table_written: see `TableWriters.written`.
        real: the same path for all that are one directory.
    """

    feed: str
    cluster: str
    limit: Frequency
    effective_time: datetime
    instances: InstanceSequence
    policy: EvictionPolicy
    locations: tuple[Location, ...] = ()
    table: FeedTable | None = None
    neighbour_bases: tuple[CanonicalPath, ...] = ()
    neighbours: tuple[tuple[str, str], ...] = ()
    availability_flag: str = ""
    name_services: Mapping[str, str] = field(default_factory=dict)
    max_delete: DeleteLimits = field(default_factory=DeleteLimits)
    protectors: tuple[Protector, ...] = ()
    archive: ArchiveTarget | None = None
    quarantine: Frequency | None = None
    notes: tuple[str, ...] = ()
    written_at: Callable[[str, str, str], WrittenInstance | None] = field(default=_untold, compare=False)
    table_feeds: frozenset[tuple[str, str]] = frozenset()
    table_resources: frozenset[str] = frozenset()
    table_written: Callable[[HeldOutput], WrittenInstance | None] = field(default=lambda _: None, compare=False)
    real: Callable[[CanonicalPath], CanonicalPath] = field(default=lambda path: path, compare=False)

    counterpart: str = ""

    @property
    def entity(self) -> str:
        """The feed."""
        return self.feed

    @property
    def instance_key(self) -> str:
        """The nominal time: one eviction for each."""
        return format_instant(self.policy.nominal_time)

    def archived(self, path: CanonicalPath) -> CanonicalPath | None:
        """Return the archive path of an instance; None: it is not archived, or the path is not an instance."""
        if self.archive is None:
            return None
        for location in self.locations:
            place = self.archive.locations[location.type].place(location, path) if location.has(path) else None
            if place is not None:
                return place
        return None

    def export_of(self, name: str) -> CanonicalPath | None:
        """Return the directory of the export that a partition is archived in; None: it is not archived.

        The partition itself is in a directory of its name there, as Hive's EXPORT has it.
        """
        if self.archive is None or self.table is None:
            return None
        period = self.table.period_of(name)
        return None if period is None else self.archive.locations[LocationType.DATA].at(period)

    def quarantine_folder(self, base: CanonicalPath) -> CanonicalPath | None:
        """Return the folder that instances below a base are moved into; None: they are not."""
        return None if self.quarantine is None else quarantine_of(base, self.feed)

    @property
    def data_bases(self) -> tuple[CanonicalPath, ...]:
        """Bases at which a hold file counts: its own, and those of feeds that share its data."""
        return tuple(dict.fromkeys((*(location.base for location in self.locations), *self.neighbour_bases)))


def no_catalog(feed: Feed, cluster: Cluster) -> IcebergAccess:
    """Refuse to open a catalog.

    Raises:
        NotImplementedYet: always.
    """
    where = f"feed {feed.name} on {cluster.name}"
    raise NotImplementedYet(what="retention of an ingested feed", instead="give the resolver its catalog", where=where)

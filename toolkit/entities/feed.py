"""The feed entity: a data set that gets a new instance every period (Falcon entity specification, Feed)."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import ClassVar, Self

from toolkit.el import Frequency, InstanceSequence
from toolkit.entities.cluster import Cluster
from toolkit.entities.errors import UnknownName
from toolkit.entities.feed_cluster import FeedCluster
from toolkit.entities.locations import Locations
from toolkit.entities.quality import Quality
from toolkit.entities.retention import FeedMaxDelete, Lifecycle
from toolkit.entities.sla import FeedSla
from toolkit.entities.values import Acl, Notification, Properties, property_text
from toolkit.entities.vocabulary import Kind


@dataclass(frozen=True, kw_only=True, slots=True)
class LateArrival:
    """Period for which late data of an instance is expected."""

    cut_off: Frequency


@dataclass(frozen=True, kw_only=True, slots=True)
class FeedSchema:
    """Location of the schema of the data; not interpreted."""

    location: str
    provider: str


@dataclass(frozen=True, kw_only=True, slots=True)
class Feed:
    """A feed.

    Attributes:
        groups: a group is available when all its feeds are; its feeds share one frequency.
        frequency: one instance every so often.
        timezone: steps and truncates.
        path_timezone: names dates in paths and partitions.
        availability_flag: file that says that an instance is complete; absent: its directory says so.
        late_arrival: absent: no late data is expected.
        partitions: names of the sub-directories below an instance; path feeds only.
        locations: of a path feed; a table feed has `table` instead.
        max_delete: bounds a retention run of this feed on each cluster, unless that says otherwise.
        external: made outside of the repo's processes.
        shares_data_with: feeds that have the same data by intention, although their retention differs; each of them
            names the others.
        quality: how instances are validated before they are published, unless a cluster says otherwise; absent: not.
        version: rises with incompatible changes; references may ask for it.
    """

    KIND: ClassVar[Kind] = Kind.FEED

    name: str
    description: str | None = None
    owner: str | None = None
    tags: Mapping[str, str] = field(default_factory=dict)
    groups: tuple[str, ...] = ()
    frequency: Frequency
    timezone: str = "UTC"
    path_timezone: str = "UTC"
    availability_flag: str | None = None
    late_arrival: LateArrival | None = None
    partitions: tuple[str, ...] = ()
    locations: Locations | None = None
    table: str | None = None
    clusters: tuple[FeedCluster, ...]
    sla: FeedSla | None = None
    acl: Acl | None = None
    schema: FeedSchema | None = None
    properties: Properties = field(default_factory=dict)
    lifecycle: Lifecycle | None = None
    notification: Notification | None = None
    max_delete: FeedMaxDelete = field(default_factory=FeedMaxDelete)
    external: bool = False
    shares_data_with: tuple[str, ...] = ()
    quality: Quality | None = None
    version: int = 0
    _by_name: Mapping[str, FeedCluster] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "_by_name", {each.name: each for each in reversed(self.clusters)})

    @property
    def is_table(self) -> bool:
        """True if the instances are partitions of a table."""
        return self.table is not None

    def find_cluster(self, name: str) -> FeedCluster | None:
        """Return the settings of the feed for a cluster; None: the feed is not on that cluster."""
        return self._by_name.get(name)

    def cluster(self, name: str) -> FeedCluster:
        """Return the settings of the feed for a cluster.

        Raises:
            UnknownName: the feed is not on that cluster.
        """
        found = self.find_cluster(name)
        if found is None:
            raise UnknownName(what="cluster", name=name, known=list(self._by_name), where=f"feed {self.name}")
        return found

    def locations_on(self, cluster_name: str) -> Locations:
        """The templates on a cluster, its own over the feed's, type by type; none at all for a table feed.

        Raises:
            UnknownName: the feed is not on that cluster.
        """
        own = self.cluster(cluster_name).locations or Locations()
        return own.over(self.locations or Locations())

    def table_on(self, cluster_name: str) -> str | None:
        """The table URI on a cluster; None for a path feed.

        Raises:
            UnknownName: the feed is not on that cluster.
        """
        return self.cluster(cluster_name).table or self.table

    def instances_on(self, cluster_name: str) -> InstanceSequence:
        """The instances of the feed on a cluster.

        Raises:
            UnknownName: the feed is not on that cluster.
        """
        return self.cluster(cluster_name).validity.sequence(self.frequency, self.timezone)

    def sla_on(self, cluster_name: str) -> FeedSla | None:
        """The SLA on a cluster: its own, else the feed's.

        Raises:
            UnknownName: the feed is not on that cluster.
        """
        return self.cluster(cluster_name).sla or self.sla

    def lifecycle_on(self, cluster_name: str) -> Lifecycle | None:
        """The lifecycle on a cluster: its own, else the feed's.

        Raises:
            UnknownName: the feed is not on that cluster.
        """
        return self.cluster(cluster_name).lifecycle or self.lifecycle

    def quality_on(self, cluster_name: str) -> Quality | None:
        """Return how instances on a cluster are validated: by its own quality, else the feed's; None: not at all.

        Raises:
            UnknownName: the feed is not on that cluster.
        """
        found = self.cluster(cluster_name).quality or self.quality
        return found if found is not None and found.suites else None

    def max_delete_on(self, cluster_name: str) -> FeedMaxDelete:
        """Return the delete limits of this feed on a cluster: the cluster's own over the feed's, key by key.

        Raises:
            UnknownName: the feed is not on that cluster.
        """
        retention = self.cluster(cluster_name).retention
        return self.max_delete if retention is None else retention.max_delete.over(self.max_delete)

    def archive_on(self, cluster_name: str) -> Self | None:
        """The feed as its retention on a cluster archives it: on the archive's cluster, and nowhere else; None: not.

        Raises:
            UnknownName: the feed is not on that cluster.
        """
        each = self.cluster(cluster_name)
        archive = None if each.retention is None else each.retention.archive
        if archive is None:
            return None
        there = FeedCluster(name=archive.cluster, validity=each.validity)
        return replace(self, locations=archive.locations, table=None, clusters=(there,))

    def variables_on(self, cluster: Cluster) -> Mapping[str, str]:
        """The values of template variables on a cluster.

        The feed's properties win, then the cluster's, then `cluster.name` and `cluster.colo` (DESIGN section 3).
        """
        own = {"cluster.name": cluster.name}
        if cluster.colo is not None:
            own["cluster.colo"] = cluster.colo
        merged: dict[str, str | int | float | bool] = {**own, **cluster.properties, **self.properties}
        return {name: property_text(value) for name, value in merged.items()}

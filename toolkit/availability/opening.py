"""From a feed on a cluster to what looks at its instances."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

from toolkit.availability.path_instances import PathInstances
from toolkit.availability.table_instances import TableInstances
from toolkit.catalog.errors import CatalogError
from toolkit.el.tokens import Glob
from toolkit.entities import LocationType
from toolkit.errors import InvalidInput, NotImplementedYet
from toolkit.planning.instance_storage import FeedStorage
from toolkit.planning.partition_address import partition_address
from toolkit.storage import StorageError

if TYPE_CHECKING:
    from toolkit.availability.state import FeedInstances
    from toolkit.catalog.port import Metastore
    from toolkit.el import CanonicalPath, TableUri
    from toolkit.entities import Cluster, Feed
    from toolkit.storage import FileSystem


DataError: TypeAlias = StorageError | CatalogError
"""Errors of data access: a store or a metastore refuses, does not answer, or has something unusable."""
DATA_ERRORS = (StorageError, CatalogError)
"""The same for `except`."""


class NoRegistry(InvalidInput):
    """A table is asked for on a cluster that has no metastore.

    Args:
        cluster: its name.
    """

    def __init__(self, *, cluster: str) -> None:
        self.cluster = cluster
        super().__init__(
            f"the cluster {cluster} has no registry, so its tables are unknown; "
            "add interfaces: {registry: {endpoint: thrift://HOST:9083}}"
        )


def no_metastore(cluster: Cluster) -> Metastore:
    """Refuse to open a metastore.

    Raises:
        NoRegistry: always.
    """
    raise NoRegistry(cluster=cluster.name)


def no_ingested(feed: Feed, cluster: Cluster) -> FeedInstances:
    """Refuse to read the instances of an ingested feed.

    Raises:
        NotImplementedYet: always.
    """
    what, instead = f"a look at an ingested table on {cluster.name} from here", "read the Iceberg table itself"
    raise NotImplementedYet(what=what, instead=instead, where=f"feed {feed.name}")


@dataclass(frozen=True, kw_only=True, slots=True)
class DataAccess:
    """Read access to the data of feeds; it changes only what any user of a store changes.

    Attributes:
        stores: the store that a path is on.
        metastores: that of a cluster, for reading; it raises `NoRegistry` and `CatalogError`.
        ingested: the reader of an ingested feed's instances on a cluster.
    """

    stores: Callable[[CanonicalPath], FileSystem]
    metastores: Callable[[Cluster], Metastore] = no_metastore
    ingested: Callable[[Feed, Cluster], FeedInstances] = no_ingested

    def instances_of(self, feed: Feed, cluster: Cluster) -> FeedInstances:
        """Return the reader of a feed's instances on a cluster; no store is asked yet.

        Args:
            feed: the feed.
            cluster: one of its clusters, whose own store or metastore is read.

        Raises:
            NotImplementedYet: the data location has a glob.
            NoRegistry: the feed has a table, and the cluster no metastore.
            CatalogError: the metastore cannot be opened.
            UnknownName: the feed is not on that cluster.
            ElError: a template is malformed.
        """
        if feed.cluster(cluster.name).ingest is not None:
            return self.ingested(feed, cluster)
        stored = FeedStorage.of(feed, cluster)
        if stored.table is not None:
            return self._partitions(feed, cluster, stored.table)
        template = stored.templates[LocationType.DATA]
        if any(isinstance(token, Glob) for segment in template.segments for token in segment.tokens):
            instead, where = "give the feed one directory or file an instance", f"feed {feed.name}"
            raise NotImplementedYet(what=f"availability by the glob in {template.text}", instead=instead, where=where)
        return PathInstances(
            sequence=feed.instances_on(cluster.name),
            template=template,
            place=cluster.place,
            flag=feed.availability_flag or "",
            storage=self.stores,
        )

    def _partitions(self, feed: Feed, cluster: Cluster, table: TableUri) -> TableInstances:
        return TableInstances(
            sequence=feed.instances_on(cluster.name),
            uri=table,
            address=lambda values: str(partition_address(cluster, table, values)),
            metastore=self.metastores(cluster),
        )

"""Table feeds of a partition or of a file of a table (Falcon feature list, entity lookup)."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from operator import attrgetter
from typing import TYPE_CHECKING, Self

from toolkit.catalog.model import TableName
from toolkit.catalog.partition_name import split_name
from toolkit.el import ElError
from toolkit.entities.lookup import PathOwner
from toolkit.planning.instance_storage import FeedStorage, tables_on_clusters
from toolkit.planning.partition_address import SCHEME, PartitionAddress, partition_address

if TYPE_CHECKING:
    from toolkit.catalog.model import Partition, Table
    from toolkit.catalog.port import Metastore
    from toolkit.el import CanonicalPath, TableUri
    from toolkit.entities import Cluster, Feed

TABLE = "table"
"""In the place of a location's type."""
_OF_CATALOG = re.compile(r"catalog:(?P<database>[\w-]+):(?P<table>[\w-]+)#(?P<partition>.+)")
_NAMED = re.compile(r"(?P<database>[\w-]+)\.(?P<table>[\w-]+)/(?P<partition>[^/=]+=.*)")


@dataclass(frozen=True, kw_only=True, slots=True)
class RequestedPartition:
    """A partition as people and logs write it.

    Attributes:
        name: of the table.
        values: by key; keys may be left out.
        registry: host and port of the metastore; empty: any.
    """

    name: TableName
    values: Mapping[str, str]
    registry: str = ""

    @classmethod
    def parse(cls, text: str) -> Self | None:
        """The partition that a text names; None: it names none, and may be a path.

        Args:
            text: ``hcat://HOST:PORT/DATABASE/TABLE/KEY=VALUE;KEY=VALUE``,
                ``catalog:DATABASE:TABLE#KEY=VALUE;KEY=VALUE``, as feeds have it, or with ``/`` between, as retention
                shows it, or ``DATABASE.TABLE/KEY=VALUE/KEY=VALUE``; names with ``/`` are escaped as Hive does.

        Raises:
            ElError: it begins as such a text and is none.
        """
        if text.startswith(SCHEME):
            address = PartitionAddress.parse(text)
            name = TableName(address.database, address.table)
            return cls(name=name, values=address.values, registry=address.registry)
        if text.startswith("catalog:"):
            return cls._named(_OF_CATALOG.fullmatch(text), text)
        found = _NAMED.fullmatch(text)
        return None if found is None else cls._named(found, text)

    @classmethod
    def _named(cls, found: re.Match[str] | None, text: str) -> Self:
        try:
            if found is not None:
                name = found["partition"]
                values = split_name(name if "/" in name else name.replace(";", "/"))
                return cls(name=TableName(found["database"], found["table"]), values=values)
        except ValueError:
            pass
        expected = "catalog:DATABASE:TABLE#KEY=VALUE;KEY=VALUE, or DATABASE.TABLE/KEY=VALUE/KEY=VALUE"
        raise ElError(text=text, expected=expected)


def owners_of_partition(
    partition: RequestedPartition, feeds: Iterable[Feed], clusters: Iterable[Cluster]
) -> tuple[PathOwner, ...]:
    """The feeds whose instance a partition is, or is a part of; no metastore is asked.

    Raises:
        ElError: a feed's table has a variable without a value.
    """
    return tuple(
        _owner(feed, cluster, partition.values)
        for feed, cluster, uri in tables_on_clusters(sorted(feeds, key=attrgetter("name")), clusters)
        if TableName(uri.database, uri.table) == partition.name
        and partition.registry in {"", partition_address(cluster, uri, {}).registry}
        and uri.period_of(partition.values)
    )


def owners_of_location(
    path: str, feeds: Iterable[Feed], clusters: Iterable[Cluster], metastores: Callable[[Cluster], Metastore]
) -> Iterator[PathOwner]:
    """The feeds of whose partition a path is the location, or a file in it, as their metastores say.

    Clusters without a metastore have no tables.

    Raises:
        ElError: the path, or a partition's location, is no path.
        CatalogError: a metastore refuses, or does not answer.
    """
    for feed, cluster, uri in tables_on_clusters(sorted(feeds, key=attrgetter("name")), clusters):
        if cluster.interfaces.registry is None:
            continue
        found = _Located(place=cluster.place(path), cluster=cluster, metastore=metastores(cluster)).values(uri)
        if found is not None and uri.period_of(found):
            yield _owner(feed, cluster, found)


@dataclass(frozen=True, kw_only=True, slots=True)
class _Located:
    """A look for the partition of a table that a path is in."""

    place: CanonicalPath
    cluster: Cluster
    metastore: Metastore

    def values(self, uri: TableUri) -> Mapping[str, str] | None:
        """Return the partition's values by key: first by directory names, then among all locations of the table."""
        table = self.metastore.table(TableName(uri.database, uri.table))
        found = next(self._in(table, self._by_directories(table)), None)
        if found is None:
            found = next(self._in(table, self.metastore.partition_names(table.name)), None)
        return None if found is None else dict(zip(table.key_names, found.values, strict=True))

    def _by_directories(self, table: Table) -> tuple[str, ...]:
        """The name of the partition whose default directory the path is in, if there is such a one."""
        root = self.cluster.place(table.location) if table.location else None
        if root is None or not self.place.is_within(root):
            return ()
        parts = self.place.relative_to(root).split("/")[: len(table.keys)]
        return ("/".join(parts),) if len(parts) == len(table.keys) and all("=" in each for each in parts) else ()

    def _in(self, table: Table, names: tuple[str, ...]) -> Iterator[Partition]:
        for each in self.metastore.partitions(table.name, names):
            if each.claimed_location and self._is_in(self.cluster.place(each.claimed_location)):
                yield each

    def _is_in(self, location: CanonicalPath) -> bool:
        return self.place == location or self.place.is_within(location)


def _owner(feed: Feed, cluster: Cluster, values: Mapping[str, str]) -> PathOwner:
    storage = FeedStorage.of(feed, cluster)
    period = None if storage.table is None else storage.table.period_of(values)
    text = feed.table_on(cluster.name) or ""
    return PathOwner(feed=feed.name, cluster=cluster.name, location=TABLE, template=text, period=period)

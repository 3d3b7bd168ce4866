"""Table feeds that share partitions: what one evicts the other loses, and holds of both count."""

from __future__ import annotations

import re
from collections import defaultdict
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from toolkit.catalog.model import TableName
from toolkit.planning.instance_storage import FeedStorage, tables_on_clusters

if TYPE_CHECKING:
    from collections.abc import Sequence

    from toolkit.el import TableUri
    from toolkit.entities import Cluster, Feed

_HAS_PORT = re.compile(r":\d+$")
_PORT = 9083
"""That of a metastore when its address has none."""


@dataclass(frozen=True, slots=True)
class _On:
    """A table feed on a cluster.

    Attributes:
        addresses: of the metastore, or of the Iceberg catalog of a feed that is ingested.
    """

    pair: tuple[str, str]
    uri: TableUri
    addresses: frozenset[str]


@dataclass(frozen=True, kw_only=True)
class SharedTables:
    """Knows which feeds are on which tables.

    Attributes:
        feeds: all of the repo.
        clusters: all of the repo.
    """

    feeds: Sequence[Feed] = ()
    clusters: Sequence[Cluster] = ()

    def of(self, feed: Feed, cluster: Cluster) -> tuple[tuple[str, str], ...]:
        """The feeds, each with its cluster, that may have partitions of this one, sorted; without itself."""
        uri = FeedStorage.of(feed, cluster).table
        if uri is None:
            return ()
        own = _On((feed.name, cluster.name), uri, _addresses(feed, cluster))
        others = self._by_table.get(table_name(uri), ())
        return tuple(sorted(each.pair for each in others if each.pair != own.pair and _may_share(own, each)))

    @cached_property
    def _by_table(self) -> dict[TableName, list[_On]]:
        found: dict[TableName, list[_On]] = defaultdict(list)
        for feed, cluster, uri in tables_on_clusters(self.feeds, self.clusters):
            found[table_name(uri)].append(_On((feed.name, cluster.name), uri, _addresses(feed, cluster)))
        return found


def table_name(uri: TableUri) -> TableName:
    """The table of a feed."""
    return TableName(uri.database, uri.table)


def _addresses(feed: Feed, cluster: Cluster) -> frozenset[str]:
    """Host and port of each server of the metastore, however its end point writes them; of Iceberg the catalog."""
    catalog = cluster.interfaces.iceberg
    if feed.cluster(cluster.name).ingest is not None and catalog is not None:
        return frozenset({f"{catalog.name} in {catalog.uri}"})
    registry = cluster.interfaces.registry
    written = () if registry is None else registry.endpoint.lower().split(",")
    hosts = (each.strip().rpartition("://")[2].rstrip("/") for each in written)
    return frozenset(host if _HAS_PORT.search(host) else f"{host}:{_PORT}" for host in hosts if host)


def _may_share(one: _On, other: _On) -> bool:
    """Servers in common make one metastore of two lists; clusters without a registry are in one."""
    is_one = one.addresses == other.addresses or not one.addresses.isdisjoint(other.addresses)
    return is_one and not _are_apart(one.uri, other.uri)


def _are_apart(one: TableUri, other: TableUri) -> bool:
    """Return whether a key has a fixed value in both, and the values differ."""
    fixed = [
        {key.lower(): each.literal for key, each in zip(uri.partition_keys, uri.segments, strict=True) if each.literal}
        for uri in (one, other)
    ]
    return any(fixed[0][key] != fixed[1][key] for key in fixed[0].keys() & fixed[1].keys())

"""Table feeds that share partitions: what one evicts the other loses, and holds of both count."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from toolkit.catalog.model import TableName
from toolkit.planning.instance_storage import FeedStorage

if TYPE_CHECKING:
    from collections.abc import Sequence

    from toolkit.el import TableUri
    from toolkit.entities import Cluster, Feed

_Table = tuple[str, TableName]
"""The end point of a metastore, and a table there."""


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
        own = FeedStorage.of(feed, cluster).table
        if own is None:
            return ()
        others = self._by_table.get((_registry(cluster), table_name(own)), ())
        pairs = (pair for pair, uri in others if not _are_apart(own, uri))
        return tuple(sorted(pair for pair in pairs if pair != (feed.name, cluster.name)))

    @cached_property
    def _by_table(self) -> dict[_Table, list[tuple[tuple[str, str], TableUri]]]:
        clusters = {each.name: each for each in self.clusters}
        found: dict[_Table, list[tuple[tuple[str, str], TableUri]]] = defaultdict(list)
        for feed in (each for each in self.feeds if each.is_table):
            for on in feed.clusters:
                cluster = clusters.get(on.name)
                uri = None if cluster is None else FeedStorage.of(feed, cluster).table
                if cluster is not None and uri is not None:
                    found[_registry(cluster), table_name(uri)].append(((feed.name, cluster.name), uri))
        return found


def table_name(uri: TableUri) -> TableName:
    """The table of a feed."""
    return TableName(uri.database, uri.table)


def _registry(cluster: Cluster) -> str:
    registry = cluster.interfaces.registry
    return "" if registry is None else registry.endpoint


def _are_apart(one: TableUri, other: TableUri) -> bool:
    """Whether a key has a fixed value in both, and another one in each."""
    fixed = [
        {key.lower(): each.literal for key, each in zip(uri.partition_keys, uri.segments, strict=True) if each.literal}
        for uri in (one, other)
    ]
    return any(fixed[0][key] != fixed[1][key] for key in fixed[0].keys() & fixed[1].keys())

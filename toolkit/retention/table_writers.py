"""Runs that write tables beside retention of path feeds: the table's data may be in the feed's directories."""

from __future__ import annotations

import logging
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING

from toolkit.actions.output_leases import table_lease
from toolkit.catalog.errors import CatalogError
from toolkit.catalog.written_places import written_places
from toolkit.el import ElError, parse_instant
from toolkit.errors import InvalidInput
from toolkit.planning.instance_storage import tables_on_clusters
from toolkit.retention.shared_tables import table_name
from toolkit.retention.targets import WrittenInstance

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping, Sequence
    from datetime import datetime

    from toolkit.catalog.port import Metastore
    from toolkit.el import CanonicalPath, TableUri
    from toolkit.entities import Cluster, Feed
    from toolkit.ledger.runs.outputs import HeldOutput

_LOG = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class _TableOn:
    uri: TableUri
    cluster: Cluster


@dataclass(frozen=True, kw_only=True)
class TableWriters:
    """Table feeds of the repo, and where runs write them.

    Attributes:
        feeds: all of the repo.
        clusters: all of the repo.
        metastore: opens that of a cluster; it raises `CatalogError`.
        real: the same path for all that are one directory.
    """

    feeds: Sequence[Feed]
    clusters: Sequence[Cluster]
    metastore: Callable[[Cluster], Metastore]
    real: Callable[[CanonicalPath], CanonicalPath]
    _known: dict[str, WrittenInstance] = field(default_factory=dict, init=False)
    _on_stores: dict[frozenset[CanonicalPath], tuple[frozenset[tuple[str, str]], frozenset[str]]] = field(
        default_factory=dict, init=False
    )

    def on(self, stores: Collection[CanonicalPath]) -> tuple[frozenset[tuple[str, str]], frozenset[str]]:
        """Return the table feeds, each with its cluster, that may have data on these stores, and their tables' leases.

        Args:
            stores: their roots; most feeds have the same, so the answer is kept.
        """
        key = frozenset(stores)
        if key not in self._on_stores:
            found = {pair: on for pair, on in self._tables.items() if not _roots(on.cluster).isdisjoint(key)}
            self._on_stores[key] = frozenset(found), frozenset(map(_resource, found.values()))
        return self._on_stores[key]

    def written(self, output: HeldOutput) -> WrittenInstance | None:
        """Return where a run writes, as the metastore says it; None: it cannot be told, so that it may be anywhere.

        Args:
            output: the lease of the run, on an instance of a table feed or on a whole table.
        """
        resource = output.held.resource
        if resource not in self._known:
            try:
                self._known[resource] = self._located(output)
            except (CatalogError, InvalidInput, KeyError) as error:
                _LOG.warning('event=place_of_writer_unknown resource=%s why="%s"', resource, error)
                return None
        return self._known[resource]

    def _located(self, output: HeldOutput) -> WrittenInstance:
        if output.feed:
            on = self._tables[output.feed, output.cluster]
            values = _values(on.uri, parse_instant(output.instance_key))
        else:
            on, values = self._by_resource[output.held.resource], {}
        found = written_places(self.metastore(on.cluster), table_name(on.uri), values, on.cluster.place)
        bases = {place: found.base_of(place) for place in found.places}
        return WrittenInstance(paths=tuple(place.moved(base, self.real(base)) for place, base in bases.items()))

    @cached_property
    def _tables(self) -> Mapping[tuple[str, str], _TableOn]:
        found = tables_on_clusters(self.feeds, self.clusters)
        return {(feed.name, cluster.name): _TableOn(uri, cluster) for feed, cluster, uri in found}

    @cached_property
    def _by_resource(self) -> Mapping[str, _TableOn]:
        return {_resource(each): each for each in self._tables.values()}


def _values(uri: TableUri, instant: datetime) -> Mapping[str, str]:
    """Return the values of an instance's keys; none where a key has no value, since all partitions may be its own."""
    try:
        return uri.render(instant)
    except ElError:
        return {}


def _resource(on: _TableOn) -> str:
    return table_lease(on.cluster.name, table_name(on.uri)).resource


def _roots(cluster: Cluster) -> frozenset[CanonicalPath]:
    return frozenset(each.root for each in (*cluster.file_systems, *cluster.table_roots))

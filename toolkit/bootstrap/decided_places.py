"""Places where blocked data of an instance can be, computed from the config repo and the metastore.

A validation result of the ledger names places. What a decision lists, or removes, is one of those computed here.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from toolkit.actions.staged_unit import STAGING_DIRECTORY, staging_place, staging_top
from toolkit.catalog.errors import NoSuchTable
from toolkit.catalog.partition_name import values_by_key
from toolkit.el import CanonicalPath, ElError, parse_instant
from toolkit.entities import LocationType
from toolkit.hive.locations import directory_above
from toolkit.hive.resolve import name_of
from toolkit.ledger.validations import CannotDecide
from toolkit.planning.instance_storage import FeedStorage
from toolkit.transfer.trees import below

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from datetime import datetime

    from toolkit.catalog.model import Table
    from toolkit.catalog.port import Metastore
    from toolkit.el import TableUri
    from toolkit.entities import Cluster, Feed


@dataclass(frozen=True, kw_only=True)
class DecidedPlaces:
    """The places of one instance of a feed on a cluster.

    Attributes:
        instance_key: of the instance.
        metastore: opens that of the cluster for reading.
    """

    feed: Feed
    cluster: Cluster
    instance_key: str
    metastore: Callable[[], Metastore]

    def named(self, unit: str, written: str) -> list[CanonicalPath]:
        """Return the places that a validation result names, a line each.

        Raises:
            CannotDecide: one of them is not a place of the instance.
            CatalogError: the metastore cannot tell.
        """
        places: list[CanonicalPath] = []
        for line in written.split("\n"):
            place = self._parsed(line)
            if place is None or not self._is_own(place):
                why = f"its result names {line}, which is not a place of the instance {self.instance_key}"
                raise CannotDecide(unit=unit, why=f"{why}; run the action again")
            places.append(place)
        return places

    @cached_property
    def bases(self) -> tuple[CanonicalPath, ...]:
        """The directories in which a hold file counts: those of the feed's locations, or of its table."""
        if self._storage.table is None:
            templates = self._storage.templates.values()
            return tuple(dict.fromkeys(self.cluster.place(each.base) for each in templates))
        return tuple(self._places([] if self._table is None else [self._table.storage.location or ""]))

    def _parsed(self, text: str) -> CanonicalPath | None:
        try:
            return self.cluster.place(text)
        except ElError:
            return None

    def _is_own(self, place: CanonicalPath) -> bool:
        if self._storage.table is None:
            return self._is_of_path(place)
        return self._waits_for_table(place, self._storage.table) or place in self._locations

    def _is_of_path(self, place: CanonicalPath) -> bool:
        """Return whether a place is the instance, a part of it, or the staging place of either."""
        path = self._storage.at(self._instant).paths.get(LocationType.DATA)
        if path is None:
            return False
        instance, top = self.cluster.place(path), staging_top(place)
        if top is None:
            return place == instance or place.is_within(instance)
        if not place.is_within(top.child(STAGING_DIRECTORY)):
            return False
        unit = below(top, place.relative_to(top.child(STAGING_DIRECTORY)))
        return staging_place(unit) == place and (unit == instance or unit.is_within(instance))

    def _waits_for_table(self, place: CanonicalPath, uri: TableUri) -> bool:
        """Return whether a place is in the table's staging directory, under the name of a partition of the instance."""
        staging = None if self._root is None else self._root.child(STAGING_DIRECTORY)
        if staging is None or not place.is_within(staging):
            return False
        table, name = self._table, place.relative_to(staging)
        if table is None or not table.keys:
            return name == f"{uri.database}.db/{uri.table}"
        return self._is_of_instance(name, uri)

    def _is_of_instance(self, name: str, uri: TableUri) -> bool:
        try:
            period = uri.period_of(values_by_key(name, uri.partition_keys))
        except ValueError:
            return False
        return period is not None and self._instant in period

    @cached_property
    def _storage(self) -> FeedStorage:
        return FeedStorage.of(self.feed, self.cluster)

    @cached_property
    def _instant(self) -> datetime:
        return parse_instant(self.instance_key)

    @cached_property
    def _table(self) -> Table | None:
        assert self._storage.table is not None  # noqa: S101 - only asked of a table feed
        try:
            return self.metastore().table(name_of(self._storage.table))
        except NoSuchTable:
            return None

    @cached_property
    def _root(self) -> CanonicalPath | None:
        """Return the parent of the staging directory: the table or, without partitions, its parent."""
        uri, table = self._storage.table, self._table
        assert uri is not None  # noqa: S101 - only asked of a table feed
        if table is None or not table.storage.location:
            return self._parsed(self.metastore().database_location(uri.database))
        return self._parsed(table.storage.location if table.keys else directory_above(table.storage.location))

    @cached_property
    def _locations(self) -> frozenset[CanonicalPath]:
        """The locations of the instance's partitions."""
        uri, table = self._storage.table, self._table
        if uri is None or table is None:
            return frozenset()
        if not table.keys:
            return frozenset(self._places([table.storage.location or ""]))
        names = self.metastore().partition_names(table.name)
        own = [name for name in names if self._is_of_instance(name, uri)]
        return frozenset(self._places([each.location for each in self.metastore().partitions(table.name, own)]))

    def _places(self, locations: Sequence[str]) -> Iterator[CanonicalPath]:
        return (place for each in locations if (place := self._parsed(each)) is not None)

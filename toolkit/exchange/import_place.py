"""Places of instances: directories of a path feed, and partitions of a table with their registration."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from toolkit.catalog.errors import CatalogAlreadyExists
from toolkit.catalog.formats import TableFormat, table_format
from toolkit.catalog.model import Partition, TableName
from toolkit.catalog.partition_name import joined_name
from toolkit.entities import LocationType
from toolkit.entities.vocabulary import DataFormat
from toolkit.exchange.import_targets import ImportPlace
from toolkit.exchange.instance_files import stored_as
from toolkit.exchange.rows import NotExchanged
from toolkit.planning.instance_storage import FeedStorage
from toolkit.transfer.trees import below

if TYPE_CHECKING:
    from datetime import datetime

    from toolkit.catalog.model import Table
    from toolkit.catalog.port import Metastore
    from toolkit.entities import Cluster, Feed

UNFIT_TABLE = "unfit_table"


@dataclass(frozen=True, kw_only=True)
class ImportPlaces:
    """Finds and registers places of a feed's instances on a cluster.

    Attributes:
        feed: the feed.
        cluster: where.
        format: of the files of a path feed.
        metastore: opens that of the cluster; what the argument raises stops a change, and None allows none.
    """

    feed: Feed
    cluster: Cluster
    format: DataFormat
    metastore: Callable[[Callable[[], None] | None], Metastore]

    def at(self, instant: datetime) -> ImportPlace:
        """Return the place of an instance, which need not exist.

        Raises:
            NotExchanged: the table is of a kind that no import writes.
            CatalogError: the metastore refuses, or does not answer.
            ElError: a template has a variable without a value.
        """
        storage = FeedStorage.of(self.feed, self.cluster)
        if storage.table is None:
            template, path = storage.templates[LocationType.DATA], storage.at(instant).paths[LocationType.DATA]
            place = self.cluster.place
            return ImportPlace(unit=place(path), base=place(template.base), format=self.format)
        name = TableName(storage.table.database, storage.table.table)
        return self._partition(name, storage.table.render(instant))

    def _partition(self, name: TableName, values: Mapping[str, str]) -> ImportPlace:
        metastore = self.metastore(None)
        table = metastore.table(name)
        root, text = self.cluster.place(table.location or "/"), _name(table, values)
        found = metastore.partitions(name, [text])
        unit = below(root, text)
        if found:
            unit = self.cluster.place(found[0].location or "/")
            if not unit.is_within(root):
                raise _unfit(name, f"its partition {text} is at {unit}, outside of the directory of the table")
        return ImportPlace(unit=unit, base=root, format=_format_of(table), table=table, is_registered=bool(found))

    def register(self, place: ImportPlace, values: Mapping[str, str], check: Callable[[], None]) -> None:
        """Add the partition of published data to the table, unless the table has it now.

        Args:
            place: of the data.
            values: of the partition by key.
            check: what it raises stops the change.

        Raises:
            CatalogError: the metastore refuses, does not answer, or has the partition elsewhere by now.
            StopRequested: `check` says so.
        """
        if place.table is None:
            return
        table = place.table
        if self._is_registered(table, place, values):  # the plan may have seen it before somebody dropped it
            return
        location = f"{table.location.rstrip('/')}/{place.unit.relative_to(place.base)}"
        partition = Partition(
            values=tuple(_by_key(table, values)[key] for key in table.key_names),
            storage=replace(table.storage, location=location),
        )
        try:
            self.metastore(check).add_partitions(table.name, [partition])
        except CatalogAlreadyExists:
            if not self._is_registered(table, place, values):
                raise

    def _is_registered(self, table: Table, place: ImportPlace, values: Mapping[str, str]) -> bool:
        """Return whether the table has the partition.

        Raises:
            CatalogAlreadyExists: it has it at another place.
        """
        text = _name(table, values)
        found = self.metastore(None).partitions(table.name, [text])
        if found and (other := self.cluster.place(found[0].location or "/")) != place.unit:
            raise CatalogAlreadyExists(about=f"{table.name}/{text}", detail=f"it is at {other}, not at {place.unit}")
        return bool(found)


def _by_key(table: Table, values: Mapping[str, str]) -> dict[str, str]:
    found = {key.lower(): value for key, value in values.items()}
    if not table.keys or {key.lower() for key in table.key_names} != found.keys():
        raise _unfit(
            table.name, f"its partition keys are {', '.join(table.key_names) or 'none'}, and the feed names others"
        )
    return {key: found[key.lower()] for key in table.key_names}


def _name(table: Table, values: Mapping[str, str]) -> str:
    found = _by_key(table, values)
    return joined_name(found, found.values())


def _format_of(table: Table) -> DataFormat:
    kind, found = table_format(table), stored_as(table.storage)
    if kind is not TableFormat.HIVE or found is None or table.kind.is_view:
        raise _unfit(
            table.name, f"it is {kind} with files of {table.storage.input_format}; make it STORED AS PARQUET or ORC"
        )
    return found


def _unfit(name: TableName, why: str) -> NotExchanged:
    return NotExchanged(code=UNFIT_TABLE, why=f"the table {name} cannot be written by an import: {why}")

"""A metastore that asks before every change; a dry run's always says no, so that it changes nothing by mistake."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from toolkit.catalog.errors import ReadOnlyCatalog
from toolkit.catalog.port import NOTHING

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping, Sequence

    from toolkit.catalog.model import Partition, Table, TableName
    from toolkit.catalog.port import Metastore


@dataclass(frozen=True, slots=True)
class BoundMetastore:
    """Passes calls on to `inner`.

    Args:
        inner: shared with others.
        before_effect: called before every single change, from any thread; what it raises stops the change.
    """

    inner: Metastore
    before_effect: Callable[[], None]

    def version(self) -> str:
        """See `Metastore.version`."""
        return self.inner.version()

    def databases(self) -> tuple[str, ...]:
        """See `Metastore.databases`."""
        return self.inner.databases()

    def tables(self, database: str) -> tuple[str, ...]:
        """See `Metastore.tables`."""
        return self.inner.tables(database)

    def directories(self, database: str) -> Mapping[str, str]:
        """See `Metastore.directories`."""
        return self.inner.directories(database)

    def table(self, name: TableName) -> Table:
        """See `Metastore.table`."""
        return self.inner.table(name)

    def partition_names(self, name: TableName, *, matching: Mapping[str, str] = NOTHING) -> tuple[str, ...]:
        """See `Metastore.partition_names`."""
        return self.inner.partition_names(name, matching=matching)

    def partitions(self, name: TableName, names: Sequence[str]) -> tuple[Partition, ...]:
        """See `Metastore.partitions`."""
        return self.inner.partitions(name, names)

    def database_location(self, name: str) -> str:
        """See `Metastore.database_location`."""
        return self.inner.database_location(name)

    def create_table(self, table: Table) -> None:
        """See `Metastore.create_table`."""
        self.before_effect()
        self.inner.create_table(table)

    def alter_table(self, table: Table) -> None:
        """See `Metastore.alter_table`."""
        self.before_effect()
        self.inner.alter_table(table)

    def add_partitions(self, name: TableName, partitions: Sequence[Partition]) -> None:
        """See `Metastore.add_partitions`."""
        self.before_effect()
        self.inner.add_partitions(name, partitions)

    def alter_partitions(self, name: TableName, partitions: Sequence[Partition]) -> None:
        """See `Metastore.alter_partitions`."""
        self.before_effect()
        self.inner.alter_partitions(name, partitions)

    def drop_partitions(self, name: TableName, names: Sequence[str]) -> tuple[str, ...]:
        """See `Metastore.drop_partitions`."""
        self.before_effect()
        return self.inner.drop_partitions(name, names)

    def change_parameters(
        self, name: TableName, *, put: Mapping[str, str] = NOTHING, remove: Collection[str] = ()
    ) -> None:
        """See `Metastore.change_parameters`."""
        self.before_effect()
        self.inner.change_parameters(name, put=put, remove=remove)

    def close(self) -> None:
        """See `Metastore.close`."""
        self.inner.close()


def read_only(metastore: Metastore) -> BoundMetastore:
    """The same for reading: every change raises `ReadOnlyCatalog`."""
    return BoundMetastore(metastore, _refuse)


def _refuse() -> None:
    raise ReadOnlyCatalog(about="metastore")

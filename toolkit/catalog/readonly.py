"""A metastore whose mutating calls all fail, so that a dry run cannot change anything even by mistake."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from toolkit.catalog.errors import ReadOnlyCatalog
from toolkit.catalog.port import NOTHING

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

    from toolkit.catalog.model import Partition, Table, TableName
    from toolkit.catalog.port import Metastore


@dataclass(frozen=True, slots=True)
class ReadOnlyMetastore:
    """Passes reading on to `inner`; every mutating call raises `ReadOnlyCatalog`."""

    inner: Metastore

    def version(self) -> str:
        """See `Metastore.version`."""
        return self.inner.version()

    def databases(self) -> tuple[str, ...]:
        """See `Metastore.databases`."""
        return self.inner.databases()

    def tables(self, database: str) -> tuple[str, ...]:
        """See `Metastore.tables`."""
        return self.inner.tables(database)

    def table(self, name: TableName) -> Table:
        """See `Metastore.table`."""
        return self.inner.table(name)

    def partition_names(self, name: TableName, *, matching: Mapping[str, str] = NOTHING) -> tuple[str, ...]:
        """See `Metastore.partition_names`."""
        return self.inner.partition_names(name, matching=matching)

    def partitions(self, name: TableName, names: Sequence[str]) -> tuple[Partition, ...]:
        """See `Metastore.partitions`."""
        return self.inner.partitions(name, names)

    def create_table(self, table: Table) -> None:
        """Refused."""
        raise ReadOnlyCatalog(about=str(table.name))

    def add_partitions(self, name: TableName, partitions: Sequence[Partition]) -> None:  # noqa: ARG002 - the port's
        """Refused."""
        raise ReadOnlyCatalog(about=str(name))

    def alter_partitions(self, name: TableName, partitions: Sequence[Partition]) -> None:  # noqa: ARG002
        """Refused."""
        raise ReadOnlyCatalog(about=str(name))

    def drop_partitions(self, name: TableName, names: Sequence[str]) -> tuple[str, ...]:  # noqa: ARG002
        """Refused."""
        raise ReadOnlyCatalog(about=str(name))

    def change_parameters(
        self,
        name: TableName,
        *,
        put: Mapping[str, str] = NOTHING,  # noqa: ARG002
        remove: Collection[str] = (),  # noqa: ARG002
    ) -> None:
        """Refused."""
        raise ReadOnlyCatalog(about=str(name))

    def close(self) -> None:
        """See `Metastore.close`."""
        self.inner.close()

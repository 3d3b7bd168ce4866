"""A metastore that asks before every change; a dry run's always says no, so that it changes nothing by mistake."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from typing_extensions import override

from toolkit.catalog.errors import ReadOnlyCatalog
from toolkit.catalog.port import NOTHING, Metastore

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping, Sequence

    from toolkit.catalog.model import MetastoreEvent, Partition, Table, TableName


@dataclass(frozen=True, slots=True)
class BoundMetastore(Metastore):
    """Passes calls on to `inner`.

    Args:
        inner: shared with others.
        before_effect: called before every single change, from any thread; what it raises stops the change.
    """

    inner: Metastore
    before_effect: Callable[[], None]

    @override
    def version(self) -> str:
        return self.inner.version()

    @override
    def databases(self) -> tuple[str, ...]:
        return self.inner.databases()

    @override
    def tables(self, database: str) -> tuple[str, ...]:
        return self.inner.tables(database)

    @override
    def directories(self, database: str) -> Mapping[str, str]:
        return self.inner.directories(database)

    @override
    def table(self, name: TableName) -> Table:
        return self.inner.table(name)

    @override
    def partition_names(self, name: TableName, *, matching: Mapping[str, str] = NOTHING) -> tuple[str, ...]:
        return self.inner.partition_names(name, matching=matching)

    @override
    def partitions(self, name: TableName, names: Sequence[str]) -> tuple[Partition, ...]:
        return self.inner.partitions(name, names)

    @override
    def database_location(self, name: str) -> str:
        return self.inner.database_location(name)

    @override
    def last_event(self) -> int:
        return self.inner.last_event()

    @override
    def events(self, after: int, most: int) -> tuple[MetastoreEvent, ...]:
        return self.inner.events(after, most)

    @override
    def create_table(self, table: Table) -> None:
        self.before_effect()
        self.inner.create_table(table)

    @override
    def alter_table(self, table: Table) -> None:
        self.before_effect()
        self.inner.alter_table(table)

    @override
    def add_partitions(self, name: TableName, partitions: Sequence[Partition]) -> None:
        self.before_effect()
        self.inner.add_partitions(name, partitions)

    @override
    def alter_partitions(self, name: TableName, partitions: Sequence[Partition]) -> None:
        self.before_effect()
        self.inner.alter_partitions(name, partitions)

    @override
    def drop_partitions(self, name: TableName, names: Sequence[str]) -> tuple[str, ...]:
        self.before_effect()
        return self.inner.drop_partitions(name, names)

    @override
    def drop_table(self, name: TableName) -> None:
        self.before_effect()
        self.inner.drop_table(name)

    @override
    def change_parameters(
        self, name: TableName, *, put: Mapping[str, str] = NOTHING, remove: Collection[str] = ()
    ) -> None:
        self.before_effect()
        self.inner.change_parameters(name, put=put, remove=remove)

    @override
    def close(self) -> None:
        self.inner.close()


def read_only(metastore: Metastore) -> BoundMetastore:
    """The same for reading: every change raises `ReadOnlyCatalog`."""
    return BoundMetastore(metastore, _refuse)


def _refuse() -> None:
    raise ReadOnlyCatalog(about="metastore")

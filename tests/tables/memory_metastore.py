"""A metastore in memory that keeps the port's promises; `tests/contract/metastore` checks it beside the real one."""

from __future__ import annotations

import threading
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace

from toolkit.catalog.errors import BadMetadata, CatalogAlreadyExists, NoSuchDatabase, NoSuchPartition, NoSuchTable
from toolkit.catalog.model import MetastoreEvent, Partition, Table, TableName
from toolkit.catalog.partition_name import matching_names
from toolkit.catalog.port import NOTHING


class MemoryMetastore:
    """Databases, tables and partitions; no directory is made for any of them.

    Args:
        databases: those that are there from the beginning.
        warehouse: the directory of their directories.
    """

    def __init__(self, databases: Iterable[str] = ("default",), *, warehouse: str = "file:/warehouse") -> None:
        self.warehouse = warehouse
        self._databases: dict[str, dict[str, Table]] = {name.lower(): {} for name in databases}
        self._partitions: dict[TableName, dict[str, Partition]] = {}
        self._lock = threading.Lock()
        self.log: list[MetastoreEvent] = []
        """Its notification events; a test may clean some of them."""
        self.newest = 0

    def version(self) -> str:
        """Return the version of no Hive."""
        return "in memory"

    def databases(self) -> tuple[str, ...]:
        return tuple(sorted(self._databases))

    def tables(self, database: str) -> tuple[str, ...]:
        return tuple(sorted(self._database(database)))

    def directories(self, database: str) -> dict[str, str]:
        return {name: each.location for name, each in self._database(database).items() if each.location}

    def table(self, name: TableName) -> Table:
        tables = self._database(name.database)
        if name.table not in tables:
            raise NoSuchTable(about=str(name))
        return tables[name.table]

    def partition_names(self, name: TableName, *, matching: Mapping[str, str] = NOTHING) -> tuple[str, ...]:
        self.table(name)
        with self._lock:
            return matching_names(sorted(self._partitions[name]), matching)

    def partitions(self, name: TableName, names: Sequence[str]) -> tuple[Partition, ...]:
        self.table(name)
        with self._lock:
            there = self._partitions[name]
            return tuple(there[each] for each in dict.fromkeys(names) if each in there)

    def database_location(self, name: str) -> str:
        self._database(name)
        return f"{self.warehouse}/{name.lower()}.db"

    def last_event(self) -> int:
        return self.newest

    def events(self, after: int, most: int) -> tuple[MetastoreEvent, ...]:
        return tuple([each for each in self.log if each.number > after][:most])

    def note(self, table: TableName) -> None:
        """Something of a table has changed."""
        with self._lock:
            self.newest += 1
            self.log.append(MetastoreEvent(number=self.newest, time=1_700_000_000 + self.newest, table=table))

    def drop_table(self, name: TableName) -> None:
        self.table(name)
        with self._lock:
            del self._databases[name.database][name.table]
            del self._partitions[name]
        self.note(name)

    def create_table(self, table: Table) -> None:
        tables = self._database(table.name.database)
        with self._lock:
            if table.name.table in tables:
                raise CatalogAlreadyExists(about=str(table.name))
            tables[table.name.table] = table
            self._partitions[table.name] = {}
        self.note(table.name)

    def alter_table(self, table: Table) -> None:
        self.table(table.name)
        with self._lock:
            self._databases[table.name.database][table.name.table] = table
        self.note(table.name)

    def add_partitions(self, name: TableName, partitions: Sequence[Partition]) -> None:
        named = self._named(name, partitions)
        with self._lock:
            if double := named.keys() & self._partitions[name].keys():
                raise CatalogAlreadyExists(about=f"{name}/{min(double)}")
            self._partitions[name].update(named)
        self.note(name)

    def alter_partitions(self, name: TableName, partitions: Sequence[Partition]) -> None:
        named = self._named(name, partitions)
        with self._lock:
            if gone := named.keys() - self._partitions[name].keys():
                raise NoSuchPartition(about=f"{name}/{min(gone)}")
            self._partitions[name].update(named)
        self.note(name)

    def drop_partitions(self, name: TableName, names: Sequence[str]) -> tuple[str, ...]:
        self.table(name)
        with self._lock:
            there = self._partitions[name]
            dropped = tuple(each for each in dict.fromkeys(names) if there.pop(each, None))
        self.note(name)
        return dropped

    def change_parameters(
        self, name: TableName, *, put: Mapping[str, str] = NOTHING, remove: Collection[str] = ()
    ) -> None:
        table = self.table(name)
        kept = {key: value for key, value in table.parameters.items() if key not in remove}
        self._databases[name.database][name.table] = replace(table, parameters={**kept, **put})

    def close(self) -> None:
        """Nothing is open."""

    def _database(self, name: str) -> dict[str, Table]:
        if name.lower() not in self._databases:
            raise NoSuchDatabase(about=name.lower())
        return self._databases[name.lower()]

    def _named(self, name: TableName, partitions: Sequence[Partition]) -> dict[str, Partition]:
        table = self.table(name)
        for each in partitions:
            if len(each.values) != len(table.keys):
                raise BadMetadata(about=str(name), detail=f"{each.values} for the keys {table.key_names}")
        named = {table.partition_name(each): each for each in partitions}
        if len(named) < len(partitions):
            raise CatalogAlreadyExists(about=str(name), detail="one partition comes twice")
        return named

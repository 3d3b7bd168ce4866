"""A Hive metastore by its Thrift calls, through the client that Spark brings (Hive 2.3.10).

Below its own methods the client has calls that also newer metastores know: tables by request, partitions dropped by
name, which it can otherwise drop only by expressions.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from typing import TYPE_CHECKING, TypeVar

from py4j.protocol import Py4JJavaError
from typing_extensions import override

from toolkit.catalog.adapters import thrift_json as thrift
from toolkit.catalog.adapters.connections import MOST_CALLS, Call, Connections, is_unknown_call
from toolkit.catalog.adapters.gateway import Java, JavaObject
from toolkit.catalog.errors import (
    BadMetadata,
    CatalogAlreadyExists,
    MetastoreFailure,
    NoSuchDatabase,
    NoSuchPartition,
    NoSuchTable,
    UnsupportedTable,
)
from toolkit.catalog.partition_name import matching_names, values_of
from toolkit.catalog.port import BATCH, CALL_SECONDS, NOTHING, READ_BATCH, Metastore
from toolkit.threads import WorkerPool

if TYPE_CHECKING:
    from toolkit.catalog.adapters.thrift_json import Struct
    from toolkit.catalog.model import MetastoreEvent, Partition, Table, TableName
    from toolkit.catalog.port import CatalogSpec

_Answer = TypeVar("_Answer")
_ALL = -1
_AT_ONCE = 2
"""So many batches of a table's partitions are on their way at once: while one is looked up, the other is read."""
_KEEP_FIGURES = {"DO_NOT_UPDATE_STATS": "true"}
"""The metastore would otherwise list files, and count what it finds."""


class HiveMetastore(Metastore):
    """Keeps the promises of `toolkit.catalog.port.Metastore`.

    Args:
        spec: which metastore.
        seconds: how long one call may take.

    Raises:
        InvalidInput: the end point cannot be used.
    """

    def __init__(self, spec: CatalogSpec, seconds: float = CALL_SECONDS) -> None:
        self._connections = Connections(spec, seconds)
        self._fetchers = WorkerPool(MOST_CALLS, "feedctl-partitions")

    @override
    def version(self) -> str:
        answer: str = self._connections.run(self._connections.name, lambda _java, stub: stub.getVersion())
        return answer

    @override
    def databases(self) -> tuple[str, ...]:
        names = self._connections.run(self._connections.name, lambda java, stub: java.texts(stub.get_all_databases()))
        return tuple(sorted(names))

    @override
    def tables(self, database: str) -> tuple[str, ...]:
        names = self._connections.run(database, lambda java, stub: java.texts(stub.get_all_tables(database)))
        if not names:
            self._check_database(database)
        return tuple(sorted(names))

    @override
    def directories(self, database: str) -> Mapping[str, str]:
        names = self.tables(database)
        found: dict[str, str] = {}
        for first in range(0, len(names), BATCH):
            some = names[first : first + BATCH]
            try:
                answer = self._connections.run(database, _tables_named(database, some))
            except ValueError as error:
                raise UnsupportedTable(
                    about=database, detail=f"a description of a table was not understood: {error}"
                ) from error
            found.update(thrift.directories_in(answer))
        return found

    @override
    def table(self, name: TableName) -> Table:
        struct = self._table(name)
        try:
            return thrift.table_of(struct)
        except ValueError as error:
            raise UnsupportedTable(about=str(name), detail=f"{error}, expected a table or view of Hive") from error

    @override
    def partition_names(self, name: TableName, *, matching: Mapping[str, str] = NOTHING) -> tuple[str, ...]:
        names = self._of_partitions(name, lambda: self._ask(name, _listing(name)))
        if not names:
            self._table(name)
        return tuple(sorted(matching_names(names, matching)))

    @override
    def partitions(self, name: TableName, names: Sequence[str]) -> tuple[Partition, ...]:
        found = self._read(name, names, thrift.partitions_of)
        if not found:
            self._table(name)
        return tuple(found)

    @override
    def database_location(self, name: str) -> str:
        try:
            return str(self._connections.run(name, lambda _java, stub: stub.get_database(name).getLocationUri()))
        except NoSuchTable as error:
            raise NoSuchDatabase(about=name) from error

    @override
    def create_table(self, table: Table) -> None:
        self._check_database(table.name.database)
        struct = thrift.table_struct(table)
        self._ask(table.name, lambda java, stub: stub.create_table(java.filled(java.api.Table(), struct)))

    @override
    def alter_table(self, table: Table) -> None:
        """Let the later of two writers that change a table at the same time win."""
        self._replace(table.name, self._table(table.name) | thrift.table_struct(table))

    @override
    def add_partitions(self, name: TableName, partitions: Sequence[Partition]) -> None:
        if not partitions:
            return
        table = self._check_values(name, partitions)
        request = thrift.add_request(name, thrift.partition_structs(name, partitions))
        try:
            self._ask(
                name, lambda java, stub: stub.add_partitions_req(java.filled(java.api.AddPartitionsRequest(), request))
            )
        except CatalogAlreadyExists as error:
            there = self._partitions(name, [table.partition_name(each) for each in partitions])
            named = sorted(table.partition_name(thrift.values_in(each)) for each in there)
            if not named:
                raise
            detail = f"{len(named)} of {len(partitions)} are there, and none was added"
            raise CatalogAlreadyExists(about=f"{name}/{named[0]}", detail=detail) from error

    @override
    def alter_partitions(self, name: TableName, partitions: Sequence[Partition]) -> None:
        """Let the later of two writers that change a partition win: Hive has no compare-and-set."""
        if not partitions:
            return
        table = self._check_values(name, partitions)
        names = [table.partition_name(each) for each in partitions]
        there = {thrift.values_in(each): each for each in self._partitions(name, names)}
        if gone := [each.values for each in partitions if each.values not in there]:
            raise NoSuchPartition(about=f"{name}/{table.partition_name(gone[0])}", detail=f"{len(gone)} are not there")
        structs = thrift.partition_structs(name, partitions)
        changed = [there[each.values] | struct for each, struct in zip(partitions, structs, strict=True)]
        self._ask(name, lambda java, stub: _alter(java, stub, name, changed))

    @override
    def drop_partitions(self, name: TableName, names: Sequence[str]) -> tuple[str, ...]:
        if not names:
            return ()
        by_values = {values_of(each): each for each in names}
        request = thrift.drop_request(name, by_values.values())
        dropped = self._struct(
            name,
            lambda java, stub: java.struct(
                stub.drop_partitions_req(java.filled(java.api.DropPartitionsRequest(), request))
            ),
        )
        return tuple(by_values[thrift.values_in(each)] for each in thrift.partitions_in(dropped))

    @override
    def drop_table(self, name: TableName) -> None:
        self._ask(name, lambda _java, stub: stub.drop_table(name.database, name.table, False))  # noqa: FBT003 - Thrift's

    @override
    def last_event(self) -> int:
        answer = self._connections.run(self._connections.name, lambda _, stub: stub.get_current_notificationEventId())
        return int(answer.getEventId())

    @override
    def events(self, after: int, most: int) -> tuple[MetastoreEvent, ...]:
        """Ask for some at a time: each has a text of some kilobytes."""
        found: list[MetastoreEvent] = []
        while len(found) < most:
            request = thrift.events_request(found[-1].number if found else after, min(READ_BATCH, most - len(found)))
            some = thrift.events_in(self._connections.run(self._connections.name, _events(request)))
            found += some
            if not some:
                break
        return tuple(found)

    @override
    def change_parameters(
        self, name: TableName, *, put: Mapping[str, str] = NOTHING, remove: Collection[str] = ()
    ) -> None:
        """Let the later of two writers that change a table at the same time win."""
        self._replace(name, thrift.with_parameters(self._table(name), put, remove))

    def _replace(self, name: TableName, changed: Struct) -> None:
        def alter(java: Java, stub: JavaObject) -> None:
            table = java.filled(java.api.Table(), changed)
            stub.alter_table_with_environment_context(name.database, name.table, table, _context(java))

        self._ask(name, alter)

    @override
    def close(self) -> None:
        self._connections.close()

    def _ask(self, name: TableName, call: Call[_Answer]) -> _Answer:
        try:
            return self._connections.run(str(name), call)
        except NoSuchTable:
            self._check_database(name.database)
            raise

    def _check_database(self, database: str) -> None:
        try:
            self._connections.run(database, lambda _java, stub: stub.get_database(database))
        except NoSuchTable as error:
            raise NoSuchDatabase(about=database) from error

    def _table(self, name: TableName) -> Struct:
        return self._struct(name, lambda java, stub: java.struct(_get_table(java, stub, name)))

    def _partitions(self, name: TableName, names: Sequence[str]) -> list[Struct]:
        return self._read(name, names, list)

    def _read(
        self, name: TableName, names: Sequence[str], decoded: Callable[[list[Struct]], list[_Answer]]
    ) -> list[_Answer]:
        """Decode each batch when it comes: the structs of all partitions of a table take some hundred megabytes."""
        once = list(dict.fromkeys(names))
        found: dict[int, list[_Answer]] = {}

        def fetch(first: int) -> None:
            structs = self._struct(name, _fetching(name, once[first : first + READ_BATCH]))
            found[first] = decoded(thrift.partitions_in(structs))

        firsts = range(0, len(once), READ_BATCH)
        self._of_partitions(name, lambda: self._fetchers.run_all(fetch, firsts, at_once=_AT_ONCE))
        return [each for _, batch in sorted(found.items()) for each in batch]

    def _of_partitions(self, name: TableName, read: Callable[[], _Answer]) -> _Answer:
        try:
            return read()
        except MetastoreFailure:
            self._table(name)  # no version of Hive has a good answer for a table that is not there
            raise

    def _struct(self, name: TableName, call: Call[Struct]) -> Struct:
        try:
            return self._ask(name, call)
        except ValueError as error:
            detail = "it is SKEWED and STORED AS DIRECTORIES; make it again without, then run again"
            raise UnsupportedTable(about=str(name), detail=detail) from error

    def _check_values(self, name: TableName, partitions: Sequence[Partition]) -> Table:
        """Refuse values that a metastore would refuse late, or with a poor message."""
        table = self.table(name)
        for each in partitions:
            if len(each.values) != len(table.keys):
                raise BadMetadata(about=str(name), detail=f"the values {each.values} for the keys {table.key_names}")
        if len({table.partition_name(each) for each in partitions}) < len(partitions):
            raise CatalogAlreadyExists(about=str(name), detail="one partition comes twice")
        return table


def _get_table(java: Java, stub: JavaObject, name: TableName) -> JavaObject:
    """By request, which is all that Hive 4 knows; those before 2.3 do not know it."""
    try:
        return stub.get_table_req(java.api.GetTableRequest(name.database, name.table)).getTable()
    except Py4JJavaError as error:
        if not is_unknown_call(error):
            raise
    return stub.get_table(name.database, name.table)


def _tables_named(database: str, names: Sequence[str]) -> Call[Struct]:
    """By request, which is all that Hive 4 knows; those before 2.3 do not know it."""

    def fetch(java: Java, stub: JavaObject) -> Struct:
        request = java.api.GetTablesRequest(database)
        request.setTblNames(java.list(names))
        try:
            return java.struct(stub.get_table_objects_by_name_req(request))
        except Py4JJavaError as error:
            if not is_unknown_call(error):
                raise
        found = java.api.GetTablesResult()
        found.setTables(stub.get_table_objects_by_name(database, java.list(names)))
        return java.struct(found)

    return fetch


def _listing(name: TableName) -> Call[tuple[str, ...]]:
    return lambda java, stub: java.texts(stub.get_partition_names(name.database, name.table, _ALL))


def _fetching(name: TableName, names: Sequence[str]) -> Call[Struct]:
    def fetch(java: Java, stub: JavaObject) -> Struct:
        found = java.api.AddPartitionsResult()
        found.setPartitions(stub.get_partitions_by_names(name.database, name.table, java.list(names)))
        return java.struct(found)

    return fetch


def _events(request: Struct) -> Call[Struct]:
    return lambda java, stub: java.struct(
        stub.get_next_notification(java.filled(java.api.NotificationEventRequest(), request))
    )


def _alter(java: Java, stub: JavaObject, name: TableName, changed: Sequence[Struct]) -> None:
    request = java.filled(java.api.AddPartitionsRequest(), thrift.add_request(name, changed))
    stub.alter_partitions_with_environment_context(name.database, name.table, request.getParts(), _context(java))


def _context(java: Java) -> JavaObject:
    return java.filled(java.api.EnvironmentContext(), {"1": thrift.texts_map(_KEEP_FIGURES)})

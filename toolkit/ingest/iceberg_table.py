"""An Iceberg table that transactions are committed to, by PyIceberg.

A commit happens on the state that the caller saw, or not at all. The library loads the table anew and compares
only the snapshot, so a commit that sets properties alone would pass: `_AssertState` compares them too, with the
metadata that the catalog's compare-and-set is made against.

Each append may merge manifests, as Iceberg's own writers do, so that neither planning nor commits become slower with
the number of commits. The format's 8 MB would let each merge rewrite up to 50,000 entries; here 200 do, in 0.1 s.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, ClassVar

import pyarrow as pa
from pyiceberg.catalog import Catalog
from pyiceberg.exceptions import CommitFailedException, CommitStateUnknownException, NoSuchTableError
from pyiceberg.manifest import DataFile as LibraryFile
from pyiceberg.table import FileScanTask, Table, Transaction
from pyiceberg.table.metadata import TableMetadata
from pyiceberg.table.update import AssertTableUUID, TableUpdate, update_table_metadata
from pyiceberg.table.update.snapshot import ExpireSnapshots
from typing_extensions import override

from toolkit.ingest.errors import (
    CatalogUnreachable,
    CommitConflict,
    CommitUnknown,
    NoSuchIngestTable,
    SchemaChanged,
    StoreFailed,
)
from toolkit.ingest.iceberg_files import IcebergFileWriter, partition_of, portable_io
from toolkit.ingest.iceberg_merge import IcebergFileMerge, require_whole
from toolkit.ingest.iceberg_types import spark_name
from toolkit.ingest.iceberg_upkeep import (
    expirable,
    oldest_was_current_until,
    remove_unreferenced,
    scan_filter,
    unreferenced,
)
from toolkit.ingest.library_errors import FAILURES, cause_of
from toolkit.ingest.port import (
    TRANSACTIONS_KEY,
    WRITER_PROPERTY,
    DataFile,
    FileMerge,
    IngestColumn,
    IngestTable,
    Partition,
    TableCommit,
    TableState,
    UnreferencedFile,
)

MERGE = "commit.manifest-merge.enabled"
MERGED_BYTES = "commit.manifest.target-size-bytes"
_BYTES_OF_8_COLUMNS = 32 * 1024
"""Size of a merged manifest for every 8 columns, unless the table sets one: some 200 entries with column bounds."""
_LOST = (CommitStateUnknownException, *FAILURES)


def _validate(requirement: _AssertState, base_metadata: TableMetadata | None) -> None:
    AssertTableUUID.validate(requirement, base_metadata)
    if base_metadata is None or _compared(_state(base_metadata)) != requirement.expected:
        raise CommitFailedException


class _AssertState(AssertTableUUID):
    """Requirement that the table is in the state that a commit was made for."""

    expected: tuple[object, ...]
    validate: ClassVar[Any] = _validate  # as a method it would not fit the type of pydantic's method of that name


class _Changes(Transaction):
    """Changes to a table that become one commit.

    The library copies the metadata, with every snapshot, each time that it looks at them, which it does 15 times for an
    append: three quarters of the time of a commit. Here it copies them once after each change.
    """

    _known: tuple[tuple[TableUpdate, ...], TableMetadata] | None = None

    @property
    @override
    def table_metadata(self) -> TableMetadata:
        updates = self._updates
        if self._known is None or self._known[0] is not updates:
            self._known = updates, update_table_metadata(self._table.metadata, updates)
        return self._known[1]


def _compared(state: TableState) -> tuple[object, ...]:
    return (state.snapshot_id, state.schema_id, state.snapshots, tuple(sorted(state.properties.items())))


def _state(metadata: TableMetadata) -> TableState:
    schema = metadata.schema()
    return TableState(
        snapshot_id=metadata.current_snapshot_id,
        schema_id=metadata.current_schema_id,
        columns=tuple(
            IngestColumn(name=one.name, type=spark_name(one.field_type), is_required=one.required)
            for one in schema.fields
        ),
        partition_columns=tuple(schema.find_column_name(one.source_id) or "" for one in metadata.spec().fields),
        properties={key: value for key, value in metadata.properties.items() if key.startswith("feedctl.")},
        snapshots=len(metadata.snapshots),
        location=metadata.location,
        oldest_until=oldest_was_current_until(metadata),
    )


def _ids(text: str) -> Iterator[int]:
    for part in filter(None, text.split(",")):
        first, _, last = part.partition("-")
        yield from range(int(first), int(last or first) + 1)


@dataclass(frozen=True, kw_only=True)
class IcebergTable(IngestTable):
    """A table of a catalog: state, data files and commits.

    Attributes:
        place: address of the catalog, without secrets.
        catalog: of the library.
        identifier: namespace and table.
    """

    place: str
    catalog: Catalog
    identifier: tuple[str, str]
    _seen: list[Table] = field(default_factory=list, init=False, repr=False, compare=False)

    @property
    @override
    def name(self) -> str:
        return ".".join((self.catalog.name, *self.identifier))

    def _load(self) -> Table:
        with self._looking():
            found = self.catalog.load_table(self.identifier)
        self._seen[:] = [found]
        return found

    def _last_seen(self) -> Table:
        """Return the table as it was at the last look: enough for what a commit compares again."""
        return next(iter(self._seen), None) or self._load()

    @contextmanager
    def _looking(self) -> Iterator[None]:
        try:
            yield
        except NoSuchTableError:
            raise NoSuchIngestTable(table=self.name) from None
        except FAILURES as error:
            raise CatalogUnreachable(place=self.place, cause=cause_of(error)) from None

    @override
    def state(self) -> TableState:
        return _state(self._load().metadata)

    @override
    def write(self, rows: pa.Table, name: str) -> tuple[DataFile, ...]:
        table = self._last_seen()
        return IcebergFileWriter(name=self.name, metadata=table.metadata, io=table.io).write(rows, name)

    @override
    def file_writer(self) -> IcebergFileWriter:
        return IcebergFileWriter.portable(self.name, self._load())

    @override
    def commit(self, commit: TableCommit, base: TableState) -> None:
        table = self._fitting(commit.files, base)
        try:
            transaction = self._prepared(table, commit)
        except OSError as error:
            raise StoreFailed(table=self.name, cause=str(error)) from None
        self._apply(table, transaction, base)

    def _fitting(self, files: Sequence[DataFile], base: TableState) -> Table:
        """Return the table in a state, after a check that it is in it and that files fit it."""
        if any(file.token[0] != base.schema_id for file in files):
            raise SchemaChanged(table=self.name, change="the files have another schema")
        table = self._last_seen()
        if _compared(_state(table.metadata)) != _compared(base):
            table = self._load()
        if any(file.token[2] != table.metadata.table_uuid for file in files):
            raise SchemaChanged(table=self.name, change="the table was dropped and created anew")
        if _compared(_state(table.metadata)) != _compared(base):
            raise CommitConflict(table=self.name)
        return table

    def _apply(self, table: Table, transaction: Transaction, base: TableState) -> None:
        expected = _AssertState(uuid=table.metadata.table_uuid, expected=_compared(base))
        required = (*transaction._requirements, expected)  # noqa: SLF001
        with self._committing():
            # Not `commit_transaction`: it would retry on a state that the caller has not seen.
            table._do_commit(updates=transaction._updates, requirements=required)  # noqa: SLF001

    def _prepared(self, table: Table, commit: TableCommit) -> Transaction:
        transaction = _Changes(table)
        if commit.files:
            summary = {TRANSACTIONS_KEY: ",".join(map(str, sorted(commit.transactions)))}
            append = transaction.update_snapshot(snapshot_properties=summary).merge_append()
            # The library's default is off, the format's is on.
            append._merge_enabled = table.metadata.properties.get(MERGE, "true") != "false"  # noqa: SLF001
            if MERGED_BYTES not in table.metadata.properties:
                width = -(-len(table.schema().fields) // 8)
                append._target_size_bytes = _BYTES_OF_8_COLUMNS * width  # noqa: SLF001
            with append:
                for file in commit.files:
                    append.append_data_file(file.token[1])
        if commit.properties:
            transaction.set_properties(dict(commit.properties))
        return transaction

    @contextmanager
    def _committing(self) -> Iterator[None]:
        try:
            yield
        except CommitFailedException:
            raise CommitConflict(table=self.name) from None
        except NoSuchTableError:
            raise NoSuchIngestTable(table=self.name) from None
        except _LOST as error:
            raise CommitUnknown(table=self.name, cause=cause_of(error)) from None

    @override
    def committed(self, transactions: Collection[int]) -> frozenset[int]:
        metadata = self._load().metadata
        # A commit of progress alone, as of an empty file, has no snapshot.
        progress = (text for key, text in metadata.properties.items() if key.startswith(WRITER_PROPERTY))
        found = {int(json.loads(text)["transaction"]) for text in progress}
        for snapshot in metadata.snapshots:
            if snapshot.summary is not None:
                found.update(_ids(snapshot.summary.additional_properties.get(TRANSACTIONS_KEY, "")))
        return frozenset(found.intersection(transactions))

    @override
    def discard(self, files: Sequence[DataFile]) -> None:
        io = self._last_seen().io
        for file in files:
            with self._looking(), suppress(FileNotFoundError):
                io.delete(file.uri)

    @override
    def files(self, partitions: Collection[Partition] | None = None) -> Sequence[DataFile]:
        wanted = None if partitions is None else frozenset(partitions)
        every = (_data_file(task.file) for task in self._tasks(self._load(), wanted))
        return [one for one in every if wanted is None or one.partition in wanted]

    def _tasks(self, table: Table, partitions: Collection[Partition] | None) -> Sequence[FileScanTask]:
        if partitions is not None and not partitions:
            return []
        columns = _state(table.metadata).partition_columns
        with self._looking():
            return list(table.scan(row_filter=scan_filter(columns, partitions)).plan_files())

    @override
    def merges(self, groups: Sequence[Sequence[DataFile]], name: str) -> Sequence[FileMerge]:
        table = self._load()
        found = self._found(table, [each for group in groups for each in group])
        return [
            IcebergFileMerge(
                table=self.name,
                metadata=table.metadata,
                io=portable_io(table),
                tasks=tuple(found[each.uri] for each in group),
                name=f"{name}-{number}",
            )
            for number, group in enumerate(groups)
        ]

    def _found(self, table: Table, files: Sequence[DataFile]) -> dict[str, FileScanTask]:
        tasks = {task.file.file_path: task for task in self._tasks(table, {each.partition for each in files})}
        if any(each.uri not in tasks for each in files):
            raise CommitConflict(table=self.name)
        return tasks

    @override
    def replace(
        self, old: Sequence[DataFile], new: Sequence[DataFile], properties: Mapping[str, str], base: TableState
    ) -> None:
        table = self._fitting(new, base)
        found = self._found(table, old)
        if new:  # another engine may have deleted rows since these were written
            require_whole(self.name, [found[each.uri] for each in old])
        transaction = _Changes(table)
        try:
            with transaction.update_snapshot().overwrite() as overwrite:
                for each in old:
                    overwrite.delete_data_file(found[each.uri].file)
                for each in new:
                    overwrite.append_data_file(each.token[1])
        except OSError as error:
            raise StoreFailed(table=self.name, cause=str(error)) from None
        if properties:
            transaction.set_properties(dict(properties))
        self._apply(table, transaction, base)

    @override
    def unreferenced(self) -> Sequence[UnreferencedFile]:
        table = self._load()
        with self._looking():
            return unreferenced(table)

    @override
    def remove_unreferenced(self, files: Sequence[UnreferencedFile]) -> None:
        table = self._load()
        with self._looking():
            remove_unreferenced(table, files)

    @override
    def expire(
        self,
        *,
        older_than: datetime,
        keep_since: datetime | None,
        keep_last: int,
        replaced_since: datetime | None = None,
    ) -> int:
        table = self._load()
        old = expirable(
            table.metadata,
            older_than=older_than,
            keep_since=keep_since,
            keep_last=keep_last,
            replaced_since=replaced_since,
        )
        if old:
            transaction = _Changes(table)
            ExpireSnapshots(transaction).by_ids(list(old)).commit()
            self._apply(table, transaction, _state(table.metadata))
        return len(old)


def _data_file(file: LibraryFile) -> DataFile:
    return DataFile(
        uri=file.file_path, partition=partition_of(file), rows=file.record_count, bytes=file.file_size_in_bytes
    )

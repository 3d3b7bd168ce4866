"""Writing data files of an Iceberg table by its metadata alone: no catalog is asked, so any machine can do it."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field

import pyarrow as pa
import pyarrow.parquet as pq
from pyiceberg.io import FileIO, load_file_io
from pyiceberg.io.pyarrow import (
    compute_statistics_plan,
    data_file_statistics_from_parquet_metadata,
    parquet_path_to_id_mapping,
    schema_to_pyarrow,
)
from pyiceberg.manifest import DataFile as LibraryFile
from pyiceberg.manifest import DataFileContent, FileFormat
from pyiceberg.table import Table
from pyiceberg.table.locations import load_location_provider
from pyiceberg.table.metadata import TableMetadata
from typing_extensions import override

from toolkit.ingest.errors import SchemaChanged, StoreFailed
from toolkit.ingest.iceberg_types import split_rows
from toolkit.ingest.iceberg_upkeep import NULL
from toolkit.ingest.port import DataFile, FileWriter, Partition

_STORES = ("py-io-impl", "s3.", "gcs.", "adls.", "hdfs.", "client.")
"""Beginnings of the settings that the library opens stores with; the others are of the catalog, some with secrets."""


@dataclass(frozen=True, kw_only=True)
class IcebergFileWriter(FileWriter):
    """Writer of data files.

    Attributes:
        name: of the table.
        metadata: of the table.
        io: opens its store.
    """

    name: str
    metadata: TableMetadata
    io: FileIO = field(repr=False)

    @classmethod
    def portable(cls, name: str, table: Table) -> IcebergFileWriter:
        """Return a writer for other machines: it has the settings of the store, and none of the catalog."""
        return cls(name=name, metadata=table.metadata, io=portable_io(table))

    @override
    def write(self, rows: pa.Table, name: str) -> tuple[DataFile, ...]:
        schema = schema_to_pyarrow(self.metadata.schema())
        try:
            given = set(rows.column_names)
            absent = {one.name: pa.nulls(rows.num_rows, one.type) for one in schema if one.name not in given}
            if unknown := given - set(schema.names):
                raise SchemaChanged(table=self.name, change=f"there is no column {min(unknown)}")
            columns = [absent[one.name] if one.name in absent else rows[one.name] for one in schema]
            fitting = pa.table(columns, names=schema.names).cast(schema)
        except (pa.ArrowInvalid, pa.ArrowNotImplementedError, ValueError) as error:
            raise SchemaChanged(table=self.name, change=str(error)) from None
        found = self.metadata.schema().find_column_name
        parts = list(split_rows(fitting, [found(one.source_id) or "" for one in self.metadata.spec().fields]))
        return tuple(self._write(part, f"{name}-{number:05}") for number, part in enumerate(parts))

    def _write(self, rows: pa.Table, name: str) -> DataFile:
        provider = load_location_provider(self.metadata.location, self.metadata.properties)
        uri = provider.new_data_location(f"{name}.parquet")
        content, written = pa.BufferOutputStream(), list[pq.FileMetaData]()
        pq.write_table(rows, content, compression="zstd", metadata_collector=written)
        data = content.getvalue()
        try:
            # Not over a file that is there: with a ledger that was restored the name may be another transaction's.
            with self.io.new_output(uri).create() as output:
                output.write(data)
        except OSError as error:
            raise StoreFailed(table=self.name, cause=str(error)) from None
        return written_file(self.metadata, uri, written[0], len(data))

    @override
    def discard(self, files: Sequence[DataFile]) -> None:
        for file in files:
            with suppress(FileNotFoundError):
                self.io.delete(file.uri)


def portable_io(table: Table) -> FileIO:
    """Return what opens the store of a table, with the settings of the store alone; it can be pickled."""
    given = {key: value for key, value in table.io.properties.items() if key.startswith(_STORES)}
    return load_file_io(given, table.location())


def written_file(metadata: TableMetadata, uri: str, written: pq.FileMetaData, size: int) -> DataFile:
    """Describe a file by what its writer knows; the library would read it again, two requests on an object store.

    Args:
        metadata: of the table.
        uri: of the file.
        written: metadata of its content.
        size: in bytes.
    """
    schema, spec = metadata.schema(), metadata.spec()
    statistics = data_file_statistics_from_parquet_metadata(
        written, compute_statistics_plan(schema, metadata.properties), parquet_path_to_id_mapping(schema)
    )
    file = LibraryFile.from_args(
        content=DataFileContent.DATA,
        file_path=uri,
        file_format=FileFormat.PARQUET,
        partition=statistics.partition(spec, schema),
        file_size_in_bytes=size,
        sort_order_id=None,
        spec_id=spec.spec_id,
        equality_ids=None,
        key_metadata=None,
        **statistics.to_serialized_dict(),
    )
    return DataFile(
        uri=uri,
        partition=partition_of(file),
        rows=file.record_count,
        bytes=size,
        token=(metadata.current_schema_id, file, metadata.table_uuid),
    )


def partition_of(file: LibraryFile) -> Partition:
    """Return the partition of a data file of the library."""
    values = [file.partition[index] for index in range(len(file.partition))]
    return tuple(NULL if value is None else str(value) for value in values)

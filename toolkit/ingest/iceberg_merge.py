"""Merging data files of an Iceberg table by its metadata alone: no catalog is asked, so any machine can do it."""

from __future__ import annotations

import uuid
from collections.abc import Collection
from contextlib import suppress
from dataclasses import dataclass, field

import pyarrow as pa
import pyarrow.parquet as pq
from pyiceberg.expressions import AlwaysTrue
from pyiceberg.io import FileIO
from pyiceberg.io.pyarrow import ArrowScan, schema_to_pyarrow
from pyiceberg.table import FileScanTask
from pyiceberg.table.locations import load_location_provider
from pyiceberg.table.metadata import TableMetadata
from typing_extensions import override

from toolkit.ingest.errors import StoreFailed
from toolkit.ingest.iceberg_files import written_file
from toolkit.ingest.port import DataFile, FileMerge


@dataclass(frozen=True, kw_only=True)
class IcebergFileMerge(FileMerge):
    """A merge of data files of one partition.

    Attributes:
        table: its name.
        metadata: of the table.
        io: opens its store.
        tasks: the files.
        name: the name of the new file begins with it; each attempt has a name of its own.
    """

    table: str
    metadata: TableMetadata
    io: FileIO = field(repr=False)
    tasks: tuple[FileScanTask, ...]
    name: str

    @override
    def written(self) -> DataFile:
        require_whole(self.table, self.tasks)
        provider = load_location_provider(self.metadata.location, self.metadata.properties)
        uri = provider.new_data_location(f"{self.name}-{uuid.uuid4().hex[:8]}.parquet")
        try:
            merged = self._write(uri)
        except (OSError, pa.ArrowInvalid) as error:
            with suppress(OSError):  # else compaction removes it, when it is old
                self.io.delete(uri)
            raise StoreFailed(table=self.table, cause=str(error)) from None
        if (expected := sum(each.file.record_count for each in self.tasks)) != merged.rows:
            cause = f"the files have {merged.rows} rows, and their metadata say {expected}"
            raise StoreFailed(table=self.table, cause=cause)
        return merged

    def _write(self, uri: str) -> DataFile:
        """Write the rows, one file after the other in memory."""
        wanted, written = self.metadata.schema(), list[pq.FileMetaData]()
        schema = schema_to_pyarrow(wanted)
        with self.io.new_output(uri).create() as output:
            with pq.ParquetWriter(output, schema, compression="zstd", metadata_collector=written) as writer:
                for task in self.tasks:
                    for batch in ArrowScan(self.metadata, self.io, wanted, AlwaysTrue()).to_record_batches([task]):
                        writer.write_table(pa.Table.from_batches([batch]).select(schema.names).cast(schema))
            size = output.tell()
        return written_file(self.metadata, uri, written[0], size)


def require_whole(table: str, tasks: Collection[FileScanTask]) -> None:
    """Check that no row of data files is marked as deleted: it would come back in another file.

    Raises:
        StoreFailed: another engine has marked one.
    """
    if any(task.delete_files for task in tasks):
        cause = "rows of a file are marked as deleted by another engine; let that engine rewrite its files"
        raise StoreFailed(table=table, cause=cause)

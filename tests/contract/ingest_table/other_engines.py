"""Deletes rows of an Iceberg table by delete files (format 2), as Spark does; PyIceberg cannot write them."""

from __future__ import annotations

import uuid
from typing import Any, cast

import pyarrow as pa
import pyarrow.parquet as pq
from pyiceberg.manifest import (
    DataFile,
    DataFileContent,
    FileFormat,
    ManifestContent,
    ManifestEntry,
    ManifestEntryStatus,
    ManifestWriterV2,
    write_manifest_list,
)
from pyiceberg.table.refs import SnapshotRefType
from pyiceberg.table.snapshots import Operation, Snapshot, Summary
from pyiceberg.table.update import AddSnapshotUpdate, SetSnapshotRefUpdate
from pyiceberg.typedef import Record
from typing_extensions import override

from toolkit.ingest.iceberg_table import IcebergTable

_snapshot, _set_reference = cast("Any", Snapshot), cast("Any", SetSnapshotRefUpdate)
"""Without types: those that pydantic shows to mypy are not those of the calls."""


class _DeletesWriter(ManifestWriterV2):
    @override
    def content(self) -> ManifestContent:
        return ManifestContent.DELETES

    @property
    @override
    def _meta(self) -> dict[str, str]:
        return {**super()._meta, "content": "deletes"}


def mark_deleted(table: IcebergTable, uri: str, row: int) -> None:
    """Commit that a row of a data file is deleted, as Spark's merge-on-read does."""
    loaded = table.catalog.load_table(table.identifier)
    current = loaded.current_snapshot()
    assert current is not None
    task = next(each for each in loaded.scan().plan_files() if each.file.file_path == uri)
    base, name, number = f"{loaded.location()}/metadata", uuid.uuid4(), uuid.uuid4().int >> 65
    deletes = f"{loaded.location()}/data/{name}-deletes.parquet"
    with loaded.io.new_output(deletes).create() as output:
        pq.write_table(pa.table({"file_path": [uri], "pos": pa.array([row], pa.int64())}), output)
    file = DataFile.from_args(
        content=DataFileContent.POSITION_DELETES,
        file_path=deletes,
        file_format=FileFormat.PARQUET,
        partition=Record(*(task.file.partition[at] for at in range(len(task.file.partition)))),
        record_count=1,
        file_size_in_bytes=len(loaded.io.new_input(deletes)),
    )
    output_file = loaded.io.new_output(f"{base}/{name}-m0.avro")
    with _DeletesWriter(loaded.spec(), loaded.schema(), output_file, number, "deflate") as writer:
        writer.add_entry(ManifestEntry.from_args(status=ManifestEntryStatus.ADDED, snapshot_id=number, data_file=file))
    sequence, listed = (current.sequence_number or 0) + 1, f"{base}/snap-{number}-0-{name}.avro"
    with write_manifest_list(
        2, loaded.io.new_output(listed), number, current.snapshot_id, sequence, "deflate"
    ) as manifests:
        manifests.add_manifests([*current.manifests(loaded.io), writer.to_manifest_file()])
    snapshot = _snapshot(
        snapshot_id=number,
        parent_snapshot_id=current.snapshot_id,
        sequence_number=sequence,
        manifest_list=listed,
        summary=Summary(Operation.DELETE),
        schema_id=loaded.metadata.current_schema_id,
    )
    moved = _set_reference(ref_name="main", type=SnapshotRefType.BRANCH, snapshot_id=number)
    loaded._do_commit(updates=(AddSnapshotUpdate(snapshot=snapshot), moved), requirements=())  # noqa: SLF001

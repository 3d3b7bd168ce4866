"""Maintenance of Iceberg tables: merging of data files, snapshots that may go, and files to which nothing refers."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from itertools import pairwise
from pathlib import Path
from typing import Any, cast

import pyarrow.fs as pf
from pyiceberg.expressions import AlwaysTrue, And, BooleanExpression, EqualTo, IsNull, Or
from pyiceberg.io.pyarrow import PyArrowFileIO
from pyiceberg.manifest import ManifestFile
from pyiceberg.serializers import FromInputFile
from pyiceberg.table import Table
from pyiceberg.table.metadata import TableMetadata
from pyiceberg.table.snapshots import Operation, Snapshot

from toolkit.ingest.errors import CommitConflict, LocationIsShared, StoreFailed
from toolkit.ingest.port import Partition, UnreferencedFile

NULL = "__HIVE_DEFAULT_PARTITION__"
MOST_FILTERED = 50
"""So many partitions are a filter of a scan, by which manifests are left out; for more of them all are read."""
_CLOCKS_DIFFER = timedelta(minutes=10)
"""How far the clock of a host that commits, which dates a snapshot, may be behind that of the ledger's database."""
_equals, _is_null = cast("Any", EqualTo), cast("Any", IsNull)
"""Without types: those that pydantic shows to mypy are not those of the calls."""
_REPLACES = (Operation.OVERWRITE, Operation.DELETE, Operation.REPLACE)


def scan_filter(columns: Sequence[str], partitions: Collection[Partition] | None) -> BooleanExpression:
    """Return the filter of a scan that finds the files of partitions, and maybe of others."""
    if partitions is None or len(partitions) > MOST_FILTERED or not columns:
        return AlwaysTrue()
    found = [_is_in(columns, each) for each in sorted(partitions)]
    return Or(*found) if len(found) > 1 else found[0]


def _is_in(columns: Sequence[str], partition: Partition) -> BooleanExpression:
    terms: list[BooleanExpression] = [
        _is_null(column) if value == NULL else _equals(column, value)
        for column, value in zip(columns, partition, strict=True)
    ]
    return And(*terms) if len(terms) > 1 else terms[0]


def expirable(
    metadata: TableMetadata,
    *,
    older_than: datetime,
    keep_since: datetime | None,
    keep_last: int,
    replaced_since: datetime | None,
) -> Sequence[int]:
    """Return the ids of the snapshots that may go; arguments are those of `IngestTable.expire`."""
    before = min(older_than, keep_since or older_than) - (_CLOCKS_DIFFER if keep_since else timedelta())
    kept = {ref.snapshot_id for ref in metadata.refs.values()}
    if replaced_since is not None:
        kept.update(_replacements(metadata.snapshots, replaced_since - _CLOCKS_DIFFER))
    ordered = _ordered(metadata)
    last = {one.snapshot_id for one in ordered[-max(keep_last, 1) :]}
    if replaced_since is not None:
        last -= {one.snapshot_id for one, until in _followed(ordered) if until < replaced_since - _CLOCKS_DIFFER}
    return [
        one.snapshot_id
        for one, _ in _followed(ordered)
        if one.timestamp_ms < before.timestamp() * 1000 and one.snapshot_id not in kept | last
    ]


def oldest_was_current_until(metadata: TableMetadata) -> datetime | None:
    """Return when the oldest snapshot that no branch or tag names was followed by another; None: there is none."""
    kept = {ref.snapshot_id for ref in metadata.refs.values()}
    followed = _followed(_ordered(metadata))
    return next((until for one, until in followed if one.snapshot_id not in kept), None)


def _ordered(metadata: TableMetadata) -> Sequence[Snapshot]:
    return sorted(metadata.snapshots, key=lambda one: (one.sequence_number or 0, one.timestamp_ms))


def _followed(ordered: Sequence[Snapshot]) -> Iterator[tuple[Snapshot, datetime]]:
    """Yield each snapshot but the last, and the time of the next one."""
    return ((one, datetime.fromtimestamp(following.timestamp_ms / 1000, UTC)) for one, following in pairwise(ordered))


def _replacements(snapshots: Sequence[Snapshot], since: datetime) -> Iterator[int]:
    """Yield young replacements and the snapshots before them: without the one nothing says why the other stays."""
    for one in snapshots:
        is_young = one.timestamp_ms >= since.timestamp() * 1000
        parent = one.parent_snapshot_id
        if is_young and parent is not None and one.summary is not None and one.summary.operation in _REPLACES:
            yield from (parent, one.snapshot_id)


def unreferenced(table: Table) -> Sequence[UnreferencedFile]:
    """List the files below the location of a table to which nothing refers.

    Raises:
        StoreFailed: the store cannot be listed.
        LocationIsShared: another table is at the location, or below it.
        OSError: the store refuses.
    """
    system, base = _place(table)
    found = [
        each
        for each in system.get_file_info(pf.FileSelector(base, allow_not_found=True, recursive=True))
        if each.type is pf.FileType.File and not _is_elsewhere(system, base, each.path)
    ]
    used = _referenced(table)
    left = [_described(table, base, each) for each in found if each.base_name not in used]
    for each in left:
        if each.uri.endswith(".metadata.json") and not _is_of(table, each.uri):
            raise LocationIsShared(table=".".join(table.name()), found=each.uri)
    return left


def _is_of(table: Table, metadata: str) -> bool:
    """Return whether a metadata file is one of the table, or of none since it is gone or was not written to its end."""
    if metadata.rpartition("/")[0] != f"{table.location().rstrip('/')}/metadata":
        return False
    with suppress(FileNotFoundError, ValueError):
        found = FromInputFile.table_metadata(table.io.new_input(metadata))
        return found.table_uuid == table.metadata.table_uuid
    return True


def remove_unreferenced(table: Table, files: Sequence[UnreferencedFile]) -> None:
    """Remove files after a look that nothing refers to them.

    Raises:
        CommitConflict: something refers to one of them, or it is not below the table's location.
        OSError: the store refuses.
    """
    system, base = _place(table)
    used = _referenced(table)
    for each in files:
        path = _path(each.uri)
        is_below = path.startswith(f"{base}/") and ".." not in path.split("/")
        if path.rpartition("/")[2] in used or not is_below or _is_elsewhere(system, base, path):
            raise CommitConflict(table=".".join(table.name()))
    for each in files:
        with suppress(FileNotFoundError):
            table.io.delete(each.uri)


def _described(table: Table, base: str, info: pf.FileInfo) -> UnreferencedFile:
    relative = info.path.removeprefix(f"{base}/")
    return UnreferencedFile(
        uri=f"{table.location().rstrip('/')}/{relative}",
        bytes=info.size or 0,
        modified=info.mtime or datetime.now(UTC),
        is_data=not relative.startswith("metadata/"),
    )


def _place(table: Table) -> tuple[pf.FileSystem, str]:
    if not isinstance(table.io, PyArrowFileIO):
        raise StoreFailed(table=".".join(table.name()), cause=f"files of {type(table.io).__name__} cannot be listed")
    scheme, authority, path = PyArrowFileIO.parse_location(table.location(), table.io.properties)
    return table.io.fs_by_scheme(scheme, authority), path.rstrip("/")


def _path(uri: str) -> str:
    return PyArrowFileIO.parse_location(uri)[2]


def _is_elsewhere(system: pf.FileSystem, base: str, path: str) -> bool:
    """Return whether a symbolic link leads a path out of the table's directory."""
    if not isinstance(system, pf.LocalFileSystem):
        return False
    return not Path(path).resolve().is_relative_to(Path(base).resolve())


def _referenced(table: Table) -> frozenset[str]:
    """Return the names of all files that the catalog, or a snapshot that is kept, refers to.

    Names, since one file has many paths: by symbolic links, doubled slashes, a location that was changed. No two files
    of a table have one name, as all that are removed have a number of the ledger or a UUID in theirs.
    """
    metadata = table.metadata
    uris = {table.metadata_location, *(each.metadata_file for each in metadata.metadata_log)}
    uris.update(each.statistics_path for each in (*metadata.statistics, *metadata.partition_statistics))
    manifests: dict[str, ManifestFile] = {}
    for snapshot in metadata.snapshots:
        uris.add(snapshot.manifest_list)
        manifests.update((each.manifest_path, each) for each in snapshot.manifests(table.io))
    uris.update(manifests)
    for manifest in manifests.values():
        uris.update(each.data_file.file_path for each in manifest.fetch_manifest_entry(table.io, discard_deleted=True))
    return frozenset(each.rpartition("/")[2] for each in uris)

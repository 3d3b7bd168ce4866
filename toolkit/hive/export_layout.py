"""Layout of an export: Hive's own EXPORT layout, with a manifest of our own beside it (ADR 0048).

``_metadata`` describes the table and its partitions and appears last; each partition has a directory of its name, and a
table without partitions the directory ``data``. Hive's IMPORT TABLE reads it, and `read_export` what Hive's EXPORT
TABLE wrote.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import partial
from typing import TYPE_CHECKING, Any

from toolkit.availability import is_there
from toolkit.catalog.export_metadata import METADATA, BadMetadataText, read_metadata
from toolkit.catalog.model import Statistics
from toolkit.catalog.partition_name import NULL
from toolkit.foreign_json import parse_json
from toolkit.hive.errors import NoExport, NotOurs
from toolkit.hive.table_reader import TablePart
from toolkit.storage import OWN_PREFIX, FileKind, NotFound, SymlinkRefused
from toolkit.transfer.digests import DIGEST
from toolkit.transfer.trees import below, read_tree

if TYPE_CHECKING:
    from toolkit.catalog.model import Partition, Table
    from toolkit.el import CanonicalPath
    from toolkit.storage import FileSystem
    from toolkit.threads import WorkerPool

DATA, MANIFEST = "data", "_manifest.json"
MARK = f"{OWN_PREFIX}-export"
"""In a directory that an export made, from its first moment on: nothing else is ever written over."""
_FORMAT = "feedctl export 1"
_MOST = 256 << 20
"""Size of the metadata of two million files, or of some 100,000 partitions."""
_MOST_VALUES = 8_000_000


@dataclass(frozen=True, kw_only=True)
class Manifest:
    """Content of an export.

    Attributes:
        parts: name of each partition (empty: of the unpartitioned table) to what its source looked like, see
            `TablePart.fingerprint`, and its files with sizes and digests.
        description: of the table and the partitions at the source, as one digest.
    """

    description: str
    parts: Mapping[str, ExportedPart] = field(default_factory=dict)

    def encoded(self) -> bytes:
        """Return the text of the file."""
        parts = {
            name: {"source": part.source, "files": {file: list(each) for file, each in sorted(part.files.items())}}
            for name, part in sorted(self.parts.items())
        }
        document = {"format": _FORMAT, "digest": DIGEST, "description": self.description, "partitions": parts}
        return json.dumps(document, indent=1, ensure_ascii=False).encode(errors="surrogateescape")


@dataclass(frozen=True, kw_only=True)
class ExportedPart:
    """A partition of an export.

    Attributes:
        source: the fingerprint that it had where it was exported from.
        files: size and digest of each.
    """

    source: str
    files: Mapping[str, tuple[int, str]]


def data_of(export: CanonicalPath, name: str) -> CanonicalPath:
    """Return the directory of a partition in an export; for an empty name that of the unpartitioned table."""
    return below(export, name or DATA)


def read_manifest(system: FileSystem, export: CanonicalPath) -> Manifest | None:
    """Return the manifest; None: there is none, as of an export by Hive.

    Raises:
        NoExport: it is none that could be understood.
        StorageError: it cannot be read.
    """
    path = export.child(MANIFEST)
    try:
        document: Any = parse_json(_bytes(system, path), most_bytes=_MOST, most_values=_MOST_VALUES)
        if document["format"] != _FORMAT or document["digest"] != DIGEST:
            raise NoExport(path=path, detail=f"expected format {_FORMAT!r} and digest {DIGEST!r}")
        parts = {name: _exported(each) for name, each in document["partitions"].items()}
        return Manifest(description=str(document["description"]), parts=parts)
    except NotFound:
        return None
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise NoExport(path=path, detail=f"it is no manifest: {type(error).__name__} {str(error)[:200]}") from error


def _exported(document: Mapping[str, Any]) -> ExportedPart:
    files = {str(name): (int(size), str(digest)) for name, (size, digest) in document["files"].items()}
    return ExportedPart(source=str(document["source"]), files=files)


@dataclass(frozen=True, kw_only=True)
class StoredExport:
    """Export that was read.

    Attributes:
        directory: where it is.
        table: its definition.
        partitions: by their names; of an unpartitioned table none.
        manifest: None: there is none.
    """

    directory: CanonicalPath
    table: Table
    partitions: Mapping[str, Partition]
    manifest: Manifest | None


def read_export(system: FileSystem, directory: CanonicalPath) -> StoredExport:
    """Return an export by its ``_metadata``; its data are not read.

    Raises:
        NoExport: it has no ``_metadata``, or one that was cut, or two partitions of one name; or it is one of ours of
            which the manifest is missing, or is of another ``_metadata``.
        SymlinkRefused: the directory, or what tells of it, is a symbolic link.
        StorageError: it cannot be read.
    """
    path = directory.child(METADATA)
    if system.capabilities.directories:
        for each in (directory, path, directory.child(MANIFEST)):
            _require_no_link(system, each)
    try:
        text = _bytes(system, path)
        table, partitions = read_metadata(text)
    except NotFound as error:
        raise NoExport(path=directory, detail=f"it has no {METADATA}, which is written last") from error
    except BadMetadataText as error:
        raise NoExport(path=path, detail=str(error)) from error
    named: dict[str, Partition] = {}
    for partition in partitions:
        name = table.partition_name(tuple(value or NULL for value in partition.values))
        if name in named or any(part in {".", ".."} for part in name.split("/")):
            raise NoExport(path=path, detail=f"the partition {name} is there twice, or is no name")
        named[name] = partition
    manifest = read_manifest(system, directory)
    if manifest is None and is_there(system, directory.child(MARK)):
        raise NoExport(path=directory, detail=f"{MANIFEST} is missing, which feedctl writes before {METADATA}")
    if manifest is not None and manifest.description != hashlib.sha256(text).hexdigest():
        raise NoExport(path=path, detail=f"it is not the one that {MANIFEST} was written with")
    return StoredExport(directory=directory, table=table, partitions=named, manifest=manifest)


def parts_of(
    export: StoredExport, names: list[str], system: FileSystem, pool: WorkerPool, check: Callable[[], None]
) -> tuple[TablePart, ...]:
    """Return the data of partitions of an export.

    Raises:
        NoExport: data that the manifest names are missing, or others are there; or, without one, fewer than counted.
        SymlinkRefused: a symbolic link is on the way to them.
        StorageError: they cannot be listed.
    """
    found: dict[str, TablePart] = {}
    if system.capabilities.directories:
        paths = {below(export.directory, each) for name in names for each in paths_to(name or DATA)}
        pool.run_all(partial(_require_no_link, system), sorted(paths))

    def look(name: str) -> None:
        place = data_of(export.directory, name)
        # Hive makes no directory for a partition without files.
        tree = read_tree(system, place, check, directories=False) or {}
        part = TablePart(name=name, partition=export.partitions.get(name), place=place, tree=tree)
        if export.manifest is None:
            _require_figures(part, export.table)
        found[name] = _with_digests(part, export.manifest)

    pool.run_all(look, names)
    return tuple(found[name] for name in names)


def _require_figures(part: TablePart, table: Table) -> None:
    """Refuse data that are fewer than the metastore counted; it counts no files whose names are hidden."""
    counted = Statistics.of(table.parameters if part.partition is None else part.partition.parameters)
    found = {"numFiles": (len(part.files), counted.files or 0), "totalSize": (part.bytes, counted.size or 0)}
    less = [f"{name} says {figure}, found {has}" for name, (has, figure) in found.items() if has < figure]
    if less:
        raise NoExport(path=part.place, detail=f"data are missing: {'; '.join(less)}")


def paths_to(name: str) -> Iterator[str]:
    """Yield a path and the paths of all directories around it."""
    while name:
        yield name
        name = name.rpartition("/")[0]


def _require_no_link(system: FileSystem, path: CanonicalPath) -> None:
    """Refuse a symbolic link: what it points to may be anything."""
    with suppress(NotFound):
        if system.status(path).kind is FileKind.SYMLINK:
            raise SymlinkRefused(path=path)


def _with_digests(part: TablePart, manifest: Manifest | None) -> TablePart:
    if manifest is None:
        return part
    exported = manifest.parts.get(part.name)
    sizes = {} if exported is None else {name: size for name, (size, _) in exported.files.items()}
    if exported is None or sizes != part.files:
        names = sorted(set(sizes) ^ set(part.files)) or sorted(
            name for name in sizes if sizes[name] != part.files[name]
        )
        first = f", for example {names[0]}" if names else ""
        raise NoExport(path=part.place, detail=f"its files are not those of {MANIFEST}{first}")
    digests = {name: digest for name, (_, digest) in exported.files.items()}
    return replace(part, digests=digests, source=exported.source)


def require_ours(system: FileSystem, directory: CanonicalPath) -> bool:
    """Return whether a directory is there, which is then empty or was made by an export.

    Raises:
        NotOurs: it is another one.
        SymlinkRefused: it is a symbolic link.
    """
    if system.capabilities.directories:
        _require_no_link(system, directory)
    if is_there(system, directory.child(MARK)):
        return True
    try:
        names = [entry.name for entry in system.list(directory)]
    except NotFound:
        return False
    if names:
        raise NotOurs(path=directory, detail=f"for example {names[0]}")
    return True


def _bytes(system: FileSystem, path: CanonicalPath) -> bytes:
    with system.read(path, length=_MOST + 1) as stream:
        text = stream.read()
    if len(text) > _MOST:
        raise NoExport(path=path, detail=f"it has more than {_MOST >> 20} MiB")
    return text

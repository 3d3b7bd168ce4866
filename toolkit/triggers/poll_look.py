"""One look at data that others write: what is there, as a fingerprint by the method of its poll."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING

from toolkit.availability.hidden import is_being_copied
from toolkit.availability.presence import is_there, refuse_odd
from toolkit.availability.visible_files import visible_files
from toolkit.catalog.errors import ForeignLocation
from toolkit.catalog.model import TableName
from toolkit.catalog.written_places import partition_names_of
from toolkit.el import microseconds_of
from toolkit.entities.trigger_vocabulary import PollBy
from toolkit.planning.polls import FileMark, PollFingerprint, missing
from toolkit.storage import Entry, NotFound, Unsupported, WrongKind, find_status

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from toolkit.catalog.port import Metastore
    from toolkit.el import CanonicalPath, TableUri
    from toolkit.storage import FileSystem

_CHUNK = 1 << 20


def look_at_path(system: FileSystem, path: CanonicalPath, by: PollBy, flag: str = "") -> PollFingerprint | None:
    """Return the fingerprint of a directory or a file; None: it is being written.

    It is being written while its availability flag is not there, while a directory without a flag has no file, while a
    file has the name that `hadoop fs -put` gives it until it is complete, and when a directory went during the look.

    Args:
        system: the store.
        path: the data.
        by: what is compared.
        flag: the name of the availability flag; empty: there is none.

    Raises:
        Unsupported: the store has no checksums (`etag`), or something odd is there.
        StorageError: it cannot be looked at.
    """
    if flag and not is_there(system, path.child(flag)):
        return None if is_there(system, path) else missing(by)
    if by is PollBy.FLAG:
        return _flagged(system, path.child(flag) if flag else path)
    try:
        return _of_files(system, path, by, flag)
    except NotFound:
        return None


def look_at_partitions(
    metastore: Metastore,
    table: TableUri,
    values: Mapping[str, str],
    by: PollBy,
    stored: Callable[[str], tuple[FileSystem, CanonicalPath]],
) -> PollFingerprint | None:
    """Return the fingerprint of the partitions of an instance of a table; None: they are being written.

    Args:
        metastore: has the table.
        table: of the feed.
        values: key to value of the instance.
        by: what is compared; with `flag` the names of the partitions.
        stored: from the location of a partition to its store and path.

    Raises:
        CatalogError: there is no such table, or the metastore refuses.
        StorageError: the files of a partition cannot be looked at.
    """
    found = metastore.table(TableName(table.database, table.table))
    wanted = {key.lower(): value for key, value in values.items()}
    partitions = metastore.partitions(found.name, partition_names_of(metastore, found, wanted))
    marks: list[FileMark] = []
    for each in partitions:
        name = found.partition_name(each)
        marks.append(FileMark(name, 0, None, "partition"))
        if each.refusal:
            raise ForeignLocation(about=f"{found.name}/{name}", detail=each.refusal)
        if by is PollBy.FLAG:
            continue
        system, path = stored(each.location)
        look = _marks(system, path, by, "")
        if look is None:
            return None
        marks.extend(mark._replace(name=f"{name}/{mark.name}") for mark in look)
    return PollFingerprint.of(by, marks) if marks else missing(by)


def _flagged(system: FileSystem, path: CanonicalPath) -> PollFingerprint:
    """Return the fingerprint of a flag; of data without one that it is there."""
    found = find_status(system, path)
    if found is None:
        return missing(PollBy.FLAG)
    refuse_odd(path, found.kind)
    is_file = found.kind == "file"
    mark = f"{found.size}:{microseconds_of(found.modified)}" if is_file else "directory"
    return PollFingerprint.of(PollBy.FLAG, [FileMark(path.name, found.size, found.modified if is_file else None, mark)])


def _of_files(system: FileSystem, path: CanonicalPath, by: PollBy, flag: str) -> PollFingerprint | None:
    marks = _marks(system, path, by, flag)
    if marks is None:
        return None
    if marks or flag:
        return PollFingerprint.of(by, marks)
    return None if is_there(system, path) else missing(by)


def _marks(system: FileSystem, path: CanonicalPath, by: PollBy, flag: str) -> list[FileMark] | None:
    """Return the files of the data but its flag; None: one is being copied."""
    marks = []
    for at, entry in _files(system, path):
        if is_being_copied(entry.name.rpartition("/")[2]):
            return None
        if entry.name != flag:
            marks.append(FileMark(entry.name, entry.size, entry.modified, _MARKS[by](system, at, entry)))
    return marks


def _files(system: FileSystem, path: CanonicalPath) -> Iterator[tuple[CanonicalPath, Entry]]:
    try:
        for entry in visible_files(system, path):
            yield _below(path, entry.name), entry
    except WrongKind:
        found = system.status(path)
        refuse_odd(path, found.kind)
        yield path, Entry(path.name, found.kind, found.size, found.modified)


def _below(path: CanonicalPath, name: str) -> CanonicalPath:
    for part in name.split("/"):
        path = path.child(part)
    return path


def _by_listing(_system: FileSystem, _path: CanonicalPath, entry: Entry) -> str:
    changed = 0 if entry.modified is None else microseconds_of(entry.modified)
    return f"{entry.size}:{changed}"


def _by_etag(system: FileSystem, path: CanonicalPath, _entry: Entry) -> str:
    found = system.checksum(path) if system.capabilities.checksums else None
    if found is None:
        instead = "poll it by listing or digest instead of etag"
        raise Unsupported(path=path, detail=f"the store has no checksum of this file; {instead}")
    return f"{found.algorithm}:{found.value.hex()}"


def _by_digest(system: FileSystem, path: CanonicalPath, _entry: Entry) -> str:
    digest = hashlib.sha256()
    with system.read(path) as stream:
        while chunk := stream.read(_CHUNK):
            digest.update(chunk)
    return digest.hexdigest()


_MARKS: Mapping[PollBy, Callable[[FileSystem, CanonicalPath, Entry], str]] = {
    PollBy.LISTING: _by_listing,
    PollBy.ETAG: _by_etag,
    PollBy.DIGEST: _by_digest,
    PollBy.MTIME: lambda _system, _path, _entry: "",
}

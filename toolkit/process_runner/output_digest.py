"""Digest of an output: equal for data that a rerun has written again byte for byte."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from functools import reduce
from typing import TYPE_CHECKING

from toolkit.availability.hidden import is_being_copied, is_hidden
from toolkit.el import CanonicalPath
from toolkit.planning.partition_address import SCHEME
from toolkit.process_runner.late_fingerprint import fingerprint_at
from toolkit.storage import FileKind, WrongKind

if TYPE_CHECKING:
    from toolkit.availability import DataAccess
    from toolkit.entities import Cluster
    from toolkit.storage import Entry, FileSystem

MOST_FILES = 100
"""An output of more files is compared by its listing: to ask for the checksum of each takes a call."""
MOST_BYTES = 16 << 20
"""Most bytes that are read of an output on a store without checksums; a larger one is compared by its listing."""
_PIECE = 1 << 20


def output_digest(data: DataAccess, cluster: Cluster, address: str) -> str:
    """Return the digest of an output.

    It is of directories, sizes and contents, not of the names of files: Spark names its files anew in each run. The
    content is the store's checksum, or what is read. Of a table, of many files, and of much data it is of names, sizes
    and times, so that each new writing is a change.

    Args:
        data: where it is looked at.
        cluster: that the address is on.
        address: see `ProcessSite.uri`.

    Raises:
        ElError: a malformed address.
        StorageError: it cannot be read as a whole.
        CatalogError: the metastore refuses, or does not answer.
        Stopped: what the store lets through.
    """
    if not address.startswith(SCHEME):
        path = CanonicalPath.parse(address)
        system = data.stores(path)
        contents = _contents(system, path)
        if contents is not None:
            return f"contents:{contents}"
    return f"listing:{fingerprint_at(data, cluster, address).digest}"


def _contents(system: FileSystem, path: CanonicalPath) -> str | None:
    """Return the digest of the contents; None: there is too much to look at."""
    try:
        files = list(_data_files(system, path))
    except WrongKind:
        return _digest_of([("", _content(system, path))]) if system.status(path).size <= MOST_BYTES else None
    size = sum(each.size for each in files)
    if len(files) > MOST_FILES or (size > MOST_BYTES and not system.capabilities.checksums):
        return None
    found: list[tuple[str, str]] = []
    unread = MOST_BYTES
    for each in files:
        file = reduce(CanonicalPath.child, each.name.split("/"), path)
        checksum = system.checksum(file) if system.capabilities.checksums else None
        if checksum is None:
            unread -= each.size
            if unread < 0:
                return None
        content = _content(system, file) if checksum is None else f"{checksum.algorithm}:{checksum.value.hex()}"
        found.append((each.name.rpartition("/")[0], f"{each.size}:{content}"))
    return _digest_of(found)


def _data_files(system: FileSystem, path: CanonicalPath) -> Iterator[Entry]:
    for entry in system.list_tree(path):
        is_data = entry.kind is not FileKind.DIRECTORY and not is_hidden(entry.name)
        if is_data and not any(map(is_being_copied, entry.name.split("/"))):
            yield entry


def _content(system: FileSystem, file: CanonicalPath) -> str:
    digest = hashlib.sha256()
    with system.read(file) as stream:
        while piece := stream.read(_PIECE):
            digest.update(piece)
    return digest.hexdigest()


def _digest_of(found: Sequence[tuple[str, str]]) -> str:
    digest = hashlib.sha256()
    for directory, content in sorted(found):
        digest.update(f"{directory}\0{content}\0".encode("utf-8", "surrogateescape"))
    return digest.hexdigest()

"""Effects on files whose records are committed: archived without replacing anything, or deleted."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

from toolkit.ingest.errors import UnitChanged
from toolkit.ingest_job.line_reader import BLOCK
from toolkit.storage import AlreadyExists

if TYPE_CHECKING:
    from toolkit.el import CanonicalPath
    from toolkit.ingest_job.source import Stores
    from toolkit.storage import FileSystem


def digest_of(system: FileSystem, path: CanonicalPath) -> str:
    """Return the SHA-256 of a file in hexadecimal; reads all of it."""
    hashed = hashlib.sha256()
    for data in _blocks(system, path):
        hashed.update(data)
    return hashed.hexdigest()


def removed(stores: Stores, path: CanonicalPath, below: CanonicalPath) -> None:
    """Remove a file."""
    stores(path).delete(path, below=below)


def archived(
    stores: Stores,
    path: CanonicalPath,
    below: CanonicalPath,
    target: CanonicalPath,
    digest: str,
    check: Callable[[], None],
) -> None:
    """Move a file to a place where nothing is, or the same content.

    Without an atomic rename, or from store to store, it is copied, compared and removed; a run that dies in between
    leaves a copy that the next run compares.

    Args:
        stores: the store that a path is on, open for changes.
        path: the file.
        below: the directory of the source.
        target: its place in the archive.
        digest: SHA-256 of its content.
        check: looks at the file again after a copy, which may take long; raises `UnitChanged`.

    Raises:
        UnitChanged: something else is at the target; nothing was done.
    """
    system, into = stores(path), stores(target)
    into.mkdirs(target.parent)
    try:
        if system.capabilities.atomic_rename and (path.scheme, path.authority) == (target.scheme, target.authority):
            system.rename(path, target)
            return
        into.write(target, _blocks(system, path), overwrite=False)
    except AlreadyExists:
        pass
    if digest_of(into, target) != digest:
        raise UnitChanged(unit=str(path), change=f"{target} in the archive has other content; move that away")
    check()
    removed(stores, path, below)


def _blocks(system: FileSystem, path: CanonicalPath) -> Iterator[bytes]:
    with system.read(path) as stream:
        while data := stream.read(BLOCK):
            yield data

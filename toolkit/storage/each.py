"""Bulk removal on a store that has none of its own: one path after the other."""

from __future__ import annotations

from typing import TYPE_CHECKING

from toolkit.storage.errors import StorageError, Unreachable
from toolkit.storage.port import Deleted

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from toolkit.el import CanonicalPath
    from toolkit.storage.port import FileSystem


def delete_each(system: FileSystem, paths: Iterable[CanonicalPath], below: CanonicalPath) -> Iterator[Deleted]:
    """See `FileSystem.delete_all`; a store that did not answer is not asked about the rest."""
    silence: Unreachable | None = None
    for path in paths:
        if silence is not None:
            yield Deleted(path, Unreachable(path=path, detail=silence.detail))
            continue
        try:
            system.delete(path, below=below)
        except StorageError as error:
            silence = error if isinstance(error, Unreachable) else None
            yield Deleted(path, error)
        else:
            yield Deleted(path, None)

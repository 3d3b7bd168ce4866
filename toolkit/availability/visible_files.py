"""Files of an instance that readers see, by one listing."""

from __future__ import annotations

from typing import TYPE_CHECKING

from toolkit.availability.hidden import is_hidden
from toolkit.storage import FileKind, NotFound

if TYPE_CHECKING:
    from collections.abc import Iterator

    from toolkit.el import CanonicalPath
    from toolkit.storage import Entry, FileSystem


def visible_files(system: FileSystem, path: CanonicalPath) -> Iterator[Entry]:
    """Yield the files below a directory that are not hidden, those that are being copied there among them.

    Args:
        system: the store.
        path: the directory; nothing is yielded if it does not exist.

    Raises:
        WrongKind: a file is there.
        NotFound: a directory below it went while it was listed: half a listing must not pass for a whole one.
        StorageError: it cannot be listed as a whole.
    """
    try:
        for entry in system.list_tree(path):
            if entry.kind is not FileKind.DIRECTORY and not is_hidden(entry.name):
                yield entry
    except NotFound as error:
        if error.path != path and not path.is_within(error.path):
            raise

"""Whether something is at a path; who asks decides what it means that nobody can tell."""

from __future__ import annotations

from typing import TYPE_CHECKING

from toolkit.storage import NotFound, StorageError

if TYPE_CHECKING:
    from toolkit.el import CanonicalPath
    from toolkit.storage import FileSystem


def is_present(system: FileSystem, path: CanonicalPath) -> bool | None:
    """Whether something is at a path.

    Returns:
        None: the store could not be asked now.
    """
    try:
        system.status(path)
    except NotFound:
        return False
    except StorageError:
        return None
    return True

"""Names, removals and errors of what is copied before readers see it."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from typing import TYPE_CHECKING

from toolkit.errors import Failed, StopRequested
from toolkit.storage import REPLACED_PREFIX, STAGING_PREFIX, NotFound, StorageError, aside_name

if TYPE_CHECKING:
    from toolkit.el import CanonicalPath
    from toolkit.storage import FileSystem
    from toolkit.transfer.plan import Copied


def staging_of(unit: CanonicalPath, run: str) -> CanonicalPath:
    """Return where a run writes a unit until it is whole."""
    return unit.parent.child(f"{STAGING_PREFIX}{run}-{unit.name}")


def aside_of(unit: CanonicalPath, run: str) -> CanonicalPath:
    """Return where a run puts a unit that it replaces, for the moment between two renames."""
    return unit.parent.child(f"{REPLACED_PREFIX}{run}-{unit.name}")


def remove(system: FileSystem, path: CanonicalPath, base: CanonicalPath) -> None:
    """Remove what is at a path, if anything is, strictly below a base."""
    with suppress(NotFound):
        system.delete(path, below=base)


def remove_wholly(system: FileSystem, path: CanonicalPath, base: CanonicalPath) -> None:
    """Remove a path, and what its removal by a run that was killed has left."""
    for each in (path, path.parent.child(aside_name(path.name))):
        remove(system, each, base)


def remove_quietly(system: FileSystem, path: CanonicalPath, base: CanonicalPath) -> None:
    """As `remove`; what stays has a name of feedctl's own, and the next run sees to it."""
    with suppress(StorageError, StopRequested):
        remove(system, path, base)


def rename_quietly(system: FileSystem, source: CanonicalPath, target: CanonicalPath) -> None:
    """Put back what was put aside; if that fails, the next run does it."""
    with suppress(StorageError, StopRequested):
        system.rename(source, target)


class CopyDiffers(StorageError, Failed):  # noqa: N818 - the family of toolkit.errors is named for what happened
    """Error for a copy whose names and sizes are not the planned ones."""

    code = "copy_differs"
    text = "the copy is not what was planned, so it was thrown away; run again"


class FilesFailed(StorageError, Failed):  # noqa: N818
    """Some files of a unit could not be copied, so that none of it was published.

    Args:
        path: of the unit.
        failed: what was told of them.
    """

    code = "files_failed"
    text = "was not published"

    def __init__(self, *, path: CanonicalPath, failed: Sequence[Copied]) -> None:
        self.failed = tuple(failed)
        count = "1 file" if len(failed) == 1 else f"{len(failed)} files"
        super().__init__(path=path, detail=f"{count} failed, the first: {failed[0].message}")


class NotReadAgain(FilesFailed):
    """Error for files that could not be read to their end, so that nobody knows whether two copies are the same."""

    code = "not_read_again"
    text = "could not be read again"

"""Publishing a copy: where it waits until it is whole, beside the place whose name it gets, and why it does not."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from typing import TYPE_CHECKING

from toolkit.errors import Failed, StopRequested
from toolkit.storage import STAGING_PREFIX, NotFound, StorageError

if TYPE_CHECKING:
    from toolkit.el import CanonicalPath
    from toolkit.storage import FileSystem
    from toolkit.transfer.plan import Copied


def staging_of(unit: CanonicalPath, run: str) -> CanonicalPath:
    """Where a run writes a unit until it is whole."""
    return unit.parent.child(f"{STAGING_PREFIX}{run}-{unit.name}")


def remove(system: FileSystem, path: CanonicalPath, base: CanonicalPath) -> None:
    """Remove what is at a path, if anything is, strictly below a base."""
    with suppress(NotFound):
        system.delete(path, below=base)


def remove_quietly(system: FileSystem, path: CanonicalPath, base: CanonicalPath) -> None:
    """As `remove`; what stays has a name of feedctl's own, and the next run sees to it."""
    with suppress(StorageError, StopRequested):
        remove(system, path, base)


class CopyDiffers(StorageError, Failed):  # noqa: N818 - the family of toolkit.errors is named for what happened
    """What was written does not have the names and sizes that were planned."""

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

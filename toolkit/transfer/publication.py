"""Publishing a copy: where it waits until it is whole, beside the place whose name it gets, and why it does not."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, ExitStack, suppress
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


def swap_in(
    system: FileSystem,
    ready: CanonicalPath,
    unit: CanonicalPath,
    *,
    aside: CanonicalPath | None,
    base: CanonicalPath,
    completing: Callable[[], AbstractContextManager[None]],
) -> None:
    """Give what is ready the name of a unit, where renames are atomic: readers see all of it, or what was there before.

    Args:
        system: the store.
        ready: whole; its name is free afterwards.
        unit: whose name it gets.
        aside: free; gets what is at the unit, for the moment between two renames, and is removed. None: nothing is
            there. Who is killed in that moment leaves it, and what is ready, to the next run.
        base: bounds the removal.
        completing: no stop comes between the effects of its body, see `Guard.completing`.

    Raises:
        StorageError: the unit is what it was, unless the store does not answer any more.
        StopRequested: as before the first rename.
    """
    with ExitStack() as unless_swapped, completing():
        if aside is not None:
            # Before the rename, since one whose answer was lost or repeated may have happened all the same.
            unless_swapped.callback(rename_quietly, system, aside, unit)
            system.rename(unit, aside)
        system.rename(ready, unit)
        unless_swapped.pop_all()
    if aside is not None:
        remove_quietly(system, aside, base)


def rename_quietly(system: FileSystem, source: CanonicalPath, target: CanonicalPath) -> None:
    """Put back what was put aside; what cannot be now is by the next run."""
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

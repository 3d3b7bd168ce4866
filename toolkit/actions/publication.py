"""Publication of a tree: copied, verified, and only then visible to readers (ADR 0064).

After each step: what a kill leaves, and what the next run does about it.

Where renames are atomic:
1. The files are copied into a staging place: a part of a copy, which `recover` removes.
2. The copy and the source are compared with the plan: a whole copy, which `recover` removes too.
3. The unit is renamed aside: the old one and a verified copy, which `recover` renames in; the old one if it is gone.
4. The copy is renamed to the unit: the new unit, and the old one, which `recover` removes.

Of a unit that is there, only the changed files can be staged: see `toolkit.actions.exchange`.

Where files go one by one:
1. Uploads are ended, the flag is removed, and files that the source lacks: a unit that readers wait for.
2. The files are copied, and compared as above: the same. The next run begins again at 1.
3. The flag is copied: all of it.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from functools import cached_property, partial
from itertools import islice
from operator import eq
from typing import TYPE_CHECKING

from toolkit.actions.exchange import REFUSALS, Exchange
from toolkit.availability import is_there
from toolkit.errors import StopRequested
from toolkit.storage import REPLACED_PREFIX, STAGING_PREFIX, FileKind, NotFound, StorageError, WrongKind, aside_name
from toolkit.transfer.copier import SourceChanged
from toolkit.transfer.errors import CopyDiffers, FilesFailed, NotReadAgain, NotSettled
from toolkit.transfer.trees import Tree, TreeFile, below, file_copy, is_still, read_tree, same_bytes
from toolkit.transfer.uploads import end_left_uploads

if TYPE_CHECKING:
    from toolkit.actions.action import RunContext
    from toolkit.actions.file_copies import FileCopies
    from toolkit.el import CanonicalPath
    from toolkit.storage import FileSystem
    from toolkit.transfer.plan import Copied, FileCopy

FILES_AT_ONCE = 20_000
"""So many files are planned at once: a plan of copies takes more memory than the listing that it is made of."""
ITSELF = ""
"""The name of a unit that is a single file, in its tree."""


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
    remove(system, path, base)
    remove_begun(system, path, base)


def remove_begun(system: FileSystem, path: CanonicalPath, base: CanonicalPath) -> None:
    """Remove what a removal of a path by a run that was killed has left; what is at the path stays."""
    remove(system, path.parent.child(aside_name(path.name)), base)


def remove_quietly(system: FileSystem, path: CanonicalPath, base: CanonicalPath) -> None:
    """Do as `remove` does; what stays has a name of feedctl's own, and the next run sees to it."""
    with suppress(StorageError, StopRequested):
        remove(system, path, base)


@dataclass(frozen=True, kw_only=True)
class Publication:
    """Publication of one unit, its final place; safe between threads.

    Every call raises StorageError, and StopRequested before readers see a change.

    Attributes:
        work: of the run.
        files: copies them.
        source: the directory or file that is copied.
        unit: under a lease of the run.
        base: bounds every effect.
        flag: the name of the file in the unit that comes last where files go one by one; empty: none.
        is_only_copy: the source is going to be removed: each copy is read again, and no file of the unit is replaced.
        is_progress: the files count in the plan's volume.
        tries_all: after a failed file all others are copied before the error is raised.
    """

    work: RunContext
    files: FileCopies
    source: CanonicalPath
    unit: CanonicalPath
    base: CanonicalPath
    flag: str = ""
    is_only_copy: bool = False
    is_progress: bool = True
    tries_all: bool = False

    @property
    def system(self) -> FileSystem:
        """The store of the unit."""
        return self.work.stores(self.unit)

    @cached_property
    def directories(self) -> bool:
        """True if both stores have directories, which are then copied and compared as well."""
        return all(self.work.stores(end).capabilities.directories for end in (self.source, self.unit))

    def tree(self, root: CanonicalPath) -> Tree | None:
        """Return the tree at a path, of a single file a tree of `ITSELF`; None: nothing is there."""
        system = self.work.stores(root)
        try:
            return read_tree(system, root, self.work.guard.check, directories=self.directories)
        except WrongKind:
            found = system.status(root)
            if found.kind is not FileKind.FILE:
                raise
            return {ITSELF: TreeFile(FileKind.FILE, found.size, found.modified)}

    def is_still(self, root: CanonicalPath, expected: Tree, is_same: Callable[[TreeFile, TreeFile], bool]) -> bool:
        """Return whether a path has what is expected, and nothing else."""
        if ITSELF in expected:
            found = self.tree(root) or {}
            return found.keys() == expected.keys() and is_same(found[ITSELF], expected[ITSELF])
        system, check = self.work.stores(root), self.work.guard.check
        return is_still(system, root, check, expected, directories=self.directories, is_same=is_same)

    def begin_staging(self, staging: CanonicalPath, tree: Tree, unless_published: ExitStack) -> None:
        """Remove what an earlier try left in the staging place, and what this one leaves unless it succeeds."""
        remove(self.system, staging, self.base)
        unless_published.callback(remove_quietly, self.system, staging, self.base)
        if not tree:
            self.system.mkdirs(staging)  # else it is made with what is in it

    def copy(
        self, names: Collection[str], tree: Tree, into: CanonicalPath, *, root: CanonicalPath | None = None
    ) -> dict[str, str]:
        """Copy names of a tree to the staging directory, and return the digests of the files.

        Args:
            names: in the tree.
            tree: below the root.
            into: the staging place, or the unit.
            root: None: the source.

        Raises:
            FilesFailed: not all could be copied.
            CopyDiffers: what was written is read again with other bytes.
        """
        ends = (root or self.source, into)
        is_progress, overwrite = self.is_progress and root is None, not self.is_only_copy or into != self.unit
        copy = partial(self.files.copy, *ends, is_progress=is_progress, overwrite=overwrite)
        digests = self._in_parts(copy, names, tree, ends, FilesFailed)
        for name, digest in self.digests(into, tree, names).items() if self.is_only_copy else ():
            if digests.get(name) != digest:
                raise CopyDiffers(path=below(into, name))
        return digests

    def digests(self, root: CanonicalPath, tree: Tree, names: Collection[str]) -> dict[str, str]:
        """Read files to their end, by executors where `copy` would use them, and return their digests.

        Raises:
            NotReadAgain: not all could be read.
        """
        files = [name for name in names if tree[name].kind is FileKind.FILE]
        return self._in_parts(partial(self.files.read, root), files, tree, (root, root), NotReadAgain)

    def _in_parts(
        self,
        work: Callable[[Sequence[FileCopy]], Sequence[Copied]],
        names: Collection[str],
        tree: Tree,
        ends: tuple[CanonicalPath, CanonicalPath],
        error: type[FilesFailed],
    ) -> dict[str, str]:
        digests, rest = dict[str, str](), iter(names)
        failures: dict[str, Copied] = {}
        while part := {below(ends[1], name): name for name in islice(rest, FILES_AT_ONCE)}:
            results = work([file_copy(*ends, name, tree[name]) for name in part.values()])
            failures.update((part[each.target], each) for each in results if each.code)
            digests.update((part[each.target], each.digest) for each in results if each.digest)
            if failures and not self.tries_all:
                break
        if failures:
            raise error(path=self.unit, failed=list(failures.values()), copied=digests, names=sorted(failures))
        return digests

    def verify(self, place: CanonicalPath, expected: Tree, wanted: Tree) -> None:
        """Compare a copy with what it should have, and the source with what was copied.

        Raises:
            CopyDiffers: the copy has other names or sizes.
            SourceChanged: the source was written to, so that the copy never was whole there.
        """
        if not self.is_still(place, expected, same_bytes):
            raise CopyDiffers(path=self.unit)
        self.require_unchanged(wanted)

    def require_unchanged(self, wanted: Tree) -> None:
        """Compare the source with what was copied; raises `SourceChanged`."""
        if not self.is_still(self.source, wanted, eq):
            raise SourceChanged(path=self.source, detail="its listing is not that of what was copied any more")

    def swap_in(self, ready: CanonicalPath, *, aside: CanonicalPath | None = None) -> None:
        """Rename a verified copy to the unit: readers see all of it, or what was there before.

        Args:
            ready: the copy.
            aside: free; gets the unit for the moment between two renames, and is removed. None: there is no unit.

        Raises:
            NotSettled: the store refuses to put the unit back; the next run tries again.
            StorageError: the unit is what it was, unless the store does not answer any more.
        """
        with self.work.guard.completing():
            try:
                if aside is not None:
                    self.system.rename(self.unit, aside)
                self.system.rename(ready, self.unit)
            except StorageError as error:
                if aside is not None:
                    self._put_back(aside, error)
                raise
        if aside is not None:
            remove_quietly(self.system, aside, self.base)

    def _put_back(self, aside: CanonicalPath, cause: StorageError) -> None:
        """Rename the old unit back, also when its own rename failed: it may have happened all the same."""
        with suppress(StorageError):
            self.system.rename(aside, self.unit)
        if not is_there(self.system, self.unit):
            raise NotSettled(path=self.unit, detail=str(cause)) from cause

    def exchange(self, staged: CanonicalPath, dropped: Sequence[str]) -> bool:
        """Put verified files into the unit: readers see all of them, or what was there before.

        Args:
            staged: has the files and directories that come.
            dropped: names in the unit that go, or are replaced; none is inside another.

        Returns:
            False: the store refuses to rename in the unit, which is what it was; it can be replaced as a whole.

        Raises:
            NotSettled: the store refuses both ways; the next run tries again.
            StorageError: the unit is what it was.
        """
        run = self.work.run_name
        exchange = Exchange(system=self.system, unit=self.unit, aside=aside_of(self.unit, run), run=run)
        with self.work.guard.completing():
            try:
                exchange.apply(staged, dropped)
                is_exchanged = True
            except StorageError as error:
                is_exchanged = exchange.settle_after(error)
                if not (is_exchanged or isinstance(error, REFUSALS)):
                    remove_quietly(self.system, exchange.place, self.base)
                    raise
        remove_quietly(self.system, exchange.place, self.base)
        return is_exchanged

    @contextmanager
    def in_place(self, tree: Tree, present: Tree) -> Iterator[Tree]:
        """Make the unit what a tree is, file by file: the flag goes before the body, and comes after it.

        Args:
            tree: of the source.
            present: what the unit has now; what the tree lacks is removed.

        Yields:
            All of the tree but the flag; the body copies of it what the unit lacks.
        """
        data = {name: entry for name, entry in tree.items() if not self.flag or name != self.flag}
        end_left_uploads(self.system, self.unit)
        for name in sorted(present.keys() - data.keys(), key=lambda each: each != self.flag):
            remove(self.system, below(self.unit, name), self.base)
        yield data
        self.verify(self.unit, data, tree)
        self.copy([name for name in tree if name not in data], tree, self.unit)


def finish_swap(
    system: FileSystem, unit: CanonicalPath, aside: CanonicalPath, ready: Callable[[], CanonicalPath | None]
) -> bool:
    """Finish the two renames between which a dead run was killed; return whether the unit has what that run staged.

    Args:
        system: the store.
        unit: under a lease of the caller.
        aside: where that run put what the unit was; it stays when the unit is there.
        ready: the verified copy; None: there is none, so that what was there comes back.
    """
    if not is_there(system, aside):
        return False
    if is_there(system, unit):
        return True
    copy = ready()
    system.rename(copy or aside, unit)
    return copy is not None


def recover(
    system: FileSystem,
    unit: CanonicalPath,
    run: str,
    base: CanonicalPath,
    staged: Callable[[], CanonicalPath | None] = lambda: None,
) -> bool:
    """Finish the publication of a unit that a dead run was killed in, under the lease of the unit.

    Args:
        system: the store of the unit.
        unit: the final place.
        run: name of the dead run.
        base: bounds every effect.
        staged: a verified copy in another place than the run's own; None: there is none.

    Returns:
        Whether the unit has what that run had copied, as far as can be told from what it left.
    """
    staging, aside = staging_of(unit, run), aside_of(unit, run)
    exchange = Exchange(system=system, unit=unit, aside=aside, run=run)
    was_replaced = exchange.settle()
    if was_replaced is None:
        was_replaced = finish_swap(system, unit, aside, lambda: staging if is_there(system, staging) else staged())
    remove_wholly(system, exchange.place, base)
    remove_wholly(system, staging, base)
    # Else no aside was seen, and one that a late rename brings may be all that there is of the unit.
    if was_replaced:
        remove(system, aside, base)
    remove_begun(system, aside, base)
    end_left_uploads(system, unit)
    return was_replaced

"""Copying the data of partitions into places that nobody reads, and seeing that each copy is whole."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from operator import eq
from typing import TYPE_CHECKING, TypeAlias

from toolkit.actions.model import Problem
from toolkit.hive.contents import TablePart
from toolkit.storage import StorageError
from toolkit.transfer.copying import SourceChanged
from toolkit.transfer.publication import CopyDiffers, FilesFailed
from toolkit.transfer.trees import file_copy, is_still, same_bytes

if TYPE_CHECKING:
    from toolkit.actions.action import RunContext
    from toolkit.actions.file_copies import FileCopies
    from toolkit.el import CanonicalPath
    from toolkit.storage import FileSystem
    from toolkit.transfer.plan import Copied, FileCopy

Digests: TypeAlias = dict[str, str]


def rename_into(system: FileSystem, source: CanonicalPath, place: CanonicalPath, root: CanonicalPath) -> None:
    """Give data that nobody reads their place below the directory of a table, or that around it.

    Raises:
        StorageError: they cannot have it.
    """
    if place.parent != root:
        system.mkdirs(place.parent)
    system.rename(source, place)


@dataclass(frozen=True, kw_only=True)
class PartCopies:
    """Copies parts; one after the other in the same place replaces what is there.

    Attributes:
        files: copies the files.
        work: of the run.
    """

    files: FileCopies
    work: RunContext

    def copy(self, parts: Mapping[CanonicalPath, TablePart]) -> dict[CanonicalPath, Digests | Problem]:
        """Copy parts; one that fails does not stop the others.

        Args:
            parts: by the directory that each of them gets.

        Returns:
            For each directory the digests of its files, or why it has no whole copy.

        Raises:
            StopRequested: the work was called off.
            Unavailable: the executors were lost.
        """
        told: dict[CanonicalPath, list[Copied]] = {into: [] for into in parts}
        owner: dict[CanonicalPath, CanonicalPath] = {}
        for source, files in self._by_store(parts, owner).items():
            for each in self.files.copy(source, files[0].target, files):
                told[owner[each.target]].append(each)
        outcomes: dict[CanonicalPath, Digests | Problem] = {}

        def check(into: CanonicalPath) -> None:
            try:
                outcomes[into] = self._checked(into, parts[into], told[into])
            except StorageError as error:
                outcomes[into] = Problem(code=error.code, message=str(error))

        if parts:
            self.work.pool(next(iter(parts))).run_all(check, list(parts))
        return outcomes

    def _by_store(
        self, parts: Mapping[CanonicalPath, TablePart], owner: dict[CanonicalPath, CanonicalPath]
    ) -> dict[CanonicalPath, list[FileCopy]]:
        """The files by the root of the store that they are read from; partitions of a table may be on several."""
        found: dict[CanonicalPath, list[FileCopy]] = {}
        for into, part in parts.items():
            for name in part.files:
                copy = file_copy(part.place, into, name, part.tree[name])
                owner[copy.target] = into
                found.setdefault(part.place.root, []).append(copy)
        return found

    def _checked(self, into: CanonicalPath, part: TablePart, told: Sequence[Copied]) -> Digests:
        failed = [each for each in told if each.code]
        if failed:
            raise FilesFailed(path=into, failed=failed)
        digests = {each.target.relative_to(into): each.digest for each in told if each.digest}
        wrong = sorted(name for name, digest in digests.items() if part.digests.get(name, digest) != digest)
        if wrong:
            raise SourceChanged(path=part.place, detail=f"{wrong[0]} has not the digest that the manifest says")
        system, source, check = self.work.stores(into), self.work.stores(part.place), self.work.guard.check
        if not part.files:
            system.mkdirs(into)
        elif not is_still(system, into, check, part.tree, directories=False, is_same=same_bytes):
            raise CopyDiffers(path=into)
        if part.files and not is_still(source, part.place, check, part.tree, directories=False, is_same=eq):
            raise SourceChanged(path=part.place, detail="its listing is not that of the plan any more")
        return digests

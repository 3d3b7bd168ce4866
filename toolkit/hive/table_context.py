"""Context of one plan of a table action, and copies of partitions into directories that no reader sees."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from operator import eq
from typing import TYPE_CHECKING, TypeAlias

from toolkit.actions.file_copies import FileCopies
from toolkit.actions.model import Problem
from toolkit.storage import StorageError
from toolkit.transfer.copier import SourceChanged
from toolkit.transfer.errors import CopyDiffers, FilesFailed
from toolkit.transfer.trees import file_copy, is_still, same_bytes

if TYPE_CHECKING:
    from toolkit.actions.action import RunContext
    from toolkit.el import CanonicalPath
    from toolkit.hive.table_reader import Contents, TablePart
    from toolkit.hive.targets import TableItem, TablePlan, TableTarget
    from toolkit.storage import FileSystem
    from toolkit.transfer.plan import Copied, FileCopy

Digests: TypeAlias = dict[str, str]
_AT_ONCE = 128
"""Files of a batch that are copied at once: closing one on HDFS waits for its DataNode, and others hide the wait."""


@dataclass(frozen=True, kw_only=True)
class TableContext:
    """A plan of a table action in one run.

    Attributes:
        plan: of the instance, or its blank plan.
        work: of the run.
        address: of the instance, or the whole table, as consumers know it.
    """

    plan: TablePlan
    work: RunContext
    address: str

    @property
    def files(self) -> FileCopies:
        """The copier of files."""
        rules = self.target.rules
        return FileCopies(work=self.work, at_once=rules.at_once or _AT_ONCE, bandwidth=rules.bandwidth)

    @property
    def target(self) -> TableTarget:
        """The target of the plan."""
        return self.plan.target

    @property
    def root(self) -> CanonicalPath:
        """The directory that bounds every effect of a plan with items."""
        assert self.plan.detail.root is not None  # noqa: S101 - a plan with items has one
        return self.plan.detail.root

    @property
    def contents(self) -> Contents:
        """The contents that a plan with items copies."""
        assert self.plan.detail.contents is not None  # noqa: S101 - a plan with items has them
        return self.plan.detail.contents

    @property
    def system(self) -> FileSystem:
        """The store of the directory."""
        return self.work.stores(self.root)

    def name(self, item: TableItem) -> str:
        """Return the name of a partition, or of the table that has none."""
        return item.name or self.target.table.table

    def move(self, source: CanonicalPath, place: CanonicalPath) -> None:
        """Rename staged data into their place below the directory.

        Raises:
            StorageError: they cannot be renamed.
        """
        if place.parent != self.root:
            self.system.mkdirs(place.parent)
        self.system.rename(source, place)

    def copy(self, parts: Mapping[CanonicalPath, TablePart]) -> dict[CanonicalPath, Digests | Problem]:
        """Copy partitions, and verify each copy; one that fails does not stop the others.

        Args:
            parts: by the directory that each of them gets; what is there is replaced.

        Returns:
            For each directory the digests of its files, or why it has no whole copy.

        Raises:
            StopRequested: the work was called off.
            Unavailable: the executors were lost.
        """
        copied: dict[CanonicalPath, list[Copied]] = {into: [] for into in parts}
        owner: dict[CanonicalPath, CanonicalPath] = {}
        by_store: dict[CanonicalPath, list[FileCopy]] = {}  # partitions of one table may be on several stores
        for into, part in parts.items():
            for name in part.files:
                copy = file_copy(part.place, into, name, part.tree[name])
                owner[copy.target] = into
                by_store.setdefault(part.place.root, []).append(copy)
        for source, files in by_store.items():
            for each in self.files.copy(source, files[0].target, files):
                copied[owner[each.target]].append(each)
        outcomes: dict[CanonicalPath, Digests | Problem] = {}

        def verify(into: CanonicalPath) -> None:
            try:
                outcomes[into] = self._verified(into, parts[into], copied[into])
            except StorageError as error:
                outcomes[into] = Problem(code=error.code, message=str(error))

        if parts:
            self.work.pool(next(iter(parts))).run_all(verify, list(parts))
        return outcomes

    def _verified(self, into: CanonicalPath, part: TablePart, copied: Sequence[Copied]) -> Digests:
        failed = [each for each in copied if each.code]
        if failed:
            raise FilesFailed(path=into, failed=failed)
        digests = {each.target.relative_to(into): each.digest for each in copied if each.digest}
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

"""Staged partitions: copied into the table's staging directory, validated, and published when they passed.

An instance is validated as a whole, with the partitions of it that are there already: the result of a part of it would
say nothing of what readers see.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import TYPE_CHECKING

from toolkit.actions.model import Problem
from toolkit.actions.publication import remove
from toolkit.actions.staged_unit import STAGING_DIRECTORY
from toolkit.actions.staging import InstanceStaging
from toolkit.actions.validation import QUALITY_UNKNOWN, Part, QualityFailed, Written
from toolkit.availability import is_there
from toolkit.entities.vocabulary import OnFailure
from toolkit.hive.spark_format import NoReading, reading_of
from toolkit.hive.targets import StoredPart, TableItem, TableTarget
from toolkit.transfer.errors import CopyDiffers
from toolkit.transfer.trees import below, is_still, read_tree, same_bytes, same_content

if TYPE_CHECKING:
    from toolkit.actions.staged_unit import StagedUnit
    from toolkit.actions.validation import FeedValidation
    from toolkit.catalog.model import Table
    from toolkit.el import CanonicalPath
    from toolkit.hive.table_context import Digests, TableContext
    from toolkit.hive.table_reader import TablePart


@dataclass(frozen=True, kw_only=True)
class StagedTable:
    """Staged partitions of one instance. Every call raises StorageError and StopRequested.

    Attributes:
        context: of the instance's plan.
        validation: of the feed.
    """

    context: TableContext
    validation: FeedValidation

    def place(self, item: TableItem) -> CanonicalPath:
        """Return where its data are staged."""
        return self._unit(item).place

    def copied(self, items: Sequence[TableItem]) -> dict[TableItem, Digests | Problem]:
        """Copy what is not staged since an earlier run; outcomes and errors as of `TableContext.copy`."""
        results: dict[TableItem, Digests | Problem] = {}

        def look(item: TableItem) -> None:
            digests = self._copied_before(item)
            if digests is not None:
                results[item] = digests

        def note(item: TableItem) -> None:
            digests = copied[self.place(item)]
            if not isinstance(digests, Problem):
                self._unit(item).end_copy(_part(item).fingerprint, digests)
            results[item] = digests

        pool = self.context.work.pool(self.context.root)
        pool.run_all(look, items)
        new = [item for item in items if item not in results]
        copied = self.context.copy({self.place(item): _part(item) for item in new})
        pool.run_all(note, new)
        return results

    def _copied_before(self, item: TableItem) -> Digests | None:
        """Return the digests of a complete copy of an earlier run, or make room for a new copy and return None."""
        unit, part, check = self._unit(item), _part(item), self.context.work.guard.check
        system = self.context.system
        is_same = partial(is_still, system, unit.place, check, part.tree, directories=False, is_same=same_bytes)
        digests = unit.copied_before(part.fingerprint, lambda: bool(part.files) and is_same())
        if digests is None:
            remove(system, unit.place, self.context.root)
        return digests

    def refused(
        self, items: Sequence[TableItem], results: Mapping[TableItem, Digests | Problem], notes: list[str]
    ) -> Problem | None:
        """Return why nothing of the instance may be registered; None: all of it may.

        Args:
            items: that would be registered.
            results: outcomes of those that were copied.
            notes: gets what the user should know.

        Raises:
            Unavailable: the ledger cannot be written.
        """
        lacking = [each.message for each in results.values() if isinstance(each, Problem)]
        lacking += [each.message for each in self.context.plan.unreadable]
        if lacking:
            why = f"not validated, since {len(lacking)} of its partitions are not whole, the first: {lacking[0]}"
            return Problem(code=QUALITY_UNKNOWN, message=f"{self.context.address} is blocked: {why}")
        try:
            written = self._written(items)
        except NoReading as error:
            if self.validation.quality.on_failure is OnFailure.WARN:
                notes.append(f"{self.context.address} was not validated: {error}")
                return None
            return Problem(code=QUALITY_UNKNOWN, message=f"{self.context.address} is blocked: {error}")
        try:
            notes += self._staging.validate(written, [self._unit(each).unit for each in results]).notes
        except QualityFailed as error:
            return Problem(code=error.code, message=str(error))
        return None

    def publish(self, item: TableItem, into: CanonicalPath, digests: Digests) -> None:
        """Move validated data to the place of a partition, which is not registered yet.

        Raises:
            StorageError: it cannot be moved; it stays staged.
        """
        unit, part = self._unit(item), _part(item)
        system, check = self.context.work.stores(into), self.context.work.guard.check
        tree = read_tree(system, unit.place, check, directories=False) or {}
        if not same_content(tree, part.tree):
            raise CopyDiffers(path=unit.place, detail="it has changed since it was validated; run again")
        if system.capabilities.atomic_rename:
            self.context.move(unit.place, into)
        else:
            again = replace(part, place=unit.place, tree=tree, digests=digests, source=part.fingerprint)
            results = self.context.copy({into: again})[into]
            if isinstance(results, Problem):
                raise CopyDiffers(path=into, detail=results.message)
            remove(system, unit.place, self.context.root)
        unit.end_wait()

    def take_back(self, item: TableItem, place: CanonicalPath, digests: Digests) -> bool:
        """Stage published data again if it is not registered, and keep its result; return whether it was staged.

        Copying it again would give its files other times, so that a release would not count any more.
        """
        unit, system = self._unit(item), self.context.work.stores(place)
        if not system.capabilities.atomic_rename or is_there(system, unit.place):
            return False
        self.context.move(place, unit.place)
        unit.end_copy(_part(item).fingerprint, digests)
        return True

    def sweep(self, items: Sequence[TableItem]) -> None:
        """Remove the staging directories that nothing is staged in any more."""
        system, root = self.context.system, self.context.root
        top = root.child(STAGING_DIRECTORY)
        left = {self.place(item).parent for item in items}
        while left:
            emptied = {each for each in left if system.remove_if_empty(each, below=root) and each != top}
            left = {each.parent for each in emptied}

    def end_wait(self, item: TableItem) -> None:
        """Remove what says that an item is staged: an earlier run has published it."""
        self._unit(item).end_wait()

    def _written(self, items: Sequence[TableItem]) -> Written:
        """Return all of the instance, where it is now, for its validation.

        Raises:
            NoReading: see `reading_of`.
        """
        coming = [
            StoredPart(part=_part(each), place=self.place(each) if each.copies else each.place, storage=wanted.storage)
            for each in items
            if (wanted := each.wanted) is not None
        ]
        stored = sorted((*coming, *self.context.plan.detail.unchanged), key=lambda each: each.part.name)
        return written_of(
            self.context.target, self.validation, self.context.address, self.context.contents.table, stored
        )

    def _unit(self, item: TableItem) -> StagedUnit:
        table = self.context.target.table
        # Without partitions it is the directory around the table's, which tables of other databases may be in.
        return self._staging.unit(below(self.context.root, item.name or f"{table.database}.db/{table.table}"))

    @cached_property
    def _staging(self) -> InstanceStaging:
        target, root = self.context.target, self.context.root
        return InstanceStaging(
            validation=self.validation,
            instance_key=target.instance_key,
            base=root,
            work=self.context.work,
            counterpart=target.counterpart,
            top=root,
        )


def written_of(
    target: TableTarget,
    validation: FeedValidation,
    address: str,
    table: Table,
    stored: Sequence[StoredPart],
    *,
    is_listed: bool = False,
) -> Written:
    """Return an instance of a table as it is validated.

    Args:
        target: the instance.
        validation: of the feed.
        address: of the instance, as consumers know it.
        table: its description.
        stored: all its partitions, at least one.
        is_listed: each is where its files were listed just now.

    Raises:
        NoReading: see `reading_of`.
    """
    return validation.written(
        target.instance_key,
        address,
        [
            Part(place=each.place, keys=_keys(table, each.part), listed=each.part.tree if is_listed else None)
            for each in stored
        ],
        counterpart=target.counterpart,
        table=reading_of(table, [each.storage for each in stored]),
    )


def _part(item: TableItem) -> TablePart:
    assert item.part is not None  # noqa: S101 - of all items of a batch of data
    return item.part


def _keys(table: Table, part: TablePart) -> dict[str, str]:
    return {} if part.partition is None else dict(zip(table.key_names, part.partition.values, strict=True))

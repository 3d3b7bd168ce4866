"""Bringing tables and partitions in: copied where nobody reads, seen to be whole, and only then registered (ADR 0048).

All that is not registered yet, or not any more, lies below one directory of the run in the table's own, or beside that
of a table without partitions: ``.feedctl-copy-RUN`` while it is copied, ``.feedctl-data-RUN`` when the place that Hive
would choose is taken, by other files or by the data that are replaced.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING

from toolkit.actions.model import ItemResult, Problem
from toolkit.availability import is_there
from toolkit.catalog.errors import CatalogAlreadyExists, NoSuchTable
from toolkit.catalog.model import Partition, Table, without_statistics
from toolkit.catalog.port import BATCH
from toolkit.hive.copies import rename_into
from toolkit.hive.described import COPIED, at_place, carried_statistics, table_differences
from toolkit.hive.taken_places import TakenPlaces, data_place, is_data_place, remove_emptied, remove_staging
from toolkit.hive.targets import TableItem, TablePlan, TableStep
from toolkit.storage import DATA_PREFIX, STAGING_PREFIX, StorageError
from toolkit.transfer.digest_reader import DigestReader
from toolkit.transfer.publication import CopyDiffers, remove
from toolkit.transfer.trees import below

if TYPE_CHECKING:
    from toolkit.actions.action import RunContext
    from toolkit.catalog.port import Metastore
    from toolkit.el import CanonicalPath
    from toolkit.hive.contents import Contents
    from toolkit.hive.copies import Digests, PartCopies
    from toolkit.hive.staging import StagedTable
    from toolkit.storage import FileSystem
    from toolkit.threads import WorkerPool

SHARED = "shared"
"""The code of replaced data that stay, since another partition has them too, or feedctl did not put them there."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Landed:
    """Data that are in place.

    Attributes:
        place: where.
        digests: of the files.
    """

    place: CanonicalPath
    digests: Digests


@dataclass(frozen=True, kw_only=True)
class Lander:
    """Brings the items of one plan in.

    Attributes:
        plan: of the run.
        work: of the run.
        metastore: gets them.
        copies: copies partitions.
        pool: reads files, where the bytes of two are compared.
        resolve: the place of a location as the metastore has it.
        staging: asked before anything is registered; None: the feed is not judged there.
    """

    plan: TablePlan
    work: RunContext
    metastore: Metastore
    copies: PartCopies
    pool: WorkerPool
    resolve: Callable[[str], CanonicalPath]
    staging: StagedTable | None = None

    @property
    def root(self) -> CanonicalPath:
        """Bounds every effect."""
        assert self.plan.detail.root is not None  # noqa: S101 - a plan with items has one
        return self.plan.detail.root

    @property
    def system(self) -> FileSystem:
        """The store of the table."""
        return self.work.stores(self.root)

    @cached_property
    def taken(self) -> TakenPlaces:
        """The places of all partitions as they were before the first was changed."""
        return TakenPlaces.of(self.metastore, self.plan.detail.present, self.resolve)

    def make_table(self, item: TableItem) -> None:
        """Make the table, or describe it anew.

        Raises:
            CatalogError: the metastore refuses.
        """
        assert isinstance(item.wanted, Table)  # noqa: S101 - the plan's
        self._register_table(item.wanted, self._text(item.place), {})

    def land(self, items: Sequence[TableItem], notes: list[str]) -> dict[TableItem, Landed | Problem]:
        """Get the data of items into their places, where nobody looks for them yet.

        Args:
            items: of one batch.
            notes: gets what the user should know.

        Raises:
            StorageError: what an earlier try left cannot be removed.
            StopRequested: the work was called off.
            Unavailable: the executors were lost, or the ledger is.
        """
        if any(item.step is TableStep.REPLACE for item in items):
            _ = self.taken  # before anything is changed
        copied = [item for item in items if item.copies and item.part is not None]
        told = self._copied(copied) if self.staging is None else self.staging.copied(copied)
        why = None if self.staging is None else self.staging.refused(items, told, notes)
        outcomes: dict[TableItem, Landed | Problem] = {}
        if why is not None:
            found = (told.get(item) for item in items)
            return {item: each if isinstance(each, Problem) else why for item, each in zip(items, found, strict=True)}

        def put(item: TableItem) -> None:
            try:
                outcomes[item] = self._put(item, told.get(item))
            except StorageError as error:
                outcomes[item] = Problem(code=error.code, message=str(error))

        self.work.pool(self.root).run_all(put, items)
        return outcomes

    def _copied(self, items: Sequence[TableItem]) -> dict[TableItem, Digests | Problem]:
        staged = {self._staging(item): item for item in items}
        told = self.copies.copy({into: item.part for into, item in staged.items() if item.part is not None})
        return {staged[into]: each for into, each in told.items()}

    def _put(self, item: TableItem, told: Digests | Problem | None) -> Landed | Problem:
        if isinstance(told, Problem):
            return told
        if item.step is TableStep.DESCRIBE:
            return Landed(place=item.place, digests={})
        if told is None:
            landed = Landed(place=item.place, digests=self._same_bytes(item))
            if self.staging is not None:
                self.staging.end_wait(item)
            return landed
        return Landed(place=self._named(item, told), digests=told)

    def _named(self, item: TableItem, digests: Digests) -> CanonicalPath:
        """Give a whole copy its place: the one that Hive would choose if it is free."""
        place = data_place(self.root, self.work.run_name, self._name(item))
        if self.system.capabilities.atomic_rename and item.step is TableStep.ADD and self._is_free(item.place):
            place = item.place
        if self.staging is not None:
            self.staging.publish(item, place, digests)
        elif self._staging(item) != place:
            rename_into(self.system, self._staging(item), place, self.root)
        return place

    def _is_free(self, place: CanonicalPath) -> bool:
        """Whether nothing is at a place, and no partition's data are looked for there; an empty directory goes."""
        if not is_there(self.system, place):
            return True
        if not self.taken.is_free(place):
            return False
        self.system.remove_if_empty(place, below=self.root)
        return not is_there(self.system, place)

    def _same_bytes(self, item: TableItem) -> Digests:
        """The digests of files that are there already, as a run that was killed left them.

        Raises:
            CopyDiffers: they are not those of the source.
        """
        assert item.part is not None  # noqa: S101 - the plan's
        ends = [self._digests(root, list(item.part.files)) for root in (item.part.place, item.place)]
        if ends[0] != ends[1]:
            detail = (
                "files of these names and sizes were there, with other bytes; remove them, since no partition has them"
            )
            raise CopyDiffers(path=item.place, detail=detail)
        return ends[0]

    def _digests(self, root: CanonicalPath, names: Sequence[str]) -> Digests:
        found: Digests = {}
        reader = DigestReader(system=self.work.stores(root), check=self.work.guard.check)
        for name in names:
            found[name] = reader.read(below(root, name)).or_raise()
        return found

    def register(self, landed: Mapping[TableItem, Landed]) -> None:
        """Let readers see what is in place: new partitions all at once, and those that change all at once.

        Raises:
            CatalogError: the metastore refuses, or does not answer; then nobody can tell.
            StopRequested: the run was stopped before.
        """
        added: list[Partition] = []
        changed: list[Partition] = []
        for item, each in landed.items():
            if isinstance(item.wanted, Table):
                self._register_table(
                    item.wanted, self._location(item, each), self._marks(item, self._contents.table.parameters)
                )
            elif isinstance(item.wanted, Partition):
                partition = self._partition(item, item.wanted, self._location(item, each))
                (added if item.step is TableStep.ADD else changed).append(partition)
        name = self.plan.target.table
        for at in range(0, len(added), BATCH):
            self.metastore.add_partitions(name, added[at : at + BATCH])
        for at in range(0, len(changed), BATCH):
            self.metastore.alter_partitions(name, changed[at : at + BATCH])

    def _partition(self, item: TableItem, wanted: Partition, location: str) -> Partition:
        assert item.part is not None  # noqa: S101 - the plan's
        assert item.part.partition is not None  # noqa: S101
        was = item.part.partition
        table_was = self._contents.table.storage.location
        storage = at_place(wanted.storage, was.storage, location, table_was=table_was, table_is=self._text(self.root))
        parameters = {**wanted.parameters, **self._marks(item, was.parameters)}
        return replace(wanted, storage=storage, parameters=parameters)

    @property
    def _contents(self) -> Contents:
        assert self.plan.detail.contents is not None  # noqa: S101 - a plan with items has them
        return self.plan.detail.contents

    def _location(self, item: TableItem, landed: Landed) -> str:
        return item.location or self._text(landed.place)

    def _text(self, place: CanonicalPath) -> str:
        """A place as the metastore writes it, which has a scheme of its own for an object store."""
        text = self.plan.detail.root_text.rstrip("/")
        return text if place == self.root else f"{text}/{place.relative_to(self.root)}"

    def _marks(self, item: TableItem, parameters: Mapping[str, str]) -> dict[str, str]:
        assert item.part is not None  # noqa: S101 - the plan's
        return {COPIED: item.part.fingerprint, **carried_statistics(parameters, item.part)}

    def _register_table(self, wanted: Table, location: str, marks: Mapping[str, str]) -> None:
        table = replace(
            wanted, parameters={**(without_statistics(wanted.parameters) if marks else wanted.parameters), **marks}
        )
        if not table.kind.is_view:
            was = self._contents.table.storage
            storage = at_place(table.storage, was, location, table_was=was.location, table_is=location)
            table = replace(table, storage=storage)
        if self.plan.detail.present is not None:
            self.metastore.alter_table(table)
            return
        if not table.kind.is_view:
            # A metastore that makes the directory removes it, with all that is in it, when somebody else was first.
            self.system.mkdirs(self.resolve(location))
        try:
            self.metastore.create_table(table)
        except CatalogAlreadyExists:
            # The run of another instance was first; what it made came from the same source.
            there = self.metastore.table(table.name)
            if not table.keys or there.keys != table.keys or any(table_differences(table, there)):
                raise

    def clean(self, item: TableItem) -> ItemResult[TableItem]:
        """Remove data that were replaced, if an earlier replacement put them there, and they are nobody else's.

        Raises:
            StorageError: they cannot be removed.
            StopRequested: the run was stopped before.
        """
        if not is_data_place(item.place, self.root, self._name(item)) or not self.taken.is_alone(item.place):
            return ItemResult.skipped(item, SHARED)
        self._discard(item.place)
        return ItemResult.done(item)

    def sweep(self, told: Mapping[TableItem, Landed | Problem]) -> None:
        """Remove the directory that copies waited in, and the copies that failed; the gate's only when it is empty."""
        if self.staging is not None:
            self.staging.sweep([item for item in told if item.part is not None])
            return
        if self.system.capabilities.atomic_rename:
            alone = "" if self._contents.table.keys else self.plan.target.table.table
            remove_staging(self.system, self.root, self.work.run_name, alone)
            return
        for item, each in told.items():
            if item.copies and isinstance(each, Problem):
                self._discard(self._staging(item))

    def undo(self, landed: Mapping[TableItem, Landed]) -> None:
        """Remove what this batch has copied and the metastore did not take, as it says now; what is judged waits again.

        Raises:
            CatalogError, StorageError: nobody can tell, or it cannot be removed.
            StopRequested: the run was stopped before.
        """
        try:
            table = self.metastore.table(self.plan.target.table)
        except NoSuchTable:
            table = None
        taken = TakenPlaces.of(self.metastore, table, self.resolve)
        for item, each in landed.items():
            if not (item.copies and each.place.is_within(self.root) and taken.is_free(each.place)):
                continue
            if self.staging is not None and self.staging.take_back(item, each.place, each.digests):
                remove_emptied(self.system, each.place, self.root)
            else:
                self._discard(each.place)

    def _discard(self, place: CanonicalPath) -> None:
        remove(self.system, place, self.root)
        remove_emptied(self.system, place, self.root)

    def _staging(self, item: TableItem) -> CanonicalPath:
        prefix = STAGING_PREFIX if self.system.capabilities.atomic_rename else DATA_PREFIX
        return below(self._own(prefix), self._name(item))

    def _name(self, item: TableItem) -> str:
        return item.name or self.plan.target.table.table

    def _own(self, prefix: str) -> CanonicalPath:
        return self.root.child(f"{prefix}{self.work.run_name}")

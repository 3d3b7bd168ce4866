"""Import of a table from an export or another metastore: copied, verified, and only then registered (ADR 0048).

All that is not registered yet, or not any more, is below one directory of the run in the table's own, or beside that
of a table without partitions: ``.feedctl-copy-RUN`` while it is copied, ``.feedctl-data-RUN`` when the place that Hive
would choose is taken, by other files or by the data that are replaced.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from math import inf
from typing import TYPE_CHECKING

from typing_extensions import override

from toolkit.actions.model import ItemResult, Problem
from toolkit.actions.publication import remove
from toolkit.actions.validation import QUALITY_UNKNOWN
from toolkit.availability import is_there
from toolkit.catalog.errors import CatalogError
from toolkit.errors import Unavailable
from toolkit.hive.batches import OF_CALL, Mode, Unregistered, result_of
from toolkit.hive.import_plan import ImportPlanner
from toolkit.hive.import_recovery import ImportRecovery
from toolkit.hive.locations import (
    UsedLocations,
    data_place,
    is_data_place,
    remove_emptied,
    remove_staging,
)
from toolkit.hive.registration import TableRegistration
from toolkit.hive.registration_mark import RegistrationMark
from toolkit.hive.staging import StagedTable
from toolkit.hive.targets import TableItem, TableStep
from toolkit.hive.unregistered import Placed, UnregisteredData, UnregisteredItem
from toolkit.storage import DATA_PREFIX, STAGING_PREFIX, StorageError
from toolkit.threads import WorkerPool
from toolkit.transfer.copier import SourceChanged
from toolkit.transfer.digest_reader import DigestReader
from toolkit.transfer.errors import CopyDiffers
from toolkit.transfer.trees import below

if TYPE_CHECKING:
    from toolkit.el import CanonicalPath
    from toolkit.hive.batches import Results
    from toolkit.hive.sources import Catalog, Source
    from toolkit.hive.table_context import Digests, TableContext
    from toolkit.hive.targets import TablePlan
    from toolkit.ledger.runs.items import Item

SHARED = "shared"
"""The code of replaced data that stay, since another partition has them too, or feedctl did not put them there."""
_STAYS = "not_replaced"
"""The code of data that stay, since what should have replaced them failed."""
_CALLS = 2
"""So many calls at once: the files of one are copied while the metastore works on the partitions of the other."""


@dataclass(frozen=True, kw_only=True)
class TableImport(Mode):
    """Mode of an import into a metastore, from an export or from another metastore.

    Attributes:
        source: where the tables are.
        catalog: gets them.
        context: of the plan.
    """

    source: Source
    catalog: Catalog
    context: TableContext

    @property
    @override
    def bases(self) -> tuple[CanonicalPath, ...]:
        """The directory of the table, if the table exists."""
        present = self.context.plan.detail.present
        location = "" if present is None else present.storage.location
        return (self.catalog.policy.place(location),) if location else ()

    @override
    def planned(self) -> TablePlan:
        blank, work = self.context.plan, self.context.work
        contents = self.source.contents(blank.target, work)
        if contents.table.kind.is_view and blank.target.validation is not None:
            message = f"{contents.table.name} is a view, which has no data to validate; take `quality` from the feed"
            return replace(blank, failed=Problem(code=QUALITY_UNKNOWN, message=message))
        return ImportPlanner(context=self.context, reader=self.catalog.reader(work)).planned(contents)

    @override
    def recover(self, left: Sequence[Item]) -> Unregistered:
        """Remove data in directories of dead runs that no partition uses, nor will use by a late call."""
        return ImportRecovery(context=self.context, uri=self.source.uri, used=lambda: self._used).recovered(left)

    @cached_property
    def _registration(self) -> TableRegistration:
        metastore = self.catalog.bound(self.context.work.guard.check)
        mark, resolve = RegistrationMark.of(self.context, self.context.work.run_name), self.catalog.policy.place
        return TableRegistration(context=self.context, mark=mark, metastore=metastore, resolve=resolve)

    @cached_property
    def _unregistered(self) -> UnregisteredData:
        metastore, resolve = self._registration.metastore, self.catalog.policy.place
        return UnregisteredData(context=self.context, metastore=metastore, resolve=resolve, staged=self._staged)

    @cached_property
    def _staged(self) -> StagedTable | None:
        validation = self.context.target.validation
        return None if validation is None else StagedTable(context=self.context, validation=validation)

    @cached_property
    def _used(self) -> UsedLocations:
        """The locations of all partitions as they were before the first was changed."""
        present, resolve = self.context.plan.detail.present, self.catalog.policy.place
        return UsedLocations.of(self.catalog.metastore, present, resolve)

    @override
    def apply(self, items: Sequence[TableItem], results: Results) -> Sequence[str]:
        if items[0].step is TableStep.TABLE:
            self._registration.table(items[0])
            results[items[0]] = result_of(items[0], None)
            return ()
        notes: list[str] = []
        self._import([item for item in items if item.step is not TableStep.CLEAN], results, notes)
        replaced = {item.part for item, each in results.items() if each.code == "" and item.step is TableStep.REPLACE}
        for item in items:
            if item.step is TableStep.CLEAN:
                is_outdated = item.part in replaced
                results[item] = self._cleaned(item) if is_outdated else ItemResult.skipped(item, _STAYS)
        return notes

    def _import(self, items: Sequence[TableItem], results: Results, notes: list[str]) -> None:
        """Import partitions: while the metastore works on those of one call, the files of the next are copied.

        What is validated as a whole stays together.
        """
        if any(item.step is TableStep.REPLACE for item in items):
            _ = self._used  # before anything is changed
        calls = [items] if self._staged else [items[at : at + OF_CALL] for at in range(0, len(items), OF_CALL)]
        refused: dict[TableItem, UnregisteredItem] = {}
        unregistered, pool = self._unregistered, WorkerPool(len(calls), "feedctl-import")

        def work(call: Sequence[TableItem]) -> None:
            self._import_together(call, results, refused, notes)

        try:
            pool.run_all(work, calls, at_once=self._at_once)
        finally:
            pool.shutdown()
            results |= unregistered.removed(refused)
        self._sweep(items)

    @property
    def _at_once(self) -> int:
        """Return so many calls at once; a feed's limits of a copy are those of all files together."""
        rules = self.context.target.rules
        return 1 if rules.at_once is not None or rules.bandwidth != inf else _CALLS

    def _import_together(
        self, items: Sequence[TableItem], results: Results, refused: dict[TableItem, UnregisteredItem], notes: list[str]
    ) -> None:
        """Get data into place, and register them: what is new, and what changes, each in one call.

        What was validated as a whole is registered as a whole: the result says nothing of a part of it.
        """
        outcomes = self._placed(items, notes)
        failed = {item: each for item, each in outcomes.items() if isinstance(each, Problem)}
        placed = {item: each for item, each in outcomes.items() if isinstance(each, Placed)}
        results |= {item: result_of(item, why) for item, why in failed.items()}
        if self._staged is None:
            self._remove_failed(failed)
            for is_new in (True, False):
                own = {item: each for item, each in placed.items() if (item.step is TableStep.ADD) is is_new}
                if own:
                    self._register(own, results, refused)
        elif not failed:
            self._register(placed, results, refused)
        else:
            refused |= {item: UnregisteredItem(each, _incomplete(item)) for item, each in placed.items()}

    def _placed(self, items: Sequence[TableItem], notes: list[str]) -> dict[TableItem, Placed | Problem]:
        """Get the data of a batch into their places, which no reader knows yet.

        Raises:
            StorageError: what an earlier try left cannot be removed.
            StopRequested: the work was called off.
            Unavailable: the executors were lost, or the ledger is.
        """
        to_copy = [item for item in items if item.copies and item.part is not None]
        copied = self._copied(to_copy) if self._staged is None else self._staged.copied(to_copy)
        why = None if self._staged is None else self._staged.refused(items, copied, notes)
        if why is not None:
            found = {item: copied.get(item) for item in items}
            return {item: each if isinstance(each, Problem) else why for item, each in found.items()}
        outcomes: dict[TableItem, Placed | Problem] = {}

        def put(item: TableItem) -> None:
            try:
                outcomes[item] = self._put(item, copied.get(item))
            except StorageError as error:
                outcomes[item] = Problem(code=error.code, message=str(error))

        self.context.work.pool(self.context.root).run_all(put, items)
        return outcomes

    def _copied(self, items: Sequence[TableItem]) -> dict[TableItem, Digests | Problem]:
        staged = {self._staging(item): item for item in items}
        copied = self.context.copy({into: item.part for into, item in staged.items() if item.part is not None})
        return {staged[into]: each for into, each in copied.items()}

    def _put(self, item: TableItem, copied: Digests | Problem | None) -> Placed | Problem:
        if isinstance(copied, Problem):
            return copied
        if item.step is TableStep.DESCRIBE:
            return Placed(item.place, {})
        if copied is not None:
            return Placed(self._named(item, copied), copied)
        placed = Placed(item.place, self._same_bytes(item))
        if self._staged is not None:
            self._staged.end_wait(item)
        return placed

    def _named(self, item: TableItem, digests: Digests) -> CanonicalPath:
        """Give a whole copy its place: the one that Hive would choose if it is free."""
        context, system = self.context, self.context.system
        place = data_place(context.root, context.work.run_name, context.name(item))
        if system.capabilities.atomic_rename and item.step is TableStep.ADD and self._is_free(item.place):
            place = item.place
        if self._staged is not None:
            self._staged.publish(item, place, digests)
        elif self._staging(item) != place:
            context.move(self._staging(item), place)
        return place

    def _is_free(self, place: CanonicalPath) -> bool:
        """Return whether nothing is at a place, and no partition uses it; an empty directory goes."""
        system = self.context.system
        if not is_there(system, place):
            return True
        if not self._used.is_free(place):
            return False
        system.remove_if_empty(place, below=self.context.root)
        return not is_there(system, place)

    def _same_bytes(self, item: TableItem) -> Digests:
        """Return the digests of files that are there already, as a run that was killed left them.

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
        reader = DigestReader(system=self.context.work.stores(root), check=self.context.work.guard.check)
        return {name: reader.read(below(root, name)).or_raise() for name in names}

    def _register(
        self, placed: Mapping[TableItem, Placed], results: Results, refused: dict[TableItem, UnregisteredItem]
    ) -> None:
        def refuse(items: Mapping[TableItem, Placed], why: Callable[[TableItem], ItemResult[TableItem]]) -> None:
            refused.update((item, UnregisteredItem(each, why(item))) for item, each in items.items())

        # The copy may have taken hours.
        refusal = self.context.work.guard.refusal(self.context.root, must_look=True)
        if refusal is not None:
            refuse(placed, refusal.of)
            return
        left = dict(placed)
        try:
            changed = self.source.changed(self.context.contents, [item.name for item in placed], self.context.work)
            outdated = {item: left.pop(item) for item in placed if item.name in changed}
            refuse(outdated, _source_changed)
            if outdated and left and self._staged is not None:
                refuse(left, _incomplete)
                left.clear()
            if left:
                self._registration.publish({item: each.place for item, each in left.items()})
        except (CatalogError, StorageError) as error:
            if isinstance(error, Unavailable):  # it may have been done: the next run sees
                raise
            refuse(left, partial(ItemResult.failed, code=error.code, message=str(error)))
        else:
            results |= {item: result_of(item, None) for item in left}

    def _cleaned(self, item: TableItem) -> ItemResult[TableItem]:
        """Remove data that were replaced, if an earlier replacement put them there, and no other partition has them."""
        is_own = is_data_place(item.place, self.context.root, self.context.name(item))
        if not is_own or not self._used.is_alone(item.place):
            return ItemResult.skipped(item, SHARED)
        try:
            self._discard(item.place)
        except StorageError as error:
            return ItemResult.failed(item, error.code, str(error))
        return ItemResult.done(item)

    def _remove_failed(self, failed: Collection[TableItem]) -> None:
        """Remove copies that failed, where they were written to the place that they would have had."""
        if not self.context.system.capabilities.atomic_rename:
            for item in failed:
                if item.copies:
                    self._discard(self._staging(item))

    def _sweep(self, items: Sequence[TableItem]) -> None:
        """Remove the directory of copies; staging directories only when empty."""
        context = self.context
        if self._staged is not None:
            self._staged.sweep([item for item in items if item.part is not None])
        elif context.system.capabilities.atomic_rename:
            alone = "" if context.contents.table.keys else context.target.table.table
            remove_staging(context.system, context.root, context.work.run_name, alone)

    def _discard(self, place: CanonicalPath) -> None:
        remove(self.context.system, place, self.context.root)
        remove_emptied(self.context.system, place, self.context.root)

    def _staging(self, item: TableItem) -> CanonicalPath:
        context = self.context
        prefix = STAGING_PREFIX if context.system.capabilities.atomic_rename else DATA_PREFIX
        return below(context.root.child(f"{prefix}{context.work.run_name}"), context.name(item))


def _source_changed(item: TableItem) -> ItemResult[TableItem]:
    """Return the failure of an item whose table or partition changed at the source."""
    place = item.place if item.part is None else item.part.place
    error = SourceChanged(path=place, detail="it, or its table, was altered, dropped or made anew since the plan")
    return ItemResult.failed(item, error.code, str(error))


def _incomplete(item: TableItem) -> ItemResult[TableItem]:
    """Return the failure of an item that was validated together with partitions that cannot be registered."""
    why = "other partitions of the same validation cannot be registered, and its result is of all of them; run again"
    return ItemResult.failed(item, QUALITY_UNKNOWN, f"{item.name or item.uri}: {why}")

"""Plan of an import: the steps after which a metastore has a table as the source has it (ADR 0048)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from toolkit.actions.model import ItemResult, Problem
from toolkit.actions.progress import Volume
from toolkit.actions.staged_unit import staging_top
from toolkit.catalog.errors import ForeignLocation, NoSuchTable
from toolkit.catalog.model import Partition, Table
from toolkit.hive.batches import in_batches
from toolkit.hive.errors import Overlapping
from toolkit.hive.locations import UsedLocations, directory_above, is_data_place
from toolkit.hive.table_definition import (
    COPIED,
    merged_definition,
    partition_differences,
    target_partition,
    target_table,
)
from toolkit.hive.table_reader import Contents, TablePart
from toolkit.hive.targets import StoredPart, TableDetail, TableItem, TablePlan, TableStep, TableTarget
from toolkit.transfer.trees import Tree, below, read_tree

if TYPE_CHECKING:
    from toolkit.el import CanonicalPath
    from toolkit.hive.table_context import TableContext
    from toolkit.hive.table_reader import TableReader

SOURCE_EMPTY, STAGED_REGISTERED = "source_empty", "registered_at_gate"


@dataclass(frozen=True, kw_only=True)
class ImportPlanner:
    """Plans the import of contents into a table.

    Attributes:
        context: of the blank plan.
        reader: of the metastore that gets them.
    """

    context: TableContext
    reader: TableReader

    @property
    def target(self) -> TableTarget:
        """The instance."""
        return self.context.target

    def planned(self, contents: Contents) -> TablePlan:
        """Return the plan.

        Raises:
            IncompatibleTable: see `SchemaChange`.
            CatalogError: the metastore refuses, or does not answer; there is no such database; or the table has an
                address that the policy of the cluster refuses.
            StorageError: a store refuses, or does not answer.
        """
        contents, blank = self._allowed(contents), self.context.plan
        wanted = target_table(contents.table, self.target.table, self.target.rules)
        present = self._present()
        definition = wanted if present is None else merged_definition(wanted, present, self.target.rules.schema_change)
        text = self._location(present)
        place, root_text = self.reader.place(text), text if wanted.keys else directory_above(text)
        detail = TableDetail(contents=contents, present=present, root=self.reader.place(root_text), root_text=root_text)
        items = [replace(self.target.item(TableStep.TABLE, place), wanted=definition)] if definition != present else []
        if wanted.kind.is_view:
            return replace(blank, items=tuple(items), detail=replace(detail, kept=int(not items)))
        self._require_apart(contents, place)
        slots = self._slots(contents, definition, present, place)
        trees = self._trees(slots)
        are_in_the_way = any(slot.present is None and trees[slot.part.name] is not None for slot in slots)
        used = UsedLocations.of(self.reader.metastore, present if are_in_the_way else None, self.reader.place)
        root = self.reader.place(root_text)
        steps = [(slot, self._step(slot, trees[slot.part.name], used, root)) for slot in slots]
        found = [each for _, each in steps if each is not None]
        changed = [each for each in found if isinstance(each, TableItem)]
        failed = [each for each in found if isinstance(each, ItemResult)]
        failed += [self._failed(name, place, why) for name, why in contents.broken.items()]
        items = list(
            in_batches([*(items if wanted.keys else ()), *changed], at_once=self.target.validation is not None)
        )
        unchanged = tuple(
            StoredPart(part=slot.part, place=slot.own, storage=slot.wanted.storage)
            for slot, step in steps
            if step is None
        )
        return replace(
            blank,
            items=tuple(items),
            unreadable=tuple(failed),
            volume=Volume(files=sum(item.files for item in items), bytes=sum(item.bytes for item in items)),
            detail=replace(detail, kept=len(unchanged), unchanged=unchanged),
            notes=tuple(each.note for each in changed if each.note),
        )

    def _allowed(self, contents: Contents) -> Contents:
        """Refuse addresses that lead readers of the copy elsewhere: anybody may write an export or a source."""
        policy = self.reader.policy
        policy.require_copyable(contents.table)
        refused = {
            part.name: Problem(code=ForeignLocation.code, message=f"{part.name}: {why}")
            for part in contents.parts
            if part.partition is not None and (why := policy.why_not_copyable(part.partition.storage))
        }
        parts = tuple(part for part in contents.parts if part.name not in refused)
        return replace(contents, parts=parts, broken={**contents.broken, **refused})

    def _require_apart(self, contents: Contents, place: CanonicalPath) -> None:
        """Refuse an import of data that are in the table's own directory.

        Raises:
            Overlapping: a source, or the export, is in the table's directory, around it or the same.
        """
        sources = [part.place for part in contents.parts]
        for source in (*sources, *([self.target.directory] if self.target.directory else ())):
            if place.meets(source):
                raise Overlapping(path=place, detail=f"it comes from {source}")

    def _present(self) -> Table | None:
        try:
            return self.reader.table(self.target.table)
        except NoSuchTable:
            return None

    def _location(self, present: Table | None) -> str:
        """Return where the table is, or will be, as the metastore writes it."""
        if present is not None and present.storage.location:
            return present.storage.location
        name = self.target.table
        return f"{self.reader.metastore.database_location(name.database).rstrip('/')}/{name.table}"

    def _slots(self, contents: Contents, definition: Table, present: Table | None, place: CanonicalPath) -> list[_Slot]:
        if not definition.keys:
            return [
                _Slot(part=each, default=place, own=place, wanted=definition, present=present)
                for each in contents.parts
            ]
        there: dict[str, Partition] = {}
        if present is not None:
            names = [part.name for part in contents.parts]
            found = self.reader.metastore.partitions(self.target.table, names)
            there = {definition.partition_name(each): each for each in found}
        return [
            _Slot(
                part=part,
                default=below(place, part.name),
                own=self._own(there.get(part.name), below(place, part.name)),
                wanted=target_partition(part.partition),
                present=there.get(part.name),
            )
            for part in contents.parts
            if part.partition is not None
        ]

    def _own(self, present: Partition | None, default: CanonicalPath) -> CanonicalPath:
        """Return the place of a partition's data; that of a refused one is not looked at."""
        return default if present is None or present.refusal else self.reader.place(present.location)

    def _trees(self, slots: Sequence[_Slot]) -> dict[str, Tree | None]:
        """Return the files at the places of partitions, by name."""
        found: dict[str, Tree | None] = {}

        def look(slot: _Slot) -> None:
            system, check = self.context.work.stores(slot.own), self.context.work.guard.run.check
            found[slot.part.name] = read_tree(system, slot.own, check, directories=False)

        if slots:
            self.context.work.pool(slots[0].own).run_all(look, slots)
        return found

    def _step(
        self, slot: _Slot, tree: Tree | None, used: UsedLocations, root: CanonicalPath
    ) -> TableItem | ItemResult[TableItem] | None:
        """Return the item of a partition, or its failure; None: it is there, and the same."""
        part, present = slot.part, slot.present
        sizes = {name: entry.size for name, entry in (tree or {}).items()}
        if present is None:
            is_free = used.is_free(slot.own)
            is_there = bool(sizes) and sizes == part.files and is_free
            owner = "no partition refers to" if is_free else "another partition has"
            note = f"{slot.own} has files that {owner}; they stay" if sizes and not is_there else ""
            return replace(slot.item(self.target, TableStep.ADD), is_there=is_there, note=note)
        if isinstance(present, Partition) and present.refusal:
            message = f"{part.name} is there already, and {present.refusal}"
            return self._failed(part.name, slot.own, Problem(code=ForeignLocation.code, message=message))
        if staging_top(slot.own) is not None:  # staged data are replaced without asking
            message = f"{slot.own} is a staging directory, and yet it is registered; drop {part.name} first"
            return self._failed(part.name, slot.own, Problem(code=STAGED_REGISTERED, message=message))
        is_same = present.parameters.get(COPIED) == part.fingerprint and sizes == part.files
        if is_same:
            location = present.storage.location or ""
            item = replace(slot.item(self.target, TableStep.DESCRIBE), place=slot.own, location=location)
            return None if slot.is_described else item
        if sizes and not part.files:
            message = f"{part.place} has no data, and {slot.own} has; nothing is removed for an empty source"
            return self._failed(part.name, slot.own, Problem(code=SOURCE_EMPTY, message=message))
        is_ours = COPIED in present.parameters and is_data_place(slot.own, root, part.name or self.target.table.table)
        note = "" if is_ours or not sizes else _stays(part.name, slot.own)
        outdated = slot.own if is_ours else None
        return replace(slot.item(self.target, TableStep.REPLACE), outdated=outdated, note=note)

    def _failed(self, name: str, place: CanonicalPath, why: Problem) -> ItemResult[TableItem]:
        return ItemResult.failed(self.target.item(TableStep.ADD, below(place, name)), why.code, why.message)


@dataclass(frozen=True, kw_only=True)
class _Slot:
    """A partition, or an unpartitioned table, on both sides.

    Attributes:
        default: where Hive would put it.
        own: where its data are now, or would be.
        wanted: the definition that it gets.
        present: the definition that it has; None: it is not there.
    """

    part: TablePart
    default: CanonicalPath
    own: CanonicalPath
    wanted: Partition | Table
    present: Partition | Table | None

    def item(self, target: TableTarget, step: TableStep) -> TableItem:
        """Return the item that brings its data."""
        return replace(target.item(step, self.default, self.part), wanted=self.wanted)

    @property
    def is_described(self) -> bool:
        """True if the present definition is the wanted one."""
        if isinstance(self.wanted, Partition) and isinstance(self.present, Partition):
            return not any(partition_differences(self.wanted, self.present))
        return self.wanted == self.present


def _stays(name: str, place: CanonicalPath) -> str:
    owner = name or "the table"
    return f"the data that {owner} had are still at {place}; remove them when no reader needs them"

"""Exports, imports and replications of tables as actions of the kernel (DESIGN sections 7 and 10)."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from functools import partial
from typing import TYPE_CHECKING

from toolkit.actions.action import Recovery, RunContext, left_over, place_named
from toolkit.actions.copy_limits import CopyLimits, ExceededCopyLimit
from toolkit.actions.hold_watch import HoldWatch, NewHolds, NoNewHolds
from toolkit.actions.model import TIMED_OUT, Problem, TargetPlan
from toolkit.actions.output_leases import (
    EVICTION_UNDER_WAY,
    SOURCE_BEING_WRITTEN,
    database_lease,
    eviction_of_partition,
    eviction_of_table_data,
    output_lease,
    resource_name,
    table_lease,
    table_leases,
    writer_of,
)
from toolkit.catalog.errors import CatalogError
from toolkit.catalog.partition_name import split_name
from toolkit.catalog.written_places import WrittenPlaces
from toolkit.el import CanonicalPath, ElError
from toolkit.hive.batches import Mode, TableBatch, batches_of, event_of
from toolkit.hive.errors import IncompatibleTable, InstanceNotAvailable
from toolkit.hive.registration_mark import LATEST_CALL
from toolkit.hive.table_context import TableContext
from toolkit.hive.targets import TableDetail, TablePlan, TableTarget
from toolkit.ledger.runs.leases import Wanted
from toolkit.ledger.vocabulary import LeaseMode, LifeCycle
from toolkit.runs.recorder import path_text
from toolkit.storage import DATA_PREFIX, RealPlaces, StorageError

if TYPE_CHECKING:
    from toolkit.hive.targets import TableItem
    from toolkit.ledger.runs.items import Item

NOT_AVAILABLE = "not_available"


@dataclass(frozen=True, kw_only=True)
class TableAction:
    """Action that exports, imports or replicates the tables of feeds.

    Attributes:
        name: of the action.
        life_cycle: in the ledger.
        mode_of: the mode of the plan of a context.
        nominal: for which the run acts.
        limits: of a run over all its feeds.
        address: of an instance, or a whole table, as consumers know it.
        also_on: other clusters whose metastore has the table of an instance, since it is the same metastore.
        new_holds: that were added since the run read the holds.
    """

    name: str
    life_cycle: LifeCycle
    mode_of: Callable[[TableContext], Mode]
    nominal: datetime
    limits: CopyLimits
    address: Callable[[TableTarget], str]
    also_on: Callable[[TableTarget], Collection[str]] = lambda _: ()
    new_holds: NewHolds = field(default_factory=NoNewHolds)

    def leases(self, target: TableTarget) -> tuple[Wanted, ...]:
        """Return the leases of a table, an instance of it or an export: one run at a time writes each of them.

        Whichever feed it is of, an export that is read is not written at the same time, nor one around it or in it.
        """
        if target.is_export:
            own = Wanted(resource=f"export/{target.feed}/{target.cluster}/{target.instance_key}")
            return (own, *_directory_leases(target, LeaseMode.EXCLUSIVE))
        read = _directory_leases(target, LeaseMode.SHARED)
        clusters = (target.cluster, *sorted(self.also_on(target)))
        if target.instant is None:
            databases = (database_lease(each, target.table.database) for each in clusters)
            return (*databases, *(table_lease(each, target.table) for each in clusters), *read)
        own, key = output_lease(target.feed, target.cluster, target.instance_key), target.instance_key
        return (own, *(lease for each in clusters for lease in table_leases(each, target.table, key)), *read)

    def conditions(self, plan: TablePlan, work: RunContext) -> tuple[HoldWatch, ...]:
        """Return the condition of a target: a hold on the feed also blocks replacing its data."""
        pairs, bases = ((plan.target.feed, plan.target.cluster),), self.mode_of(self._context(plan, work)).bases
        return (HoldWatch(bases=bases, pairs=pairs, storage=work.stores, new_holds=self.new_holds),)

    def blank_plan(self, target: TableTarget) -> TablePlan:
        """Return the plan of a target that is not looked at."""
        return TargetPlan(target=target, detail=TableDetail(), covers_all=target.instant is None)

    def _context(self, plan: TablePlan, work: RunContext) -> TableContext:
        return TableContext(plan=plan, work=work, address=self.address(plan.target))

    def plan(self, target: TableTarget, work: RunContext) -> TablePlan:
        """Return the plan of a target; an error of the metastore or a store is a failure of the plan."""
        blank = self.blank_plan(target)
        try:
            return self._without_rivals(self.mode_of(self._context(blank, work)).planned(), work)
        except InstanceNotAvailable as missing:
            is_late = target.waits_until is not None and self.nominal >= target.waits_until
            if is_late:
                message = f"{missing.why}, and the feed's timeout is over; name it by --start when it has come"
                return replace(blank, failed=Problem(code=TIMED_OUT, message=message))
            return replace(blank, waiting=Problem(code=NOT_AVAILABLE, message=missing.why))
        except (CatalogError, StorageError, IncompatibleTable) as error:
            return replace(blank, failed=Problem(code=error.code, message=str(error)))
        except ElError as error:
            return replace(blank, failed=Problem(code="bad_location", message=str(error)))

    def _without_rivals(self, plan: TablePlan, work: RunContext) -> TablePlan:
        """Return the plan, or why it waits: another run writes the source, or retention removes data at the target."""
        target = plan.target
        if not plan.items:
            return plan
        source = target.counterpart or (target.cluster if target.is_export else "")
        writer = writer_of(target.feed, source, target.instance_key, work) if source else ""
        if writer:
            message = f"{target.feed} {target.instance_key} is being written on {source}: {writer}"
            return replace(plan, items=(), waiting=Problem(code=SOURCE_BEING_WRITTEN, message=message))
        evictions = () if target.is_export else work.outputs.evictions()
        for item in plan.items if evictions else ():
            values = split_name(item.name) if item.name else {}
            written = partial(_written, item, plan.detail.root or item.place)
            why = eviction_of_partition(target.table, values, evictions)
            why = why or eviction_of_table_data(target.table, written, evictions, work)
            if why:
                return replace(plan, items=(), waiting=Problem(code=EVICTION_UNDER_WAY, message=why))
        return plan

    def limit(
        self, plans: Sequence[TablePlan], work: RunContext
    ) -> tuple[Sequence[TablePlan], ExceededCopyLimit | None]:
        """Return the plans, and the copy limit that they exceed together."""
        del work
        return plans, self.limits.exceeded(plans)

    def target_limit(self, plan: TablePlan, work: RunContext) -> None:
        """Do nothing: an instance has no limit of its own."""
        del plan, work

    def recover(self, plan: TablePlan, open_items: Sequence[Item], work: RunContext) -> Recovery:
        """Recover unfinished items; of exports of a whole table to other directories only those of the same time."""
        root, target = plan.detail.root, plan.target
        if root is None or plan.waiting is not None:  # a waiting plan has no items, though the instance is not whole
            return Recovery()
        key, is_import = target.instance_key, not target.is_export
        own = [left for left in open_items if is_import or left.instance_key == key or _is_below(left, root)]
        if not own:
            return Recovery()
        context = self._context(plan, work)
        try:
            removed, kept = self.mode_of(context).recover(own)
        except (CatalogError, StorageError):
            return Recovery()
        planned = {path_text(item.uri) for item in plan.items}
        settled = tuple(
            left_over(left, is_done=left.path not in planned and _is_below(left, root) and at not in removed)
            for at, left in enumerate(own)
            if at not in kept
        )
        is_whole = not plan.items and not plan.unreadable and len(settled) > len(removed)
        if is_whole and not plan.target.is_export and plan.target.instant is not None:
            # All of it is there, and consumers have no event of it yet.
            settled = (replace(settled[0], event=event_of(context, was_there=False)), *settled[1:])
        recovery = Recovery.of(settled, "steps")
        return replace(recovery, notes=(*recovery.notes, _stays(kept))) if kept else recovery

    def batches(self, plan: TablePlan, work: RunContext) -> Sequence[TableBatch]:
        """Return the batches of a plan in order."""
        context = self._context(plan, work)
        return batches_of(self.mode_of(context), context)


def _directory_leases(target: TableTarget, mode: LeaseMode) -> tuple[Wanted, ...]:
    """On the directory of an export by its one name, and on the one around it, which may be an export as well."""
    if target.directory is None:
        return ()
    place = RealPlaces().of(target.directory)
    own, around = (resource_name(f"directory/{path_text(str(each))}") for each in (place, place.parent))
    return (Wanted(resource=own, mode=mode), Wanted(resource=around, mode=LeaseMode.SHARED))


def _stays(kept: Collection[int]) -> str:
    return (
        f"{len(kept)} partitions that a dead run copied stay unregistered at {DATA_PREFIX}*: the metastore may still "
        f"execute its last call; a run later than {LATEST_CALL.total_seconds():g} s after that removes them"
    )


def _is_below(left: Item, root: CanonicalPath) -> bool:
    place = place_named(left)
    return place is not None and (place == root or place.is_within(root))


def _written(item: TableItem, base: CanonicalPath) -> WrittenPlaces:
    return WrittenPlaces(base=base, places=tuple(each for each in (item.place, item.outdated) if each is not None))

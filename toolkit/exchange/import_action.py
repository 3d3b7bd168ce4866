"""Imports from databases as an action of the kernel."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import TYPE_CHECKING

from toolkit.actions.action import (
    Action,
    Recovery,
    RunContext,
    left_over,
    place_named,
    unknown_place,
    unknown_places_note,
)
from toolkit.actions.hold_watch import HoldWatch, NewHolds, NoNewHolds
from toolkit.actions.model import Problem, TargetPlan
from toolkit.actions.output_leases import (
    EVICTION_UNDER_WAY,
    eviction_of_partition,
    eviction_of_path,
    output_lease,
    table_leases,
)
from toolkit.actions.staged_unit import StagedUnit
from toolkit.availability import is_there
from toolkit.catalog.errors import CatalogError
from toolkit.errors import InvalidInput
from toolkit.exchange.import_batch import ImportBatch
from toolkit.exchange.import_planner import RowImportPlanner
from toolkit.exchange.import_targets import DATABASE_ERRORS, NAME, ImportDetail, ImportItem, ImportTarget, code_of
from toolkit.exchange.rows import NotExchanged
from toolkit.ledger.runs.leases import Wanted
from toolkit.ledger.vocabulary import LifeCycle
from toolkit.storage import StorageError

if TYPE_CHECKING:
    from toolkit.exchange.import_place import ImportPlaces
    from toolkit.exchange.import_targets import ImportMarks, ImportPlan
    from toolkit.exchange.rows import Rows
    from toolkit.jdbc.port import Database
    from toolkit.ledger.runs.items import Item

_FAILURES = (*DATABASE_ERRORS, NotExchanged, StorageError, CatalogError, InvalidInput)


@dataclass(frozen=True, kw_only=True)
class ImportAction(Action[ImportTarget, ImportItem, ImportDetail]):
    """Imports instances; see `Action`.

    Attributes:
        nominal: for which the run acts.
        marks: that the ledger has of an instance.
        database: opens a datasource by its name; opened once.
        places: of a feed on a cluster.
        rows: moves rows to the stores of a cluster.
        address: of an instance, as consumers know it.
        shares_moments: see `RowImportPlanner`.
        new_holds: that were added since the run read the holds.
    """

    nominal: datetime
    marks: Callable[[ImportTarget], ImportMarks]
    database: Callable[[str], Database]
    places: Callable[[ImportTarget], ImportPlaces]
    rows: Callable[[str], Rows]
    address: Callable[[ImportTarget], str]
    shares_moments: bool = False
    new_holds: NewHolds = field(default_factory=NoNewHolds)
    name: str = NAME
    life_cycle: LifeCycle = LifeCycle.IMPORT

    def leases(self, target: ImportTarget) -> tuple[Wanted, ...]:
        """One run at a time imports a feed, since an instance begins where the one before it ends."""
        key = target.instance_key
        own = (
            Wanted(resource=f"import/{target.entity}/{target.cluster}"),
            output_lease(target.entity, target.cluster, key),
        )
        return own if target.table is None else (*own, *table_leases(target.cluster, target.table, key))

    def conditions(self, plan: ImportPlan, work: RunContext) -> tuple[HoldWatch, ...]:
        """Return the condition of a target: a hold on the feed also blocks replacing its data."""
        target, place = plan.target, plan.detail.place
        bases = (target.base,) if target.base is not None else () if place is None else (place.base,)
        pairs = ((target.entity, target.cluster),)
        return (HoldWatch(bases=bases, pairs=pairs, storage=work.stores, new_holds=self.new_holds),)

    def blank_plan(self, target: ImportTarget) -> ImportPlan:
        """Return the plan of a target that is not looked at."""
        return TargetPlan(target=target, detail=ImportDetail())

    def plan(self, target: ImportTarget, work: RunContext) -> ImportPlan:
        """Return the plan; an error of the database, a store or the metastore is a failure of the plan."""
        blank = self.blank_plan(target)
        try:
            planner = RowImportPlanner(
                target=target,
                marks=self.marks(target),
                database=self.database(target.datasource),
                stores=work.stores,
                place=self.places(target).at,
                shares_moments=self.shares_moments,
            )
            return self._without_eviction(planner.planned(blank), work)
        except _FAILURES as error:
            return replace(blank, failed=Problem(code=code_of(error), message=str(error)))

    def _without_eviction(self, plan: ImportPlan, work: RunContext) -> ImportPlan:
        """Return the plan, or why it waits: retention removes data at its place."""
        place, target = plan.detail.place, plan.target
        evictions = work.outputs.evictions() if place is not None and plan.items else ()
        if place is None or not evictions:
            return plan
        why = eviction_of_path(place.unit, place.base, evictions, work)
        if target.table is not None:
            why = why or eviction_of_partition(target.table, target.partition, evictions)
        return replace(plan, items=(), waiting=Problem(code=EVICTION_UNDER_WAY, message=why)) if why else plan

    def recover(self, plan: ImportPlan, open_items: Sequence[Item], work: RunContext) -> Recovery:
        """Undo what a killed run began: an instance that it did not record is imported again."""
        place = plan.detail.place
        if place is None or plan.waiting is not None:
            return Recovery()
        known = [left for left in open_items if place_named(left) == place.unit]
        unknown = [unknown_place(left) for left in open_items if left not in known]
        top = None if place.table is None else place.base
        try:
            StagedUnit(work=work, unit=place.unit, base=place.base, top=top).settle()
            is_done = not plan.items and is_there(work.stores(place.unit), place.unit)
        except StorageError:
            return Recovery()
        found = Recovery.of([left_over(left, is_done=is_done) for left in known], "imports")
        notes = (unknown_places_note(unknown),) if unknown else ()
        return Recovery(settled=(*found.settled, *unknown), notes=(*found.notes, *notes))

    def batches(self, plan: ImportPlan, work: RunContext) -> Sequence[ImportBatch]:
        """Return the one batch of an instance."""
        if not plan.items:
            return ()
        target = plan.target
        batch = ImportBatch(
            plan=plan,
            work=work,
            database=self.database(target.datasource),
            rows=self.rows(target.cluster),
            places=self.places(target),
            address=self.address(target),
        )
        return (batch,)

"""Maintenance of ingested tables as an action of the kernel."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from itertools import groupby
from typing import TYPE_CHECKING

from toolkit.actions.action import Batch, Recovery, RunContext, left_over
from toolkit.actions.hold_watch import HoldWatch, NewHolds, NoNewHolds
from toolkit.actions.model import Problem, SkipReason, TargetPlan
from toolkit.compaction.batches import CloseBatch, ExpireBatch, RemoveBatch, TableWork
from toolkit.compaction.closing import announcing, files_of_instances
from toolkit.compaction.merging import SPREAD_BYTES, SPREAD_MERGES, MergeBatch
from toolkit.compaction.planner import CompactPlanner
from toolkit.compaction.targets import (
    CLOSE,
    EXPIRE,
    MERGE,
    NAME,
    REMOVE,
    CompactDetail,
    CompactItem,
    CompactPlan,
    CompactTarget,
)
from toolkit.el import format_instant
from toolkit.errors import FeedctlError
from toolkit.ingest.errors import NoSuchIngestTable
from toolkit.ingest.slot import last_fence
from toolkit.ledger import ingest
from toolkit.ledger.runs.leases import Wanted
from toolkit.ledger.vocabulary import LifeCycle
from toolkit.runs.errors import Stopped
from toolkit.runs.recorder import path_of

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator

    from toolkit.ledger.database import Ledger
    from toolkit.ledger.runs.items import Item

_BATCHES: Mapping[str, Callable[..., Batch[CompactItem]]] = {
    MERGE: MergeBatch,
    CLOSE: CloseBatch,
    EXPIRE: ExpireBatch,
    REMOVE: RemoveBatch,
}
_TOGETHER = {EXPIRE: 1, REMOVE: 500}
"""So many items are one batch at most; all instances that close are one, since one commit closes them."""


@dataclass(frozen=True, kw_only=True)
class CompactAction:
    """Closes instances, merges small files, and removes what is left over; see `Action`.

    Attributes:
        nominal: for which the run acts.
        now: the present instant.
        ledger: of the run; None: a dry run without one.
        new_holds: that were added since the run read the holds.
    """

    nominal: datetime
    now: Callable[[], datetime]
    ledger: Ledger | None
    new_holds: NewHolds = field(default_factory=NoNewHolds)
    name: str = NAME
    life_cycle: LifeCycle = LifeCycle.COMPACTION

    def leases(self, target: CompactTarget) -> tuple[Wanted, ...]:
        """One run at a time maintains a table."""
        return (Wanted(resource=f"compact/{target.name}"),)

    def conditions(self, plan: CompactPlan, work: RunContext) -> tuple[HoldWatch, ...]:
        """Return the condition of a target: a hold on the feed blocks its maintenance."""
        target = plan.target
        pairs = ((target.entity, target.cluster),)
        return (HoldWatch(bases=(target.base,), pairs=pairs, storage=work.stores, new_holds=self.new_holds),)

    def blank_plan(self, target: CompactTarget) -> CompactPlan:
        """Return the plan of a target that is not looked at."""
        return TargetPlan(target=target, detail=CompactDetail(), covers_all=True)

    def plan(self, target: CompactTarget, work: RunContext) -> CompactPlan:
        """Return the plan: files that are merged, instances that close, snapshots and files that go."""
        del work
        blank = self.blank_plan(target)
        if target.held:
            return replace(blank, skipped=Problem(code=SkipReason.HELD, message=target.held))
        try:
            known = last_fence(self.ledger, target.name)
            with target.open_table() as table:
                planner = CompactPlanner(
                    plan=blank,
                    table=table,
                    nominal=self.nominal,
                    now=self.now(),
                    never_committed=self._never_committed,
                    last_fence=known,
                )
                return planner.planned()
        except NoSuchIngestTable:
            return replace(blank, notes=(f"the table {target.name} is not there: nothing was ingested yet",))
        except Stopped:
            raise
        except FeedctlError as error:
            code = str(getattr(error, "code", "failed"))
            return replace(blank, failed=Problem(code=code, message=str(error)))

    def _never_committed(self, transactions: Collection[int]) -> Collection[int]:
        ledger = self.ledger
        return () if ledger is None else ledger.read(lambda tx: ingest.never_committed(tx, transactions))

    def limit(self, plans: Sequence[CompactPlan], work: RunContext) -> tuple[Sequence[CompactPlan], None]:
        """Return the plans: nothing that a snapshot refers to is removed, so that there is no limit."""
        del work
        return plans, None

    def target_limit(self, plan: CompactPlan, work: RunContext) -> None:
        """Do nothing: a target has no limit of its own."""
        del plan, work

    def recover(self, plan: CompactPlan, open_items: Sequence[Item], work: RunContext) -> Recovery:
        """Announce instances that a killed run closed; all else is planned anew from the table."""
        left = {(item.kind, item.uri) for item in plan.items}
        closed = self._closed(plan, [each.instance_key for each in open_items if each.kind == CLOSE])
        if closed:
            work.write_ledger(announcing(plan.target, closed))
        settled = [
            left_over(
                each,
                is_done=each.instance_key in closed
                if each.kind == CLOSE
                else (each.kind, path_of(each.path)) not in left,
            )
            for each in open_items
        ]
        return Recovery.of(settled, "items")

    @staticmethod
    def _closed(plan: CompactPlan, keys: Collection[str]) -> dict[str, int]:
        """Return which instances the table has closed with rows in them, and the size of these."""
        if not keys or plan.detail.closed_before is None:
            return {}
        target = plan.target
        with target.open_table() as table:
            found = files_of_instances(target, table, None, plan.detail.closed_before)
        sizes = {format_instant(at): sum(each.bytes for each in files) for at, files in found.items()}
        return {key: sizes[key] for key in sorted(keys) if key in sizes}

    def batches(self, plan: CompactPlan, work: RunContext) -> Sequence[Batch[CompactItem]]:
        """Make a batch of each merge, or of 64 for executors, one of all that close, and of each 500 files that go."""
        if not plan.items or self.ledger is None:
            return ()
        run = TableWork(plan=plan, work=work, ledger=self.ledger)
        is_spread = work.executors is not None and sum(each.bytes for each in plan.items if each.files) >= SPREAD_BYTES
        together = {**_TOGETHER, MERGE: SPREAD_MERGES if is_spread else 1}
        return [_BATCHES[kind](run=run, positions=positions) for kind, positions in _ranges(plan.items, together)]


def _ranges(items: Sequence[CompactItem], together: Mapping[str, int]) -> Iterator[tuple[str, range]]:
    for kind, group in groupby(range(len(items)), lambda at: items[at].kind):
        positions = list(group)
        size = together.get(kind, len(positions))
        for at in range(positions[0], positions[-1] + 1, size):
            yield kind, range(at, min(at + size, positions[-1] + 1))

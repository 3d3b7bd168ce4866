"""Retention as an action of the kernel: what it lists, what it decides and what it does (DESIGN sections 7 and 10)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from typing_extensions import override

from toolkit.actions.action import ExceededLimit, Recovery, RunContext
from toolkit.actions.hold_watch import HoldWatch, NewHolds, NoNewHolds
from toolkit.ledger.runs.leases import Wanted
from toolkit.ledger.vocabulary import LifeCycle
from toolkit.retention.first_eviction import FirstEviction, approving, is_first
from toolkit.retention.path_retention import PathRetention
from toolkit.retention.plan import part_of
from toolkit.retention.planner import RetentionPlanner, TooMuchOfFeed, TooMuchToDelete, blank_plan
from toolkit.retention.review import RetentionReview
from toolkit.retention.tables.iceberg_retention import IcebergRetention
from toolkit.retention.tables.retention import TableRetention

if TYPE_CHECKING:
    from toolkit.actions.action import Batch
    from toolkit.actions.hold_file import HoldFile
    from toolkit.actions.plan_item import ItemReview
    from toolkit.ledger.runs.items import Item
    from toolkit.planning.delete_limits import DeleteLimits, Excess
    from toolkit.retention.plan import FeedPlan, PlanItem
    from toolkit.retention.targets import FeedTarget

NAME = "retention"


@dataclass(frozen=True, slots=True)
class ExceededDeleteLimit(ExceededLimit):
    """An `ExceededLimit` of `max_delete`, of the run or of one feed."""

    excess: Excess
    target: FeedTarget | None = None
    place: str = ""

    @override
    def refusal(self, digest: str) -> TooMuchToDelete | TooMuchOfFeed:
        if self.target is None:
            return TooMuchToDelete(excess=self.excess, digest=digest)
        return TooMuchOfFeed(excess=self.excess, place=self.place, target=self.target, digest=digest)


@dataclass(frozen=True, kw_only=True)
class RetentionAction:
    """Evicts the old instances of feeds; see `Action`.

    Attributes:
        limits: of a run over all its feeds.
        new_holds: that were added since the run read the holds.
        hold_seen: told of each feed and cluster that was looked at, with the hold file that is there; None: no call.
        place_of: where a key of a feed's retention on a cluster is written, as ``file:line``.
        asks_first: the first eviction of a feed, and the first one after its paths or limit changed, is only planned
            until a person approves its digest.
        executors_above: evictions of more instances than this, on a store without directories, go to executors.
    """

    limits: DeleteLimits
    new_holds: NewHolds = field(default_factory=NoNewHolds)
    place_of: Callable[[FeedTarget, str], str] = lambda target, _: target.feed
    hold_seen: Callable[[str, str, HoldFile | None], None] | None = None
    executors_above: int = 0
    asks_first: bool = False
    name: str = NAME
    life_cycle: LifeCycle = LifeCycle.EVICTION

    def leases(self, target: FeedTarget) -> tuple[Wanted, ...]:
        """Return the lease of a feed's eviction: one at a time, whatever its nominal time."""
        return (Wanted(resource=f"evict/{target.feed}/{target.cluster}"),)

    def conditions(self, plan: FeedPlan, work: RunContext) -> tuple[HoldWatch, ...]:
        """Return the conditions of an eviction."""
        target, base = plan.target, plan.detail.base
        bases = target.data_bases if base is None else (base, *target.neighbour_bases)
        pairs = ((target.feed, target.cluster), *target.neighbours)
        return (HoldWatch(bases=bases, pairs=pairs, storage=work.stores, new_holds=self.new_holds),)

    def blank_plan(self, target: FeedTarget) -> FeedPlan:
        """Return the plan of a target that is not looked at."""
        return blank_plan(target)

    def plan(self, target: FeedTarget, work: RunContext) -> FeedPlan:
        """Return the plan of a feed's eviction."""
        plan = RetentionPlanner(storage=work.stores, check=work.guard.run.check).plan(target)
        if self.hold_seen is not None and plan.failed is None:
            self.hold_seen(target.feed, target.cluster, plan.detail.hold_file)
        return replace(plan, covers_all=True)  # whatever their nominal times, one eviction of a feed at a time

    def limit(
        self, plans: Sequence[FeedPlan], work: RunContext
    ) -> tuple[Sequence[FeedPlan], ExceededDeleteLimit | None]:
        """Return the plans, and the safety limit that they exceed together."""
        limited, excess = RetentionPlanner(storage=work.stores, check=work.guard.run.check).limited(plans, self.limits)
        return limited, None if excess is None else ExceededDeleteLimit(excess)

    def target_limit(self, plan: FeedPlan, work: RunContext) -> ExceededDeleteLimit | FirstEviction | None:
        """Return the safety limit that a feed's plan exceeds, or that it has to be approved; or None."""
        planner, target = RetentionPlanner(storage=work.stores, check=work.guard.run.check), plan.target
        _, excess = planner.limited((plan,), target.max_delete)
        if excess is None:
            return FirstEviction(target) if self.asks_first and is_first(plan, work) else None
        return ExceededDeleteLimit(excess, target, self.place_of(target, excess.limit))

    def part(self, plan: FeedPlan, positions: frozenset[int]) -> FeedPlan:
        """Return the plan with the items at some positions; partitions that share a directory go with it, or stay."""
        return part_of(plan, positions)

    def review(self, plan: FeedPlan, work: RunContext) -> Sequence[ItemReview]:
        """Return what who reviews a plan is shown of its items; late data in an instance makes it another one."""
        return RetentionReview(storage=work.stores, check=work.guard.run.check).of(plan)

    def recover(self, plan: FeedPlan, open_items: Sequence[Item], work: RunContext) -> Recovery:
        """Recover unfinished items of any earlier eviction of the feed."""
        return self._retention(plan, work).recover(open_items)

    def batches(self, plan: FeedPlan, work: RunContext) -> Sequence[Batch[PlanItem]]:
        """Return the batches of a plan in order; a first eviction comes here only when it is approved."""
        batches = self._retention(plan, work).batches()
        if not (batches and self.asks_first and is_first(plan, work)):
            return batches
        return (approving(batches[0], plan, work), *batches[1:])

    def _retention(self, plan: FeedPlan, work: RunContext) -> PathRetention | TableRetention | IcebergRetention:
        """By the kind of the feed; a table that was not looked at has nothing to do, as a feed without paths has."""
        table, base = plan.target.table, plan.detail.base
        if table is not None and table.iceberg is not None and base is not None:
            return IcebergRetention(plan=plan, table=table, access=table.iceberg(), base=base, work=work)
        if table is not None and base is not None:
            return TableRetention(plan=plan, table=table, base=base, work=work)
        return PathRetention(plan=plan, work=work, executors_above=self.executors_above)

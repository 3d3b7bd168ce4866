"""Ingest as an action of the kernel: commits what a source has now, and puts away what is committed."""

from __future__ import annotations

import time
from collections.abc import Callable, Generator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from datetime import datetime
from functools import partial
from typing import TYPE_CHECKING, TypeAlias

from toolkit.actions.action import Applied, Batch, Recovery, RunContext, left_over
from toolkit.actions.hold_watch import HoldWatch, NewHolds, NoNewHolds
from toolkit.actions.model import Problem, SkipReason, TargetPlan
from toolkit.errors import FeedctlError
from toolkit.ingest.slot import require_not_behind
from toolkit.ingest.writer_progress import progress_of
from toolkit.ingest_job.batches import TargetIngest
from toolkit.ingest_job.planner import GROUP_UNITS, SPREAD_UNITS, batch_ranges, planned
from toolkit.ingest_job.targets import NAME, READ, IngestDetail, IngestItem, IngestPlan, IngestTarget, code_of
from toolkit.ledger.runs.leases import Wanted
from toolkit.ledger.vocabulary import LifeCycle
from toolkit.runs.errors import Stopped
from toolkit.runs.recorder import path_of

if TYPE_CHECKING:
    from toolkit.ingest.port import TableState
    from toolkit.ingest.remote_transaction import FillRows
    from toolkit.ledger.runs.items import Item

IngestBatches: TypeAlias = "Generator[Batch[IngestItem], Applied[IngestItem], None]"


@dataclass(frozen=True, kw_only=True)
class IngestAction:
    """Commits the units of sources; see `Action`.

    Attributes:
        nominal: for which the run acts.
        filler: makes what adds the partition columns, for a target and the state of its table.
        max_seconds: so long transactions begin; None: until all is read.
        accepts_table: a table that lacks commits which the ledger knows is taken as it is.
        new_holds: that were added since the run read the holds.
        now: seconds of a clock that only goes forward.
    """

    nominal: datetime
    filler: Callable[[IngestTarget, TableState | None], FillRows]
    max_seconds: float | None = None
    accepts_table: bool = False
    new_holds: NewHolds = field(default_factory=NoNewHolds)
    now: Callable[[], float] = time.monotonic
    name: str = NAME
    life_cycle: LifeCycle = LifeCycle.INGEST

    def leases(self, target: IngestTarget) -> tuple[Wanted, ...]:
        """One run at a time reads the source of a feed on a cluster."""
        return (Wanted(resource=f"ingest/{target.entity}/{target.cluster}"),)

    def conditions(self, plan: IngestPlan, work: RunContext) -> tuple[HoldWatch, ...]:
        """Return the condition of a target: a hold on the feed blocks its ingest."""
        target = plan.target
        pairs = ((target.entity, target.cluster),)
        return (HoldWatch(bases=(target.base,), pairs=pairs, storage=work.stores, new_holds=self.new_holds),)

    def blank_plan(self, target: IngestTarget) -> IngestPlan:
        """Return the plan of a target that is not looked at."""
        return TargetPlan(target=target, detail=IngestDetail(), covers_all=True)

    def plan(self, target: IngestTarget, work: RunContext) -> IngestPlan:
        """Return the plan: files that an earlier run left, then groups of units, each followed by its files."""
        blank = self.blank_plan(target)
        if target.held:
            return replace(blank, skipped=Problem(code=SkipReason.HELD, message=target.held))
        try:
            state = target.table.state()
            if not self.accepts_table:
                require_not_behind(target.table.name, state, target.table.last_fence())
            progress = progress_of(state, target.progress_name)
            source = target.open_source(work.stores)
            return planned(blank, source, progress, state)
        except Stopped:
            raise
        except FeedctlError as error:
            return replace(blank, failed=Problem(code=code_of(error), message=str(error)))

    def limit(self, plans: Sequence[IngestPlan], work: RunContext) -> tuple[Sequence[IngestPlan], None]:
        """Return the plans: an ingest removes nothing that was not committed, and has no limit."""
        del work
        return plans, None

    def target_limit(self, plan: IngestPlan, work: RunContext) -> None:
        """Do nothing: a target has no limit of its own."""
        del plan, work

    def recover(self, plan: IngestPlan, open_items: Sequence[Item], work: RunContext) -> Recovery:
        """Settle units of a killed run: those that the plan has again are not done, by the progress of the table."""
        del work
        source, progress = plan.detail.source, plan.detail.progress
        if source is None:  # it was not looked at
            return Recovery()
        left = {(item.kind, item.uri) for item in plan.items}
        settled = []
        for each in open_items:
            name = path_of(each.path)
            is_done = source.is_finished(name, progress) if each.kind == READ else (each.kind, name) not in left
            settled.append(left_over(each, is_done=is_done))
        return Recovery.of(settled, "units")

    def batches(self, plan: IngestPlan, work: RunContext) -> IngestBatches:
        """Make a batch of each group of units, and one of the files that are put away after it."""
        if not plan.items:
            return
        with ExitStack() as stack:
            run = TargetIngest(
                plan=plan,
                work=work,
                stack=stack,
                fill=partial(self.filler, plan.target),
                max_seconds=self.max_seconds,
                now=self.now,
            )
            most = SPREAD_UNITS if plan.target.is_spread else GROUP_UNITS
            for kind, positions in batch_ranges(plan.items, most):
                applied = yield run.batch(kind, positions)
                run.failed = run.failed or applied.failed

"""The use case: plan, weigh against the limits, apply (DESIGN sections 1 and 7)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from math import inf
from typing import TYPE_CHECKING

from toolkit.retention.brake import NewHolds, NoNewHolds
from toolkit.retention.errors import PlanChanged, TooMuchToDelete
from toolkit.retention.feed_work import FeedWork, not_looked_at
from toolkit.retention.planner import Planner
from toolkit.retention.progress import NoProgress, Progress
from toolkit.retention.result import FeedResult, ItemResult, RetentionResult
from toolkit.runs.errors import Stopped

if TYPE_CHECKING:
    from datetime import datetime

    from toolkit.config_source import SnapshotId
    from toolkit.el import CanonicalPath
    from toolkit.errors import Refused
    from toolkit.planning.delete_limits import DeleteLimits
    from toolkit.retention.feed_runs import FeedRuns, StartedFeed
    from toolkit.retention.plan import FeedPlan, RetentionPlan
    from toolkit.retention.resolving import Resolved
    from toolkit.retention.spreading import SpreadMeans
    from toolkit.runs.lifeline import CurrentLifeline
    from toolkit.storage import FileSystem


@dataclass(frozen=True, kw_only=True, slots=True)
class RetentionRequest:
    """What one run is asked to do.

    Attributes:
        nominal_time: for which the run acts.
        dry_run: plan only.
        approve: digest of the plan that may exceed the limits; None: none was approved.
        limits: of the run over all its feeds.
        environment: name, for the record.
        snapshot: which state of the config repo was read, for the record.
        tzdata: version of the time zone data, for the record.
        ledger: its URL without password, for the record; None: none is used.
        notes: what the user should know, for the record.
    """

    nominal_time: datetime
    dry_run: bool
    approve: str | None
    limits: DeleteLimits
    environment: str | None
    snapshot: SnapshotId
    tzdata: str
    ledger: str | None = None
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True)
class RetentionRun:
    """Evicts the old instances of feeds.

    Attributes:
        storage: the store that a path is on; for a dry run a read-only one.
        lifeline: asked before each effect; those of the single feeds are put into it.
        progress: told how far the deleting is.
        new_holds: that were added since the run read the holds.
        means: to spread large evictions over other machines; None: there are none.
        rate: so many changes a second a remote store is asked for (`delete_rate`).
    """

    storage: Callable[[CanonicalPath], FileSystem]
    lifeline: CurrentLifeline
    progress: Progress = field(default_factory=NoProgress)
    new_holds: NewHolds = field(default_factory=NoNewHolds)
    means: SpreadMeans | None = None
    rate: float = inf

    def preview(self, request: RetentionRequest, feeds: Resolved) -> RetentionResult:
        """Plan, and touch nothing."""
        blank = _blank(request)
        try:
            plan = self._planner.plan(feeds.targets, feeds.settled, request.limits)
        except Stopped as stopped:
            return replace(blank, stopped=stopped)
        planned = replace(blank, digest=plan.digest, refusal=refusal_of(plan, request.approve))
        return replace(planned, feeds=tuple(_previewed(feed) for feed in plan.feeds))

    def run(self, request: RetentionRequest, feeds: Resolved, runs: FeedRuns) -> RetentionResult:
        """Take the leases, plan, and unless that is refused, do exactly what the plan says.

        Raises:
            Unavailable: the ledger cannot be used; nothing was touched.
        """
        blank = _blank(request)
        try:
            with ExitStack() as stack:
                started, skipped = runs.start(feeds.targets, stack)
                works = [self._work(each) for each in started]
                over = [FeedResult(plan=plan, items=()) for plan in feeds.settled]
                over += [FeedResult(plan=each.plan, items=(), run=each.run) for each in skipped]
                return self._apply(blank, request, works, over)
        except Stopped as stopped:
            return replace(blank, stopped=stopped)

    def _work(self, started: StartedFeed) -> FeedWork:
        return FeedWork(
            target=started.target,
            run=started.run,
            storage=self.storage,
            new_holds=self.new_holds,
            means=self.means,
            rate=self.rate,
        )

    def _apply(
        self, blank: RetentionResult, request: RetentionRequest, works: Sequence[FeedWork], over: Sequence[FeedResult]
    ) -> RetentionResult:
        planned = [work.make_plan() for work in works]
        plan = self._planner.together(planned, (each.plan for each in over), request.limits)
        refusal = refusal_of(plan, request.approve)
        for work in works:
            work.take(plan)
            with self.lifeline.of(work):
                work.reconcile(may_touch=refusal is None)
        if refusal is None:
            self._evict(works, len(plan.items))
        for work in works:
            work.finish(refusal)
        results = sorted(
            (*over, *(work.result for work in works)), key=lambda each: (each.plan.feed, each.plan.cluster)
        )
        ended = replace(blank, digest=plan.digest, refusal=refusal, stopped=_ending(works))
        return replace(ended, feeds=tuple(results))

    def _evict(self, works: Sequence[FeedWork], total: int) -> None:
        """One feed after the other, so that each gives its lease back as soon as it is done."""
        self.progress.begin(total)
        try:
            for position, work in enumerate(works):
                with self.lifeline.of(work):
                    work.evict(self.progress)
                work.finish()
                if work.stopped is not None and work.stopped.ends_process:
                    for following in works[position + 1 :]:
                        following.stop(work.stopped)
        finally:
            self.progress.end()

    @property
    def _planner(self) -> Planner:
        return Planner(storage=self.storage, check=self.lifeline.check)


def refusal_of(plan: RetentionPlan, approve: str | None) -> Refused | None:
    """Why the plan must not be applied: an approval of another plan, or a limit that nobody lifted."""
    if approve is not None:
        return None if approve == plan.digest else PlanChanged(approved=approve, found=plan.digest)
    return None if plan.excess is None else TooMuchToDelete(excess=plan.excess, digest=plan.digest)


def _blank(request: RetentionRequest) -> RetentionResult:
    return RetentionResult(
        nominal_time=request.nominal_time,
        dry_run=request.dry_run,
        environment=request.environment,
        snapshot=request.snapshot,
        tzdata=request.tzdata,
        digest="",
        feeds=(),
        ledger=request.ledger,
        notes=request.notes,
    )


def _previewed(plan: FeedPlan) -> FeedResult:
    return FeedResult(plan=plan, items=(*map(ItemResult.planned, plan.items), *not_looked_at(plan)))


def _ending(works: Sequence[FeedWork]) -> Stopped | None:
    """What ended the run as a whole: the process was told to stop, or every single run of it was."""
    stops = [work.stopped for work in works if work.stopped is not None]
    for stopped in stops:
        if stopped.ends_process:
            return stopped
    return stops[0] if stops and len(stops) == len(works) else None

"""The use case: plan, weigh against the limits, apply (DESIGN sections 1 and 7)."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from toolkit.retention.act import Eviction, NoProgress, Progress
from toolkit.retention.errors import PlanChanged, TooMuchToDelete
from toolkit.retention.planner import Planner
from toolkit.retention.result import FeedResult, ItemResult, RetentionResult, SkipReason
from toolkit.runs.errors import Stopped

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from datetime import datetime

    from toolkit.config_source import SnapshotId
    from toolkit.el import CanonicalPath
    from toolkit.errors import Refused
    from toolkit.planning.delete_limits import DeleteLimits
    from toolkit.retention.plan import FeedPlan, RetentionPlan
    from toolkit.retention.resolving import Resolved
    from toolkit.runs.lifeline import Lifeline
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
    """

    nominal_time: datetime
    dry_run: bool
    approve: str | None
    limits: DeleteLimits
    environment: str | None
    snapshot: SnapshotId
    tzdata: str


@dataclass(frozen=True, kw_only=True)
class RetentionRun:
    """Evicts the old instances of feeds.

    Attributes:
        storage: the store that a path is on; for a dry run a read-only one.
        lifeline: asked before each effect.
        progress: told how far the deleting is.
    """

    storage: Callable[[CanonicalPath], FileSystem]
    lifeline: Lifeline
    progress: Progress = field(default_factory=NoProgress)

    def run(self, request: RetentionRequest, feeds: Resolved) -> RetentionResult:
        """Plan, and unless it is a dry run or refused, do exactly what the plan says."""
        blank = _blank(request)
        try:
            planner = Planner(storage=self.storage, check=self.lifeline.check)
            plan = planner.plan(feeds.targets, feeds.settled, request.limits)
        except Stopped as stopped:
            return replace(blank, stopped=stopped)
        planned = replace(blank, digest=plan.digest, refusal=refusal_of(plan, request.approve))
        if request.dry_run:
            return replace(planned, feeds=_feed_results(plan, map(ItemResult.planned, plan.items)))
        if planned.refusal is not None:
            refused = (ItemResult.skipped(item, SkipReason.REFUSED) for item in plan.items)
            return replace(planned, feeds=_feed_results(plan, refused))
        eviction = Eviction(storage=self.storage, lifeline=self.lifeline)
        eviction.run(plan.items, self.progress)
        return replace(planned, feeds=_feed_results(plan, eviction.results), stopped=eviction.stopped)


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
    )


def _feed_results(plan: RetentionPlan, results: Iterable[ItemResult]) -> tuple[FeedResult, ...]:
    by_feed: dict[tuple[str, str], list[ItemResult]] = {}
    for result in results:
        by_feed.setdefault((result.item.feed, result.item.cluster), []).append(result)
    return tuple(
        FeedResult(plan=feed, items=(*by_feed.get((feed.feed, feed.cluster), ()), *_not_looked_at(feed)))
        for feed in plan.feeds
    )


def _not_looked_at(feed: FeedPlan) -> Iterator[ItemResult]:
    """What is in these directories stays, and nobody knows what it is."""
    for item, error in feed.unreadable:
        yield ItemResult.failed(item, error.code, str(error))

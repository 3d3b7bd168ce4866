"""One feed's part of a retention run: planned, reconciled with what earlier runs left, done, and told to its run."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import InitVar, dataclass, field, replace
from math import inf
from typing import TYPE_CHECKING

from toolkit.ledger.vocabulary import RunStatus
from toolkit.result import ExitCode, Outcome, derive_status
from toolkit.retention.act import Eviction
from toolkit.retention.brake import Brake, NewHolds, NoNewHolds
from toolkit.retention.gate import Gate
from toolkit.retention.left_over import reconcile
from toolkit.retention.plan import Failure, FeedPlan
from toolkit.retention.planner import Planner
from toolkit.retention.removal import Removal
from toolkit.retention.result import FeedResult, ItemResult, SkipReason
from toolkit.retention.spreading import WAVE, Spreading, SpreadMeans
from toolkit.retention.units import Division
from toolkit.runs.active_run import SUCCEEDED, outcome_of
from toolkit.runs.errors import Stopped
from toolkit.runs.recorder import RunOutcome

if TYPE_CHECKING:
    from toolkit.el import CanonicalPath
    from toolkit.errors import Refused
    from toolkit.retention.plan import RetentionPlan
    from toolkit.retention.progress import Progress
    from toolkit.retention.targets import FeedTarget
    from toolkit.runs.active_run import ActiveRun
    from toolkit.storage import FileSystem

_NOTES = 3


@dataclass(kw_only=True)
class FeedWork:
    """Works on a feed whose lease is held.

    Attributes:
        target: the feed.
        run: under which it is evicted.
        storage: the store that a path is on.
        new_holds: that were added since the run read the holds.
        means: to spread a large eviction over other machines; None: there are none.
        rate: so many changes a second a remote store is asked for.
        stopped: why its run was ended before its time, if it was.
        plan: one that was made before; None: `make_plan` makes it.
    """

    target: FeedTarget
    run: ActiveRun
    storage: Callable[[CanonicalPath], FileSystem]
    new_holds: NewHolds = field(default_factory=NoNewHolds)
    means: SpreadMeans | None = None
    rate: float = inf
    stopped: Stopped | None = None
    plan: InitVar[FeedPlan | None] = None
    _plan: FeedPlan = field(init=False)
    _gate: Gate = field(init=False)
    _results: list[ItemResult] = field(default_factory=list, init=False)

    def __post_init__(self, plan: FeedPlan | None) -> None:
        self._plan = plan or FeedPlan(feed=self.target.feed, cluster=self.target.cluster, target=self.target)
        brake = Brake(target=self.target, storage=self.storage, new_holds=self.new_holds)
        self._gate = Gate(lifeline=self.run, brake=brake)

    @property
    def key(self) -> tuple[str, str]:
        """Feed and cluster."""
        return (self.target.feed, self.target.cluster)

    def check(self) -> None:
        """See `Lifeline.check`; for the stores, while the feed is evicted.

        Raises:
            Stopped: the run must not start another effect.
            CalledOff: as for `Gate.check`.
        """
        self._gate.check()

    def make_plan(self) -> FeedPlan:
        """The plan for the feed.

        Raises:
            Stopped: the whole process must stop; a run that stops alone has a plan that says so.
        """
        try:
            self._plan = Planner(storage=self.storage, check=self.run.check).plan_feed(self.target)
        except Stopped as stopped:
            if stopped.ends_process:
                raise
            self.stopped = stopped
            failure = Failure(code=stopped.code, message=str(stopped))
            self._plan = replace(self._plan, notes=self.target.notes, failure=failure)
        return self._plan

    def take(self, plan: RetentionPlan) -> None:
        """Its part of what was decided about all feeds together."""
        self._plan = next((each for each in plan.feeds if (each.feed, each.cluster) == self.key), self._plan)

    def reconcile(self, *, may_touch: bool) -> None:
        """Settle what earlier runs of the feed left open; after the plan, which knows what is still there.

        Args:
            may_touch: the plan is going to be done.
        """
        if self.stopped is not None:
            return
        try:
            notes = reconcile(self.run, self._plan, self.storage, self._gate, may_touch=may_touch)
            self._plan = replace(self._plan, notes=(*self._plan.notes, *notes))
        except Stopped as stopped:
            self.stopped = stopped

    def evict(self, progress: Progress) -> None:
        """Do what the plan says."""
        if self.stopped is not None:
            self._gate.stop(self.stopped)
        plan, means = self._plan, self._means_to_spread()
        division = Division(
            items=plan.items,
            subtrees=plan.subtrees,
            capabilities=lambda path: self.storage(path).capabilities,
            rate=self.rate,
            wave=None if means is None else WAVE,
        )
        eviction = Eviction(
            items=plan.items,
            batches=tuple(division.batches()),
            removal=self._removal(means),
            run=self.run,
            progress=progress,
            rate=self.rate,
        )
        eviction.work()
        self._results, self.stopped = eviction.results, eviction.stopped
        self._plan = replace(plan, notes=(*plan.notes, *shortened(eviction.notes)))

    def _removal(self, means: SpreadMeans | None) -> Removal:
        gate, first = self._gate, self.target.availability_flag
        spreading = None
        if means is not None:
            spreading = Spreading(
                storage=self.storage,
                gate=gate,
                first=first,
                means=means,
                seconds_left=self.run.deadline.seconds_left,
                check=self.run.check_without_rest,
            )
        return Removal(items=self._plan.items, storage=self.storage, gate=gate, first=first, spreading=spreading)

    def _means_to_spread(self) -> SpreadMeans | None:
        """None: there are none, or too little is planned."""
        if self.means is None:
            return None
        planned = sum(not self.storage(item.base).capabilities.directories for item in self._plan.items)
        return self.means if planned > self.means.above else None

    def stop(self, stopped: Stopped) -> None:
        """Nothing of this feed may begin any more."""
        self.stopped = self.stopped or stopped

    def finish(self, refusal: Refused | None = None) -> None:
        """End the run of the feed, and give its lease back; what was ended before stays as it is."""
        if refusal is not None:
            self._results = [ItemResult.skipped(item, SkipReason.REFUSED) for item in self._plan.items]
        self.run.finish(outcome_of_feed(self.result, refusal))

    @property
    def result(self) -> FeedResult:
        """What became of the feed."""
        items = (*self._results, *not_looked_at(self._plan))
        return FeedResult(plan=self._plan, items=items, run=self.run.recorded, stopped=self.stopped)


def shortened(notes: Sequence[str]) -> Iterator[str]:
    """The first few notes, and how many there are more."""
    yield from notes[:_NOTES]
    if len(notes) > _NOTES:
        yield f"and {len(notes) - _NOTES} more directories went instance by instance"


def not_looked_at(plan: FeedPlan) -> Iterator[ItemResult]:
    """What is in these directories stays, and nobody knows what it is."""
    for item, error in plan.unreadable:
        yield ItemResult.failed(item, error.code, str(error))


def outcome_of_feed(result: FeedResult, refusal: Refused | None) -> RunOutcome:
    """How the run of a feed ends."""
    if result.stopped is not None:
        return outcome_of(result.stopped)
    if refusal is not None:
        return RunOutcome(status=RunStatus.FAILED, reason=str(refusal), exit_code=ExitCode.REFUSED.value)
    failed = [each for each in result.items if each.outcome is Outcome.FAILED]
    if result.plan.failure is None and not failed:
        return SUCCEEDED
    exit_code = derive_status(result.outcomes()).exit_code.value
    return RunOutcome(status=RunStatus.FAILED, reason=_why(result, failed), exit_code=exit_code)


def _why(result: FeedResult, failed: list[ItemResult]) -> str:
    if result.plan.failure is not None:
        return f"{result.plan.failure.code}: {result.plan.failure.message}"
    first = failed[0]
    return f"{len(failed)} of {len(result.items)} items failed, the first: {first.item.path}: {first.code}"

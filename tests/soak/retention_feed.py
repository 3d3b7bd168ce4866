"""The product's run over a case of the fuzzer, with a ledger in memory."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial
from math import inf
from uuid import uuid4

from tests.soak.places import Store
from tests.soak.retention_oracle import Case
from tests.unit.actions.fake_action import looking
from tests.unit.retention.feeds import acted, request_of
from tests.unit.runs.fakes import AuditMemory, MemoryRecorder, envelope_of
from toolkit.actions.action import RunContext
from toolkit.actions.guard import Condition, Guard
from toolkit.actions.runner import ActionRunner, Targets
from toolkit.el import Frequency, format_instant
from toolkit.entities import (
    Cluster,
    ExpiryAction,
    Feed,
    FeedCluster,
    Hold,
    Interface,
    Interfaces,
    LateArrival,
    Locations,
    Retention,
    Validity,
)
from toolkit.ledger.runs.rows import Origin
from toolkit.planning.delete_limits import DeleteLimits
from toolkit.retention import RetentionAction, RetentionResolver, RetentionResult
from toolkit.retention.restorable import RestoreChoice
from toolkit.retention.restore import RestoreAction
from toolkit.runs.lease import Heartbeat
from toolkit.runs.run import ActiveRun
from toolkit.runs.stop import StopSignal
from toolkit.storage import FileSystem, StorageSpec, open_file_system
from toolkit.storage.bound import RateLimiter, side_by_side
from toolkit.storage.calls import PATIENCE_SECONDS
from toolkit.threads import WorkerPool
from toolkit.transfer.spread_copy import SharedCopying

_NAME, _CLUSTER = "fuzzed", "here"


@dataclass(frozen=True, kw_only=True, slots=True)
class Opening:
    """How a run opens its store.

    Args:
        patience: seconds for which it may be silent.
        rate: so many changes a second; inf: any number.
    """

    patience: float = PATIENCE_SECONDS
    rate: float = inf

    def opened(
        self,
        spec: StorageSpec,
        before_effect: Callable[[], None],
        while_waiting: Callable[[], None] = lambda: None,
        *,
        read_only: bool,
    ) -> FileSystem:
        """The store, as `BoundStores` opens it."""
        return open_file_system(
            spec,
            read_only=read_only,
            before_effect=before_effect,
            while_waiting=while_waiting,
            patience=self.patience,
        )


_USUAL = Opening()


@dataclass(frozen=True, kw_only=True)
class _Work:
    """What the runs of one call work with: as `ActionContext` in the product."""

    place: Store
    opening: Opening
    limiter: RateLimiter | None
    run_name: str = field(default_factory=lambda: uuid4().hex[:16])

    def open(self, run: StopSignal, conditions: Sequence[Condition] = ()) -> RunContext:
        guard, is_run = Guard(run=run, conditions=conditions), isinstance(run, ActiveRun)
        check = guard.check if is_run else run.check
        wait_for_rate = check if self.limiter is None else partial(self.limiter.acquire, check)
        system = self.opening.opened(self.place.spec, wait_for_rate, check, read_only=not is_run)
        pool = WorkerPool(side_by_side(system.capabilities.parallel, self.opening.rate), "fuzz-store")
        return RunContext(
            stores=lambda _: system,
            guard=guard,
            pool=lambda _: pool,
            copying=SharedCopying(spec_of=lambda _: self.place.spec),
            rate=lambda _: self.opening.rate,
            wait_for_rate=lambda _: None if self.limiter is None else wait_for_rate(),
            run_name=self.run_name,
        )


def run(
    case: Case,
    place: Store,
    stop_signal: StopSignal,
    recorder: MemoryRecorder | None = None,
    *,
    dry_run: bool = False,
    opening: Opening = _USUAL,
    quarantines: bool = False,
) -> RetentionResult:
    """A retention run over the case's feed.

    Args:
        case: the feed, its rules and the time.
        place: where its data is.
        stop_signal: may end the run.
        recorder: the ledger.
        dry_run: nothing is done.
        opening: of the store.
        quarantines: what goes is set aside first.
    """
    limiter = None if opening.rate == inf else RateLimiter(rate=opening.rate)
    work = _Work(place=place, opening=opening, limiter=limiter)
    holds = () if case.hold is None else (Hold(feed=_NAME, start=case.hold[0], end=case.hold[1], reason="fuzz"),)
    stores = work.open(stop_signal).stores
    resolver = RetentionResolver(nominal_time=case.nominal, keep_beyond_validity=True, holds=holds, storage=stores)
    cluster = Cluster(name=_CLUSTER, interfaces=Interfaces(write=Interface(endpoint=place.endpoint)))
    targets = resolver.resolve([(_feed(case, quarantines=quarantines), cluster)], must_all_work=True)
    action = RetentionAction(limits=DeleteLimits(instances=10_000))
    request = request_of(format_instant(case.nominal), dry_run=dry_run)
    return acted(action, targets, request, work.open, recorder=recorder, process=stop_signal)


def restore(
    case: Case, place: Store, stop_signal: StopSignal, recorder: MemoryRecorder, *, opening: Opening = _USUAL
) -> RetentionResult:
    """A restore of all that the case's feed has in quarantine."""
    work = _Work(place=place, opening=opening, limiter=None)
    stores = work.open(stop_signal).stores
    resolver = RetentionResolver(nominal_time=case.nominal, keep_beyond_validity=True, holds=(), storage=stores)
    cluster = Cluster(name=_CLUSTER, interfaces=Interfaces(write=Interface(endpoint=place.endpoint)))
    (target,) = resolver.restorable([(_feed(case, quarantines=True), cluster)])
    runner = ActionRunner(
        action=RestoreAction(choice=RestoreChoice()),
        process=stop_signal,
        look=looking(work.open),
        open_context=work.open,
        origin_of=lambda _: Origin(who="alice"),
    )
    with Heartbeat(recorder, seconds=3600.0) as heartbeat:
        envelope = envelope_of(recorder, heartbeat, audit=AuditMemory(), process=stop_signal)
        return runner.run(request_of(format_instant(case.nominal)), Targets(to_do=(target,)), envelope)


def _feed(case: Case, *, quarantines: bool = False) -> Feed:
    on_cluster = FeedCluster(
        name=_CLUSTER,
        validity=Validity(start=case.start, end=case.end),
        retention=Retention(
            limit=Frequency.parse(case.limit),
            keep_last=case.keep_last or None,
            action=ExpiryAction.QUARANTINE if quarantines else ExpiryAction.DELETE,
            quarantine=Frequency.parse("days(3)") if quarantines else None,
        ),
        keep_instances_beyond_validity=case.keeps_beyond,
    )
    data, *stats = (layout.template for layout in case.layouts)
    return Feed(
        name=_NAME,
        frequency=Frequency.parse(case.frequency),
        timezone=case.calendar_zone,
        path_timezone=case.zone,
        late_arrival=LateArrival(cut_off=Frequency.parse(case.cut_off)) if case.cut_off else None,
        locations=Locations(data=data, stats=stats[0] if stats else None),
        clusters=(on_cluster,),
        availability_flag=case.flag or None,
        properties=dict(case.layouts[0].properties),
    )

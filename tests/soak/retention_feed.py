"""The product's run over a case of the fuzzer, with a ledger in memory."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from math import inf

from tests.soak.places import Store
from tests.soak.retention_oracle import Case
from tests.unit.retention.feeds import acted, request_of
from tests.unit.runs.fakes import MemoryRecorder
from toolkit.actions.action import RunContext
from toolkit.actions.guard import Condition, Guard
from toolkit.el import Frequency, format_instant
from toolkit.entities import (
    Cluster,
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
from toolkit.planning.delete_limits import DeleteLimits
from toolkit.retention import RetentionAction, RetentionResolver, RetentionResult
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
        )


def run(
    case: Case,
    place: Store,
    stop_signal: StopSignal,
    recorder: MemoryRecorder | None = None,
    *,
    dry_run: bool = False,
    opening: Opening = _USUAL,
) -> RetentionResult:
    """A retention run over the case's feed."""
    limiter = None if opening.rate == inf else RateLimiter(rate=opening.rate)
    work = _Work(place=place, opening=opening, limiter=limiter)
    holds = () if case.hold is None else (Hold(feed=_NAME, start=case.hold[0], end=case.hold[1], reason="fuzz"),)
    stores = work.open(stop_signal).stores
    resolver = RetentionResolver(nominal_time=case.nominal, keep_beyond_validity=True, holds=holds, storage=stores)
    cluster = Cluster(name=_CLUSTER, interfaces=Interfaces(write=Interface(endpoint=place.endpoint)))
    targets = resolver.resolve([(_feed(case), cluster)], must_all_work=True)
    action = RetentionAction(limits=DeleteLimits(instances=10_000))
    request = request_of(format_instant(case.nominal), dry_run=dry_run)
    return acted(action, targets, request, work.open, recorder=recorder, process=stop_signal)


def _feed(case: Case) -> Feed:
    on_cluster = FeedCluster(
        name=_CLUSTER,
        validity=Validity(start=case.start, end=case.end),
        retention=Retention(limit=Frequency.parse(case.limit), keep_last=case.keep_last or None),
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

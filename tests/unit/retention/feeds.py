"""Feeds for the retention tests, and one call that runs them over a file system in memory."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from functools import partial
from math import inf

from tests.unit.actions.fake_action import OpenContext, looking
from tests.unit.runs.fakes import AuditMemory, MemoryRecorder, envelope_of
from toolkit.actions.action import RunContext
from toolkit.actions.guard import Condition, Guard
from toolkit.actions.hold_watch import NewHolds, NoNewHolds
from toolkit.actions.plan_file import PlanFile
from toolkit.actions.result import ActionRequest
from toolkit.actions.runner import ActionRunner
from toolkit.config_source import SnapshotId, SnapshotKind
from toolkit.el import Frequency, parse_instant
from toolkit.entities import (
    Cluster,
    Feed,
    FeedCluster,
    FeedMaxDelete,
    Hold,
    Interface,
    Interfaces,
    LateArrival,
    Locations,
    Protection,
    Retention,
    Validity,
)
from toolkit.ledger.runs.rows import Origin
from toolkit.planning.delete_limits import DeleteLimits
from toolkit.retention import RetentionAction, RetentionResolver, RetentionResult
from toolkit.retention.resolve import FeedTargets
from toolkit.runs.lease import Heartbeat
from toolkit.runs.stop import NeverStopped, StopSignal
from toolkit.storage import FileSystem, StorageSpec
from toolkit.threads import WorkerPool
from toolkit.transfer.spread_copy import SharedCopying

_LEASE_SECONDS = 3600.0
NOMINAL = "2026-03-20T12:00Z"
HOURLY = "/data/clicks/${YEAR}/${MONTH}/${DAY}/${HOUR}"
DAILY = "/data/clicks/${YEAR}/${MONTH}/${DAY}"


def cluster(name: str = "primary", colo: str | None = None, default_fs: str = "file:///") -> Cluster:
    return Cluster(name=name, colo=colo, interfaces=Interfaces(write=Interface(endpoint=default_fs)))


@dataclass(frozen=True, kw_only=True)
class FeedText:
    """A feed on the cluster `primary`, in the words of its YAML."""

    data: str = DAILY
    name: str = "clicks"
    frequency: str = "days(1)"
    timezone: str = "UTC"
    path_timezone: str = "UTC"
    limit: str | None = "days(10)"
    keep_last: int | None = None
    cut_off: str | None = None
    late_max_age: str | None = None
    validity: tuple[str, str] = ("2026-01-01T00:00Z", "2099-01-01T00:00Z")
    others: dict[str, str] = field(default_factory=dict)
    keep_beyond: bool | None = None
    max_delete: FeedMaxDelete = field(default_factory=FeedMaxDelete)
    shares: tuple[str, ...] = ()

    def feed(self) -> Feed:
        return Feed(
            name=self.name,
            frequency=Frequency.parse(self.frequency),
            timezone=self.timezone,
            path_timezone=self.path_timezone,
            locations=Locations(data=self.data, **self.others),
            late_arrival=LateArrival(cut_off=Frequency.parse(self.cut_off)) if self.cut_off else None,
            clusters=(self._on_cluster(),),
            max_delete=self.max_delete,
            shares_data_with=self.shares,
        )

    def _on_cluster(self) -> FeedCluster:
        start, end = map(parse_instant, self.validity)
        return FeedCluster(
            name="primary",
            validity=Validity(start=start, end=end),
            retention=self._retention(),
            keep_instances_beyond_validity=self.keep_beyond,
        )

    def _retention(self) -> Retention | None:
        if self.limit is None:
            return None
        limit = Frequency.parse(self.limit)
        if self.late_max_age is None:
            return Retention(limit=limit, keep_last=self.keep_last)
        protection = Protection(name=Retention(limit=limit).protect[0].name, max_age=Frequency.parse(self.late_max_age))
        return Retention(limit=limit, keep_last=self.keep_last, protect=(protection,))


def run(
    system: FileSystem,
    *feeds: FeedText,
    dry_run: bool = False,
    nominal: str = NOMINAL,
    limits: DeleteLimits | None = None,
    approve: str | None = None,
    holds: Iterable[Hold] = (),
    stop_signal: StopSignal | None = None,
    recorder: MemoryRecorder | None = None,
    audit: AuditMemory | None = None,
    beats: list[Callable[[], object]] | None = None,
) -> RetentionResult:
    """One retention run, with a ledger of its own unless a recorder is given; `beats` gets the heartbeat's beat."""
    return acted(
        retention(limits=limits or DeleteLimits(instances=10_000)),
        resolved(system, feeds, nominal, holds),
        request_of(nominal, dry_run=dry_run, approve=approve),
        partial(context_on, system),
        recorder=recorder,
        audit=audit,
        process=stop_signal,
        beats=beats,
    )


def resolved(
    system: FileSystem, feeds: Iterable[FeedText], nominal: str = NOMINAL, holds: Iterable[Hold] = ()
) -> FeedTargets:
    """Return what a run over the feeds works on."""
    resolver = RetentionResolver(
        nominal_time=parse_instant(nominal), keep_beyond_validity=True, holds=tuple(holds), storage=lambda _: system
    )
    return resolver.resolve([(each.feed(), cluster()) for each in feeds], must_all_work=True)


def acted(
    action: RetentionAction,
    targets: FeedTargets,
    request: ActionRequest,
    open_context: OpenContext,
    *,
    recorder: MemoryRecorder | None = None,
    audit: AuditMemory | None = None,
    process: StopSignal | None = None,
    beats: list[Callable[[], object]] | None = None,
    plan_file: PlanFile | None = None,
) -> RetentionResult:
    """The kernel's run over the targets, with a ledger in memory."""
    process = process or NeverStopped()
    runner = ActionRunner(
        action=action,
        process=process,
        look=looking(open_context),
        open_context=open_context,
        origin_of=lambda _: Origin(who="alice"),
        plan_file=plan_file,
    )
    if request.dry_run:
        return runner.preview(request, targets)
    recorder = recorder or MemoryRecorder()
    with Heartbeat(recorder, seconds=_LEASE_SECONDS) as heartbeat:
        if beats is not None:
            beats.append(heartbeat.beat)
        return runner.run(request, targets, envelope_of(recorder, heartbeat, audit=audit, process=process))


def retention(*, limits: DeleteLimits | None = None, new_holds: NewHolds | None = None) -> RetentionAction:
    """The action, without executors; usually without holds by command."""
    return RetentionAction(
        limits=limits or DeleteLimits(instances=10_000),
        new_holds=new_holds or NoNewHolds(),
    )


def request_of(nominal: str = NOMINAL, *, dry_run: bool = False, approve: str | None = None) -> ActionRequest:
    return ActionRequest(
        nominal_time=parse_instant(nominal),
        dry_run=dry_run,
        approve=approve,
        environment=None,
        snapshot=SnapshotId(kind=SnapshotKind.DIRECTORY, value="0" * 64, dirty=False, committed_at=None),
        tzdata="test",
    )


def context_on(system: FileSystem, run: StopSignal, conditions: Sequence[Condition] = ()) -> RunContext:
    """What a run works with whose stores are all the same one; it may be asked for any number of changes a second."""
    pool = WorkerPool(system.capabilities.parallel, "test-store")
    return RunContext(
        stores=lambda _: system,
        guard=Guard(run=run, conditions=conditions),
        pool=lambda _: pool,
        copying=SharedCopying(spec_of=lambda _: StorageSpec(scheme="s3"), pool=pool),
        rate=lambda _: inf,
        wait_for_rate=lambda _: None,
    )


def days(*numbers: int, month: str = "2026/03") -> list[str]:
    """A file in each daily instance."""
    return [f"/data/clicks/{month}/{number:02d}/part" for number in numbers]


def gone(result: RetentionResult) -> list[str]:
    """The paths that were, or would be, removed."""
    return [each.item.path.path for each in result.items if each.outcome in {"done", "planned"}]

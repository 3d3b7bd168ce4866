"""A small action in memory: it makes marks, so many for each target, a few in a batch; and one call that runs it."""

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence
from dataclasses import dataclass, field, replace
from math import inf
from typing import Any

from tests.unit.runs.fakes import THEN, AuditMemory, HandClock, MemoryRecorder, envelope_of
from toolkit.actions.action import Applied, Batch, Recovery, RunContext
from toolkit.actions.batch_loop import next_batch
from toolkit.actions.guard import Condition, Guard
from toolkit.actions.model import INTERRUPTED, I, ItemResult, NoTarget, Problem, TargetPlan
from toolkit.actions.plan_file import PlanFile
from toolkit.actions.progress import NoProgress, Progress
from toolkit.actions.result import ActionRequest, ActionResult
from toolkit.actions.runner import ActionRunner, Targets
from toolkit.config_source import SnapshotId, SnapshotKind
from toolkit.el import CanonicalPath, parse_instant
from toolkit.errors import Refused
from toolkit.ledger.runs.items import Item, SettledItem
from toolkit.ledger.runs.leases import Wanted
from toolkit.ledger.runs.rows import Origin
from toolkit.ledger.vocabulary import ItemState, LifeCycle
from toolkit.runs.errors import Stopped
from toolkit.runs.lease import Heartbeat
from toolkit.runs.recorder import SettledLeftOver
from toolkit.runs.stop import NeverStopped, StopSignal
from toolkit.storage import FileKind, FileStatus, FileSystem, LocalFileSystem, NotFound, ReadOnlyFileSystem, StorageSpec
from toolkit.threads import WorkerPool
from toolkit.transfer.spread_copy import SharedCopying

BASE = CanonicalPath.parse("file:///marks")


@dataclass(frozen=True, kw_only=True, slots=True)
class Job:
    """A target."""

    entity: str = "clicks"
    cluster: str = "primary"
    counterpart: str = ""
    instance_key: str = "2026-03-20T12:00Z"


@dataclass(frozen=True, kw_only=True, slots=True)
class Mark:
    """An item."""

    entity: str
    number: int
    base: CanonicalPath = BASE
    kind: str = "mark"
    instance_key: str = ""

    @property
    def path(self) -> CanonicalPath:
        return self.base.child(f"{self.entity}-{self.number}")

    @property
    def uri(self) -> str:
        return str(self.path)

    @property
    def identity(self) -> tuple[str, ...]:
        return (self.uri,)


Plan = TargetPlan[Job, Mark, None]
Result = ActionResult[Job, Mark, None]


@dataclass(frozen=True, kw_only=True)
class TooMany:
    """An `ExceededLimit`."""

    scope: str = "all"

    def refusal(self, digest: str) -> Refused:
        mine = "" if self.scope == "all" else f" of {self.scope}"
        return Refused(f"too many marks{mine}; approve {digest}")


@dataclass(kw_only=True)
class MarkAction:
    """Makes marks; what is to be asked or to happen before each is a function."""

    todo: dict[str, int]
    size: int = 2
    most: int = 1000
    own_most: dict[str, int] = field(default_factory=dict)
    base: CanonicalPath = BASE
    before: Callable[[Mark], None] = lambda _: None
    effect: Callable[[RunContext, Mark], None] = lambda work, _: work.guard.check()
    before_plan: Callable[[Job], None] = lambda _: None
    before_conditions: Callable[[Plan, RunContext], None] = lambda _plan, _work: None
    problems: dict[str, dict[str, Problem]] = field(default_factory=dict)
    watched: Sequence[Condition] = ()
    lets_stops_through: bool = False
    done: list[str] = field(default_factory=list)
    covers_all: bool = True
    recovered: list[str] = field(default_factory=list)
    name: str = "marking"
    life_cycle: LifeCycle = LifeCycle.REPLICATION

    def leases(self, target: Job) -> tuple[Wanted, ...]:
        return (Wanted(resource=f"mark/{target.entity}"),)

    def conditions(self, plan: Plan, work: RunContext) -> tuple[Condition, ...]:
        self.before_conditions(plan, work)
        return tuple(self.watched)

    def blank_plan(self, target: Job) -> Plan:
        return TargetPlan(target=target, detail=None, covers_all=self.covers_all)

    def plan(self, target: Job, work: RunContext) -> Plan:
        work.guard.run.check()
        self.before_plan(target)
        output: dict[str, Any] = self.problems.get(target.entity, {})
        numbers = range(0 if output else self.todo[target.entity])
        items = (Mark(entity=target.entity, number=number, base=self.base) for number in numbers)
        return TargetPlan(
            target=target,
            detail=None,
            items=tuple(each for each in items if each.uri not in self.done),
            covers_all=self.covers_all,
            **output,
        )

    def limit(self, plans: Sequence[Plan], work: RunContext) -> tuple[Sequence[Plan], TooMany | None]:
        work.guard.run.check()
        return plans, TooMany() if sum(len(plan.items) for plan in plans) > self.most else None

    def target_limit(self, plan: Plan, work: RunContext) -> TooMany | None:
        work.guard.run.check()
        most = self.own_most.get(plan.target.entity, len(plan.items))
        return TooMany(scope=plan.label) if len(plan.items) > most else None

    def recover(self, plan: Plan, open_items: Sequence[Item], work: RunContext) -> Recovery:
        del plan, work
        self.recovered += [item.path for item in open_items]
        settled = (SettledItem(position=each.position, state=ItemState.DONE) for each in open_items)
        pairs = zip(open_items, settled, strict=True)
        return Recovery(
            settled=tuple(SettledLeftOver(left=left, item=item) for left, item in pairs), notes=("recovered",)
        )

    def batches(self, plan: Plan, work: RunContext) -> tuple[MarkBatch, ...]:
        starts = range(0, len(plan.items), self.size)
        ranges = [range(at, min(at + self.size, len(plan.items))) for at in starts]
        return tuple(MarkBatch(action=self, plan=plan, work=work, positions=positions) for positions in ranges)


@dataclass(frozen=True, kw_only=True)
class MarkBatch:
    """See `Batch`."""

    action: MarkAction
    plan: Plan
    work: RunContext
    positions: range

    def apply(self, advance: Callable[[int], None]) -> Applied[Mark]:
        results: dict[int, ItemResult[Mark]] = {}

        def make(position: int) -> None:
            results[position] = self._made(self.plan.items[position])
            advance(1)

        self.work.pool(self.action.base).run_all(make, self.positions)
        return Applied(results=tuple(results[position] for position in self.positions))

    def _made(self, mark: Mark) -> ItemResult[Mark]:
        refusal = self.work.guard.refusal(mark.base)
        if refusal is not None:
            return refusal.of(mark)
        try:
            self.action.before(mark)
            self.action.effect(self.work, mark)
        except Stopped:
            if self.action.lets_stops_through:
                raise
            return ItemResult.failed(mark, INTERRUPTED, "")
        except LookupError as error:
            return ItemResult.failed(mark, "broken", str(error))
        self.action.done.append(mark.uri)
        return ItemResult.done(mark)


class StatusStore(LocalFileSystem):
    """Knows what is at a path, and is asked nothing else."""

    def __init__(self) -> None:
        super().__init__()
        self.there = set[str]()
        self.before: Callable[[CanonicalPath], None] = lambda _: None

    def status(self, path: CanonicalPath) -> FileStatus:
        self.before(path)
        if path.path not in self.there:
            raise NotFound(path=path)
        return FileStatus(path=path, kind=FileKind.FILE, size=0, modified=THEN)


def no_store(path: CanonicalPath) -> FileSystem:
    raise AssertionError(path)


def context(run: StopSignal, conditions: Sequence[Condition] = ()) -> RunContext:
    """Return the context of a run that works in memory."""
    pool = WorkerPool(1, "test")
    return RunContext(
        stores=no_store,
        guard=Guard(run=run, conditions=conditions),
        pool=lambda _: pool,
        copying=SharedCopying(spec_of=lambda path: StorageSpec(scheme=path.scheme), pool=pool),
        rate=lambda _: inf,
        wait_for_rate=lambda _: None,
    )


def in_order(batches: Generator[Batch[I], Applied[I], None]) -> list[Applied[I]]:
    """Apply the batches of a generator, as the kernel does, without writing anything down."""
    found: list[Applied[I]] = []
    batch = next(batches, None)
    while batch is not None:
        found.append(batch.apply(lambda _: None))
        batch = next_batch(batches, found[-1])
    return found


OpenContext = Callable[[StopSignal, Sequence[Condition]], RunContext]


def looking(open_context: OpenContext) -> Callable[[StopSignal], RunContext]:
    """Open what a plan is made with as the product does: of it, no effect passes."""

    def look(run: StopSignal) -> RunContext:
        work = open_context(run, ())
        return replace(work, stores=lambda path: ReadOnlyFileSystem(work.stores(path)))

    return look


def request(*, dry_run: bool = False, approve: str | None = None, parallel: int = 1) -> ActionRequest:
    return ActionRequest(
        nominal_time=parse_instant("2026-03-20T12:00Z"),
        dry_run=dry_run,
        approve=approve,
        environment=None,
        snapshot=SnapshotId(kind=SnapshotKind.DIRECTORY, value="0" * 64, dirty=False, committed_at=None),
        tzdata="test",
        parallel=parallel,
    )


@dataclass(kw_only=True)
class Scene:
    """An action, its targets, and what its runs write down."""

    action: MarkAction
    recorder: MemoryRecorder = field(default_factory=MemoryRecorder)
    audit: AuditMemory = field(default_factory=AuditMemory)
    process: StopSignal = field(default_factory=NeverStopped)
    clock: HandClock = field(default_factory=HandClock)
    settled: tuple[TargetPlan[NoTarget, Mark, None], ...] = ()
    open_context: OpenContext = context
    progress: Progress = field(default_factory=NoProgress)
    claim: Callable[[PlanFile], None] = lambda _: None
    beat: Callable[[], object] = field(init=False)

    def run(
        self,
        *,
        dry_run: bool = False,
        approve: str | None = None,
        parallel: int = 1,
        plan_file: PlanFile | None = None,
    ) -> Result:
        runner = ActionRunner(
            action=self.action,
            process=self.process,
            look=looking(self.open_context),
            open_context=self.open_context,
            origin_of=lambda _: Origin(who="alice"),
            progress=self.progress,
            plan_file=plan_file,
            claim=self.claim,
        )
        requested = request(dry_run=dry_run, approve=approve, parallel=parallel)
        targets = Targets(to_do=tuple(Job(entity=name) for name in self.action.todo), settled=self.settled)
        if dry_run:
            return runner.preview(requested, targets)
        with Heartbeat(self.recorder, seconds=3600) as heartbeat:
            self.beat = heartbeat.beat
            envelope = envelope_of(self.recorder, heartbeat, audit=self.audit, process=self.process, clock=self.clock)
            return runner.run(requested, targets, envelope)


def outcomes(result: Result) -> list[tuple[str, str]]:
    """Return the outcomes of all items."""
    return [(each.outcome.value, each.code) for each in result.items]

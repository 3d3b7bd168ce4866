"""A second action, with all that it needs besides the kernel: its plan, its effects, its wiring and its view.

It copies the due instances of feeds into another directory of the same store. An instance is written under a name of
feedctl's own and then renamed, so that a reader sees all of it or nothing.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from functools import partial

from toolkit.actions.action import Applied, Recovery, RunContext
from toolkit.actions.hold_watch import HoldWatch, NewHolds, NoNewHolds
from toolkit.actions.model import INTERRUPTED, ItemResult, Problem, TargetPlan
from toolkit.actions.progress import Progress
from toolkit.actions.result import ActionResult, TargetResult
from toolkit.actions.runner import Targets
from toolkit.actions.selection import EntitySelection
from toolkit.bootstrap.action_context import ActionContext, ActionOptions, Wired, run_action
from toolkit.bootstrap.config import RepoRequest
from toolkit.cli.action_command import ActionCommand
from toolkit.clock import Clock
from toolkit.el import CanonicalPath, format_instant, parse_instant
from toolkit.entities import Cluster, Feed, LocationType
from toolkit.entities.not_implemented import Area
from toolkit.errors import Refused
from toolkit.ledger.events import NewEvent
from toolkit.ledger.runs.items import Item, SettledItem
from toolkit.ledger.runs.leases import Wanted
from toolkit.ledger.vocabulary import EventKind, ItemState, LifeCycle
from toolkit.planning.instance_storage import FeedStorage
from toolkit.rendering.action_result import ActionView, Document, counts_document, problem_document, run_document
from toolkit.rendering.tables import ResultFormat
from toolkit.result import Outcome
from toolkit.runs.errors import Stopped
from toolkit.runs.recorder import SettledLeftOver
from toolkit.runs.stop import StopSignal
from toolkit.storage import OWN_PREFIX, FileKind, FileSystem, NotFound, StorageError, Unreachable

NAME = "copy"
BATCH = 4
_CHUNK = 1 << 20
_COPYING = f"{OWN_PREFIX}-copying-"


# What it works on


@dataclass(frozen=True, kw_only=True, slots=True)
class CopyTarget:
    """A feed whose instances are copied.

    Attributes:
        base: of its data.
        into: where the copies go.
        due: its instances up to the nominal time, each with the directory that it is in.
    """

    entity: str
    cluster: str
    instance_key: str
    base: CanonicalPath
    into: CanonicalPath
    due: tuple[tuple[datetime, CanonicalPath], ...]
    counterpart: str = ""


@dataclass(frozen=True, kw_only=True, slots=True)
class CopyItem:
    """An instance that is copied."""

    instance_key: str
    source: CanonicalPath
    copy: CanonicalPath
    kind: str = "copy"

    @property
    def uri(self) -> str:
        """See `WorkItem.uri`."""
        return str(self.copy)

    @property
    def identity(self) -> tuple[str, ...]:
        """See `WorkItem.identity`."""
        return (self.instance_key, str(self.source), str(self.copy))


@dataclass(frozen=True, kw_only=True, slots=True)
class CopyDetail:
    """What else a plan says: so many due instances are there already."""

    copied_before: int = 0


CopyPlan = TargetPlan[CopyTarget, CopyItem, CopyDetail]
CopyResult = ActionResult[CopyTarget, CopyItem, CopyDetail]


@dataclass(frozen=True, slots=True)
class ExceededCopyLimit:
    """An `ExceededLimit`."""

    found: int
    most: int

    def refusal(self, digest: str) -> Refused:
        """See `ExceededLimit.refusal`."""
        found = f"{self.found} instances would be copied, at most {self.most} may be"
        return Refused(f"{found}; approve {digest} to do it once")


# What it decides and does


@dataclass(frozen=True, kw_only=True)
class CopyAction:
    """Copies instances; see `Action`.

    Attributes:
        most: instances that a run may copy.
        new_holds: that were added since the run read the holds.
    """

    most: int
    new_holds: NewHolds
    name: str = NAME
    life_cycle: LifeCycle = LifeCycle.REPLICATION

    def leases(self, target: CopyTarget) -> tuple[Wanted, ...]:
        """See `Action.leases`."""
        return (Wanted(resource=f"copy/{target.entity}/{target.cluster}"),)

    def conditions(self, plan: CopyPlan, work: RunContext) -> tuple[HoldWatch, ...]:
        """See `Action.conditions`."""
        target = plan.target
        pairs = ((target.entity, target.cluster),)
        return (HoldWatch(bases=(target.base,), pairs=pairs, storage=work.stores, new_holds=self.new_holds),)

    def blank_plan(self, target: CopyTarget) -> CopyPlan:
        """See `Action.blank_plan`."""
        return TargetPlan(target=target, detail=CopyDetail(), covers_all=True)

    def plan(self, target: CopyTarget, work: RunContext) -> CopyPlan:
        """See `Action.plan`."""
        blank = self.blank_plan(target)
        try:
            return _planned(blank, work)
        except StorageError as error:
            return replace(blank, failed=Problem(code=error.code, message=str(error)))

    def limit(self, plans: Sequence[CopyPlan], work: RunContext) -> tuple[Sequence[CopyPlan], ExceededCopyLimit | None]:
        """See `Action.limit`."""
        del work
        found = sum(len(plan.items) for plan in plans)
        return plans, ExceededCopyLimit(found, self.most) if found > self.most else None

    def target_limit(self, plan: CopyPlan, work: RunContext) -> None:
        """See `Action.target_limit`."""
        del plan, work

    def recover(self, plan: CopyPlan, open_items: Sequence[Item], work: RunContext) -> Recovery:
        """See `Action.recover`: a copy has its name, or what was begun of it goes."""
        into = plan.target.into
        settled: list[SettledLeftOver] = []
        for left in open_items:
            copy = CanonicalPath.parse(left.path)
            if not copy.is_within(into):
                continue
            system = work.stores(copy)
            is_there = _is_there(system, copy)
            if not is_there:
                _remove_begun(system, copy, into)
            settled.append(_left_over(plan, left, is_there=is_there))
        done = sum(each.item.state is ItemState.DONE for each in settled)
        note = f"an earlier run left {len(settled)} copies open: {done} are there, {len(settled) - done} were half done"
        return Recovery(settled=tuple(settled), notes=(note,))

    def batches(self, plan: CopyPlan, work: RunContext) -> tuple[CopyBatch, ...]:
        """See `Action.batches`."""
        starts = range(0, len(plan.items), BATCH)
        ranges = (range(at, min(at + BATCH, len(plan.items))) for at in starts)
        return tuple(CopyBatch(plan=plan, work=work, positions=positions) for positions in ranges)


@dataclass(frozen=True, kw_only=True, slots=True)
class CopyBatch:
    """Instances that are copied together; see `Batch`."""

    plan: CopyPlan
    work: RunContext
    positions: range

    def apply(self, advance: Callable[[int], None]) -> Applied[CopyItem]:
        """See `Batch.apply`."""
        results: dict[int, ItemResult[CopyItem]] = {}

        def work(position: int) -> None:
            results[position] = self._result(self.plan.items[position])
            advance(1)

        self.work.pool(self.plan.target.into).run_all(work, self.positions)
        in_order = tuple(results[position] for position in self.positions)
        return Applied(
            results=in_order,
            open=frozenset(position for position, result in results.items() if result.code == INTERRUPTED),
            events=tuple(_event(self.plan, each.item) for each in in_order if each.outcome is Outcome.DONE),
        )

    def _result(self, item: CopyItem) -> ItemResult[CopyItem]:
        base, guard = self.plan.target.base, self.work.guard
        if (refusal := guard.refusal(base)) is not None:
            return refusal.of(item)
        try:
            self._copy(item)
        except StorageError as error:
            if isinstance(error, Unreachable):
                guard.note_unanswered(self.work.stores(base), base)
            return ItemResult.failed(item, error.code, str(error))
        except Stopped as stopped:
            return ItemResult.failed(item, INTERRUPTED, f"{item.uri}: {stopped.reason}")
        return ItemResult.done(item)

    def _copy(self, item: CopyItem) -> None:
        system, begun = self.work.stores(item.copy), _begun(item.copy)
        _remove_begun(system, item.copy, self.plan.target.into)
        _copy_directory(self.work.stores(item.source), item.source, system, begun)
        system.rename(begun, item.copy)


def _planned(blank: CopyPlan, work: RunContext) -> CopyPlan:
    items: list[CopyItem] = []
    missing: list[str] = []
    copied_before, target = 0, blank.target
    for instant, source in target.due:
        work.guard.run.check()
        key, copy = format_instant(instant), CanonicalPath.parse(f"{target.into}/{source.relative_to(target.base)}")
        if _is_there(work.stores(copy), copy):
            copied_before += 1
        elif _is_there(work.stores(source), source):
            items.append(CopyItem(instance_key=key, source=source, copy=copy))
        else:
            missing.append(key)
    waiting = Problem(code="not_available", message=f"not there yet: {', '.join(missing)}") if missing else None
    return replace(
        blank,
        detail=CopyDetail(copied_before=copied_before),
        items=tuple(items),
        waiting=None if items else waiting,
        notes=(waiting.message,) if items and waiting is not None else (),
    )


def _copy_directory(source: FileSystem, directory: CanonicalPath, system: FileSystem, copy: CanonicalPath) -> None:
    system.mkdirs(copy)
    for entry in source.list(directory):
        if entry.kind is FileKind.DIRECTORY:
            _copy_directory(source, directory.child(entry.name), system, copy.child(entry.name))
        elif entry.kind is FileKind.FILE:
            system.write(copy.child(entry.name), _chunks(source, directory.child(entry.name)))


def _chunks(system: FileSystem, file: CanonicalPath) -> Iterator[bytes]:
    with system.read(file) as stream:
        while chunk := stream.read(_CHUNK):
            yield chunk


def _begun(copy: CanonicalPath) -> CanonicalPath:
    """Where a copy is until it is whole."""
    return copy.parent.child(f"{_COPYING}{copy.name}")


def _remove_begun(system: FileSystem, copy: CanonicalPath, into: CanonicalPath) -> None:
    begun = _begun(copy)
    if _is_there(system, begun):
        system.delete(begun, below=into)


def _is_there(system: FileSystem, path: CanonicalPath) -> bool:
    try:
        system.status(path)
    except NotFound:
        return False
    return True


def _left_over(plan: CopyPlan, left: Item, *, is_there: bool) -> SettledLeftOver:
    state, code = (ItemState.DONE, None) if is_there else (ItemState.FAILED, INTERRUPTED)
    item = CopyItem(instance_key=left.instance_key, source=plan.target.base, copy=CanonicalPath.parse(left.path))
    settled = SettledItem(position=left.position, state=state, code=code)
    return SettledLeftOver(left=left, item=settled, event=_event(plan, item) if is_there else None)


def _event(plan: CopyPlan, item: CopyItem) -> NewEvent:
    feed, cluster = plan.target.entity, plan.target.cluster
    return NewEvent(kind=EventKind.AVAILABLE, feed=feed, cluster=cluster, instance_key=item.instance_key, uri=item.uri)


# How it is put together


@dataclass(frozen=True, kw_only=True, slots=True)
class CopyOptions:
    """What a user says of this action alone: where the copies go, and how many a run may make."""

    into: str
    most: int = 100


def copy_feeds(
    own: CopyOptions, options: ActionOptions, clock: Clock, process: StopSignal, progress: Progress
) -> CopyResult:
    """A run, from the options to the result."""
    return run_action(options, clock, process, progress, partial(_wired, own), Area.EXPORT)


def _wired(own: CopyOptions, context: ActionContext) -> Wired[CopyTarget, CopyItem, CopyDetail]:
    nominal = context.options.nominal_time
    targets = tuple(_target(feed, cluster, nominal, own.into) for feed, cluster in context.pairs)
    action = CopyAction(most=own.most, new_holds=NoNewHolds() if context.options.dry_run else context.holds)
    return Wired(action=action, targets=Targets(to_do=targets))


def _target(feed: Feed, cluster: Cluster, nominal: datetime, into: str) -> CopyTarget:
    template = FeedStorage.of(feed, cluster).templates[LocationType.DATA]
    instances = feed.instances_on(cluster.name)
    due = (each for each in (*instances.between(instances.start, nominal), nominal) if each in instances)
    return CopyTarget(
        entity=feed.name,
        cluster=cluster.name,
        instance_key=format_instant(nominal),
        base=cluster.place(template.base),
        into=CanonicalPath.parse(f"{into}/{feed.name}"),
        due=tuple((instant, cluster.place(template.render(instant))) for instant in due),
    )


# How its results are shown


def _feed(result: TargetResult[CopyTarget, CopyItem, CopyDetail]) -> Document:
    plan = result.plan
    return {
        "feed": plan.target.entity,
        "cluster": plan.target.cluster,
        "counts": counts_document(result),
        "copied_before": plan.detail.copied_before,
        "notes": list(plan.notes),
        "run": run_document(result),
        "skipped": problem_document(plan.skipped),
        "waiting": problem_document(plan.waiting),
        "failure": problem_document(plan.failed),
    }


def _item(item: CopyItem) -> Document:
    return {"instance": item.instance_key, "source": str(item.source), "copy": item.uri}


COPY_VIEW: ActionView[CopyTarget, CopyItem, CopyDetail] = ActionView(
    targets="feeds",
    target_document=_feed,
    item_document=_item,
    item_text=lambda item: f"{item.instance_key}  {item.source} -> {item.copy}",
    items_text=lambda _: "instances",
    target_rule=lambda result: f"; {result.plan.detail.copied_before} were copied before",
    target_lines=lambda result: (f"note: {note}" for note in result.plan.notes),
)


def execute(
    repo: str,
    time: str,
    own: CopyOptions,
    *,
    dry_run: bool = False,
    approve: str | None = None,
    form: ResultFormat = ResultFormat.JSON,
    parallel: int = 1,
) -> int:
    """The command; its exit code."""
    options = ActionOptions(
        selection=EntitySelection(everything=True),
        repo=RepoRequest(config_repo=repo, variables=os.environ),
        nominal_time=parse_instant(time),
        dry_run=dry_run,
        approve=approve,
        allow_dirty=False,
        parallel=parallel,
    )
    command = ActionCommand(name=NAME, run=partial(copy_feeds, own), view=COPY_VIEW, form=form, file=None)
    return command.execute(options)


if __name__ == "__main__":
    sys.exit(execute(sys.argv[1], sys.argv[2], CopyOptions(into=sys.argv[3])))

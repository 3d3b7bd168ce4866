"""A second action: its plan, its effects, its wiring and its view.

It copies due instances of feeds into another directory of the same store; the kernel publishes each.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from datetime import datetime
from functools import partial
from typing import Any

from toolkit.actions.action import Applied, Recovery, RunContext, feed_event, left_over
from toolkit.actions.attempt import UNKNOWN, FailedAttempt, attempted
from toolkit.actions.file_copies import FileCopies
from toolkit.actions.hold_watch import HoldWatch, NewHolds, NoNewHolds
from toolkit.actions.model import ItemResult, Problem, TargetPlan
from toolkit.actions.progress import Progress
from toolkit.actions.publication import Publication, recover, staging_of
from toolkit.actions.result import ActionResult, TargetResult
from toolkit.actions.runner import Targets
from toolkit.actions.selection import EntitySelection
from toolkit.availability import is_there
from toolkit.bootstrap.action_context import ActionContext, ActionOptions, Wired, run_action
from toolkit.bootstrap.config import RepoRequest
from toolkit.cli.action_command import ActionCommand
from toolkit.clock import Clock
from toolkit.el import CanonicalPath, format_instant, parse_instant
from toolkit.entities import Cluster, Feed, LocationType
from toolkit.entities.not_implemented import Area
from toolkit.errors import Refused
from toolkit.ledger.events import NewEvent
from toolkit.ledger.runs.items import Item
from toolkit.ledger.runs.leases import Wanted
from toolkit.ledger.vocabulary import EventKind, LifeCycle
from toolkit.planning.instance_storage import FeedStorage
from toolkit.rendering.action_result import ActionView, Document, counts_document, problem_document, run_document
from toolkit.rendering.tables import ResultFormat
from toolkit.result import Outcome
from toolkit.runs.recorder import SettledLeftOver
from toolkit.runs.stop import StopSignal
from toolkit.storage import StorageError

NAME, BATCH = "copy", 4


# What it works on
@dataclass(frozen=True, kw_only=True, slots=True)
class CopyItem:
    """An instance that is copied."""

    instance_key: str
    source: CanonicalPath
    copy: CanonicalPath
    kind: str = "copy"

    @property
    def uri(self) -> str:
        return str(self.copy)

    @property
    def identity(self) -> tuple[str, ...]:
        return (self.instance_key, str(self.source), str(self.copy))


@dataclass(frozen=True, kw_only=True, slots=True)
class CopyTarget:
    """A feed whose instances are copied, with those that are due."""

    entity: str
    cluster: str
    instance_key: str
    base: CanonicalPath
    into: CanonicalPath
    due: tuple[CopyItem, ...]
    counterpart: str = ""


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
        return Refused(f"{self.found} copies, at most {self.most} may be made; approve {digest} to do it once")


# What it decides and does
@dataclass(frozen=True, kw_only=True)
class CopyAction:
    """Copies at most so many instances in a run, and watches holds that were added since it began."""

    most: int
    new_holds: NewHolds
    name: str = NAME
    life_cycle: LifeCycle = LifeCycle.REPLICATION

    def leases(self, target: CopyTarget) -> tuple[Wanted, ...]:
        return (Wanted(resource=f"copy/{target.entity}/{target.cluster}"),)

    def conditions(self, plan: CopyPlan, work: RunContext) -> tuple[HoldWatch, ...]:
        pairs = ((plan.target.entity, plan.target.cluster),)
        return (HoldWatch(bases=(plan.target.base,), pairs=pairs, storage=work.stores, new_holds=self.new_holds),)

    def blank_plan(self, target: CopyTarget) -> CopyPlan:
        return TargetPlan(target=target, detail=CopyDetail(), covers_all=True)

    def plan(self, target: CopyTarget, work: RunContext) -> CopyPlan:
        blank = self.blank_plan(target)
        try:
            return _planned(blank, work)
        except StorageError as error:
            return replace(blank, failed=Problem(code=error.code, message=str(error)))

    def limit(self, plans: Sequence[CopyPlan], work: RunContext) -> tuple[Sequence[CopyPlan], ExceededCopyLimit | None]:
        del work
        found = sum(len(plan.items) for plan in plans)
        return plans, ExceededCopyLimit(found, self.most) if found > self.most else None

    def target_limit(self, plan: CopyPlan, work: RunContext) -> None:
        del plan, work

    def recover(self, plan: CopyPlan, open_items: Sequence[Item], work: RunContext) -> Recovery:
        due = {each.uri: each for each in plan.target.due}
        settled = tuple(_recovered(plan, left, due[left.path], work) for left in open_items if left.path in due)
        return Recovery.of(settled, "copies")

    def batches(self, plan: CopyPlan, work: RunContext) -> tuple[CopyBatch, ...]:
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
        results: dict[int, ItemResult[CopyItem]] = {}

        def work(position: int) -> None:
            results[position] = self._result(self.plan.items[position])
            advance(1)

        self.work.pool(self.plan.target.into).run_all(work, self.positions)
        in_order = tuple(results[position] for position in self.positions)
        done = (each.item for each in in_order if each.outcome is Outcome.DONE)
        unknown = frozenset(position for position, result in results.items() if result.code in UNKNOWN)
        return Applied(results=in_order, open=unknown, events=tuple(_event(self.plan.target, each) for each in done))

    def _result(self, item: CopyItem) -> ItemResult[CopyItem]:
        if (refusal := self.work.guard.refusal(self.plan.target.base)) is not None:
            return refusal.of(item)
        done = attempted(self.work, partial(self._publish, item), failures=(StorageError,))
        return done.of(item) if isinstance(done, FailedAttempt) else ItemResult.done(item)

    def _publish(self, item: CopyItem) -> None:
        files, into = FileCopies(work=self.work), self.plan.target.into
        copies = Publication(work=self.work, files=files, source=item.source, unit=item.copy, base=into)
        tree, staging = copies.tree(item.source) or {}, staging_of(item.copy, self.work.run_name)
        with ExitStack() as unless_published:
            copies.begin_staging(staging, tree, unless_published)
            copies.copy(tree, tree, staging)
            copies.verify(staging, tree, tree)
            copies.swap_in(staging)
            unless_published.pop_all()


def _planned(blank: CopyPlan, work: RunContext) -> CopyPlan:
    items: list[CopyItem] = []
    missing: list[str] = []
    copied_before = 0
    for item in blank.target.due:
        work.guard.run.check()
        if is_there(work.stores(item.copy), item.copy):
            copied_before += 1
        elif is_there(work.stores(item.source), item.source):
            items.append(item)
        else:
            missing.append(item.instance_key)
    waiting = Problem(code="not_available", message=f"not there yet: {', '.join(missing)}") if missing else None
    notes = (waiting.message,) if items and waiting is not None else ()
    detail = CopyDetail(copied_before=copied_before)
    return replace(blank, detail=detail, items=tuple(items), waiting=None if items else waiting, notes=notes)


def _recovered(plan: CopyPlan, left: Item, item: CopyItem, work: RunContext) -> SettledLeftOver:
    system = work.stores(item.copy)
    recover(system, item.copy, str(left.run_id), plan.target.into)
    is_done = is_there(system, item.copy)
    return left_over(left, is_done=is_done, event=_event(plan.target, item) if is_done else None)


def _event(target: CopyTarget, item: CopyItem) -> NewEvent:
    return feed_event(EventKind.AVAILABLE, target, item.uri, item.instance_key)


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
    return run_action(options, clock, process, progress, partial(_wired, own), Area.EXPORT, lambda it: it.pairs)


def _wired(own: CopyOptions, context: ActionContext) -> Wired[CopyTarget, CopyItem, CopyDetail]:
    nominal = context.options.nominal_time
    targets = tuple(_target(feed, cluster, nominal, own.into) for feed, cluster in context.pairs)
    action = CopyAction(most=own.most, new_holds=NoNewHolds() if context.options.dry_run else context.holds)
    return Wired(action=action, targets=Targets(to_do=targets))


def _target(feed: Feed, cluster: Cluster, nominal: datetime, into: str) -> CopyTarget:
    template, target = FeedStorage.of(feed, cluster).templates[LocationType.DATA], f"{into}/{feed.name}"
    instances, base = feed.instances_on(cluster.name), cluster.place(template.base)
    due = []
    for instant in (*instances.between(instances.start, nominal), nominal):
        if instant in instances:
            source = cluster.place(template.render(instant))
            copy = CanonicalPath.parse(f"{target}/{source.relative_to(base)}")
            due.append(CopyItem(instance_key=format_instant(instant), source=source, copy=copy))
    own, key = CanonicalPath.parse(target), format_instant(nominal)
    return CopyTarget(entity=feed.name, cluster=cluster.name, instance_key=key, base=base, into=own, due=tuple(due))


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


COPY_VIEW: ActionView[CopyTarget, CopyItem, CopyDetail] = ActionView(
    targets="feeds",
    target_document=_feed,
    item_document=lambda item: {"instance": item.instance_key, "source": str(item.source), "copy": item.uri},
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
    form: ResultFormat = ResultFormat.JSON,
    **given: Any,  # noqa: ANN401
) -> int:
    """The command; its exit code."""
    usual = {"dry_run": False, "approve": None, "allow_dirty": False, "parallel": 1}
    found, at = RepoRequest(config_repo=repo, variables=os.environ), parse_instant(time)
    options = ActionOptions(selection=EntitySelection(everything=True), repo=found, nominal_time=at, **usual | given)
    command = ActionCommand(name=NAME, run=partial(copy_feeds, own), view=COPY_VIEW, form=form, file=None)
    return command.execute(options)


if __name__ == "__main__":
    sys.exit(execute(sys.argv[1], sys.argv[2], CopyOptions(into=sys.argv[3])))

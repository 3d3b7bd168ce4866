"""Stores that drop directories at once, or have only objects; and one call that does what a plan by hand says."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from math import inf

from tests.unit.retention.feeds import FeedText, acted, cluster, context_on, request_of
from tests.unit.retention.memory import MemoryFileSystem
from tests.unit.runs.fakes import AuditMemory, MemoryRecorder
from toolkit.actions.action import RunContext
from toolkit.actions.guard import Condition
from toolkit.actions.hold_watch import NewHolds, NoNewHolds
from toolkit.actions.model import TargetPlan
from toolkit.actions.runner import Targets
from toolkit.el import CanonicalPath, parse_instant
from toolkit.entities import LocationType
from toolkit.planning.delete_limits import DeleteLimits
from toolkit.retention import RetentionAction, RetentionResolver
from toolkit.retention.plan import FeedPlan, FeedResult, ItemKind, PlanItem, RetentionDetail, Subtree
from toolkit.retention.targets import FeedTarget
from toolkit.runs.errors import Stopped
from toolkit.runs.run import ActiveRun
from toolkit.runs.stop import NeverStopped, StopSignal
from toolkit.storage import (
    Capabilities,
    Deleted,
    Entry,
    FileStatus,
    FileSystem,
    Look,
    NotFound,
    PermissionDenied,
    StorageError,
)
from toolkit.transfer.port import ExecutorPool

BASE = CanonicalPath.parse("file:///data/clicks")


def capabilities(*, atomic_delete: bool = True, directories: bool = True, parallel: int = 1) -> Capabilities:
    return Capabilities(
        atomic_rename=directories,
        atomic_delete=atomic_delete,
        directories=directories,
        permissions=False,
        times=False,
        conditional_put=True,
        parallel=parallel,
    )


@dataclass
class SharedStore(MemoryFileSystem):
    """A store for several threads that removes a directory at once, after it has looked whether it may.

    Attributes:
        has: what it can do.
        broken: asked before each call; may raise.
        before_effect: asked before each change.
    """

    has: Capabilities = field(default_factory=capabilities)
    broken: Callable[[str, str], None] = lambda _, __: None
    before_effect: Callable[[], None] = lambda: None
    bulks: list[tuple[list[str], str]] = field(default_factory=list)
    lock: threading.RLock = field(default_factory=threading.RLock)

    @property
    def capabilities(self) -> Capabilities:  # type: ignore[override]
        return self.has

    def status(self, path: CanonicalPath) -> FileStatus:
        with self.lock:
            self.broken("status", path.path)
            return super().status(path)

    def list(self, path: CanonicalPath, *, start_from: str = "") -> Iterator[Entry]:
        with self.lock:
            self.broken("list", path.path)
            return iter(list(super().list(path, start_from=start_from)))

    def delete(self, path: CanonicalPath, *, below: CanonicalPath, look: Look | None = None) -> None:
        with self.lock:
            (self.before_effect if look is None else look.let_through)()
            self.broken("delete", path.path)
            if any(each.startswith(path.path + "/") for each in self.locked):
                raise PermissionDenied(path=path)
            super().delete(path, below=below)

    def delete_all(self, paths: Iterable[CanonicalPath], *, below: CanonicalPath, first: str = "") -> Iterator[Deleted]:
        requested = list(paths)
        self.broken("delete_all", below.path)
        self.bulks.append(([path.path for path in requested], first))
        for path in requested:
            try:
                self.delete(path, below=below)
            except StorageError as error:
                yield Deleted(path, error)
            else:
                yield Deleted(path, None)

    def _drop(self, path: str) -> None:
        """As in the base class, for stores with thousands of files."""
        inside = path + "/"
        for names in (self.files, self.directories, self.links):
            for each in [each for each in names if each == path or each.startswith(inside)]:
                names.pop(each) if isinstance(names, dict) else names.discard(each)

    def remove_if_empty(self, path: CanonicalPath, *, below: CanonicalPath) -> bool:
        with self.lock:
            self.before_effect()
            self.broken("remove_if_empty", path.path)
            return super().remove_if_empty(path, below=below)

    def is_there(self, path: CanonicalPath) -> bool:
        """For tests, whatever is broken."""
        try:
            MemoryFileSystem.status(self, path)
        except NotFound:
            return False
        return True


def item(path: str, kind: ItemKind = ItemKind.INSTANCE) -> PlanItem:
    """An item below the base; its key is its path, in the form of an instant."""
    key = f"{path.replace('/', '-')}T00:00Z" if kind is ItemKind.INSTANCE else ""
    place = CanonicalPath.parse(f"{BASE}/{path}")
    return PlanItem(
        type=kind,
        feed="clicks",
        cluster="primary",
        location=LocationType.DATA,
        instance_key=key,
        path=place,
        base=BASE,
    )


def subtree(items: Sequence[PlanItem], root: str) -> Subtree:
    """The directory with all items in it."""
    place = CanonicalPath.parse(f"{BASE}/{root}")
    inside = [position for position, each in enumerate(items) if each.path.is_within(place)]
    return Subtree(root=place, begin=inside[0], end=inside[-1] + 1)


@dataclass(kw_only=True)
class Acted:
    """What was done, and what was written down of it."""

    result: FeedResult
    recorder: MemoryRecorder
    audit: AuditMemory
    stopped: Stopped | None

    @property
    def outcomes(self) -> list[tuple[str, str, str]]:
        return [(each.item.path.relative_to(BASE), each.outcome, each.code) for each in self.result.items]

    @property
    def evicted(self) -> list[str]:
        return [event.instance_key for event in self.recorder.events()]


@dataclass(frozen=True, kw_only=True)
class PlannedAction(RetentionAction):
    """Retention with a plan that was made by hand."""

    by_hand: FeedPlan

    def plan(self, target: FeedTarget, work: RunContext) -> FeedPlan:
        del target, work
        return self.by_hand


def act(
    system: FileSystem,
    items: Sequence[PlanItem],
    subtrees: Sequence[Subtree] = (),
    *,
    stop_signal: StopSignal | None = None,
    recorder: MemoryRecorder | None = None,
    new_holds: NewHolds | None = None,
    executors: Callable[[], ExecutorPool] | None = None,
    executors_above: int = 0,
    flag: str = "",
) -> Acted:
    """Do what a plan says."""
    recorder, audit = recorder or MemoryRecorder(), AuditMemory()
    target = target_on(system, flag)
    detail = RetentionDetail(subtrees=tuple(subtrees))
    action = PlannedAction(
        limits=DeleteLimits(instances=10_000),
        new_holds=new_holds or NoNewHolds(),
        executors_above=executors_above,
        by_hand=TargetPlan(target=target, detail=detail, items=tuple(items)),
    )

    def open_context(run: StopSignal, conditions: Sequence[Condition]) -> RunContext:
        work = context_on(system, run, conditions)
        if not isinstance(run, ActiveRun):
            return work
        if isinstance(system, SharedStore):
            system.before_effect = work.guard.check
        return replace(
            work,
            rate=lambda _: inf if executors is None else 1000,
            executors=executors,
            seconds_left=run.deadline.seconds_left,
            check_remote=run.check_without_rest,
            let_others_work=run.let_others_work,
        )

    done = acted(
        action,
        Targets(to_do=(target,)),
        request_of(),
        open_context,
        recorder=recorder,
        audit=audit,
        process=stop_signal or NeverStopped(),
    )
    (result,) = done.targets
    return Acted(result=result, recorder=recorder, audit=audit, stopped=result.stopped)


def target_on(system: FileSystem, flag: str = "") -> FeedTarget:
    """The feed that is evicted."""
    resolver = RetentionResolver(
        nominal_time=parse_instant("2026-03-20T12:00Z"), keep_beyond_validity=True, holds=(), storage=lambda _: system
    )
    feed = FeedText().feed()
    if flag:
        object.__setattr__(feed, "availability_flag", flag)
    (target,) = resolver.resolve([(feed, cluster())], must_all_work=True).to_do
    return target

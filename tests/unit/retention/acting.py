"""Stores that drop directories at once, or have only objects; and one call that does what a plan by hand says."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from tests.unit.retention.feeds import FeedText, cluster
from tests.unit.retention.memory import MemoryFileSystem
from tests.unit.runs.fakes import AuditMemory, MemoryRecorder, envelope_of, start_request
from toolkit.el import CanonicalPath, parse_instant
from toolkit.entities import LocationType
from toolkit.retention import Resolver
from toolkit.retention.brake import NewHolds, NoNewHolds
from toolkit.retention.feed_work import FeedWork
from toolkit.retention.plan import FeedPlan, ItemKind, PlanItem, Subtree
from toolkit.retention.progress import NoProgress
from toolkit.retention.result import FeedResult
from toolkit.retention.spreading import SpreadMeans
from toolkit.retention.targets import FeedTarget
from toolkit.runs.errors import Stopped
from toolkit.runs.heartbeat import Heartbeat
from toolkit.runs.lifeline import CurrentLifeline, Lifeline, Unbounded
from toolkit.storage import (
    Capabilities,
    Deleted,
    Entry,
    FileStatus,
    FileSystem,
    NotFound,
    PermissionDenied,
    StorageError,
)

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

    def delete(self, path: CanonicalPath, *, below: CanonicalPath) -> None:
        with self.lock:
            self.before_effect()
            self.broken("delete", path.path)
            if any(each.startswith(path.path + "/") for each in self.locked):
                raise PermissionDenied(path=path)
            super().delete(path, below=below)

    def delete_all(self, paths: Iterable[CanonicalPath], *, below: CanonicalPath, first: str = "") -> Iterator[Deleted]:
        asked = list(paths)
        self.broken("delete_all", below.path)
        self.bulks.append(([path.path for path in asked], first))
        for path in asked:
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
        kind=kind, feed="clicks", cluster="primary", location=LocationType.DATA, key=key, path=place, base=BASE
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


def act(
    system: FileSystem,
    items: Sequence[PlanItem],
    subtrees: Sequence[Subtree] = (),
    *,
    lifeline: Lifeline | None = None,
    recorder: MemoryRecorder | None = None,
    new_holds: NewHolds | None = None,
    means: SpreadMeans | None = None,
    flag: str = "",
) -> Acted:
    """Do what a plan says."""
    recorder, audit = recorder or MemoryRecorder(), AuditMemory()
    current = CurrentLifeline(lifeline or Unbounded())
    if isinstance(system, SharedStore):
        system.before_effect = current.check
    target = target_on(system, flag)
    plan = FeedPlan(feed="clicks", cluster="primary", target=target, items=tuple(items), subtrees=tuple(subtrees))
    with Heartbeat(recorder, seconds=3600) as heartbeat:
        process = lifeline or Unbounded()
        with envelope_of(recorder, heartbeat, audit=audit, process=process).start(start_request()) as run:
            work = FeedWork(
                target=target,
                run=run,
                storage=lambda _: system,
                new_holds=new_holds or NoNewHolds(),
                means=means,
                plan=plan,
            )
            with current.of(work):
                work.evict(NoProgress())
            work.finish()
    return Acted(result=work.result, recorder=recorder, audit=audit, stopped=work.stopped)


def target_on(system: FileSystem, flag: str = "") -> FeedTarget:
    """The feed that is evicted."""
    resolver = Resolver(
        nominal_time=parse_instant("2026-03-20T12:00Z"), keep_beyond_validity=True, holds=(), storage=lambda _: system
    )
    feed = FeedText().feed()
    if flag:
        object.__setattr__(feed, "availability_flag", flag)
    (target,) = resolver.resolve([(feed, cluster())], must_all_work=True).targets
    return target

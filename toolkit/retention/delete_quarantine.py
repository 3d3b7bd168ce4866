"""Moving instances into quarantine, and purging those whose time there is over.

After each step of a move: what a kill leaves, and what the next run does about it.

Where renames are atomic:
1. The manifest is written: an instance as it was; the next run evicts it, and a purge removes that manifest.
2. The instance is renamed: it is in quarantine, and the next run finds that it has gone.

Where files go one by one:
1. The manifest is written, and the availability flag is copied: the flag is still there, so that the instance does not
   count as condemned; the next run evicts it anew.
2. The flag is removed: readers do not find it any more, and its objects stay until the purge.

A purge removes the data first and the manifest last, so that a killed one is found again.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from functools import partial
from typing import TYPE_CHECKING

from toolkit.actions.attempt import FailedAttempt, attempted
from toolkit.actions.model import INTERRUPTED, ItemResult
from toolkit.actions.publication import remove, remove_begun, remove_quietly
from toolkit.availability import content_of, is_there
from toolkit.result import Outcome
from toolkit.retention.delete import Removed, SingleDelete, is_gone, unanswered
from toolkit.retention.plan import ItemKind, StayReason
from toolkit.retention.quarantine import (
    FOLDER_PERMISSION,
    ParentDirectory,
    QuarantineManifest,
    QuarantinePlace,
    kept_until,
    place_at,
)
from toolkit.storage import FileKind, NotFound, StorageError, SymlinkRefused, Unreachable, WrongKind

if TYPE_CHECKING:
    from datetime import datetime

    from toolkit.actions.action import RunContext
    from toolkit.el import CanonicalPath
    from toolkit.retention.plan import PlanItem
    from toolkit.retention.targets import FeedTarget
    from toolkit.storage import FileSystem

_CHUNK = 1 << 20


@dataclass(frozen=True, kw_only=True)
class QuarantinedDelete:
    """Moves instances into quarantine and purges them there; safe between threads.

    Attributes:
        work: of the run.
        target: the feed.
        single: removes what is no instance, and what is purged.
        now: of the wall clock, UTC.
    """

    work: RunContext
    target: FeedTarget
    single: SingleDelete
    now: Callable[[], datetime]
    _parents: dict[CanonicalPath, ParentDirectory] = field(default_factory=dict, init=False)
    _folders: set[CanonicalPath] = field(default_factory=set, init=False)

    def remove(self, item: PlanItem, quarantine: CanonicalPath) -> Removed:
        """Move an instance into quarantine, or purge one that is there.

        Args:
            item: of the plan.
            quarantine: of the item.
        """
        if item.type is ItemKind.QUARANTINED:
            return self._purged(item, quarantine)
        refusal = self.work.guard.refusal(item.base)
        if refusal is not None:
            return Removed(refusal.of(item))
        system = self.work.stores(item.base)
        place = QuarantinePlace.of(quarantine, self.work.run_name, item.instance_key, item.path)
        move = self._renamed if system.capabilities.atomic_rename else self._condemned
        done = attempted(self.work, partial(move, system, item, place), failures=(StorageError,))
        return not_moved(item, done, system) if isinstance(done, FailedAttempt) else Removed(done)

    def _renamed(self, system: FileSystem, item: PlanItem, place: QuarantinePlace) -> ItemResult[PlanItem]:
        require_no_link(system, item.base, item.path)
        self.make_folder(system, place)
        manifest = self.manifest_of(item, tuple(self.parents_of(system, item)))
        with self.work.guard.completing():
            system.write(place.manifest, [manifest.encoded()], overwrite=False)
            try:
                system.rename(item.path, place.data)
            except NotFound:
                if is_there(system, place.data):  # a call was repeated below, and the first one had done it
                    return moved_to(item, place.data)
                remove_quietly(system, place.manifest, place.base)
                return ItemResult.skipped(item, StayReason.ALREADY_GONE)
            except Unreachable:  # the rename may still happen, and needs its manifest then
                raise
            except StorageError:
                if is_gone(system, place.data) is True:
                    remove_quietly(system, place.manifest, place.base)
                raise
        return moved_to(item, place.data)

    def _condemned(self, system: FileSystem, item: PlanItem, place: QuarantinePlace) -> ItemResult[PlanItem]:
        flag = flag_of(item.path, self.target.availability_flag)
        try:
            content = content_of(system, item.path, flag)
        except NotFound:
            return ItemResult.skipped(item, StayReason.ALREADY_GONE)
        manifest = replace(self.manifest_of(item, ()), content=content)
        with self.work.guard.completing():
            system.write(place.manifest, [manifest.encoded()], overwrite=False)
            if flag is not None and copied(system, flag, place.flag):
                remove(system, flag, item.base)
        return moved_to(item, place.manifest)

    def make_folder(self, system: FileSystem, place: QuarantinePlace) -> None:
        """Make the directory of the run's instances, for its user alone."""
        require_no_link(system, place.base, place.data)
        if place.folder in self._folders:
            return
        system.mkdirs(place.folder.child(place.run))
        if system.capabilities.permissions:
            system.set_permission(place.folder, FOLDER_PERMISSION)
        self._folders.add(place.folder)

    def parents_of(self, system: FileSystem, item: PlanItem) -> Iterator[ParentDirectory]:
        """Yield the directories between the base of an item and itself."""
        parent = item.base
        for name in item.path.relative_to(item.base).split("/")[:-1]:
            parent = parent.child(name)
            if parent not in self._parents:
                self._parents[parent] = ParentDirectory.seen(system, parent)
            yield self._parents[parent]

    def manifest_of(self, item: PlanItem, parents: tuple[ParentDirectory, ...]) -> QuarantineManifest:
        """Return the manifest of what goes into quarantine now."""
        now, target = self.now(), self.target
        return QuarantineManifest(
            feed=item.feed,
            cluster=item.cluster,
            location=item.location,
            instance_key=item.instance_key,
            path=item.path,
            run=self.work.run_name,
            quarantined_at=now,
            purge_at=kept_until(now, target.quarantine, target.policy.timezone),
            parents=parents,
            flag=target.availability_flag,
        )

    def _purged(self, item: PlanItem, manifest: CanonicalPath) -> Removed:
        """Remove the data, then what tells of them; in place of the instance only while nothing new is there."""
        place, system = place_at(manifest), self.work.stores(item.base)
        if not item.path.is_within(place.folder):
            kept = attempted(self.work, partial(self._rewritten, system, item, manifest), failures=(StorageError,))
            if isinstance(kept, FailedAttempt):
                return Removed(kept.of(item))
            if kept is not None:
                return Removed(kept)
        removed = self._data_removed(system, item)
        result = removed.result
        is_over = result.outcome is Outcome.DONE or result.code == StayReason.ALREADY_GONE
        if not is_over:
            return removed
        finish = partial(self._forget, system, item, place)
        failure = attempted(self.work, finish, failures=(StorageError,))
        return Removed(failure.of(item)) if isinstance(failure, FailedAttempt) else Removed(ItemResult.done(item))

    def _data_removed(self, system: FileSystem, item: PlanItem) -> Removed:
        if system.capabilities.directories:
            return self.single.remove(item)
        return self.single.remove_together([item])[0]

    def _forget(self, system: FileSystem, item: PlanItem, place: QuarantinePlace) -> None:
        if system.capabilities.directories:
            remove_begun(system, item.path, item.base)  # of a purge that was killed in its middle
        remove(system, place.flag, place.base)
        remove(system, place.manifest, place.base)

    def _rewritten(self, system: FileSystem, item: PlanItem, manifest: CanonicalPath) -> ItemResult[PlanItem] | None:
        """Return the result of an instance that was written since it was condemned; it is not condemned any more."""
        flag = flag_of(item.path, self.target.availability_flag)
        since = system.status(manifest).modified
        has_flag = flag is not None and is_there(system, flag)
        if not has_flag and all(at is None or at < since for at in times_of(system, item.path)):
            return None
        place = place_at(manifest)
        remove(system, place.flag, place.base)
        remove(system, place.manifest, place.base)
        return ItemResult.skipped(item, StayReason.WRITTEN_AGAIN)


def flag_of(path: CanonicalPath, flag: str) -> CanonicalPath | None:
    """Return the availability flag of an instance; None: the feed has none."""
    return path.child(flag) if flag else None


def copied(system: FileSystem, source: CanonicalPath, target: CanonicalPath) -> bool:
    """Copy a small file within a store; return False if there is none."""
    try:
        with system.read(source) as stream:
            system.write(target, iter(partial(stream.read, _CHUNK), b""))
    except (NotFound, WrongKind):
        return False
    return True


def require_no_link(system: FileSystem, base: CanonicalPath, path: CanonicalPath) -> None:
    """Return when no symbolic link is on the way from a base to a path; only local disks have links.

    Raises:
        SymlinkRefused: a rename would lead out of the base.
    """
    parent = path
    while base.is_local and parent.is_within(base):
        if is_there(system, parent) and system.status(parent).kind is FileKind.SYMLINK:
            raise SymlinkRefused(path=parent)
        parent = parent.parent


def times_of(system: FileSystem, path: CanonicalPath) -> Iterator[datetime | None]:
    """Yield the times of the objects of an instance."""
    try:
        yield from (entry.modified for entry in system.list_tree(path))
    except WrongKind:
        yield system.status(path).modified
    except NotFound:
        return


def moved_to(item: PlanItem, place: CanonicalPath) -> ItemResult[PlanItem]:
    """Return the result of what is in quarantine."""
    return ItemResult(item=item, outcome=Outcome.DONE, message=f"in quarantine: {place}")


def not_moved(item: PlanItem, failure: FailedAttempt, system: FileSystem) -> Removed:
    """An instance whose move did not come to its end: it stays open unless it is seen what became of it."""
    if failure.refusal is not None:
        return Removed(failure.of(item))
    if failure.code == Unreachable.code:
        return unanswered(item, failure.message)
    gone = is_gone(system, item.path) if system.capabilities.atomic_rename else None
    if failure.code == INTERRUPTED:
        message = f"{item.path}: the run was stopped before it was in quarantine; the next run takes it"
        return Removed(ItemResult.failed(item, INTERRUPTED, message), is_gone=gone is True, is_open=gone is None)
    return Removed(failure.of(item), is_gone=gone is True)

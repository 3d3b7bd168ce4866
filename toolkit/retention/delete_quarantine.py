"""Moving instances into quarantine, and purging those whose time there is over.

After each step of a move: what a kill leaves, and what the next run does about it.

Where renames are atomic:
1. The manifests of a batch are written as one list: the instances are as they were, and the next run evicts them. A
   list says nothing of an instance that is not beside it.
2. Each instance is renamed: it is in quarantine, and the next run finds that it has gone.

Where files go one by one:
1. The manifest is written, and the availability flag is copied: the flag is still there, so that the instance does not
   count as condemned; the next run evicts it anew.
2. The flag is removed: readers do not find it any more, and its objects stay until the purge.

A purge removes the data first and the manifest last, or the lists of a run of which nothing is left, so that a killed
one is found again.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field, replace
from functools import partial
from threading import Lock
from typing import TYPE_CHECKING

from toolkit.actions.attempt import FailedAttempt, attempted
from toolkit.actions.model import INTERRUPTED, ItemResult
from toolkit.actions.publication import remove, remove_begun
from toolkit.availability import content_of, is_there
from toolkit.result import Outcome
from toolkit.retention.delete import Removed, SingleDelete, is_gone, unanswered
from toolkit.retention.plan import ItemKind, StayReason
from toolkit.retention.quarantine import (
    FOLDER_PERMISSION,
    KEY,
    LIST,
    ParentDirectory,
    QuarantineManifest,
    QuarantinePlace,
    kept_until,
    lists_of,
    place_at,
)
from toolkit.storage import ASIDE_PREFIX, FileKind, NotFound, StorageError, SymlinkRefused, Unreachable, WrongKind

if TYPE_CHECKING:
    from datetime import datetime

    from toolkit.actions.action import RunContext
    from toolkit.el import CanonicalPath
    from toolkit.retention.plan import PlanItem
    from toolkit.retention.targets import FeedTarget
    from toolkit.storage import FileSystem

_CHUNK = 1 << 20


@dataclass(kw_only=True)
class _BatchList:
    """Manifests of the items of a batch below one base.

    Attributes:
        items: by their paths.
        failed: why an item has no manifest, by its path.
        is_written: the lists are there.
    """

    items: dict[CanonicalPath, PlanItem] = field(default_factory=dict)
    failed: dict[CanonicalPath, StorageError] = field(default_factory=dict)
    is_written: bool = False
    lock: Lock = field(default_factory=Lock)


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
    _lists: dict[CanonicalPath, _BatchList] = field(default_factory=dict, init=False)
    _purged_runs: dict[CanonicalPath, CanonicalPath] = field(default_factory=dict, init=False)

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

    def begin(self, items: Iterable[PlanItem]) -> None:
        """Take the items of a batch, whose manifests are written together before the first of them moves."""
        self._lists.clear()
        for item in items:
            if item.quarantine is not None and item.type is not ItemKind.QUARANTINED:
                self._lists.setdefault(item.base, _BatchList()).items[item.path] = item

    def finish(self) -> None:
        """Remove the lists of runs of which all was purged.

        Raises:
            StorageError: a store refuses it.
        """
        while self._purged_runs:
            run, base = self._purged_runs.popitem()
            remove_lists(self.work.stores(base), run, base)

    def _renamed(self, system: FileSystem, item: PlanItem, place: QuarantinePlace) -> ItemResult[PlanItem]:
        require_no_link(system, item.base, item.path)
        self.make_folder(system, place)
        self._require_listed(system, item)
        with self.work.guard.completing():
            try:
                system.rename(item.path, place.data)
            except NotFound:
                if not is_there(system, place.data):  # else a call was repeated below, and the first one had done it
                    return ItemResult.skipped(item, StayReason.ALREADY_GONE)
        return moved_to(item, place.data)

    def _require_listed(self, system: FileSystem, item: PlanItem) -> None:
        """Return when a list has the manifest of an item; the first item of a batch writes it.

        Raises:
            StorageError: it could not be written, or the item has no manifest.
        """
        found = self._lists[item.base]
        with found.lock:
            if not found.is_written:
                self._write_lists(system, found)
                found.is_written = True
        if item.path in found.failed:
            raise found.failed[item.path]

    def _write_lists(self, system: FileSystem, of: _BatchList) -> None:
        manifests: dict[str, QuarantineManifest] = {}
        places: dict[str, QuarantinePlace] = {}
        for item in of.items.values():
            place = QuarantinePlace.of(item.quarantine or item.base, self.work.run_name, item.instance_key, item.path)
            try:
                manifests[place.key] = self.manifest_of(item, tuple(self.parents_of(system, item)))
            except Unreachable:
                raise
            except StorageError as error:  # of this item alone
                of.failed[item.path] = error
            places[place.key] = place
        for first, content in lists_of(list(manifests.items())):
            system.write(places[first].list_file, [content])

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
        if system.capabilities.directories and not system.capabilities.atomic_delete:
            remove_begun(system, item.path, item.base)  # of a purge that was killed in its middle
        if item.quarantine == place.data:
            self._purged_runs[place.data.parent] = place.base
            return
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


def remove_lists(system: FileSystem, run: CanonicalPath, base: CanonicalPath) -> bool:
    """Remove the lists of a run's manifests unless data is beside them; return whether they were removed."""
    names: list[str] = []
    try:
        for each in system.list(run):
            if KEY.fullmatch(each.name) or each.name.startswith(ASIDE_PREFIX):
                return False
            names += [each.name] if LIST.fullmatch(each.name) else []
    except NotFound:
        return False
    for name in names:
        remove(system, run.child(name), base)
    return True


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

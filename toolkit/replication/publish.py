"""Copying a unit beside its place and publishing it: readers see all of it, or what was there before (ADR 0033).

The flag of an instance that is copied in parts is removed before the first part is replaced, and written after the
last. On an object store files are written where they belong, between the removal of the flag and its writing.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property
from operator import eq
from typing import TYPE_CHECKING

from toolkit.actions.file_copies import FileCopies
from toolkit.actions.guard import CalledOff
from toolkit.actions.staged_unit import whole_of
from toolkit.actions.validation import staging_place
from toolkit.availability import is_ready, is_there
from toolkit.clock import SystemClock
from toolkit.el import CanonicalPath
from toolkit.replication.completeness import Completeness
from toolkit.replication.errors import TargetChanged
from toolkit.replication.listing import difference, selected
from toolkit.replication.preserve import Preservation
from toolkit.replication.staging import StagedCopies
from toolkit.replication.targets import COPY, FLAG, REMOVE, ReplicationTarget, UnitItem
from toolkit.storage import REPLACED_PREFIX, aside_name
from toolkit.transfer.copying import SourceChanged
from toolkit.transfer.publication import CopyDiffers, FilesFailed, remove, remove_quietly, staging_of, swap_in
from toolkit.transfer.trees import Tree, TreeFile, below, file_copy, is_still, read_tree, same_bytes
from toolkit.transfer.uploads import end_left_uploads

if TYPE_CHECKING:
    from toolkit.actions.action import RunContext
    from toolkit.storage import FileSystem, StorageSpec
    from toolkit.threads import WorkerPool

_FILES_AT_ONCE = 20_000


@dataclass(frozen=True, kw_only=True, slots=True)
class Published:
    """Cost of a published unit.

    Attributes:
        files: so many were copied.
        bytes: in them.
        seconds: from the first effect to the last.
        digests: of the files that were copied, by their names in the unit.
        is_complete: the parts of all sources are there, and the flag where the feed has one.
        notes: for the user.
    """

    files: int
    bytes: int
    seconds: float
    digests: dict[str, str]
    is_complete: bool
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True)
class Publisher:
    """Copies and publishes the units of one instance.

    Attributes:
        target: the instance.
        work: of its run.
        pool: copies; other instances have their files copied by it at the same time.
        spec_of: how the store that a path is on is opened anywhere.
        executors_turn: held by the one instance that executors work for.
        now: of the wall clock, UTC.
    """

    target: ReplicationTarget
    work: RunContext
    pool: WorkerPool
    spec_of: Callable[[CanonicalPath], StorageSpec]
    executors_turn: threading.Lock
    now: Callable[[], datetime] = SystemClock().now

    @cached_property
    def staged(self) -> StagedCopies | None:
        """Asked before anybody is told; None: the feed is not judged there."""
        validation = self.target.validation
        if validation is None:
            return None
        return StagedCopies(target=self.target, validation=validation, work=self.work, files=self.files, now=self.now)

    @cached_property
    def files(self) -> FileCopies:
        """Copies the files of this instance."""
        return FileCopies(
            work=self.work,
            pool=self.pool,
            spec_of=self.spec_of,
            executors_turn=self.executors_turn,
            at_once=self.target.rules.at_once,
            bandwidth=self.target.rules.bandwidth,
        )

    @cached_property
    def completeness(self) -> Completeness:
        """Removes the flag before a part is replaced, and writes it when all are there."""
        source, target = self.work.stores(self.target.source), self.work.stores(self.target.target)
        return Completeness(target=self.target, source_system=source, system=target)

    @cached_property
    def directories(self) -> bool:
        """Whether both sides have them, so that they are copied and compared too."""
        ends = (self.target.source, self.target.target)
        return all(self.work.stores(end).capabilities.directories for end in ends)

    @cached_property
    def preservation(self) -> Preservation:
        """Keeps what the feed asks for."""
        ends = (self.target.source, self.target.target)
        source, target = (self.work.stores(end) for end in ends)
        return Preservation(source=source, target=target, rules=self.target.rules, check=self._check)

    def tree(self, root: CanonicalPath) -> Tree | None:
        """Return the tree at a path, as `read_tree` does."""
        return read_tree(self.work.stores(root), root, self._check, directories=self.directories)

    def _is_still(self, root: CanonicalPath, expected: Tree, is_same: Callable[[TreeFile, TreeFile], bool]) -> bool:
        system, directories = self.work.stores(root), self.directories
        return is_still(system, root, self._check, expected, directories=directories, is_same=is_same)

    def publish(self, item: UnitItem, *, is_last: bool) -> Published:
        """Do what an item says.

        Args:
            item: of the plan.
            is_last: all others of the plan are published, so that this source's part is there with it.

        Raises:
            StorageError: it failed; readers see what they saw before.
            QualityFailed: it must not be announced; it waits where nobody reads, or without the flag.
            StopRequested: the run was stopped, or called off, before it was published.
        """
        began = time.monotonic()
        system = self.work.stores(item.target)
        notes = list(self.preservation.refused(item.target)) if item.kind == COPY else []
        digests = self._published(item, system, notes) if item.kind == COPY else {}
        if item.kind == REMOVE:
            self._remove_dropped(item, system)
        is_complete = is_last and self._complete(item, system)
        seconds = time.monotonic() - began
        return Published(
            files=item.files,
            bytes=item.bytes,
            seconds=seconds,
            digests=digests,
            is_complete=is_complete,
            notes=tuple(notes),
        )

    def _published(self, item: UnitItem, system: FileSystem, notes: list[str]) -> dict[str, str]:
        present = self.tree(item.target)
        if present != item.present:
            step = system.capabilities.time_step
            copied, extra = difference(item.wanted, present, self.target.rules, step)
            if not copied and extra == item.extra.keys():  # an earlier run came so far, which `recover` has finished
                return {}
            raise TargetChanged(path=item.target)
        if system.capabilities.atomic_rename:
            return self._renamed_in(item, system, notes)
        return self._written_in_place(item, system, notes)

    def _remove_dropped(self, item: UnitItem, system: FileSystem) -> None:
        """Remove a part that the source no longer has, and the directories above it that have nothing else."""
        target, source = self.target, self.work.stores(item.source)
        present = self.tree(item.target)
        if present is None:
            return
        if present != item.present:
            raise TargetChanged(path=item.target)
        if is_there(source, item.source) or not is_ready(source, target.source, target.flag):
            raise SourceChanged(
                path=item.source, detail="when the plan was made, only the rest of its instance was there"
            )
        self.completeness.withdraw()
        remove(system, item.target, target.target)
        above = item.target.parent
        while above != target.target and system.remove_if_empty(above, below=target.target):
            above = above.parent

    def _renamed_in(self, item: UnitItem, system: FileSystem, notes: list[str]) -> dict[str, str]:
        base, run, staged = self.target.target_base, self.work.run_name, self.staged
        staging = staging_of(item.target, run) if staged is None else staging_place(item.target)
        with ExitStack() as unless_published:
            digests = self._waiting(item, staging, item.expected)
            if digests is None:
                remove(system, staging, base)
                unless_published.callback(remove_quietly, system, staging, base)
                if not item.expected:
                    system.mkdirs(staging)  # else it is made with what is in it
                digests = self._copied_whole(item, staging, item.wanted, item.expected)
            notes += self.preservation.keep(item.source, staging, item.wanted, self.pool)
            if staged is not None:
                unless_published.pop_all()  # from now on the next run finds it, whatever becomes of this one
                notes += staged.validate(item.target, staging)
            # The copy may have taken hours.
            if item.present is not None and not self._is_still(item.target, item.present, eq):
                raise TargetChanged(path=item.target)
            refusal = self.work.guard.refusal(base, must_look=True)
            if refusal is not None:
                raise CalledOff(refusal=refusal)
            if item.target != self.target.target:  # else the flag is in the directory that is replaced at once
                self.completeness.withdraw()
            aside = None if item.present is None else aside_of(item.target, run)
            swap_in(system, staging, item.target, aside=aside, base=base, completing=self.work.guard.completing)
            unless_published.pop_all()
        if staged is not None:
            staged.end_wait(item.target)
        return digests

    def _waiting(self, item: UnitItem, place: CanonicalPath, expected: Tree) -> dict[str, str] | None:
        """The digests of a whole copy that an earlier run has made to be judged; None: there is none."""
        if self.staged is None:
            return None
        digests = self.staged.copied_before(item)
        if digests is not None and self._is_still(place, expected, same_bytes):
            return digests
        self.staged.begin_copy(item)
        return None

    def _copied_whole(self, item: UnitItem, into: CanonicalPath, wanted: Tree, expected: Tree) -> dict[str, str]:
        digests = self._copied(item, into, wanted)
        self._require_copy(item, into, expected)
        if self.staged is not None:
            self.staged.end_copy(item, digests)
        return digests

    def _written_in_place(self, item: UnitItem, system: FileSystem, notes: list[str]) -> dict[str, str]:
        """Write files where they belong, between the removal of the flag and its writing.

        No store of this kind has attributes, which `Preservation.refused` has said.
        """
        self.completeness.withdraw()
        for name in item.present or {}:
            if name not in item.wanted and name not in item.extra:
                remove(system, below(item.target, name), self.target.target_base)
        expected = self._before_flag(item, item.expected)
        digests = self._waiting(item, item.target, expected)
        if digests is None:
            digests = self._copied_whole(item, item.target, self._before_flag(item, item.wanted), expected)
        if self.staged is not None:
            notes += self.staged.validate(item.target, item.target)
            self.staged.end_wait(item.target)
        return digests

    def _copied(self, item: UnitItem, into: CanonicalPath, wanted: Tree) -> dict[str, str]:
        """Copy into a directory that nobody reads: new files from the source, the others from where they are."""
        new = [name for name in wanted if name in item.copied]
        digests = self._copied_from(item.source, item, into, wanted, new)
        if into != item.target:
            expected = item.expected
            kept = [name for name in expected if name not in item.copied]
            passed = self._copied_from(item.target, item, into, expected, kept)
            spoilt = [name for name in wanted if name in passed and passed[name] != item.known.get(name, passed[name])]
            # The target's own file is not what was copied to it any more.
            digests |= passed | self._copied_from(item.source, item, into, wanted, spoilt)
        return digests

    def _copied_from(
        self, root: CanonicalPath, item: UnitItem, into: CanonicalPath, tree: Tree, names: Sequence[str]
    ) -> dict[str, str]:
        """In parts, since a plan of copies takes more memory than the listing that it is made of."""
        digests: dict[str, str] = {}
        for start in range(0, len(names), _FILES_AT_ONCE):
            files = [file_copy(root, into, name, tree[name]) for name in names[start : start + _FILES_AT_ONCE]]
            told = self.files.copy(root, into, files, is_progress=root == item.source)
            failed = [each for each in told if each.code]
            if failed:
                raise FilesFailed(path=item.target, failed=failed)
            digests.update((each.target.relative_to(into), each.digest) for each in told if each.digest)
        return digests

    def _require_copy(self, item: UnitItem, place: CanonicalPath, expected: Tree) -> None:
        """A source that was written to meanwhile gives a copy that never was whole there."""
        if not self._is_still(place, expected, same_bytes):
            raise CopyDiffers(path=item.target)
        if not self._is_still(item.source, item.wanted, eq):
            raise SourceChanged(path=item.source, detail="its listing is not that of the plan any more")

    def _complete(self, item: UnitItem, system: FileSystem) -> bool:
        """Announce the instance when the parts of all sources are there, and say whether they are.

        All that the flag announces is validated, also what an earlier run has left, or one that validated nothing yet.
        """
        target, has_flag = self.target, self.target.flag_path is not None
        if self.staged is not None and (item.kind == FLAG or has_flag or not system.capabilities.atomic_rename):
            for unit in selected(system, target.target, target.parts):
                self.staged.validate(unit, unit)
        return self.completeness.announce()

    def _before_flag(self, item: UnitItem, tree: Tree) -> Tree:
        if item.target != self.target.target:
            return tree
        return {name: entry for name, entry in tree.items() if name != self.target.flag}

    def _check(self) -> None:
        self.work.guard.check()


def aside_of(unit: CanonicalPath, run: str) -> CanonicalPath:
    """Where a run puts what it replaces, for the moment between two renames."""
    return unit.parent.child(f"{REPLACED_PREFIX}{run}-{unit.name}")


def finish(
    system: FileSystem,
    unit: CanonicalPath,
    run: str,
    base: CanonicalPath,
    may_publish: Callable[[], bool] = lambda: False,
) -> bool:
    """Bring what a run was killed in to its end, under the lease of the instance; a whole copy goes on waiting.

    Args:
        system: the store of the target.
        unit: that it worked on.
        run: of the run that is dead.
        base: bounds every effect.
        may_publish: whether what waits to be judged may be announced.

    Returns:
        Whether the unit has what that run had copied, as far as can be told from what it left.
    """
    staging, aside, waiting = staging_of(unit, run), aside_of(unit, run), staging_place(unit)
    was_replaced = is_there(system, aside)
    if was_replaced and not is_there(system, unit):
        # The copy was whole before the first of the two renames; without it, what was there comes back.
        may_be_waiting = is_there(system, waiting) and may_publish()
        ready = staging if is_there(system, staging) else waiting if may_be_waiting else None
        system.rename(ready or aside, unit)
        was_replaced = ready is not None
    if not is_there(system, whole_of(unit)):
        remove(system, waiting, base)
    for own in (staging, aside):
        remove(system, own, base)
        remove(system, own.parent.child(aside_name(own.name)), base)  # the removal itself had begun
    end_left_uploads(system, unit)
    return was_replaced

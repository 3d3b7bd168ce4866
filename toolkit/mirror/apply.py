"""Run of a mirror: snapshot, copy, rename, attributes, snapshot; each step can be done again (ADR 0103)."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from hashlib import blake2b
from itertools import groupby
from typing import TYPE_CHECKING, TypeAlias

from toolkit.actions.publication import FILES_AT_ONCE, remove
from toolkit.availability import is_there
from toolkit.mirror.attributes import keep_attributes
from toolkit.mirror.changes import MirrorStep, Operation, unexplained
from toolkit.mirror.model import (
    ARRANGED,
    BEFORE,
    KeptSnapshots,
    MirrorPlan,
    MirrorRules,
    MirrorState,
    MirrorTargetChanged,
    MirrorWork,
)
from toolkit.mirror.planner import OUT, RECORD, MirrorPlanner
from toolkit.storage import AlreadyExists, FileKind, NotFound
from toolkit.transfer.errors import FilesFailed
from toolkit.transfer.plan import Copied, FileCopy
from toolkit.transfer.trees import Tree, below, read_tree

if TYPE_CHECKING:
    from toolkit.el import CanonicalPath
    from toolkit.storage.snapshots import DirectorySnapshot

CopyFiles: TypeAlias = "Callable[[CanonicalPath, CanonicalPath, Sequence[FileCopy]], Sequence[Copied]]"
"""Copies files from the store of the first path to that of the second, as `toolkit.actions.file_copies.FileCopies.copy`
does."""
_NEW, _MOVED = "new", "moved"
_COUNTED = ("COPY", "BYTESCOPIED", "COPYREUSED", "BYTESREUSED", "RENAMES", "DELETES")


@dataclass(frozen=True, kw_only=True)
class MirrorRun:
    """Makes the target of a mirror what a snapshot of its source is.

    Every call raises StorageError and StopRequested; the next run goes on where this one ended.

    Attributes:
        planner: has both sides; the target is under a lease of the run.
        copy: copies files.
        refuse: raises an error for a plan that must not be applied.
        before_publication: called before readers can see a change; raises StopRequested when none may begin.
        counters: what this run has done; ``COPYREUSED`` and ``BYTESREUSED`` are copies that a stopped run had made.
    """

    planner: MirrorPlanner
    copy: CopyFiles
    refuse: Callable[[MirrorPlan], None] = lambda _: None
    before_publication: Callable[[], None] = lambda: None
    counters: Counter[str] = field(default_factory=lambda: Counter(dict.fromkeys(_COUNTED, 0)))
    _renamed: list[Operation] = field(default_factory=list, init=False, repr=False)

    def run(self, wanted: str) -> tuple[MirrorPlan, ...]:
        """Finish what a stopped run began, then mirror a snapshot; return the plans in their order.

        Args:
            wanted: name of the snapshot, which is made at the source if it has none.

        Raises:
            FilesFailed: not all files could be copied.
            MirrorTargetChanged: others changed the target meanwhile.
        """
        plans = list[MirrorPlan]()
        while True:
            state = self.planner.state(wanted)
            plan = self.planner.plan(self.prepared(state))
            plans.append(plan)
            if state.problem is None:
                self.refuse(plan)
                self.apply(plan)
            if state.problem is not None or state.snapshot == wanted:
                return tuple(plans)

    def prepared(self, state: MirrorState) -> MirrorState:
        """Make the snapshots that a plan is made from; none of them changes data."""
        if state.problem is not None or state.work is not MirrorWork.BEGIN:
            return state
        source, target = self.planner.source, self.planner.target
        there = {each.name: each.number for each in source.snapshots.list(source.root)}
        if there.get(state.snapshot, -1) < there.get(state.base, -1) and state.snapshot in there:
            # An earlier run made it before the target went on to a later state of the source.
            source.snapshots.delete(source.root, state.snapshot)
            there.pop(state.snapshot)
        if state.snapshot not in there:
            source.snapshots.create(source.root, state.snapshot)
        if state.base:
            return state
        before = self.planner.rules.before(state.snapshot)
        if before in {each.name for each in target.snapshots.list(target.root)}:
            target.snapshots.delete(target.root, before)  # of a run that did nothing else
        target.snapshots.create(target.root, before)
        return replace(state, base=before)

    def apply(self, plan: MirrorPlan) -> None:
        """Do what a plan says; a step that a stopped run has done is not done again."""
        state, target = plan.state, self.planner.target
        if state.work is MirrorWork.NOTHING:
            return
        if state.work is MirrorWork.BEGIN and not plan.operations:
            self.before_publication()
            remove(target.system, self.planner.work, target.root)
            target.snapshots.create(target.root, state.snapshot)
            return
        if state.work is not MirrorWork.FINISH:
            self._arrange(plan)
            target.snapshots.create(target.root, f"{state.snapshot}{ARRANGED}")
        self._finish(state.snapshot)

    def _finish(self, snapshot: str) -> None:
        target = self.planner.target
        remove(target.system, self.planner.work, target.root)
        if snapshot not in {each.name for each in target.snapshots.list(target.root)}:
            target.snapshots.create(target.root, snapshot)
        target.snapshots.delete(target.root, f"{snapshot}{ARRANGED}")

    def _arrange(self, plan: MirrorPlan) -> None:
        state, target, work = plan.state, self.planner.target, self.planner.work
        if state.work is MirrorWork.BEGIN:
            remove(target.system, work, target.root)
            target.system.mkdirs(work)
            record = json.dumps({"base": state.base, "snapshot": state.snapshot})
            target.system.write(work.child(RECORD), [record.encode()])
        steps = {step: [each for each in plan.operations if each.step is step] for step in MirrorStep}
        if not is_there(target.system, work.child(_MOVED)):
            self._copy_all(steps[MirrorStep.COPY], state.snapshot)
            self.before_publication()  # copying may have taken hours
            self._move_out(steps[MirrorStep.OUT])
            target.system.write(work.child(_MOVED), [b""])
        else:
            self._count_copies("COPYREUSED", "BYTESREUSED", steps[MirrorStep.COPY])
        arriving = {MirrorStep.MAKE, MirrorStep.MOVE, MirrorStep.PLACE}
        self._in_levels(self._bring_in, [each for each in plan.operations if each.step in arriving])
        source = self.planner.source.at(state.snapshot)
        self._in_levels(
            lambda each: self._keep(below(source, each.path), below(target.root, each.path)),
            steps[MirrorStep.ATTRIBUTES],
        )
        gone = plan.removed - plan.placed
        self.counters["RENAMES"] += sum(each.step is MirrorStep.MOVE for each in self._renamed)
        self.counters["DELETES"] += sum(each.step is MirrorStep.OUT and each.path in gone for each in self._renamed)
        self._renamed.clear()
        strange = unexplained(target.snapshots.diff(target.root, state.base), plan.operations)
        if strange:
            raise MirrorTargetChanged(path=below(target.root, strange[0]), detail=f"{len(strange)} paths")

    def _slot(self, kind: str, path: str) -> CanonicalPath:
        """Return where in the working directory a path is; directories of HDFS have at most a million names."""
        digest = blake2b(path.encode("utf-8", "surrogatepass"), digest_size=16).hexdigest()
        return self.planner.work.child(kind).child(digest[:2]).child(digest)

    def _copy_all(self, operations: Sequence[Operation], snapshot: str) -> None:
        """Copy files to their slots; the time is set last, so that a slot with the right one has all of its file."""
        source, new = self.planner.source.at(snapshot), self.planner.work.child(_NEW)
        system = self.planner.target.system
        staged: Tree = read_tree(system, new, self.planner.check, directories=False) or {}
        ready = {each for each in operations if staged.get(self._slot(_NEW, each.path).relative_to(new)) == each.entry}
        self._count_copies("COPYREUSED", "BYTESREUSED", ready)
        left = [each for each in operations if each not in ready]
        for begin in range(0, len(left), FILES_AT_ONCE):
            part = left[begin : begin + FILES_AT_ONCE]
            files = [
                FileCopy(below(source, each.path), self._slot(_NEW, each.path), each.entry.size if each.entry else 0)
                for each in part
            ]
            failed = [each for each in self.copy(source, new, files) if each.code]
            if failed:
                raise FilesFailed(path=self.planner.target.root, failed=failed)
            self._all(lambda each: self._keep(below(source, each.path), self._slot(_NEW, each.path)), part)
            self._count_copies("COPY", "BYTESCOPIED", part)

    def _count_copies(self, files: str, size: str, operations: Collection[Operation]) -> None:
        self.counters[files] += len(operations)
        self.counters[size] += sum(each.entry.size for each in operations if each.entry)

    def _move_out(self, operations: Sequence[Operation]) -> None:
        system, target = self.planner.target.system, self.planner.target.root
        for directory in sorted({self._slot(OUT, each.path).parent for each in operations}):
            system.mkdirs(directory)
        self._in_levels(
            lambda each: self._rename(each, below(target, each.path), self._slot(OUT, each.path)),
            operations,
        )

    def _bring_in(self, operation: Operation) -> None:
        place = below(self.planner.target.root, operation.path)
        if operation.step is MirrorStep.MAKE:
            self.planner.target.system.mkdirs(place)
        elif operation.step is MirrorStep.MOVE:
            self._rename(operation, self._slot(OUT, operation.origin), place)
        else:
            self._rename(operation, self._slot(_NEW, operation.path), place)

    def _rename(self, operation: Operation, origin: CanonicalPath, place: CanonicalPath) -> None:
        """Rename unless a stopped run did."""
        system = self.planner.target.system
        try:
            system.rename(origin, place)
        except (NotFound, AlreadyExists):
            if is_there(system, origin) or not is_there(system, place):
                raise
        else:
            self._renamed.append(operation)  # appending is atomic

    def _keep(self, origin: CanonicalPath, place: CanonicalPath) -> None:
        source, target = self.planner.source.system, self.planner.target.system
        keep_attributes(source, source.status(origin), target, place, self.planner.rules.preserve)

    def _in_levels(self, work: Callable[[Operation], None], operations: Iterable[Operation]) -> None:
        """Work on operations in their order, on many of one depth and kind at once."""
        for _, level in groupby(operations, _level):
            self._all(work, list(level))

    def _all(self, work: Callable[[Operation], None], operations: Sequence[Operation]) -> None:
        parallel = self.planner.target.system.capabilities.parallel
        self.planner.pool.run_all(partial(self._checked, work), operations, at_once=parallel)

    def _checked(self, work: Callable[[Operation], None], operation: Operation) -> None:
        self.planner.check()
        work(operation)

    def prune(self, source: KeptSnapshots, target: KeptSnapshots) -> tuple[CanonicalPath, ...]:
        """Delete snapshots of this mirror that neither side keeps any more; return where they were.

        Nothing goes while a stopped run is unfinished, or while both sides have no snapshot in common.
        """
        rules, sides = self.planner.rules, (self.planner.source, self.planner.target)
        if is_there(self.planner.target.system, self.planner.work):
            return ()
        there = [side.snapshots.list(side.root) for side in sides]
        common = {each.name for each in rules.own(there[0])} & {each.name for each in rules.own(there[1])}
        deleted: list[CanonicalPath] = []
        for side, found, kept in zip(sides, there, (source, target), strict=True):
            for name in removable(found, rules, kept, common):
                side.snapshots.delete(side.root, name)
                deleted.append(side.at(name))
        return tuple(deleted)


def removable(
    snapshots: Sequence[DirectorySnapshot], rules: MirrorRules, kept: KeptSnapshots, common: Iterable[str]
) -> list[str]:
    """Return the snapshots of a mirror that go: older than the limit, beyond the newest, and before the common one.

    Args:
        snapshots: of one side, oldest first; those of others never go.
        rules: of the mirror.
        kept: what the side keeps.
        common: names that both sides have.
    """
    own = rules.own(snapshots)
    newest = {each.name for each in own[max(0, len(own) - kept.number) :]}
    last = max((each.number for each in own if each.name in set(common)), default=0)
    return [
        each.name
        for each in snapshots
        if (each in own or rules.is_own(each.name, BEFORE))
        and each.number < last
        and each.created < kept.older_than
        and each.name not in newest
    ]


def _level(operation: Operation) -> tuple[bool, int]:
    is_directory = operation.entry is not None and operation.entry.kind is FileKind.DIRECTORY
    return (operation.step is MirrorStep.ATTRIBUTES and is_directory, operation.path.count("/"))

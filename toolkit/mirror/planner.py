"""State and plan of a mirror, read from both sides; changes nothing (ADR 0103)."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from toolkit.actions.model import Problem
from toolkit.availability import is_there
from toolkit.entities.vocabulary import OnMissingSnapshot
from toolkit.foreign_json import BadJson, parse_json
from toolkit.mirror.changes import Operation, Translation, compared, is_own
from toolkit.mirror.model import (
    ARRANGED,
    MirrorPlan,
    MirrorRemoval,
    MirrorRules,
    MirrorSide,
    MirrorState,
    MirrorWork,
    removal_digest,
)
from toolkit.mirror.tree_planner import MirrorSourceEmpty, has_file
from toolkit.storage import FileKind, FileStatus, NotFound, NotSnapshottable, Unsupported
from toolkit.storage.snapshots import ChangeKind
from toolkit.threads import WorkerPool
from toolkit.transfer.spread_copy import COPY_THREADS
from toolkit.transfer.trees import Tree, TreeFile, below, read_tree

if TYPE_CHECKING:
    from toolkit.el import CanonicalPath
    from toolkit.storage.snapshots import DirectorySnapshot

RECORD = "record.json"
"""File in the working directory that says what its run began."""
OUT = "out"
"""Directory in there of what went out of its place."""
_MOST_RECORD_BYTES = 10_000
_NAMED = 3


@dataclass(frozen=True, kw_only=True)
class MirrorPlanner:
    """Looks at both sides of a mirror; safe on stores that are open for reading only.

    Every call raises StorageError, and what `check` raises.

    Attributes:
        source: is mirrored.
        target: becomes what a snapshot of the source is; no other program writes there.
        rules: of the mirror.
        check: asked from time to time.
        pool: looks at files.
    """

    source: MirrorSide
    target: MirrorSide
    rules: MirrorRules
    check: Callable[[], None] = lambda: None
    pool: WorkerPool = field(default_factory=lambda: WorkerPool(COPY_THREADS, "feedctl-mirror"))

    @property
    def work(self) -> CanonicalPath:
        """The working directory."""
        return self.target.root.child(self.rules.work)

    def common(self) -> str:
        """Return the newest snapshot of whole trees that both sides have; empty: there is none."""
        ours = {each.name for each in self.rules.own(self.target.snapshots.list(self.target.root))}
        there = [each.name for each in self.rules.own(self.source.snapshots.list(self.source.root))]
        return next((name for name in reversed(there) if name in ours), "")

    def is_unfinished(self) -> bool:
        """Return whether a run works on the target, or was stopped in the middle."""
        names = [each.name for each in self.target.snapshots.list(self.target.root)]
        arranged = any(self.rules.is_own(each, ARRANGED) for each in names)
        return arranged or is_there(self.target.system, self.work)

    def state(self, wanted: str) -> MirrorState:
        """Return what a run has to do so that the target has a snapshot of this name.

        Args:
            wanted: name of the snapshot, see `MirrorRules.snapshot`; the source may not have it yet.
        """
        if self.source.root.meets(self.target.root):
            message = f"{self.source.root} and {self.target.root} lie in each other; give the mirror another target"
            return _refused(wanted, "mirror_overlaps", message)
        try:
            there = {side.root: side.snapshots.list(side.root) for side in (self.source, self.target)}
        except NotSnapshottable as error:
            return _refused(wanted, error.code, str(error))
        source, target = there[self.source.root], there[self.target.root]
        arranged = [each.name for each in target if self.rules.is_own(each.name, ARRANGED)]
        if arranged:
            return self._finishing(arranged[-1])
        names, begun = {each.name for each in target}, self._begun()
        if begun is not None and begun.base in names:
            needed = {begun.snapshot} if begun.is_full else {begun.snapshot, begun.base}
            if needed <= {each.name for each in source}:
                return begun
        return self._clean(wanted, self.rules.own(source), self.rules.own(target), names)

    def _finishing(self, arranged: str) -> MirrorState:
        snapshot = arranged.removesuffix(ARRANGED)
        changed = self._changes(arranged)
        if changed:
            return _refused(snapshot, "mirror_target_changed", self._changed_message(arranged, changed))
        return MirrorState(snapshot=snapshot, base=arranged, work=MirrorWork.FINISH)

    def _clean(
        self, wanted: str, source: Sequence[DirectorySnapshot], target: Sequence[DirectorySnapshot], names: set[str]
    ) -> MirrorState:
        """Return the state of a target that no stopped run has left in the middle, from the mirror's own snapshots."""
        mirrored = {each.name for each in target}
        if any(name >= wanted for name in mirrored):
            return MirrorState(snapshot=wanted)
        common = [each.name for each in source if each.name in mirrored]
        if common:
            base = common[-1]
            changed = self._changes(base)
            if changed:
                return _refused(wanted, "mirror_target_changed", self._changed_message(base, changed))
            return MirrorState(snapshot=wanted, base=base, work=MirrorWork.BEGIN)
        before = self.rules.before(wanted)
        if before in names and not self._changes(before):
            return MirrorState(snapshot=wanted, base=before, work=MirrorWork.BEGIN)
        is_empty = all(is_own(entry.name) for entry in self.target.system.list(self.target.root))
        has_moved = is_there(self.target.system, self.work.child(OUT))
        if self.rules.on_missing is OnMissingSnapshot.FULL or (is_empty and not has_moved):
            return MirrorState(snapshot=wanted, work=MirrorWork.BEGIN)
        message = (
            f"{self.source.root} and {self.target.root} have no snapshot of this mirror in common, and the target has "
            "data; empty it, or set `on_missing: full` to compare both trees (a snapshot keeps what the target was)"
        )
        return _refused(wanted, "no_common_snapshot", message)

    def _begun(self) -> MirrorState | None:
        """Return what the record of the working directory says; None: there is none that can be used."""
        try:
            with self.target.system.read(self.work.child(RECORD), length=_MOST_RECORD_BYTES) as stream:
                found = parse_json(stream.read())
        except (NotFound, BadJson):
            return None
        if not isinstance(found, dict):
            return None
        base, snapshot = str(found.get("base")), str(found.get("snapshot"))
        if not self.rules.is_own(snapshot) or not (self.rules.is_own(base) or base == self.rules.before(snapshot)):
            return None
        return MirrorState(snapshot=snapshot, base=base, work=MirrorWork.RESUME)

    def _changes(self, base: str) -> list[str]:
        """Return the paths of the target that changed since a snapshot; without the root and feedctl's own names."""
        found = Translation.of(self.target.snapshots.diff(self.target.root, base))
        return sorted({*found.renamed, *found.created, *found.deleted, *found.modified})

    def _changed_message(self, base: str, changed: Sequence[str]) -> str:
        named = ", ".join(map(repr, changed[:_NAMED])) + (", ..." if len(changed) > _NAMED else "")
        was = self.target.at(base)
        return (
            f"{self.target.root} was changed since the snapshot {base}: {named} ({len(changed)} in all); copy away "
            f"what is to be kept and put back what {was} has, or delete that snapshot and set `on_missing: full`"
        )

    def plan(self, state: MirrorState, *, live: bool = False) -> MirrorPlan:
        """Return the operations that a state asks for.

        Args:
            state: without a problem.
            live: the source has no such snapshot yet: plan against its present state, as a dry run does.
        """
        if state.problem or state.work in {MirrorWork.NOTHING, MirrorWork.FINISH}:
            return MirrorPlan(state=state)
        snapshot = "" if live else state.snapshot
        operations = self._from_trees(state, snapshot) if state.is_full else self._from_difference(state, snapshot)
        return MirrorPlan(state=state, operations=operations)

    def _from_trees(self, state: MirrorState, snapshot: str) -> tuple[Operation, ...]:
        older, newer = self._tree(self.target, state.base), self._tree(self.source, snapshot)
        if has_file(older) and not has_file(newer):
            raise MirrorSourceEmpty(path=self.source.root, detail=f"it has no file, and {self.target.root} has")
        changes = compared(older, newer)
        both = {each.path for each in changes if each.kind is ChangeKind.MODIFY}
        alike = {path: (older[path], newer[path]) for path in both if newer[path].kind is FileKind.FILE}
        unchanged = {path for path, (old, new) in alike.items() if old == new}
        names = sorted(newer)

        def below_created(path: str) -> Tree:
            part = names[bisect_left(names, f"{path}/") : bisect_left(names, f"{path}0")]  # 0 comes behind /
            return {name[len(path) + 1 :]: newer[name] for name in part}

        return Translation.of(changes).operations(newer, below_created, unchanged)

    def removal(self, plan: MirrorPlan) -> MirrorRemoval:
        """Return how much a plan removes; HDFS says of what moved out of a removed directory that it is new."""
        base, system = self.target.at(plan.state.base), self.target.system
        found: list[tuple[int, int]] = []  # appending is atomic

        def weigh(path: str) -> None:
            self.check()
            here = system.content_summary(below(base, path))
            if here.directories or path not in plan.placed:
                found.append((here.files + here.directories, here.size))

        self._all(weigh, sorted(plan.removed))
        of = system.content_summary(base)
        paths, size = sum(each for each, _ in found), sum(size for _, size in found)
        # Of a base that the run makes itself, a dry run does not know the name. Copies are nothing to approve.
        facts = ["" if plan.state.is_full else plan.state.base, paths, size, *sorted(plan.removed)]
        kept = of.files + of.directories - paths
        return MirrorRemoval(paths=paths, size=size, kept=kept, digest=removal_digest(facts))

    def _tree(self, side: MirrorSide, snapshot: str) -> Tree:
        found = read_tree(side.system, side.at(snapshot), self.check, directories=True)
        if found is None:
            raise NotFound(path=side.at(snapshot))
        return found

    def _from_difference(self, state: MirrorState, snapshot: str) -> tuple[Operation, ...]:
        found = Translation.of(self.source.snapshots.diff(self.source.root, state.base, snapshot))
        older, newer = self.source.at(state.base), self.source.at(snapshot)
        entries = {
            path: TreeFile(each.kind, each.size, each.modified if each.kind is FileKind.FILE else None)
            for path, each in self._statuses(newer, {*found.created, *found.modified.values()}).items()
        }
        files = {old: path for old, path in found.modified.items() if entries[path].kind is FileKind.FILE}
        unchanged = self._unchanged(older, newer, files, entries)

        def below_created(path: str) -> Tree:
            tree = read_tree(self.source.system, below(newer, path), self.check, directories=True)
            return tree or {}

        return found.operations(entries, below_created, unchanged)

    def _statuses(self, root: CanonicalPath, paths: Iterable[str]) -> Mapping[str, FileStatus]:
        found: dict[str, FileStatus] = {}

        def look(path: str) -> None:
            self.check()
            status = self.source.system.status(below(root, path))
            if status.kind not in {FileKind.FILE, FileKind.DIRECTORY}:
                raise Unsupported(path=status.path, detail="it is neither a file nor a directory")
            found[path] = status

        self._all(look, sorted(paths))
        return found

    def _unchanged(
        self, older: CanonicalPath, newer: CanonicalPath, files: Mapping[str, str], entries: Mapping[str, TreeFile]
    ) -> set[str]:
        """Return the modified files with the same bytes, by size and the store's checksum; they cost no copy."""
        sizes = self._statuses(older, files)
        system, found = self.source.system, set[str]()

        def compare(old: str) -> None:
            self.check()
            path = files[old]
            checksum = system.checksum(below(older, old))
            if checksum is not None and checksum == system.checksum(below(newer, path)):
                found.add(path)

        self._all(compare, [old for old, path in files.items() if sizes[old].size == entries[path].size])
        return found

    def _all(self, work: Callable[[str], None], paths: Sequence[str]) -> None:
        self.pool.run_all(work, paths, at_once=self.source.system.capabilities.parallel)


def _refused(snapshot: str, code: str, message: str) -> MirrorState:
    return MirrorState(snapshot=snapshot, problem=Problem(code=code, message=message))

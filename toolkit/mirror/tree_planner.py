"""Comparison of a directory with its mirror on any store; changes nothing (ADR 0105)."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass, field, replace
from datetime import timedelta
from functools import cached_property
from itertools import takewhile
from typing import TYPE_CHECKING

from typing_extensions import override

from toolkit.actions.model import Problem
from toolkit.availability import is_there
from toolkit.entities.vocabulary import GoneAtSource
from toolkit.errors import Failed
from toolkit.mirror.attributes import copy_problem
from toolkit.mirror.changes import compared
from toolkit.mirror.diff import MirrorChange, MirrorDiff
from toolkit.mirror.model import Attribute, MirrorRemoval, owned_name, removal_digest
from toolkit.storage import STAGING_PREFIX, FileKind, NotFound, StorageError
from toolkit.storage.snapshots import ChangeKind
from toolkit.threads import WorkerPool
from toolkit.transfer.spread_copy import COPY_THREADS
from toolkit.transfer.trees import Tree, TreeFile, below, read_tree

if TYPE_CHECKING:
    from toolkit.el import CanonicalPath
    from toolkit.entities.mirror_work import TreeMirror
    from toolkit.storage import FileSystem

_WORK = f"{STAGING_PREFIX}mirror-"
_TIME_STEP = timedelta(microseconds=2)
"""Setting a time rounds it, by less than the step of the store; on a disk by a microsecond."""


class MirrorSourceEmpty(StorageError, Failed):  # noqa: N818 - the family of toolkit.errors is named for what happened
    """A source that is not there, or has no file while its mirror has some."""

    code = "source_empty"
    text = "nothing was changed at the target; a mirror is never emptied for an empty source"


class MirrorKindChanged(StorageError, Failed):  # noqa: N818
    """A file of the target whose name is a directory of the source, or the reverse, in a mirror that keeps all."""

    code = "kind_changed"
    text = "nothing was changed; move it away, or set `on_source_delete` to `quarantine` or `delete`"


@dataclass(frozen=True, kw_only=True)
class TreePlan(MirrorDiff):
    """Plan of a run; paths are those below both directories.

    Attributes:
        root: the target.
        wanted: content of the source.
        present: content of the target.
        arriving: files and directories that are new at the target, or of another kind there.
        created: of these the ones whose directory is not new.
        replaced: files with other bytes.
        touched: files with the same bytes and another time.
        leaving: paths that go, each with all that is in it.
        gone_at_source: what becomes of them.
        has_directories: directories are mirrored as well.
    """

    root: CanonicalPath
    wanted: Tree
    present: Tree
    arriving: Tree
    created: tuple[str, ...]
    replaced: tuple[str, ...]
    touched: tuple[str, ...]
    leaving: tuple[str, ...]
    gone_at_source: GoneAtSource
    has_directories: bool

    def without(self, paths: Collection[str]) -> TreePlan:
        """Return the plan without files that cannot be read; only what is in the way of others leaves."""
        return replace(
            self,
            arriving={path: entry for path, entry in self.arriving.items() if path not in paths},
            created=tuple(path for path in self.created if path not in paths),
            replaced=tuple(path for path in self.replaced if path not in paths),
            leaving=tuple(path for path in self.leaving if path in self.wanted and path not in paths),
        )

    @cached_property
    def copied(self) -> Tree:
        """Files whose bytes are copied."""
        new = {path: entry for path, entry in self.arriving.items() if entry.kind is FileKind.FILE}
        return new | {path: self.wanted[path] for path in self.replaced}

    def inside(self, path: str) -> Tree:
        """Return the content of a directory of the target, by the names from there."""
        names = self._present_names
        part = names[bisect_left(names, f"{path}/") : bisect_left(names, f"{path}0")]  # 0 comes behind /
        return {name[len(path) + 1 :]: self.present[name] for name in part}

    @cached_property
    def _present_names(self) -> list[str]:
        return sorted(self.present)

    @property
    def is_nothing(self) -> bool:
        """True if the target is what it should be."""
        return not (self.arriving or self.replaced or self.touched or self.leaving)

    @property
    def bytes(self) -> int:
        """Bytes that are copied."""
        return sum(entry.size for entry in self.copied.values())

    @property
    def removal(self) -> MirrorRemoval:
        """Amount that leaves the target."""
        gone = _others(self.present, self.wanted) if self.leaving else {}
        size = sum(entry.size for entry in gone.values())
        digest = removal_digest((name, each.size, str(each.modified)) for name, each in sorted(gone.items()))
        return MirrorRemoval(paths=len(gone), size=size, kept=len(self.present) - len(gone), digest=digest)

    @property
    @override
    def facts(self) -> Mapping[str, object]:
        return {}

    @property
    @override
    def basis(self) -> str:
        return f"of {self.root}, {self.bytes:,} bytes to copy"

    @override
    def changes(self) -> Iterator[MirrorChange]:
        new = self.copied.keys() - set(self.replaced)
        yield from (MirrorChange("copy", path, bytes=self.wanted[path].size) for path in sorted(new))
        yield from (MirrorChange("replace", path, bytes=self.wanted[path].size) for path in self.replaced)
        yield from (MirrorChange("mkdir", path) for path in self.arriving if path not in self.copied)
        yield from (MirrorChange("attributes", path) for path in self.touched)
        action = "quarantine" if self.gone_at_source is GoneAtSource.QUARANTINE else "remove"
        yield from (MirrorChange(action, path) for path in self.leaving)


@dataclass(frozen=True, kw_only=True)
class TreePlanner:
    """Looks at both sides of a mirror; safe on stores that are open for reading only.

    Every call raises StorageError, and what `check` raises.

    Attributes:
        name: of the mirror.
        owner: config repo and environment of the mirror, since others may have one of its name; empty: not told.
        settings: its own.
        source: is mirrored.
        target: becomes what the source is.
        stores: the store that a path is on.
        check: asked from time to time.
        pool: looks at files.
    """

    name: str
    settings: TreeMirror
    source: CanonicalPath
    target: CanonicalPath
    stores: Callable[[CanonicalPath], FileSystem]
    check: Callable[[], None] = lambda: None
    pool: WorkerPool = field(default_factory=lambda: WorkerPool(COPY_THREADS, "feedctl-mirror"))
    owner: str = ""

    @property
    def work(self) -> CanonicalPath:
        """The working directory in the target, on a store with renames."""
        return self.target.child(f"{_WORK}{owned_name(self.owner, self.name)}")

    def is_unfinished(self) -> bool:
        """Return whether a run works on the target, or was stopped in the middle; on an object store nothing tells."""
        system = self.stores(self.target)
        return system.capabilities.atomic_rename and is_there(system, self.work)

    @property
    def preserve(self) -> frozenset[Attribute]:
        """Attributes that copies get; files always have their times where the store can set them."""
        return frozenset(each for each in Attribute if each.value in self.settings.preserve)

    @property
    def has_directories(self) -> bool:
        """True if both stores have directories, which are then mirrored as well."""
        return all(self.stores(root).capabilities.directories for root in (self.source, self.target))

    def problem(self) -> Problem | None:
        """Return why this mirror can never run; None: it can."""
        if self.source.meets(self.target):
            message = f"{self.source} and {self.target} lie in each other; give the mirror another target"
            return Problem(code="mirror_overlaps", message=message)
        rival = self._rival()
        if rival:
            message = f"another mirror works on {self.target}, or was stopped in the middle: {self.target.child(rival)}"
            advice = "run the other one, which finishes it, and give one of them another target"
            return Problem(code="mirror_rival", message=f"{message}; {advice}")
        is_raw = self.settings.tde_encryption_enabled
        return copy_problem(self.stores, (self.source, self.target), self.preserve, is_raw=is_raw)

    def _rival(self) -> str:
        """Return the working directory of another mirror in the target, of which no lease of another ledger knows."""
        try:
            names = (entry.name for entry in self.stores(self.target).list(self.target, start_from=_WORK))
            others = takewhile(lambda each: each.startswith(_WORK), names)
            return next((each for each in others if each != self.work.name), "")
        except NotFound:
            return ""

    def plan(self) -> TreePlan:
        """Return what a run changes at the target.

        Raises:
            MirrorSourceEmpty: the source is not there, or has no file while the target has some.
            MirrorKindChanged: a path has another kind at the source, and the mirror keeps all.
        """
        wanted, present = self._listed()
        keeps = self.settings.on_source_delete is GoneAtSource.KEEP
        changed = {path for path in wanted.keys() & present.keys() if wanted[path].kind is not present[path].kind}
        if changed and keeps:
            raise MirrorKindChanged(path=below(self.target, min(changed)), detail=f"{len(changed)} paths in all")
        changes = compared(present, wanted)
        paths = {kind: sorted(each.path for each in changes if each.kind is kind) for kind in ChangeKind}
        replaced, touched = self._modified(paths[ChangeKind.MODIFY], wanted, present)
        return TreePlan(
            root=self.target,
            wanted=wanted,
            present=present,
            arriving=_others(wanted, present),
            created=tuple(paths[ChangeKind.CREATE]),
            replaced=tuple(replaced),
            touched=tuple(touched),
            leaving=() if keeps else tuple(self._removable(paths[ChangeKind.DELETE], wanted)),
            gone_at_source=self.settings.on_source_delete,
            has_directories=self.has_directories,
        )

    def _listed(self) -> tuple[Tree, Tree]:
        """Return the content of both sides, which are listed at once."""
        found: dict[CanonicalPath, Tree | None] = {}

        def read(root: CanonicalPath) -> None:
            found[root] = read_tree(self.stores(root), root, self.check, directories=self.has_directories)

        self.pool.run_all(read, (self.source, self.target))
        wanted, present = found[self.source], found[self.target] or {}
        if wanted is None or (not has_file(wanted) and has_file(present)):
            detail = "it is not there" if wanted is None else f"it has no file, and {self.target} has"
            raise MirrorSourceEmpty(path=self.source, detail=detail)
        return wanted, present

    def _modified(self, both: list[str], wanted: Tree, present: Tree) -> tuple[list[str], list[str]]:
        """Return the files with other bytes, and those that only have another time, by size, time and checksum."""
        files = [path for path in both if wanted[path].kind is FileKind.FILE]
        if self.settings.overwrite:
            return files, []
        changed = [path for path in files if not self.is_same(wanted[path], present[path])]
        ends = [self.stores(root) for root in (self.source, self.target)]
        if self.settings.skip_checksum or not all(end.capabilities.checksums for end in ends):
            return changed, []
        same = set[str]()

        def compare(path: str) -> None:
            self.check()
            checksum = ends[0].checksum(below(self.source, path))
            if checksum is not None and checksum == ends[1].checksum(below(self.target, path)):
                same.add(path)

        self.pool.run_all(compare, [path for path in changed if wanted[path].size == present[path].size])
        touched = sorted(same) if ends[1].capabilities.times else []
        return [path for path in changed if path not in same], touched

    def is_same(self, wanted: TreeFile, present: TreeFile) -> bool:
        """Return whether a file at the target is a copy, by size and time.

        A copy has the time of its source; where the store sets its own, a copy is younger.
        """
        if wanted.size != present.size or wanted.modified is None or present.modified is None:
            return False
        source, target = (self.stores(root).capabilities for root in (self.source, self.target))
        if not target.times:
            return wanted.modified < present.modified
        return abs(wanted.modified - present.modified) < max(source.time_step, target.time_step, _TIME_STEP)

    def _removable(self, paths: list[str], wanted: Tree) -> list[str]:
        """Return paths without keys that are the beginning of others: to remove those would remove what is in them."""
        if self.has_directories or not paths:
            return paths
        above = {path[:index] for path in wanted for index, each in enumerate(path) if each == "/"}
        return [path for path in paths if path not in above]


def _others(tree: Tree, than: Tree) -> dict[str, TreeFile]:
    """Return the entries of a tree that another does not have, or not of that kind."""
    return {path: entry for path, entry in tree.items() if path not in than or than[path].kind is not entry.kind}


def has_file(tree: Tree) -> bool:
    """Return whether a tree has more than directories."""
    return any(entry.kind is FileKind.FILE for entry in tree.values())

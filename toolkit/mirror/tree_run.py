"""Run of a mirror on any store: copy beside the data, check, rename in, then take away what has gone (ADR 0105).

Where renames are atomic everything happens in a working directory of the target. After each step: what a kill leaves,
and what the next run does about it.

1. Files are copied to ``new``, with their attributes and last their times: the target as it was; what is whole in
   there is not copied again.
2. What is replaced is renamed to ``old``, and its copy to its place, in two renames: the next run gives back what is
   in ``old`` and not in its place.
3. New files and directories are renamed in: the next run sees that they are there.
4. What has gone at the source is renamed to ``out``, or into quarantine: as before. The directory is removed.

Where files go one by one, each object is written whole, and removed only when all copies have been made.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack, nullcontext, suppress
from dataclasses import dataclass, field
from functools import partial
from operator import eq
from typing import TYPE_CHECKING

from toolkit.actions.publication import FILES_AT_ONCE, remove, remove_wholly
from toolkit.availability import is_there
from toolkit.entities.vocabulary import GoneAtSource
from toolkit.mirror.attributes import keep_attributes
from toolkit.mirror.changes import is_own
from toolkit.mirror.model import MirrorTargetChanged, owned_name
from toolkit.storage import OWN_PREFIX, FileKind, NotFound, StorageError, SymlinkRefused, find_status
from toolkit.transfer.copier import SourceChanged
from toolkit.transfer.errors import FilesFailed
from toolkit.transfer.trees import TreeFile, below, file_copy, is_still, read_tree
from toolkit.transfer.uploads import end_left_uploads

if TYPE_CHECKING:
    from toolkit.el import CanonicalPath
    from toolkit.mirror.apply import CopyFiles
    from toolkit.mirror.tree_planner import TreePlan, TreePlanner
    from toolkit.storage import FileSystem
    from toolkit.transfer.plan import Copied
    from toolkit.transfer.trees import Tree

_PRIVATE = 0o700
"""Directories above a path may have kept others from it; where it is apart from them, this does."""


@dataclass(frozen=True, kw_only=True)
class TreeRun:
    """Makes the target of a mirror what its source is.

    Every call raises StorageError and StopRequested; the next run goes on where this one ended.

    Attributes:
        planner: has both sides; the target is under a lease of the run.
        copy: copies files.
        refuse: raises an error for a plan that must not be applied.
        run_name: names the directory of what goes into quarantine.
        completing: for calls of which the first alone is worse than all or none.
        before_publication: called before readers can see a change; raises StopRequested when none may begin.
        reused: files that a stopped run had copied, filled by `run`.
    """

    planner: TreePlanner
    copy: CopyFiles
    refuse: Callable[[TreePlan], None] = lambda _: None
    run_name: str = "none"
    completing: Callable[[], AbstractContextManager[None]] = nullcontext
    before_publication: Callable[[], None] = lambda: None
    reused: set[str] = field(default_factory=set, init=False)

    @property
    def system(self) -> FileSystem:
        """The store of the target."""
        return self.planner.stores(self.planner.target)

    @property
    def quarantine(self) -> CanonicalPath:
        """The place of what this run sets aside; no feed has the name of the directory."""
        folder = self.planner.target.child(OWN_PREFIX).child("quarantine")
        return folder.child(f"mirror.{owned_name(self.planner.owner, self.planner.name)}").child(self.run_name)

    def run(self) -> TreePlan:
        """Finish what a stopped run began, then mirror the source as it is now; return the plan.

        Raises:
            FilesFailed: not all files could be copied, so that nothing was removed; the others may be there.
            SourceChanged: a file was written to while it was copied.
            MirrorTargetChanged: others changed the target meanwhile.
        """
        root, has_renames = self.planner.target, self.system.capabilities.atomic_rename
        has_begun = self.planner.is_unfinished()
        if has_begun:
            self._require_no_link(self.planner.work)
            self._give_back()
        failed: dict[str, Copied] = {}
        plan = self.planner.plan()
        self.refuse(plan)
        self.system.mkdirs(root)
        if has_renames and not plan.is_nothing:
            self._make_private(self.planner.work)
            plan = self._arrange(plan, failed)
            has_begun = True
        if has_begun:
            remove_wholly(self.system, self.planner.work, root)
        if not has_renames:
            end_left_uploads(self.system, root)
            plan = self._copy_all(plan, plan.copied, root, failed)
            self._remove_objects(plan)
        if failed:
            raise FilesFailed(path=root, failed=list(failed.values()), names=sorted(failed))
        return plan

    def _give_back(self) -> None:
        """Rename the files back that a stopped run was replacing, and remove what it had taken away."""
        system, root, old = self.system, self.planner.target, self._part("old")
        for name in read_tree(system, old, self.planner.check, directories=False) or {}:
            place = self._place(name)
            if not is_there(system, place):
                system.mkdirs(place.parent)
                system.rename(below(old, name), place)
        remove_wholly(system, old, root)
        remove_wholly(system, self._part("out"), root)

    def _part(self, name: str) -> CanonicalPath:
        return self.planner.work.child(name)

    def _arrange(self, plan: TreePlan, failed: dict[str, Copied]) -> TreePlan:
        """Stage and rename; return the plan without files that cannot be read, if the mirror goes on without them."""
        new = self._part("new")
        plan = self._stage(plan, new, failed)
        self.before_publication()  # copying may have taken hours
        blocking = [path for path in plan.leaving if path in plan.wanted]
        self._take(plan, blocking)
        self._make({below(self._part("old"), path).parent for path in plan.replaced})
        self._all(lambda path: self._replace(plan, path), plan.replaced)
        self._make({self._place(path).parent for path in plan.created if not plan.has_directories})
        self._all(lambda path: self.system.rename(below(new, path), self._place(path)), plan.created)
        self._all(lambda path: self._touch(plan, path), plan.touched)
        self._take(plan, [path for path in plan.leaving if path not in plan.wanted])
        return plan

    def _stage(self, plan: TreePlan, new: CanonicalPath, failed: dict[str, Copied]) -> TreePlan:
        """Copy all files that come, but those that a stopped run has copied, and make directories with attributes."""
        directories = [path for path, entry in plan.arriving.items() if entry.kind is FileKind.DIRECTORY]
        above = {path[:index] for path in plan.copied for index, each in enumerate(path) if each == "/"}
        kinds = dict.fromkeys(above, FileKind.DIRECTORY) | {path: plan.wanted[path].kind for path in plan.copied}
        staged = self._staged(new, {**kinds, **dict.fromkeys(directories, FileKind.DIRECTORY)}, plan)
        self.reused.update(path for path, entry in plan.copied.items() if self._is_copy(staged.get(path), entry))
        plan = self._copy_all(plan, [path for path in plan.copied if path not in self.reused], new, failed)
        self._make({below(new, path) for path in directories})
        for path in sorted(directories, key=lambda each: (-each.count("/"), each)):
            self._keep(plan, new, path)
        return plan

    def _staged(self, new: CanonicalPath, kinds: Mapping[str, FileKind], plan: TreePlan) -> Tree:
        """Return what a stopped run has copied; what is none of this plan would be renamed in with what is new."""
        system, root = self.system, self.planner.target
        with suppress(NotFound):
            for name in [entry.name for entry in system.list_tree(new) if is_own(entry.name)]:
                remove(system, below(new, name), root)
        end_left_uploads(system, new)
        staged = read_tree(system, new, self.planner.check, directories=plan.has_directories) or {}
        if all(entry.kind is kinds.get(path) for path, entry in staged.items()):
            return staged
        remove_wholly(system, new, root)
        return {}

    def _is_copy(self, staged: TreeFile | None, wanted: TreeFile) -> bool:
        return staged is not None and staged.kind is wanted.kind and self.planner.is_same(wanted, staged)

    def _copy_all(
        self, plan: TreePlan, paths: Iterable[str], into: CanonicalPath, failed: dict[str, Copied]
    ) -> TreePlan:
        """Copy files; return the plan without those that cannot be read and are ignored, which `failed` gets."""
        source, left = self.planner.source, sorted(paths)
        for begin in range(0, len(left), FILES_AT_ONCE):
            if into == self.planner.target:
                self.before_publication()
            part = left[begin : begin + FILES_AT_ONCE]
            files = [file_copy(source, into, path, plan.wanted[path]) for path in part]
            errors = {each.target.relative_to(into): each for each in self.copy(source, into, files) if each.code}
            ignores = self.planner.settings.ignore_errors and all(each.is_of_source for each in errors.values())
            if errors and not ignores:
                raise FilesFailed(path=self.planner.target, failed=list(errors.values()), names=sorted(errors))
            failed.update(errors)
            self._all(partial(self._keep, plan, into), [path for path in part if path not in errors])
        return plan.without(failed) if failed else plan

    def _keep(self, plan: TreePlan, into: CanonicalPath, path: str) -> None:
        """Give a copy the attributes of its source, if that still is what was planned.

        Raises:
            SourceChanged: it is not. The copy may be a mixture, which on a store with its own times would pass for new.
        """
        origin, place, wanted = below(self.planner.source, path), below(into, path), plan.wanted[path]
        source, can = self.planner.stores(origin), self.system.capabilities
        if wanted.kind is FileKind.DIRECTORY and not self.planner.preserve:
            return
        found = source.status(origin)
        if wanted.kind is FileKind.FILE and (found.size, found.modified) != (wanted.size, wanted.modified):
            if not can.times:
                remove(self.system, place, self.planner.target)
            raise SourceChanged(path=origin, detail="its size or time is not that of the listing any more")
        if can.times:
            keep_attributes(source, found, self.system, place, self.planner.preserve)

    def _place(self, path: str) -> CanonicalPath:
        """Return the place of a path at the target; raises `SymlinkRefused` when a link would lead it elsewhere."""
        place = below(self.planner.target, path)
        self._require_no_link(place.parent)
        return place

    def _touch(self, plan: TreePlan, path: str) -> None:
        self._require_as_listed(plan, path)
        self._keep(plan, self.planner.target, path)

    def _replace(self, plan: TreePlan, path: str) -> None:
        """Rename a file away and its copy in; a failure of the second gives the first back."""
        place, old = self._place(path), below(self._part("old"), path)
        self._require_as_listed(plan, path)
        with self.completing(), ExitStack() as unless_replaced:
            with suppress(NotFound):
                self.system.rename(place, old)
                unless_replaced.callback(self._rename_quietly, old, place)
            self.system.rename(below(self._part("new"), path), place)
            unless_replaced.pop_all()

    def _rename_quietly(self, origin: CanonicalPath, place: CanonicalPath) -> None:
        with suppress(StorageError):
            self.system.rename(origin, place)

    def _require_as_listed(self, plan: TreePlan, path: str) -> None:
        """Look whether what goes is what the plan knows; raises `MirrorTargetChanged` and `SymlinkRefused`."""
        place, entry = self._place(path), plan.present[path]
        if entry.kind is FileKind.FILE:
            with suppress(NotFound):
                found = self.system.status(place)
                if TreeFile(found.kind, found.size, found.modified) != entry:
                    raise MirrorTargetChanged(path=place)
            return
        if not is_still(self.system, place, self.planner.check, plan.inside(path), directories=True, is_same=eq):
            raise MirrorTargetChanged(path=place)

    def _take(self, plan: TreePlan, paths: Sequence[str]) -> None:
        """Rename what has gone at the source out of the way, and the directories away that are empty then."""
        is_quarantine = plan.gone_at_source is GoneAtSource.QUARANTINE
        into, root = self.quarantine if is_quarantine else self._part("out"), self.planner.target
        if paths:
            self._make_private(into)
        self._make({below(into, path).parent for path in paths})

        def take(path: str) -> None:
            self._require_as_listed(plan, path)
            with suppress(NotFound):
                self.system.rename(below(root, path), below(into, path))

        self._all(take, paths)
        for path in paths if not plan.has_directories else ():
            above = below(root, path).parent
            while above != root and self.system.remove_if_empty(above, below=root):
                above = above.parent

    def _remove_objects(self, plan: TreePlan) -> None:
        """Remove the objects that have gone at the source; what goes into quarantine is copied there before."""
        root = self.planner.target
        if plan.leaving:
            self.before_publication()
        if plan.gone_at_source is GoneAtSource.QUARANTINE:
            files = [file_copy(root, self.quarantine, path, plan.present[path]) for path in plan.leaving]
            failed = [each for each in self.copy(root, root, files) if each.code]
            if failed:
                raise FilesFailed(path=root, failed=failed)
        for deleted in self.system.delete_all([below(root, path) for path in plan.leaving], below=root):
            if deleted.error is not None and not isinstance(deleted.error, NotFound):
                raise deleted.error

    def _require_no_link(self, directory: CanonicalPath) -> None:
        """Look whether a directory is where its name says; raises `SymlinkRefused`."""
        while directory.is_local and directory.is_within(self.planner.target):
            found = find_status(self.system, directory)
            if found is not None and found.kind is FileKind.SYMLINK:
                raise SymlinkRefused(path=directory)
            directory = directory.parent

    def _make_private(self, directory: CanonicalPath) -> None:
        self._require_no_link(directory)
        self.system.mkdirs(directory)
        if self.system.capabilities.permissions:
            self.system.set_permission(directory, _PRIVATE)

    def _make(self, directories: Iterable[CanonicalPath]) -> None:
        self._all(self.system.mkdirs, sorted(directories))

    def _all(self, work: Callable[..., None], things: Sequence[object]) -> None:
        self.planner.pool.run_all(work, things, at_once=self.system.capabilities.parallel)

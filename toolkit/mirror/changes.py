"""Order in which the changes between two trees are made to a copy of the older one (ADR 0103); pure.

A difference names paths of the older tree, and its renames may be swaps, chains or ways into each other. So all that
goes or moves leaves the tree first, the deepest paths first: each is still where the older tree has it. Then all that
moves or is new comes in, the shallowest paths first: the directory of each is there before it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field
from enum import IntEnum
from typing import NamedTuple

from toolkit.storage import OWN_PREFIX, FileKind
from toolkit.storage.snapshots import ChangeKind, TreeChange
from toolkit.transfer.trees import Tree, TreeFile


class MirrorStep(IntEnum):
    """Step of an operation; all of one are done before the next begins, but `MAKE`, `MOVE` and `PLACE` are one."""

    COPY = 1
    """The bytes of a file are copied to its slot among the new ones."""
    OUT = 2
    """A path of the older tree is renamed to its slot among those that went out."""
    MAKE = 3
    """A directory is made."""
    MOVE = 4
    """A path that went out at `origin` is renamed to its path in the newer tree."""
    PLACE = 5
    """A copied file is renamed to its path."""
    ATTRIBUTES = 6
    """A path of the newer tree gets its attributes: files, then directories, the deepest first."""


class Operation(NamedTuple):
    """One change of the copy.

    Attributes:
        step: what is done.
        path: of the newer tree; of `OUT` of the older one.
        origin: of `MOVE`, and of a file that is replaced, the path in the older tree.
        entry: what is known of a file that is copied, or of what gets attributes.
    """

    step: MirrorStep
    path: str
    origin: str = ""
    entry: TreeFile | None = None


@dataclass(frozen=True, kw_only=True)
class Translation:
    """Difference with the paths of the newer tree; names of feedctl's own are left out, and so is the root.

    Attributes:
        renamed: paths of the newer tree, by those of the older one.
        created: of the newer tree.
        deleted: of the older tree.
        modified: paths of the newer tree, by those of the older one.
    """

    renamed: Mapping[str, str] = field(default_factory=dict)
    created: tuple[str, ...] = ()
    deleted: tuple[str, ...] = ()
    modified: Mapping[str, str] = field(default_factory=dict)

    @classmethod
    def of(cls, changes: Iterable[TreeChange]) -> Translation:
        """Translate the entries of a difference."""
        found = list(changes)
        all_renamed = {each.path: each.target for each in found if each.kind is ChangeKind.RENAME}

        def newer(path: str) -> str:
            rest = ""
            while path and path not in all_renamed:
                path, _, name = path.rpartition("/")
                rest = f"{name}/{rest}" if rest else name
            return _joined(all_renamed.get(path, ""), rest)

        created, deleted, modified = list[str](), list[str](), dict[str, str]()
        renamed = dict[str, str]()
        for kind, path, target in found:
            if kind is ChangeKind.RENAME and not (is_own(path) or is_own(target)):
                renamed[path] = target
            elif kind is ChangeKind.RENAME:  # it comes out of a directory of feedctl's own, or goes into one
                (created if is_own(path) else deleted).append(target if is_own(path) else path)
            elif kind is ChangeKind.CREATE:
                above, _, name = path.rpartition("/")
                created.append(_joined(newer(above), name))
            elif kind is ChangeKind.DELETE:
                deleted.append(path)
            elif path:
                modified[path] = newer(path)
        return cls(
            renamed=renamed,
            created=tuple(each for each in created if not is_own(each)),
            deleted=tuple(each for each in deleted if not is_own(each)),
            modified={old: new for old, new in modified.items() if not (is_own(old) or is_own(new))},
        )

    def operations(
        self,
        entries: Mapping[str, TreeFile],
        below_created: Callable[[str], Tree],
        unchanged: AbstractSet[str],
    ) -> tuple[Operation, ...]:
        """Return the operations that make a copy of the older tree one of the newer, in their order.

        Args:
            entries: of the newer tree, at least each that was created or modified.
            below_created: what is below a directory of the newer tree, by the names from there.
            unchanged: modified files, by their paths in the newer tree, whose bytes are the same.
        """
        new = self._new(entries, below_created)
        out, attributes, replaced = {*self.renamed, *self.deleted}, dict[str, TreeFile](), dict[str, str]()
        for old, path in self.modified.items():
            entry = entries[path]
            if entry.kind is FileKind.DIRECTORY or path in unchanged:
                attributes[path] = entry
            else:
                new[path], replaced[path] = entry, old
                out.add(old)
                if _above(path):  # an append does not change the directory, and the renames do
                    attributes[_above(path)] = TreeFile(FileKind.DIRECTORY)
        arriving = [
            Operation(MirrorStep.MOVE, target, origin)
            for origin, target in self.renamed.items()
            if target not in replaced
        ]
        for path, entry in new.items():
            is_directory = entry.kind is FileKind.DIRECTORY
            step = MirrorStep.MAKE if is_directory else MirrorStep.PLACE
            arriving.append(Operation(step, path, replaced.get(path, ""), entry))
            if is_directory:
                attributes[path] = entry
        copies = [
            Operation(MirrorStep.COPY, path, entry=each) for path, each in new.items() if each.kind is FileKind.FILE
        ]
        return (
            *sorted(copies, key=lambda each: each.path),
            *(Operation(MirrorStep.OUT, path) for path in sorted(out, key=lambda each: (-_depth(each), each))),
            *sorted(arriving, key=lambda each: (_depth(each.path), each.path)),
            *(
                Operation(MirrorStep.ATTRIBUTES, path, entry=attributes[path])
                for path in sorted(attributes, key=lambda each: _attributes_order(each, attributes[each]))
            ),
        )

    def _new(self, entries: Mapping[str, TreeFile], below_created: Callable[[str], Tree]) -> dict[str, TreeFile]:
        """Return all files and directories that are new, by their paths in the newer tree."""
        new = {path: entries[path] for path in self.created}
        arrived = set(self.renamed.values())
        for path in self.created:
            if entries[path].kind is FileKind.DIRECTORY:
                found = {f"{path}/{name}": entry for name, entry in below_created(path).items()}
                # What moved into the new directory is not copied, and what is new in there is named for itself.
                new |= {each: entry for each, entry in found.items() if not _within(each, arrived, below=path)}
        return new


def compared(older: Tree, newer: Tree) -> tuple[TreeChange, ...]:
    """Return the changes between two listings, none of which is a rename; each common entry is a modified one."""
    changes = list[TreeChange]()
    replaced = {path for path in older.keys() & newer.keys() if older[path].kind is not newer[path].kind}
    gone, come = (older.keys() - newer.keys()) | replaced, (newer.keys() - older.keys()) | replaced
    changes += [TreeChange(ChangeKind.DELETE, path) for path in gone if not _within(_above(path), gone)]
    changes += [TreeChange(ChangeKind.CREATE, path) for path in come if not _within(_above(path), come)]
    changes += [TreeChange(ChangeKind.MODIFY, path) for path in older.keys() & newer.keys() - replaced]
    return tuple(changes)


def unexplained(found: Iterable[TreeChange], planned: Iterable[Operation]) -> list[str]:
    """Return the paths of a copy that changed otherwise than by some of the operations of a plan.

    Args:
        found: difference of the copy from the older tree.
        planned: operations of the plan.
    """
    planned = tuple(planned)
    gone = {each.path for each in planned if each.step is MirrorStep.OUT}
    come = {each.path for each in planned if each.step in {MirrorStep.MAKE, MirrorStep.MOVE, MirrorStep.PLACE}}
    changed = come | {each.path for each in planned if each.step is MirrorStep.ATTRIBUTES}
    there = Translation.of(found)
    strange = {path for path in (*there.deleted, *there.renamed) if path not in gone}
    strange |= {path for path in (*there.created, *there.renamed.values()) if path not in come}
    return sorted(strange | {path for path in there.modified.values() if path not in changed})


def is_own(path: str) -> bool:
    """Return whether a path has a name of feedctl's own, which is never data."""
    return any(name.startswith(OWN_PREFIX) for name in path.split("/"))


def _attributes_order(path: str, entry: TreeFile) -> tuple[bool, int, str]:
    return (entry.kind is FileKind.DIRECTORY, -_depth(path), path)


def _within(path: str, paths: AbstractSet[str], *, below: str = "") -> bool:
    """Return whether a path is one of the others, or below one; only those below a directory count."""
    while path != below and path not in paths:
        path = _above(path)
    return path != below


def _joined(above: str, name: str) -> str:
    return f"{above}/{name}" if above and name else above or name


def _above(path: str) -> str:
    return path.rpartition("/")[0]


def _depth(path: str) -> int:
    return path.count("/")

"""What is in an instance on either side, and what of it has to be copied."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, NamedTuple

from toolkit.el import CanonicalPath, is_name
from toolkit.replication.targets import CopyRules, Tree, TreeFile
from toolkit.storage import OWN_PREFIX, BadName, FileKind, NotFound, SymlinkRefused, Unsupported

if TYPE_CHECKING:
    from toolkit.el.segment import Segment
    from toolkit.storage import FileSystem


_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def read_tree(system: FileSystem, root: CanonicalPath, check: Callable[[], None], *, directories: bool) -> Tree | None:
    """All that is below a directory but feedctl's own names; None: nothing is there.

    Args:
        system: the store.
        root: the directory.
        directories: with them; not, when one side of a copy has none, so that both sides can be compared.
        check: asked from time to time; what it raises ends the reading.

    Raises:
        BadName: a key goes through ``..``, or has a name that no path has: it could lead anywhere at the target.
        SymlinkRefused: a symbolic link is in it: what it points to may be anything.
        Unsupported: a pipe, a socket or a device is in it.
        StorageError: it cannot be listed as a whole.
    """
    found: dict[str, TreeFile] = {}
    try:
        for entry in system.list_tree(root):
            check()
            name, parts = entry.name, entry.name.split("/")
            if any(part.startswith(OWN_PREFIX) for part in parts):
                continue
            if not all(map(is_name, parts)):
                raise BadName(
                    path=root, detail=f"{name!r} in it is not the way to a file below it, and cannot be copied"
                )
            if entry.kind is FileKind.SYMLINK:
                raise SymlinkRefused(path=below(root, name))
            if entry.kind is FileKind.OTHER:
                raise Unsupported(
                    path=below(root, name), detail="it is neither a file nor a directory, and cannot be copied"
                )
            is_file = entry.kind is FileKind.FILE
            if not (is_file or directories):
                continue
            found[name] = TreeFile(entry.kind, entry.size, entry.modified)
    except NotFound:
        return None
    if not found and not system.capabilities.directories:
        return None  # where keys are all that there is, nothing in it is nothing at all
    return found


def below(root: CanonicalPath, names: str) -> CanonicalPath:
    """The path of names below a directory, which `read_tree` has checked; itself for none."""
    return CanonicalPath(root.scheme, root.authority, f"{root.path.removesuffix('/')}/{names}") if names else root


def selected(system: FileSystem, root: CanonicalPath, parts: Sequence[Segment]) -> Iterator[CanonicalPath]:
    """The directories below an instance that a partition expression selects; without one the instance itself."""
    if not parts:
        yield root
        return
    try:
        names = [entry.name for entry in system.list(root) if entry.kind is FileKind.DIRECTORY and is_name(entry.name)]
    except NotFound:
        return
    for name in names:
        if parts[0].match(name) is not None:
            yield from selected(system, root.child(name), parts[1:])


class Difference(NamedTuple):
    """What tells two sides of a unit apart.

    Attributes:
        copied: names that the target has not, or not like that.
        extra: names that only the target has.
    """

    copied: frozenset[str]
    extra: frozenset[str]


def difference(wanted: Tree, present: Tree | None, rules: CopyRules, step: timedelta) -> Difference:
    """Compare by kind, size and time: a file of the same size that is not older than the source's is the same.

    Args:
        wanted: at the source.
        present: at the target.
        rules: with ``overwrite`` nothing is the same.
        step: to which the target's store keeps times.
    """
    if present is None or rules.overwrite:
        return Difference(frozenset(wanted), frozenset(present or ()) - frozenset(wanted))
    copied = frozenset(name for name, entry in wanted.items() if not _is_same(entry, present.get(name), step))
    return Difference(copied, frozenset(present) - frozenset(wanted))


def _is_same(wanted: TreeFile, present: TreeFile | None, step: timedelta) -> bool:
    if present is None or (wanted.kind, wanted.size) != (present.kind, present.size):
        return False
    if wanted.modified is None or present.modified is None:
        return True
    return _steps(present.modified, step) >= _steps(wanted.modified, step)


def _steps(moment: datetime, step: timedelta) -> int:
    return (moment - _EPOCH) // step


def same_content(left: Tree | None, right: Tree | None) -> bool:
    """Whether two listings have the same names, kinds and sizes; times are the business of each side."""
    if left is None or right is None:
        return left is right
    return {name: entry[:2] for name, entry in left.items()} == {name: entry[:2] for name, entry in right.items()}

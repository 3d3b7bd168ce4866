"""Tree below a directory that is copied: its files by relative name, read from either store."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from datetime import datetime
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

from toolkit.el import CanonicalPath, is_name
from toolkit.storage import OWN_PREFIX, BadName, FileKind, NotFound, SymlinkRefused, Unsupported
from toolkit.transfer.plan import FileCopy

if TYPE_CHECKING:
    from toolkit.storage import FileSystem


class TreeFile(NamedTuple):
    """A file or directory below an instance, as one of its sides lists it.

    Attributes:
        size: bytes; of a directory 0.
        modified: the last change, UTC; of a directory None: copying into it changes it.
    """

    kind: FileKind
    size: int = 0
    modified: datetime | None = None


Tree: TypeAlias = Mapping[str, TreeFile]
"""Entries below a directory, by the names down to them."""


def read_tree(system: FileSystem, root: CanonicalPath, check: Callable[[], None], *, directories: bool) -> Tree | None:
    """Return everything below a directory but feedctl's own names; None: nothing is there.

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
        found.update(_entries(system, root, check, directories=directories))
    except NotFound as error:
        if error.path.is_within(root):  # something in it went away meanwhile, which says nothing of the rest
            raise
        return None
    if not found and not system.capabilities.directories:
        return None  # where keys are all that there is, nothing in it is nothing at all
    return found


def is_still(
    system: FileSystem,
    root: CanonicalPath,
    check: Callable[[], None],
    expected: Tree,
    *,
    directories: bool,
    is_same: Callable[[TreeFile, TreeFile], bool],
) -> bool:
    """Return whether a directory has what is expected below it, and nothing else; read without a lease.

    Args:
        system: the store.
        root: the directory.
        check: asked from time to time; what it raises ends the reading.
        expected: names with what is known of them.
        directories: as for `read_tree`, as are the errors.
        is_same: compares what is there with what is expected.
    """
    left = len(expected)
    try:
        for name, entry in _entries(system, root, check, directories=directories):
            known = expected.get(name)
            if known is None or not is_same(entry, known):
                return False
            left -= 1
    except NotFound:
        return not expected and not system.capabilities.directories
    return not left


def _entries(
    system: FileSystem, root: CanonicalPath, check: Callable[[], None], *, directories: bool
) -> Iterator[tuple[str, TreeFile]]:
    for entry in system.list_tree(root):
        check()
        name, parts = entry.name, entry.name.split("/")
        if any(part.startswith(OWN_PREFIX) for part in parts):
            continue
        if not all(map(is_name, parts)):
            raise BadName(path=root, detail=f"{name!r} in it is not the way to a file below it, and cannot be copied")
        if entry.kind is FileKind.SYMLINK:
            raise SymlinkRefused(path=below(root, name))
        if entry.kind is FileKind.OTHER:
            raise Unsupported(
                path=below(root, name), detail="it is neither a file nor a directory, and cannot be copied"
            )
        if directories or entry.kind is FileKind.FILE:
            yield name, TreeFile(entry.kind, entry.size, entry.modified)


def below(root: CanonicalPath, names: str) -> CanonicalPath:
    """The path of names below a directory, which `read_tree` has checked; itself for none."""
    return CanonicalPath(root.scheme, root.authority, f"{root.path.removesuffix('/')}/{names}") if names else root


def same_content(left: Tree | None, right: Tree | None) -> bool:
    """Return whether two listings have the same names, kinds and sizes; times are not compared."""
    if left is None or right is None:
        return left is right
    return left.keys() == right.keys() and all(same_bytes(entry, right[name]) for name, entry in left.items())


def same_bytes(left: TreeFile, right: TreeFile) -> bool:
    """Return whether both are of one kind and size."""
    return left[:2] == right[:2]


def file_copy(root: CanonicalPath, into: CanonicalPath, name: str, entry: TreeFile) -> FileCopy:
    """The copying of a name of a tree.

    Args:
        root: of the tree.
        into: gets the name.
        name: in the tree.
        entry: what is known of it.
    """
    return FileCopy(below(root, name), below(into, name), entry.size, entry.kind)

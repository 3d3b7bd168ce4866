"""Existence of paths and names in a directory, found by few calls."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from toolkit.storage import Entry, FileKind, NotFound, SymlinkRefused, Unsupported, WrongKind, find_status

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping

    from toolkit.el import CanonicalPath
    from toolkit.storage import FileSystem


def is_there(system: FileSystem, path: CanonicalPath) -> bool:
    """Return whether something is at a path."""
    return find_status(system, path) is not None


def content_of(system: FileSystem, path: CanonicalPath, flag: CanonicalPath | None) -> tuple[int, int]:
    """Return how many files are at and below an instance, and how many bytes are in them, without its flag.

    Raises:
        NotFound: nothing is there.
    """
    found, of_flag = system.content_summary(path), None if flag is None else find_status(system, flag)
    return (found.files, found.size) if of_flag is None else (found.files - 1, found.size - of_flag.size)


def is_ready(system: FileSystem, path: CanonicalPath, flag: str) -> bool:
    """Return whether an instance may be read: by its flag, or its directory or file when the feed has no flag.

    Args:
        system: the store.
        path: of the instance.
        flag: the name of the feed's availability flag; empty: it has none.

    Raises:
        SymlinkRefused, Unsupported: see `refuse_odd`.
        StorageError: the store refuses, or does not answer.
    """
    if flag:
        return is_there(system, path.child(flag))
    found = find_status(system, path)
    if found is not None:
        refuse_odd(path, found.kind)
    return found is not None


def refuse_odd(path: CanonicalPath, kind: FileKind) -> None:
    """Refuse to take for an instance what is neither a file nor a directory.

    Raises:
        SymlinkRefused: a symbolic link: what it points to may be anything.
        Unsupported: a pipe, a socket or a device.
    """
    if kind is FileKind.SYMLINK:
        raise SymlinkRefused(path=path)
    if kind is FileKind.OTHER:
        raise Unsupported(path=path, detail="it is neither a file nor a directory, and no instance")


@dataclass(kw_only=True)
class Presence:
    """Knows which entries are there. What is seen to be absent is remembered, with all that would be below it.

    Attributes:
        system: the store.
        base: the directory above which nothing is looked at.
    """

    system: FileSystem
    base: CanonicalPath
    _absent: set[CanonicalPath] = field(default_factory=set, init=False)
    _present: set[CanonicalPath] = field(default_factory=set, init=False)

    def among(self, parent: CanonicalPath, names: Collection[str]) -> Mapping[str, Entry]:
        """Return the entries of a directory that have one of the names: by one listing, or one call for one name.

        Raises:
            StorageError: the store refuses, or does not answer.
        """
        if self.is_absent(parent):
            return {}
        try:
            if len(names) > 1:
                return self._listed(parent, names)
        except (NotFound, WrongKind):
            found = {}
        else:
            statuses = {name: find_status(self.system, parent.child(name)) for name in names}
            found = {
                name: Entry(name, each.kind, each.size, each.modified)
                for name, each in statuses.items()
                if each is not None
            }
        if not found:
            self.note_missing(parent)
        return found

    def is_absent(self, path: CanonicalPath) -> bool:
        """Return whether the path is known to be absent, since it or a directory above it was seen to be absent."""
        return any(each in self._absent for each in self._up_from(path))

    def note_missing(self, parent: CanonicalPath) -> None:
        """Find out why something in a directory is missing: how far up nothing is there at all."""
        topmost: CanonicalPath | None = None
        for each in self._up_from(parent):
            if each in self._present or is_there(self.system, each):
                self._present.add(each)
                break
            topmost = each
        if topmost is not None:
            self._absent.add(topmost)

    def _up_from(self, path: CanonicalPath) -> Iterator[CanonicalPath]:
        """A directory and those above it, up to the base."""
        while path.is_within(self.base):
            yield path
            path = path.parent
        if path == self.base:
            yield path

    def _listed(self, parent: CanonicalPath, names: Collection[str]) -> dict[str, Entry]:
        """Return the entries by one listing; of an object and a directory of one name the directory, which is later."""
        last = max(names)
        found: dict[str, Entry] = {}
        for entry in self.system.list(parent, start_from=min(names)):
            if entry.name in names:
                found[entry.name] = entry
            elif entry.name > last and not entry.name.startswith(last):
                break  # keys like `a-b/` come between `a` and `a/`
        self._present.add(parent)
        return found

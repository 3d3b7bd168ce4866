"""Empty places in real stores, for the contract of the `FileSystem` port."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

from toolkit.el import CanonicalPath
from toolkit.storage import Entry, FileKind, FileSystem, NotFound, StorageSpec

ACL = ("user::rwx", "user:daemon:r-x", "group::r-x", "mask::r-x", "other::---")
"""An access control list as a store tells it."""


@dataclass(frozen=True, kw_only=True)
class Store:
    """An empty directory, or an unused beginning of keys, in a real store.

    Attributes:
        system: the adapter itself, without the waiting that `open_file_system` puts around it.
        base: the empty place.
        spec: opens the same store again.
        opened: opens an adapter by a spec.
        fill: makes something of each path, quickly.
        streams: the first entry of a long listing comes before the last is read.
        lacks: characters that no name of the store can have.
        lacks_last: characters that no name of the store can end with.
        many: so many entries are more than a page of a listing, and are made in some seconds.
        server_lacks: characters that only the test bed's server of it cannot have in a name.
    """

    system: FileSystem
    base: CanonicalPath
    spec: StorageSpec
    opened: Callable[[StorageSpec, Callable[[], None]], FileSystem]
    fill: Callable[[Iterable[str]], None]
    streams: bool
    lacks: str = ""
    lacks_last: str = ""
    many: int = 1050
    server_lacks: str = ""

    def can_have(self, name: str) -> bool:
        """Return whether the store can have a name."""
        return not (set(name) & set(self.lacks) or name[-1] in self.lacks_last)

    def put(self, name: str, content: bytes = b"") -> CanonicalPath:
        """A file, and the directories above it; an empty one, since HDFS takes 0.4 s to close one that has bytes."""
        path = self.at(name)
        self.system.mkdirs(path.parent)
        self.system.write(path, [content])
        return path

    def put_all(self, names: Iterable[str]) -> None:
        """Empty directories where the store has them, else empty files, without the adapter: there are many."""
        self.fill([self.at(name).path for name in names])

    def at(self, name: str) -> CanonicalPath:
        """The path of a name below the base."""
        path = self.base
        for part in name.split("/"):
            path = path.child(part)
        return path

    def names(self, name: str = "") -> list[str]:
        """Return what the listing of a directory below the base says."""
        return [entry.name for entry in self._entries(self.at(name) if name else self.base)]

    def kinds(self, name: str = "") -> list[tuple[str, FileKind]]:
        """The same with what they are."""
        return [(entry.name, entry.kind) for entry in self._entries(self.at(name) if name else self.base)]

    def content(self, name: str) -> bytes:
        """The bytes of a file below the base."""
        with self.system.read(self.at(name)) as stream:
            return stream.read()

    def tree(self) -> dict[str, tuple[FileKind, int, object, object, object]]:
        """Return all that is below the base, with everything about it that a change would show in."""
        return dict(self._below(self.base))

    def _below(self, place: CanonicalPath) -> Iterator[tuple[str, tuple[FileKind, int, object, object, object]]]:
        for entry in self._entries(place):
            path = place.child(entry.name)
            found = self.system.status(path)
            yield path.path, (found.kind, found.size, found.modified, found.owner, found.permission)
            if entry.kind is FileKind.DIRECTORY:
                yield from self._below(path)

    def _entries(self, place: CanonicalPath) -> list[Entry]:
        """Return what a listing says; nothing, where a directory ends with the last that is in it."""
        try:
            return list(self.system.list(place))
        except NotFound:
            if self.system.capabilities.directories:
                raise
            return []

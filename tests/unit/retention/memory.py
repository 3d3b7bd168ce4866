"""A file system in memory that remembers what was asked of it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from io import BytesIO
from typing import BinaryIO

from toolkit.el import CanonicalPath
from toolkit.storage import (
    ASIDE_PREFIX,
    AlreadyExists,
    BasicFileSystem,
    Capabilities,
    ContentSummary,
    Deleted,
    Entry,
    FileKind,
    FileStatus,
    Look,
    NotFound,
    OutsideBase,
    PermissionDenied,
    Unsupported,
    WrongKind,
    aside_name,
)
from toolkit.storage.base import tree_below
from toolkit.storage.deletion import delete_each

_THEN = datetime(2026, 1, 1, tzinfo=UTC)


@dataclass
class MemoryFileSystem(BasicFileSystem):
    """Directories are the parents of files, and those that were made; paths are plain texts inside."""

    files: dict[str, bytes] = field(default_factory=dict)
    directories: set[str] = field(default_factory=set)
    links: set[str] = field(default_factory=set)
    locked: set[str] = field(default_factory=set)
    listed: list[str] = field(default_factory=list)
    effects: list[str] = field(default_factory=list)
    before_delete: Callable[[str], None] = lambda _: None

    capabilities = Capabilities(
        atomic_rename=True,
        atomic_delete=False,
        directories=True,
        permissions=False,
        times=False,
        conditional_put=True,
        parallel=1,
    )

    def put(self, *paths: str) -> None:
        for path in paths:
            self.files[path] = b"x"
            self._make_parents(path)

    def make(self, *paths: str) -> None:
        for path in paths:
            self.directories.add(path)
            self._make_parents(path)

    def _make_parents(self, path: str) -> None:
        while "/" in path[1:]:
            path = path.rpartition("/")[0]
            self.directories.add(path)

    def tree(self) -> list[str]:
        return sorted([*self.files, *self.directories, *self.links])

    def _kind(self, path: str) -> FileKind | None:
        if path in self.links:
            return FileKind.SYMLINK
        if path in self.files:
            return FileKind.FILE
        return FileKind.DIRECTORY if path in self.directories else None

    def status(self, path: CanonicalPath) -> FileStatus:
        kind = self._kind(path.path)
        if kind is None:
            raise NotFound(path=path)
        return FileStatus(path=path, kind=kind, size=len(self.files.get(path.path, b"")), modified=_THEN)

    def list(self, path: CanonicalPath, *, start_from: str = "") -> Iterator[Entry]:
        kind = self.status(path).kind
        if kind is not FileKind.DIRECTORY:
            raise WrongKind(path=path)
        if path.path in self.locked:
            raise PermissionDenied(path=path)
        self.listed.append(path.path)
        prefix = path.path + "/"
        inside = (each for each in self.tree() if each.startswith(prefix))
        names = {each[len(prefix) :] for each in inside}
        for name in sorted(name for name in names if "/" not in name and name >= start_from):
            found = self._kind(prefix + name)
            assert found is not None
            is_file = found is FileKind.FILE
            yield Entry(name, found, len(self.files[prefix + name]) if is_file else 0, _THEN if is_file else None)

    def list_tree(self, path: CanonicalPath) -> Iterator[Entry]:
        return tree_below(path, self.list)

    def read(self, path: CanonicalPath, *, offset: int = 0, length: int | None = None) -> BinaryIO:
        if path.path in self.locked:
            raise PermissionDenied(path=path)
        return BytesIO(self.files[path.path][offset:][:length])

    def write(self, path: CanonicalPath, chunks: Iterable[bytes], *, overwrite: bool = True) -> None:
        if not overwrite and self._kind(path.path) is not None:
            raise AlreadyExists(path=path)
        self.files[path.path] = b"".join(chunks)

    def mkdirs(self, path: CanonicalPath) -> None:
        self.make(path.path)

    def rename(self, source: CanonicalPath, target: CanonicalPath) -> None:
        raise NotImplementedError

    def set_permission(self, path: CanonicalPath, permission: int) -> None:
        del permission
        raise Unsupported(path=path)

    def set_owner(self, path: CanonicalPath, *, owner: str | None = None, group: str | None = None) -> None:
        del owner, group
        raise Unsupported(path=path)

    def set_modified(self, path: CanonicalPath, modified: datetime) -> None:
        del modified
        raise Unsupported(path=path)

    def delete_all(self, paths: Iterable[CanonicalPath], *, below: CanonicalPath, first: str = "") -> Iterator[Deleted]:
        del first
        return delete_each(self, paths, below)

    def delete(self, path: CanonicalPath, *, below: CanonicalPath, look: Look | None = None) -> None:
        if look is not None:
            look.let_through()
        if not path.is_within(below):
            raise OutsideBase(path=path, below=below)
        self.status(path)
        self.before_delete(path.path)
        if path.path in self.locked:
            raise PermissionDenied(path=path)
        self.effects.append(f"delete {path.path}")
        self._drop(path.path)
        if not path.name.startswith(ASIDE_PREFIX):
            self._drop(f"{path.parent.path}/{aside_name(path.name)}")

    def _drop(self, path: str) -> None:
        gone = {each for each in self.tree() if each == path or each.startswith(path + "/")}
        self.directories -= gone
        self.links -= gone
        for each in gone & self.files.keys():
            del self.files[each]

    def remove_if_empty(self, path: CanonicalPath, *, below: CanonicalPath) -> bool:
        if not path.is_within(below):
            raise OutsideBase(path=path, below=below)
        self.effects.append(f"remove_if_empty {path.path}")
        if path.path in self.locked:
            raise PermissionDenied(path=path)
        if path.path not in self.directories or any(each.startswith(path.path + "/") for each in self.tree()):
            return False
        self.directories.remove(path.path)
        return True

    def content_summary(self, path: CanonicalPath) -> ContentSummary:
        if self._kind(path.path) is None:
            raise NotFound(path=path)
        sizes = [len(text) for key, text in self.files.items() if f"{key}/".startswith(f"{path.path}/")]
        return ContentSummary(files=len(sizes), directories=0, size=sum(sizes))


class AtomicMemory(MemoryFileSystem):
    """Removes a directory in one step, as HDFS does."""

    capabilities = replace(MemoryFileSystem.capabilities, atomic_delete=True)

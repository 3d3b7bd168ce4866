"""An HDFS in memory with snapshots: a file system and a snapshot store that answer as a NameNode does."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Iterator, Sequence
from copy import deepcopy
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from io import BytesIO
from typing import BinaryIO

from toolkit.el import CanonicalPath
from toolkit.storage import (
    AlreadyExists,
    BasicFileSystem,
    Capabilities,
    Checksum,
    ContentSummary,
    Entry,
    FileKind,
    FileStatus,
    Look,
    NotFound,
    NotSnapshottable,
    OutsideBase,
    PermissionDenied,
    StorageFailure,
    WrongKind,
)
from toolkit.storage.snapshots import ChangeKind, DirectorySnapshot, SnapshotStore, TreeChange

SNAPSHOTS = ".snapshot"
_BEGIN = datetime(2026, 1, 1, tzinfo=UTC)


@dataclass
class Node:
    """An inode; `content` is None of a directory."""

    number: int
    content: bytes | None
    modified: datetime
    owner: str = "hdfs"
    group: str = "supergroup"
    permission: int = 0o755
    children: dict[str, Node] = field(default_factory=dict)

    @property
    def kind(self) -> FileKind:
        return FileKind.DIRECTORY if self.content is None else FileKind.FILE

    @property
    def attributes(self) -> tuple[object, ...]:
        return (self.content, self.modified, self.owner, self.group, self.permission)

    @property
    def state(self) -> tuple[object, ...]:
        """Return the values that HDFS compares for a difference; the time is none of them."""
        return (self.content, self.owner, self.group, self.permission)


@dataclass
class _Taken:
    root: Node
    number: int
    created: datetime


@dataclass
class MemoryHdfs(BasicFileSystem):
    """A NameNode with its files.

    `before_effect` is called before each change and may raise; `after_effect` likewise once it happened.
    """

    before_effect: Callable[[str], None] = lambda _: None
    after_effect: Callable[[str], None] = lambda _: None
    root: Node = field(default_factory=lambda: Node(1, None, _BEGIN))
    taken: dict[str, dict[str, _Taken]] = field(default_factory=dict)
    read_bytes: int = 0
    numbers: Iterator[int] = field(default_factory=lambda: itertools.count(2))
    _ticks: Iterator[int] = field(default_factory=lambda: itertools.count(1))

    capabilities = Capabilities(
        atomic_rename=True,
        atomic_delete=True,
        directories=True,
        permissions=True,
        times=True,
        conditional_put=True,
        parallel=1,
        time_step=timedelta(milliseconds=1),
        checksums=True,
    )

    def now(self) -> datetime:
        return _BEGIN + timedelta(seconds=next(self._ticks))

    def find(self, path: CanonicalPath) -> Node:
        names = [name for name in path.path.split("/") if name]
        node, above = self.root, ""
        if SNAPSHOTS in names:
            at = names.index(SNAPSHOTS)
            above = "/" + "/".join(names[:at])
            taken = self.taken.get(above, {}).get(names[at + 1])
            if taken is None:
                raise NotFound(path=path)
            node, names = taken.root, names[at + 2 :]
        for name in names:
            if name not in node.children:
                raise NotFound(path=path)
            node = node.children[name]
        return node

    def _parent(self, path: CanonicalPath) -> Node:
        if f"/{SNAPSHOTS}/" in path.path:
            raise PermissionDenied(path=path, detail="a snapshot cannot be changed")
        parent = self.find(path.parent)
        if parent.content is not None:
            raise WrongKind(path=path)
        return parent

    def status(self, path: CanonicalPath) -> FileStatus:
        node = self.find(path)
        return FileStatus(
            path=path,
            kind=node.kind,
            size=len(node.content or b""),
            modified=node.modified,
            owner=node.owner,
            group=node.group,
            permission=node.permission,
        )

    def list(self, path: CanonicalPath, *, start_from: str = "") -> Iterator[Entry]:
        node = self.find(path)
        if node.content is not None:
            raise WrongKind(path=path)
        for name, child in sorted(node.children.items()):
            if name >= start_from:
                is_file = child.content is not None
                yield Entry(name, child.kind, len(child.content or b""), child.modified if is_file else None)

    def read(self, path: CanonicalPath, *, offset: int = 0, length: int | None = None) -> BinaryIO:
        content = self.find(path).content
        if content is None:
            raise WrongKind(path=path)
        self.read_bytes += len(content)
        return BytesIO(content[offset:][:length])

    def checksum(self, path: CanonicalPath) -> Checksum | None:
        return Checksum("bytes", self.find(path).content or b"")

    def write(self, path: CanonicalPath, chunks: Iterable[bytes], *, overwrite: bool = True) -> None:
        parent, content = self._parent(path), b"".join(chunks)
        self.before_effect(f"write {path.path}")
        if path.name in parent.children and not overwrite:
            raise AlreadyExists(path=path)
        now = self.now()
        parent.children[path.name] = Node(next(self.numbers), content, now)
        parent.modified = now
        self.after_effect("write")

    def append(self, path: CanonicalPath, more: bytes) -> None:
        node = self.find(path)
        assert node.content is not None
        node.content, node.modified = node.content + more, self.now()

    def mkdirs(self, path: CanonicalPath) -> None:
        self.before_effect(f"mkdirs {path.path}")
        node = self.root
        for name in filter(None, path.path.split("/")):
            if name not in node.children:
                now = self.now()
                node.children[name] = Node(next(self.numbers), None, now)
                node.modified = now
            node = node.children[name]
            if node.content is not None:
                raise AlreadyExists(path=path)
        self.after_effect("mkdirs")

    def rename(self, source: CanonicalPath, target: CanonicalPath) -> None:
        origin, into = self._parent(source), self._parent(target)
        if target.name in into.children:
            raise AlreadyExists(path=target)
        if source.name not in origin.children:
            raise NotFound(path=source)
        if target.is_within(source):
            raise StorageFailure(path=source)
        self.before_effect(f"rename {source.path} {target.path}")
        into.children[target.name] = origin.children.pop(source.name)
        into.modified = origin.modified = self.now()
        self.after_effect("rename")

    def delete(self, path: CanonicalPath, *, below: CanonicalPath, look: Look | None = None) -> None:
        del look
        if not path.is_within(below):
            raise OutsideBase(path=path, below=below)
        parent = self._parent(path)
        if path.name not in parent.children:
            raise NotFound(path=path)
        self.before_effect(f"delete {path.path}")
        del parent.children[path.name]
        parent.modified = self.now()
        self.after_effect("delete")

    def remove_if_empty(self, path: CanonicalPath, *, below: CanonicalPath) -> bool:
        raise NotImplementedError

    def content_summary(self, path: CanonicalPath) -> ContentSummary:
        node = self.find(path)
        if node.content is not None:
            return ContentSummary(files=1, directories=0, size=len(node.content))
        parts = [self.content_summary(path.child(name)) for name in node.children]
        return ContentSummary(
            files=sum(each.files for each in parts),
            directories=1 + sum(each.directories for each in parts),
            size=sum(each.size for each in parts),
        )

    def set_permission(self, path: CanonicalPath, permission: int) -> None:
        self.before_effect(f"set_permission {path.path}")
        self.find(path).permission = permission
        self.after_effect("set_permission")

    def set_owner(self, path: CanonicalPath, *, owner: str | None = None, group: str | None = None) -> None:
        self.before_effect(f"set_owner {path.path}")
        node = self.find(path)
        node.owner, node.group = owner or node.owner, group or node.group
        self.after_effect("set_owner")

    def set_modified(self, path: CanonicalPath, modified: datetime) -> None:
        self.before_effect(f"set_modified {path.path}")
        self.find(path).modified = modified
        self.after_effect("set_modified")

    def tree(self, path: CanonicalPath) -> dict[str, tuple[object, ...]]:
        """Return the attributes of all below a directory but feedctl's own names; of directories without times."""
        found: dict[str, tuple[object, ...]] = {}

        def walk(node: Node, above: str) -> None:
            for name, child in node.children.items():
                if not name.startswith(".feedctl"):
                    found[above + name] = child.state if child.content is None else child.attributes
                    walk(child, f"{above}{name}/")

        walk(self.find(path), "")
        return found


@dataclass
class MemorySnapshots(SnapshotStore):
    """The snapshots of a `MemoryHdfs`."""

    hdfs: MemoryHdfs

    def allow(self, directory: CanonicalPath) -> None:
        self.hdfs.status(directory)
        self.hdfs.taken.setdefault(directory.path, {})

    def _of(self, directory: CanonicalPath) -> dict[str, _Taken]:
        self.hdfs.status(directory)
        if directory.path not in self.hdfs.taken:
            raise NotSnapshottable(path=directory)
        return self.hdfs.taken[directory.path]

    def list(self, directory: CanonicalPath) -> Sequence[DirectorySnapshot]:
        found = (DirectorySnapshot(name, each.number, each.created) for name, each in self._of(directory).items())
        return sorted(found, key=lambda each: each.number)

    def create(self, directory: CanonicalPath, name: str) -> None:
        taken = self._of(directory)
        if name in taken:
            raise AlreadyExists(path=directory)
        self.hdfs.before_effect(f"create {name}")
        now = self.hdfs.now()
        node = self.hdfs.find(directory)
        taken[name] = _Taken(deepcopy(node), next(self.hdfs.numbers), now)
        self.hdfs.after_effect("create")

    def delete(self, directory: CanonicalPath, name: str) -> None:
        taken = self._of(directory)
        if name not in taken:
            raise NotFound(path=directory)
        self.hdfs.before_effect(f"delete {name}")
        del taken[name]
        self.hdfs.after_effect("delete")

    def diff(self, directory: CanonicalPath, older: str, newer: str = "") -> Iterator[TreeChange]:
        taken = self._of(directory)
        for name in filter(None, (older, newer)):
            if name not in taken:
                raise NotFound(path=directory, detail=name)
        before = taken[older].root
        after = taken[newer].root if newer else self.hdfs.find(directory)
        later = {node.number: (path, node) for path, node in _walk(after)}
        yield from _changes(before, later)


def _walk(node: Node, path: str = "") -> Iterator[tuple[str, Node]]:
    yield path, node
    for name, child in node.children.items():
        yield from _walk(child, f"{path}/{name}" if path else name)


def _kept(node: Node, later: dict[int, tuple[str, Node]], path: str = "") -> Iterator[tuple[str, Node]]:
    """Yield what is still there; into a directory that is gone nobody looks, though something may have moved out."""
    yield path, node
    for name, child in node.children.items():
        if child.number in later:
            yield from _kept(child, later, f"{path}/{name}" if path else name)


def _changes(before: Node, later: dict[int, tuple[str, Node]]) -> Iterator[TreeChange]:
    kept = list(_kept(before, later))
    known = {node.number for _, node in kept}
    for path, old in kept:
        new = later[old.number][1]
        was = {name: child.number for name, child in old.children.items()}
        now = {name: child.number for name, child in new.children.items()}
        if old.state != new.state or was != now:
            yield TreeChange(ChangeKind.MODIFY, path)
        for name, number in now.items():
            if was.get(name) != number and number not in known:
                yield TreeChange(ChangeKind.CREATE, f"{path}/{name}" if path else name)
        for name, number in was.items():
            if now.get(name) != number:
                at = f"{path}/{name}" if path else name
                is_kept = number in known
                yield (
                    TreeChange(ChangeKind.RENAME, at, later[number][0])
                    if is_kept
                    else TreeChange(ChangeKind.DELETE, at)
                )

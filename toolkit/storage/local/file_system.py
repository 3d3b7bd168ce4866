"""Locks of paths: one thread at a time works on a path."""

from __future__ import annotations

import os
import stat
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING

from typing_extensions import override

from toolkit.storage.base import moment, tree_below
from toolkit.storage.deletion import ASIDE_PREFIX, aside_name, refuse_outside
from toolkit.storage.errors import AlreadyExists, NotEmpty, NotFound, PermissionDenied, StorageFailure, WrongKind
from toolkit.storage.local.bases import Bases
from toolkit.storage.local.system import first_opener, group_name, group_number, owner_name, translated, user_number
from toolkit.storage.local.tree import (
    TreeRemoval,
    opened_inside,
    opened_listing,
    opened_parent,
    refuse_symlink,
)
from toolkit.storage.local.writing import LocalWriting, sync_directory
from toolkit.storage.port import Capabilities, ContentSummary, Entry, FileKind, FileStatus
from toolkit.storage.streams import ranged

if TYPE_CHECKING:
    from collections.abc import Callable
    from datetime import datetime
    from typing import BinaryIO

    from toolkit.el import CanonicalPath
    from toolkit.storage.local.system import OpenInside
    from toolkit.storage.look import Look


class BusyPlaces:
    """Knows which places are being worked on."""

    def __init__(self) -> None:
        self._busy: set[CanonicalPath] = set()
        self._changed = threading.Condition()

    @contextmanager
    def at(self, place: CanonicalPath) -> Iterator[None]:
        """Wait until no other thread works on the place; then it is this thread's."""
        with self._changed:
            while place in self._busy:
                self._changed.wait()
            self._busy.add(place)
        try:
            yield
        finally:
            with self._changed:
                self._busy.remove(place)
                self._changed.notify_all()


_USERS = "user."
_READ = os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC  # a pipe, which is no data, must not be waited for


def no_check() -> None:
    """Nothing stands against an effect."""


class LocalFileSystem(LocalWriting):
    """A `FileSystem` on the operating system's own files.

    Args:
        before_effect: called before every single change of the disk, also between the files of one large tree;
            what it raises stops the call there (DESIGN section 1, no new effect after SIGTERM).
        bases: of the feeds; what is at or below them is looked at by descriptors from there. What bounds a removal is
            held to the same rules, at the latest from the first one on.
        open_inside: how a directory is opened on which nothing is mounted; None: the best way that this machine has.
    """

    capabilities = Capabilities(
        atomic_rename=True,
        atomic_delete=False,
        directories=True,
        permissions=True,
        times=True,
        conditional_put=True,
        parallel=4,
        xattrs=True,
        multipart=True,
    )

    def __init__(
        self,
        before_effect: Callable[[], None] = no_check,
        *,
        bases: Bases | None = None,
        open_inside: OpenInside | None = None,
    ) -> None:
        super().__init__(before_effect)
        self._bases = bases or Bases()
        self._open_inside = open_inside or first_opener()
        self._busy = BusyPlaces()

    @override
    def status(self, path: CanonicalPath) -> FileStatus:
        try:
            with self._parent_of(path) as (parent, name), translated(path):
                found = os.stat(name, dir_fd=parent, follow_symlinks=False)
        except WrongKind as error:  # a parent is a file
            raise NotFound(path=path) from error
        kind = _kind_of_mode(found.st_mode)
        return FileStatus(
            path=path,
            kind=kind,
            size=found.st_size if kind is FileKind.FILE else 0,
            modified=moment(found.st_mtime),
            owner=owner_name(found.st_uid),
            group=group_name(found.st_gid),
            permission=stat.S_IMODE(found.st_mode),
        )

    @override
    def list(self, path: CanonicalPath, *, start_from: str = "") -> Iterator[Entry]:
        """Hold all names of the directory, since the disk gives them unsorted."""
        with self._listable(path) as directory, translated(path), os.scandir(directory) as found:
            entries = [known for entry in found if entry.name >= start_from and (known := _entry(entry))]
        entries.sort()
        yield from entries

    @contextmanager
    def _parent_of(self, path: CanonicalPath) -> Iterator[tuple[int | None, str]]:
        """Yield the open directory above a path and the name in it, below a known base; else the path itself."""
        base = self._bases.above(path)
        if base is None or base == path:
            yield None, path.path
            return
        with opened_parent(path, base, self._bases) as parent:
            yield parent, path.name

    @contextmanager
    def _listable(self, path: CanonicalPath) -> Iterator[int]:
        """A descriptor of a directory, for listing."""
        base = self._bases.above(path)
        if base == path:
            with self._bases.opened(path) as found, opened_listing(".", path, found) as directory:
                yield directory
        elif base is not None:
            with (
                opened_parent(path, base, self._bases) as parent,
                opened_listing(path.name, path, parent) as directory,
            ):
                yield directory
        else:
            with opened_listing(path.path, path, None) as directory:
                yield directory

    @override
    def read(self, path: CanonicalPath, *, offset: int = 0, length: int | None = None) -> BinaryIO:
        """Follow no symbolic link below a known base, and read only regular files."""
        with self._parent_of(path) as (parent, name), translated(path):
            flags = _READ if parent is None else _READ | os.O_NOFOLLOW
            opened = os.open(name, flags, dir_fd=parent)
            if not stat.S_ISREG(os.fstat(opened).st_mode):
                os.close(opened)
                raise WrongKind(path=path, detail="no regular file")
            stream = os.fdopen(opened, "rb")
            stream.seek(offset)
        return ranged(stream, length)

    @override
    def xattrs(self, path: CanonicalPath) -> dict[str, bytes]:
        with translated(path):
            names = os.listxattr(path.path, follow_symlinks=False)
            return {
                name: os.getxattr(path.path, name, follow_symlinks=False) for name in names if name.startswith(_USERS)
            }

    @override
    def set_xattr(self, path: CanonicalPath, name: str, value: bytes) -> None:
        """A file system may have no attributes, or no room for so many."""
        if not name.startswith(_USERS):
            raise PermissionDenied(path=path, detail=f"the name {name!r} does not begin with {_USERS}")
        self._before_effect()
        with translated(path):
            os.setxattr(path.path, name, value, follow_symlinks=False)

    @override
    def mkdirs(self, path: CanonicalPath) -> None:
        self._before_effect()
        with translated(path):
            Path(path.path).mkdir(parents=True, exist_ok=True)

    @override
    def rename(self, source: CanonicalPath, target: CanonicalPath) -> None:
        """Sync the directories before this returns, since the renamed entry may be the last copy."""
        if os.path.lexists(target.path):
            raise AlreadyExists(path=target)
        self._before_effect()
        with translated(source):
            Path(source.path).rename(target.path)
            sync_directory(Path(target.path).parent)

    @override
    def set_permission(self, path: CanonicalPath, permission: int) -> None:
        self._before_effect()
        with translated(path):
            Path(path.path).chmod(permission)

    @override
    def set_owner(self, path: CanonicalPath, *, owner: str | None = None, group: str | None = None) -> None:
        self._before_effect()
        with translated(path):
            try:
                os.chown(path.path, user_number(owner), group_number(group), follow_symlinks=False)
            except KeyError as error:
                raise StorageFailure(path=path, detail=f"this machine knows no {error.args[0]}") from error

    @override
    def set_modified(self, path: CanonicalPath, modified: datetime) -> None:
        self._before_effect()
        with translated(path):
            os.utime(path.path, (modified.timestamp(), modified.timestamp()), follow_symlinks=False)

    @override
    def delete(self, path: CanonicalPath, *, below: CanonicalPath, look: Look | None = None) -> None:
        """Remove an instance and the aside of its name one after the other: both are one place."""
        refuse_outside(path, below)
        if look is not None:
            look.let_through()
        is_aside = path.name.startswith(ASIDE_PREFIX)
        aside = path if is_aside else path.parent.child(aside_name(path.name))
        with self._busy.at(aside), opened_parent(path, below, self._bases) as parent:
            with translated(path):
                found = refuse_symlink(parent, path.name, path)
                if not stat.S_ISDIR(found.st_mode):
                    self._before_effect()
                    os.unlink(path.name, dir_fd=parent)
                    return
            # It is opened before anything happens to it: what must not go, such as a mount, keeps its name as well.
            with opened_inside(parent, path, self._open_inside) as root:
                if not is_aside:
                    self._rename_aside(parent, path, aside)
                self._removal(parent, aside).of(root)

    def _rename_aside(self, parent: int, path: CanonicalPath, aside: CanonicalPath) -> None:
        # What an earlier, killed removal of this name left would stand in the way of the rename.
        with suppress(FileNotFoundError, NotFound):
            if stat.S_ISDIR(os.stat(aside.name, dir_fd=parent, follow_symlinks=False).st_mode):
                self._removal(parent, aside).run()
            else:
                self._before_effect()
                os.unlink(aside.name, dir_fd=parent)
        with translated(path):
            self._before_effect()
            os.rename(path.name, aside.name, src_dir_fd=parent, dst_dir_fd=parent)

    def _removal(self, parent: int, place: CanonicalPath) -> TreeRemoval:
        return TreeRemoval(parent, place, self._before_effect, self._open_inside)

    @override
    def remove_if_empty(self, path: CanonicalPath, *, below: CanonicalPath) -> bool:
        try:
            with opened_parent(path, below, self._bases) as parent, translated(path):
                refuse_symlink(parent, path.name, path)
                self._before_effect()
                os.rmdir(path.name, dir_fd=parent)
        except (NotEmpty, AlreadyExists, NotFound):
            return False
        return True

    @override
    def content_summary(self, path: CanonicalPath) -> ContentSummary:
        found = self.status(path)
        if found.kind is not FileKind.DIRECTORY:
            return ContentSummary(files=int(found.kind is FileKind.FILE), directories=0, size=found.size)
        files, directories, size = 0, 1, 0
        for entry in tree_below(path, self._listed_if_there):
            files += entry.kind is FileKind.FILE
            directories += entry.kind is FileKind.DIRECTORY
            size += entry.size
        return ContentSummary(files=files, directories=directories, size=size)

    def _listed_if_there(self, path: CanonicalPath) -> Iterator[Entry]:
        with suppress(NotFound, WrongKind):
            yield from self.list(path)


def _kind_of_mode(mode: int) -> FileKind:
    kinds = {stat.S_IFREG: FileKind.FILE, stat.S_IFDIR: FileKind.DIRECTORY, stat.S_IFLNK: FileKind.SYMLINK}
    return kinds.get(stat.S_IFMT(mode), FileKind.OTHER)


def _entry(entry: os.DirEntry[str]) -> Entry | None:
    """Return the entry of a file; None: it went away meanwhile."""
    if entry.is_file(follow_symlinks=False):
        with suppress(FileNotFoundError):
            found = entry.stat(follow_symlinks=False)
            return Entry(entry.name, FileKind.FILE, found.st_size, moment(found.st_mtime))
        return None
    if entry.is_symlink():
        return Entry(entry.name, FileKind.SYMLINK)
    return Entry(entry.name, FileKind.DIRECTORY if entry.is_dir(follow_symlinks=False) else FileKind.OTHER)

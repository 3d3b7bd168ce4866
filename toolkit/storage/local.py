"""The adapter for `file:` storage: a local disk, or a network file system that the machine has mounted."""

from __future__ import annotations

import errno
import os
import secrets
import stat
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

from toolkit.storage.aside import ASIDE_PREFIX, aside_name
from toolkit.storage.bounds import refuse_outside
from toolkit.storage.each import delete_each
from toolkit.storage.errors import AlreadyExists, NotEmpty, NotFound, StorageFailure
from toolkit.storage.local_errors import translated
from toolkit.storage.local_owners import group_name, group_number, owner_name, user_number
from toolkit.storage.local_tree import opened_parent, refuse_symlink, remove_entry
from toolkit.storage.port import OWN_PREFIX, Capabilities, ContentSummary, Deleted, Entry, FileKind, FileStatus
from toolkit.storage.turns import Turns

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from typing import BinaryIO

    from toolkit.el import CanonicalPath


_NEW = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC
_OWNER_ONLY = 0o600


def no_check() -> None:
    """Nothing stands against an effect."""


class LocalFileSystem:
    """A `FileSystem` on the operating system's own files.

    Args:
        before_effect: called before every single change of the disk, also between the files of one large tree;
            what it raises stops the call there (DESIGN section 1, no new effect after SIGTERM).
    """

    capabilities = Capabilities(
        atomic_rename=True,
        atomic_delete=False,
        directories=True,
        permissions=True,
        times=True,
        conditional_put=True,
        parallel=4,
    )

    def __init__(self, before_effect: Callable[[], None] = no_check) -> None:
        self._before_effect = before_effect
        self._turns = Turns()

    def status(self, path: CanonicalPath) -> FileStatus:
        """See `FileSystem.status`."""
        with translated(path):
            try:
                found = os.lstat(path.path)
            except NotADirectoryError as error:
                raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT)) from error
        kind = _kind_of_mode(found.st_mode)
        return FileStatus(
            path=path,
            kind=kind,
            size=found.st_size if kind is FileKind.FILE else 0,
            modified=datetime.fromtimestamp(found.st_mtime, UTC),
            owner=owner_name(found.st_uid),
            group=group_name(found.st_gid),
            permission=stat.S_IMODE(found.st_mode),
        )

    def list(self, path: CanonicalPath, *, start_from: str = "") -> Iterator[Entry]:
        """See `FileSystem.list`; the disk gives names unsorted, so all names of the directory are held."""
        with translated(path), os.scandir(path.path) as found:
            entries = [Entry(entry.name, _kind_of_entry(entry)) for entry in found if entry.name >= start_from]
        entries.sort()
        yield from entries

    def read(self, path: CanonicalPath) -> BinaryIO:
        """See `FileSystem.read`."""
        with translated(path):
            return Path(path.path).open("rb")

    def write(self, path: CanonicalPath, chunks: Iterable[bytes], *, overwrite: bool = True) -> None:
        """See `FileSystem.write`; a new file is for its owner alone, one that is replaced keeps its permission."""
        target = Path(path.path)
        # The name must not depend on the target's, which may be as long as the disk allows.
        temporary = target.parent / f"{OWN_PREFIX}-writing-{secrets.token_hex(8)}"
        self._before_effect()
        with translated(path):
            try:
                with os.fdopen(os.open(temporary, _NEW, _OWNER_ONLY), "wb") as stream:
                    if overwrite:
                        _keep_permission(stream.fileno(), target)
                    stream.writelines(chunks)
                    stream.flush()
                    os.fsync(stream.fileno())
                if overwrite:
                    temporary.replace(target)
                else:
                    os.link(temporary, target)
            finally:
                with suppress(FileNotFoundError, NotADirectoryError):
                    temporary.unlink()

    def mkdirs(self, path: CanonicalPath) -> None:
        """See `FileSystem.mkdirs`."""
        self._before_effect()
        with translated(path):
            Path(path.path).mkdir(parents=True, exist_ok=True)

    def rename(self, source: CanonicalPath, target: CanonicalPath) -> None:
        """See `FileSystem.rename`."""
        if os.path.lexists(target.path):
            raise AlreadyExists(path=target)
        self._before_effect()
        with translated(source):
            Path(source.path).rename(target.path)

    def set_permission(self, path: CanonicalPath, permission: int) -> None:
        """See `FileSystem.set_permission`."""
        self._before_effect()
        with translated(path):
            Path(path.path).chmod(permission)

    def set_owner(self, path: CanonicalPath, *, owner: str | None = None, group: str | None = None) -> None:
        """See `FileSystem.set_owner`."""
        self._before_effect()
        with translated(path):
            try:
                os.chown(path.path, user_number(owner), group_number(group), follow_symlinks=False)
            except KeyError as error:
                raise StorageFailure(path=path, detail=f"this machine knows no {error.args[0]}") from error

    def set_modified(self, path: CanonicalPath, modified: datetime) -> None:
        """See `FileSystem.set_modified`."""
        self._before_effect()
        with translated(path):
            os.utime(path.path, (modified.timestamp(), modified.timestamp()), follow_symlinks=False)

    def delete_all(self, paths: Iterable[CanonicalPath], *, below: CanonicalPath, first: str = "") -> Iterator[Deleted]:
        """See `FileSystem.delete_all`; a directory goes to its readers at once, so `first` means nothing here."""
        del first
        return delete_each(self, paths, below)

    def delete(self, path: CanonicalPath, *, below: CanonicalPath) -> None:
        """See `FileSystem.delete`; an instance and the aside of its name, which is one place, go after each other."""
        refuse_outside(path, below)
        is_aside = path.name.startswith(ASIDE_PREFIX)
        aside = path if is_aside else path.parent.child(aside_name(path.name))
        with self._turns.at(aside), opened_parent(path, below) as parent:
            with translated(path):
                found = refuse_symlink(parent, path.name, path)
            if is_aside or not stat.S_ISDIR(found.st_mode):
                remove_entry(parent, path.name, path, self._before_effect)
                return
            self._rename_aside(parent, path, aside)
            remove_entry(parent, aside.name, aside, self._before_effect)

    def _rename_aside(self, parent: int, path: CanonicalPath, aside: CanonicalPath) -> None:
        # What an earlier, killed removal of this name left would stand in the way of the rename.
        with suppress(NotFound):
            remove_entry(parent, aside.name, aside, self._before_effect)
        with translated(path):
            self._before_effect()
            os.rename(path.name, aside.name, src_dir_fd=parent, dst_dir_fd=parent)

    def remove_if_empty(self, path: CanonicalPath, *, below: CanonicalPath) -> bool:
        """See `FileSystem.remove_if_empty`."""
        try:
            with opened_parent(path, below) as parent, translated(path):
                refuse_symlink(parent, path.name, path)
                self._before_effect()
                os.rmdir(path.name, dir_fd=parent)
        except (NotEmpty, AlreadyExists, NotFound):
            return False
        return True

    def content_summary(self, path: CanonicalPath) -> ContentSummary:
        """See `FileSystem.content_summary`."""
        waiting, files, directories, size = [path], 0, 0, 0
        while waiting:
            found = self.status(waiting.pop())
            if found.kind is FileKind.FILE:
                files, size = files + 1, size + found.size
            elif found.kind is FileKind.DIRECTORY:
                directories += 1
                waiting.extend(found.path.child(entry.name) for entry in self.list(found.path))
        return ContentSummary(files=files, directories=directories, size=size)


def _kind_of_mode(mode: int) -> FileKind:
    kinds = {stat.S_IFREG: FileKind.FILE, stat.S_IFDIR: FileKind.DIRECTORY, stat.S_IFLNK: FileKind.SYMLINK}
    return kinds.get(stat.S_IFMT(mode), FileKind.OTHER)


def _kind_of_entry(entry: os.DirEntry[str]) -> FileKind:
    if entry.is_symlink():
        return FileKind.SYMLINK
    if entry.is_dir(follow_symlinks=False):
        return FileKind.DIRECTORY
    return FileKind.FILE if entry.is_file(follow_symlinks=False) else FileKind.OTHER


def _keep_permission(descriptor: int, replaced: Path) -> None:
    """A link is replaced itself, and has no permission of its own."""
    with suppress(FileNotFoundError, NotADirectoryError):
        found = os.lstat(replaced)
        if stat.S_ISREG(found.st_mode):
            os.fchmod(descriptor, stat.S_IMODE(found.st_mode) & 0o777)

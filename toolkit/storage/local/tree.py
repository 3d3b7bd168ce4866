"""Trees below a base on a local disk, by directory descriptors: no symbolic link leads out, no path is too long."""

from __future__ import annotations

import errno
import os
import stat
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, NamedTuple

from toolkit.storage.base import refuse_too_deep
from toolkit.storage.deletion import names_below
from toolkit.storage.errors import MountRefused, NotFound, StorageFailure, SymlinkRefused
from toolkit.storage.local.bases import THROUGH, identity
from toolkit.storage.local.system import NO_FOLLOW, translated

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from toolkit.el import CanonicalPath
    from toolkit.storage.local.bases import Bases, Identity
    from toolkit.storage.local.system import OpenInside


@contextmanager
def opened_parent(path: CanonicalPath, below: CanonicalPath, bases: Bases) -> Iterator[int]:
    """A descriptor of the directory above `path`, reached from `below` without following a symbolic link.

    Raises:
        OutsideBase: `path` is not strictly below `below`.
        SymlinkRefused: a link is on the way.
        BaseChanged: as for `Bases.open`, and so with `BaseBehindLink`.
    """
    parts = names_below(path, below)
    current = bases.open(below)
    try:
        for depth, part in enumerate(parts[:-1]):
            current = _step(current, part, path, len(parts) - 1 - depth)
        yield current
    finally:
        os.close(current)


@contextmanager
def opened_listing(name: str, place: CanonicalPath, parent: int | None) -> Iterator[int]:
    """A descriptor for listing the directory `name` in an open one, and no link; without one, the path `name`."""
    flags = os.O_RDONLY | (os.O_DIRECTORY | os.O_CLOEXEC if parent is None else NO_FOLLOW)
    with translated(place):
        directory = os.open(name, flags, dir_fd=parent)
    try:
        yield directory
    finally:
        os.close(directory)


def _ancestor(path: CanonicalPath, levels: int) -> CanonicalPath:
    for _ in range(levels):
        path = path.parent
    return path


def _step(current: int, part: str, path: CanonicalPath, levels: int) -> int:
    """Into the directory that is so many levels above the path."""
    try:
        following = os.open(part, THROUGH | NO_FOLLOW, dir_fd=current)
    except OSError:
        place = _ancestor(path, levels)
        with translated(place):
            refuse_symlink(current, part, place)
            raise
    os.close(current)
    return following


def refuse_symlink(parent: int, name: str, place: CanonicalPath) -> os.stat_result:
    """Return the status of `name` in the open directory `parent`; refuse a symbolic link."""
    found = os.stat(name, dir_fd=parent, follow_symlinks=False)
    if stat.S_ISLNK(found.st_mode):
        raise SymlinkRefused(path=place)
    return found


def open_directory(parent: int, place: CanonicalPath, open_inside: OpenInside) -> int:
    """A descriptor of the directory at `place` in the open directory `parent`.

    Raises:
        MountRefused: something is mounted on it.
    """
    with translated(place):
        try:
            return open_inside(parent, place.name)
        except OSError as error:
            if error.errno == errno.EXDEV:
                raise MountRefused(path=place) from error
            raise


@contextmanager
def opened_inside(parent: int, place: CanonicalPath, open_inside: OpenInside) -> Iterator[int]:
    """Do as `open_directory` does, for a block."""
    inner = open_directory(parent, place, open_inside)
    try:
        yield inner
    finally:
        os.close(inner)


class _Level(NamedTuple):
    place: CanonicalPath
    identity: Identity
    inner: list[str]


class TreeRemoval:
    """Removes one directory tree; one directory of it is open at a time, and ``..`` leads back up.

    What another program removes meanwhile, as a writer does with its temporary files, is no error: the rest goes.

    Args:
        parent: descriptor of the directory that it is in.
        place: its path, for messages; its name is that in the parent.
        before_effect: called before every single effect; what it raises ends the removal.
        open_inside: how directories are opened, none on which something is mounted.
    """

    def __init__(
        self, parent: int, place: CanonicalPath, before_effect: Callable[[], None], open_inside: OpenInside
    ) -> None:
        self._parent, self._place = parent, place
        self._before_effect, self._open_inside = before_effect, open_inside
        self._current = -1
        self._levels: list[_Level] = []

    def run(self) -> None:
        """Remove it by its name."""
        with opened_inside(self._parent, self._place, self._open_inside) as root:
            self.of(root)

    def of(self, root: int) -> None:
        """Remove it.

        Args:
            root: its descriptor, from `opened_inside`.

        Raises:
            StorageFailure: it has too many levels; a part of it is removed.
        """
        is_empty = False
        while not is_empty:
            with suppress(NotFound):  # the directory that it was in is removed: begin again at the root
                self._empty(root)
                is_empty = True
        self._remove(self._parent, self._place)

    def _empty(self, root: int) -> None:
        self._current = os.dup(root)
        try:
            self._levels = [self._level(self._place)]
            while self._levels[-1].inner or len(self._levels) > 1:
                if self._levels[-1].inner:
                    self._go_down()
                else:
                    self._go_up()
        finally:
            os.close(self._current)

    def _go_down(self) -> None:
        place = self._levels[-1].place.child(self._levels[-1].inner.pop())
        refuse_too_deep(place, len(self._levels))
        with suppress(NotFound):
            self._enter(open_directory(self._current, place, self._open_inside))
            if identity(self._current)[0] != self._levels[0].identity[0]:
                raise MountRefused(path=place)
            self._levels.append(self._level(place))

    def _go_up(self) -> None:
        place = self._levels.pop().place
        with translated(place):
            self._enter(os.open("..", os.O_RDONLY | NO_FOLLOW, dir_fd=self._current))
        if identity(self._current) != self._levels[-1].identity:
            raise StorageFailure(path=place, detail="it was moved while it was removed; run again")
        self._remove(self._current, place)

    def _enter(self, directory: int) -> None:
        os.close(self._current)
        self._current = directory

    def _level(self, place: CanonicalPath) -> _Level:
        """Remove the files of the open directory, which may be gone; its directories come next."""
        inner: list[str] = []
        files: list[str] = []
        with translated(place), suppress(FileNotFoundError), os.scandir(self._current) as found:
            for entry in found:
                (inner if entry.is_dir(follow_symlinks=False) else files).append(entry.name)
        for name in files:
            with translated(place.child(name)), suppress(FileNotFoundError):
                self._before_effect()
                os.unlink(name, dir_fd=self._current)
        return _Level(place, identity(self._current), inner)

    def _remove(self, parent: int, place: CanonicalPath) -> None:
        with translated(place), suppress(FileNotFoundError):
            self._before_effect()
            os.rmdir(place.name, dir_fd=parent)

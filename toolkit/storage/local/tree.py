"""Trees below a base on a local disk, by directory descriptors: no symbolic link leads out, no path is too long."""

from __future__ import annotations

import errno
import os
import stat
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING

from toolkit.storage.deletion import names_below
from toolkit.storage.errors import MountRefused, NotFound, StorageFailure, SymlinkRefused
from toolkit.storage.local.bases import THROUGH, identity
from toolkit.storage.local.system import NO_FOLLOW, translated
from toolkit.storage.port import ContentSummary

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from toolkit.el import CanonicalPath
    from toolkit.storage.local.bases import Bases, Identity
    from toolkit.storage.local.system import OpenInside


_DEEPEST = 48
"""Levels that are walked with one open descriptor each; deeper directories are moved up first."""


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


@contextmanager
def opened_inside(parent: int, name: str, place: CanonicalPath, open_inside: OpenInside) -> Iterator[int]:
    """A descriptor of the directory `name` in the open directory `parent`.

    Raises:
        MountRefused: something is mounted on it.
    """
    with translated(place):
        try:
            inner = open_inside(parent, name)
        except OSError as error:
            if error.errno == errno.EXDEV:
                raise MountRefused(path=place) from error
            raise
    try:
        yield inner
    finally:
        os.close(inner)


class TreeRemoval:
    """Removes one directory tree; state: its device, and how many deep directories were moved up to its root.

    What somebody else takes away meanwhile, as a writer does with its temporary files, is no error: the rest goes.

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
        self._moved_up = 0
        self._device = 0

    def run(self) -> None:
        """Remove it by its name."""
        with opened_inside(self._parent, self._place.name, self._place, self._open_inside) as root:
            self.of(root)

    def of(self, root: int) -> None:
        """Remove it.

        Args:
            root: its descriptor, from `opened_inside`.
        """
        self._device = os.fstat(root).st_dev
        self._empty_until_nothing_moves(root)
        with translated(self._place), _gone_is_fine():
            self._before_effect()
            os.rmdir(self._place.name, dir_fd=self._parent)

    def _empty_until_nothing_moves(self, root: int) -> None:
        moved_before = -1
        while moved_before != self._moved_up:
            moved_before = self._moved_up
            self._empty(root, root, self._place, 0)

    def _empty(self, directory: int, root: int, place: CanonicalPath, depth: int) -> None:
        for name, is_directory in _entries(directory, place):
            inner = place.child(name)
            if not is_directory:
                with translated(inner), _gone_is_fine():
                    self._before_effect()
                    os.unlink(name, dir_fd=directory)
            elif depth < _DEEPEST:
                self._remove_directory(directory, root, inner, depth)
            else:
                self._move_up(directory, root, inner)

    def _remove_directory(self, directory: int, root: int, place: CanonicalPath, depth: int) -> None:
        try:
            with opened_inside(directory, place.name, place, self._open_inside) as inner:
                if os.fstat(inner).st_dev != self._device:
                    raise MountRefused(path=place)
                self._empty(inner, root, place, depth + 1)
        except NotFound:
            return
        with translated(place), _gone_is_fine():
            self._before_effect()
            os.rmdir(place.name, dir_fd=directory)

    def _move_up(self, directory: int, root: int, place: CanonicalPath) -> None:
        """A tree of any depth is removed with a bounded number of descriptors by bringing its deep end up."""
        with translated(place), _gone_is_fine():
            self._before_effect()
            while True:
                self._moved_up += 1
                target = f".feedctl-deep-{self._moved_up}"
                try:
                    os.rename(place.name, target, src_dir_fd=directory, dst_dir_fd=root)
                except OSError as error:
                    if error.errno not in {errno.ENOTEMPTY, errno.EEXIST, errno.ENOTDIR}:
                        raise
                else:
                    return


def _gone_is_fine() -> suppress:
    """Ignore that a path to be removed does not exist any more."""
    return suppress(FileNotFoundError)


def _entries(directory: int, place: CanonicalPath) -> list[tuple[str, bool]]:
    """Return the names in an open directory, and whether each is a directory; none when the directory is gone."""
    found: list[tuple[str, bool]] = []
    with translated(place), _gone_is_fine(), os.scandir(directory) as entries:
        found.extend((entry.name, entry.is_dir(follow_symlinks=False)) for entry in entries)
    return found


class ContentCount:
    """Counts what is in a directory, however deep it is: one descriptor is open, and ``..`` leads back up.

    What vanishes meanwhile counts as nothing.

    Args:
        place: its path, for messages.
    """

    def __init__(self, place: CanonicalPath) -> None:
        self._place = place
        self._files = self._directories = self._size = 0
        self._above: list[tuple[Identity, list[str]]] = []

    def of(self, root: int) -> ContentSummary:
        """All at and below it.

        Raises:
            StorageFailure: a directory was moved elsewhere while it was counted.
        """
        with translated(self._place):
            current = os.open(".", os.O_RDONLY | NO_FOLLOW, dir_fd=root)
            try:
                waiting = self._seen_in(current)
                while waiting or self._above:
                    if waiting:
                        current, waiting = self._down(current, waiting)
                    else:
                        current, waiting = self._up(current)
            finally:
                os.close(current)
        return ContentSummary(files=self._files, directories=self._directories, size=self._size)

    def _down(self, current: int, waiting: list[str]) -> tuple[int, list[str]]:
        """Into the next directory; one without directories is left at once."""
        try:
            inner = os.open(waiting.pop(), os.O_RDONLY | NO_FOLLOW, dir_fd=current)
        except (FileNotFoundError, NotADirectoryError):
            return current, waiting
        deeper: list[str] = []
        try:
            deeper = self._seen_in(inner)
        finally:
            if not deeper:
                os.close(inner)
        if not deeper:
            return current, waiting
        self._above.append((identity(current), waiting))
        os.close(current)
        return inner, deeper

    def _up(self, current: int) -> tuple[int, list[str]]:
        expected, waiting = self._above.pop()
        upper = os.open("..", os.O_RDONLY | NO_FOLLOW, dir_fd=current)
        if identity(upper) != expected:
            os.close(upper)
            raise StorageFailure(path=self._place, detail="directories were moved while they were counted")
        os.close(current)
        return upper, waiting

    def _seen_in(self, directory: int) -> list[str]:
        """Counts the files of an open directory; returns the names of its directories."""
        self._directories += 1
        inner = []
        with os.scandir(directory) as entries:
            for entry in entries:
                if entry.is_dir(follow_symlinks=False):
                    inner.append(entry.name)
                elif entry.is_file(follow_symlinks=False):
                    with suppress(FileNotFoundError):
                        self._size += entry.stat(follow_symlinks=False).st_size
                        self._files += 1
        return inner

"""Removal below a base on a local disk: by directory descriptors, so that no symbolic link can lead out of it."""

from __future__ import annotations

import errno
import os
import stat
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING

from toolkit.storage.bounds import names_below
from toolkit.storage.errors import MountRefused, SymlinkRefused
from toolkit.storage.local_errors import translated

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from toolkit.el import CanonicalPath

_DEEPEST = 48
"""Levels that are walked with one open descriptor each; deeper directories are moved up first."""

_NO_FOLLOW = os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
# O_PATH passes through a directory that may be entered but not listed; other systems than Linux lack it.
_THROUGH = getattr(os, "O_PATH", os.O_RDONLY)


@contextmanager
def opened_parent(path: CanonicalPath, below: CanonicalPath) -> Iterator[int]:
    """A descriptor of the directory above `path`, reached from `below` without following a symbolic link.

    `below` itself, and what is above it, may be reached through links: an operator placed those.

    Raises:
        OutsideBase: `path` is not strictly below `below`.
        SymlinkRefused: a link is on the way.
    """
    parts = names_below(path, below)
    with translated(below):
        current = os.open(below.path, _THROUGH | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        for depth, part in enumerate(parts[:-1]):
            place = _ancestor(path, len(parts) - 1 - depth)
            current = _step(current, part, place)
        yield current
    finally:
        os.close(current)


def _ancestor(path: CanonicalPath, levels: int) -> CanonicalPath:
    for _ in range(levels):
        path = path.parent
    return path


def _step(current: int, part: str, place: CanonicalPath) -> int:
    with translated(place):
        refuse_symlink(current, part, place)
        following = os.open(part, _THROUGH | _NO_FOLLOW, dir_fd=current)
    os.close(current)
    return following


def refuse_symlink(parent: int, name: str, place: CanonicalPath) -> os.stat_result:
    """What `name` in the open directory `parent` is; a symbolic link is refused."""
    found = os.stat(name, dir_fd=parent, follow_symlinks=False)
    if stat.S_ISLNK(found.st_mode):
        raise SymlinkRefused(path=place)
    return found


def remove_entry(parent: int, name: str, place: CanonicalPath, before_effect: Callable[[], None]) -> None:
    """Remove `name` in the open directory `parent`, with all below it when it is a directory.

    Args:
        parent: an open descriptor.
        name: the entry's name in it.
        place: the entry's path, for messages.
        before_effect: called before every single effect; what it raises ends the removal.
    """
    with translated(place):
        is_directory = stat.S_ISDIR(os.stat(name, dir_fd=parent, follow_symlinks=False).st_mode)
        if not is_directory:
            before_effect()
            os.unlink(name, dir_fd=parent)
            return
    _TreeRemoval(parent, name, place, before_effect).run()


class _TreeRemoval:
    """Removes one directory tree; state: its device, and how many deep directories were moved up to its root.

    What somebody else takes away meanwhile, as a writer does with its temporary files, is no error: the rest goes.
    """

    def __init__(self, parent: int, name: str, place: CanonicalPath, before_effect: Callable[[], None]) -> None:
        self._parent, self._name, self._place = parent, name, place
        self._before_effect = before_effect
        self._moved_up = 0
        self._device = 0

    def run(self) -> None:
        with translated(self._place):
            root = os.open(self._name, os.O_RDONLY | _NO_FOLLOW, dir_fd=self._parent)
            self._device = os.fstat(root).st_dev
        try:
            self._empty_until_nothing_moves(root)
        finally:
            os.close(root)
        with translated(self._place), _gone_is_fine():
            self._before_effect()
            os.rmdir(self._name, dir_fd=self._parent)

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
        with translated(place):
            try:
                inner = os.open(place.name, os.O_RDONLY | _NO_FOLLOW, dir_fd=directory)
            except FileNotFoundError:
                return
        try:
            if os.fstat(inner).st_dev != self._device:
                raise MountRefused(path=place)
            self._empty(inner, root, place, depth + 1)
        finally:
            os.close(inner)
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
    """What was to be removed is not there any more."""
    return suppress(FileNotFoundError)


def _entries(directory: int, place: CanonicalPath) -> list[tuple[str, bool]]:
    """What is in an open directory, and whether it is a directory; nothing, when the directory itself is gone."""
    found: list[tuple[str, bool]] = []
    with translated(place), _gone_is_fine(), os.scandir(directory) as entries:
        found.extend((entry.name, entry.is_dir(follow_symlinks=False)) for entry in entries)
    return found

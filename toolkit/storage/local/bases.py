"""The bases on local disks: which directory each of them was when the run first looked, and how it was reached.

Who may write the directory above a base can exchange it for another one, or for a link, while a run is between its plan
and its deletions. So a base is known by device and inode from the first look on, and compared whenever it is opened.
"""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Iterable, Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeAlias

from toolkit.el import CanonicalPath
from toolkit.storage.errors import BaseBehindLink, BaseChanged
from toolkit.storage.local.system import NO_FOLLOW, owner_name, translated

Identity: TypeAlias = tuple[int, int]
"""Device and inode."""

# O_PATH passes through a directory that may be entered but not listed; other systems than Linux lack it.
THROUGH = getattr(os, "O_PATH", os.O_RDONLY)
_MOST_LINKS = 40
_ROOT = 0


@dataclass(frozen=True, kw_only=True)
class Bases:
    """Opens bases; safe between threads.

    Attributes:
        known: paths of the bases of the run's feeds; each is what it was when something at or below it was first asked.
        trusted_links: paths of symbolic links that a base may be, or be reached through, of any owner.
    """

    known: frozenset[str] = frozenset()
    trusted_links: frozenset[str] = frozenset()
    _identities: dict[str, Identity] = field(default_factory=dict, init=False, repr=False)

    def above(self, path: CanonicalPath) -> CanonicalPath | None:
        """The nearest known base that the path is or is below; None: there is none."""
        if not self.known:
            return None
        text = path.path
        while text not in self.known:
            if text == "/":
                return None
            text = text.rpartition("/")[0] or "/"
        return path if text == path.path else type(path)(path.scheme, path.authority, text)

    @contextmanager
    def opened(self, base: CanonicalPath) -> Iterator[int]:
        """A descriptor of the base, to go on from; see `open`."""
        current = self.open(base)
        try:
            yield current
        finally:
            os.close(current)

    def open(self, base: CanonicalPath) -> int:
        """A descriptor of the base, which the caller closes.

        Raises:
            BaseChanged: it is another directory than at the first look, or gone since.
            BaseBehindLink: at the first look, that a link on the way to it is not to be trusted.
        """
        expected = self._identities.get(base.path)
        with translated(base):
            if expected is None:
                opened = _Way(base=base, trusted=self.trusted_links).walked()
                expected = self._identities.setdefault(base.path, identity(opened))
            else:
                opened = _opened_again(base)
            if identity(opened) == expected:
                return opened
        os.close(opened)
        raise BaseChanged(path=base)


def identity(descriptor: int) -> Identity:
    """Return the identity of an open directory."""
    found = os.fstat(descriptor)
    return found.st_dev, found.st_ino


def _opened_again(base: CanonicalPath) -> int:
    try:
        return os.open(base.path, THROUGH | os.O_DIRECTORY | os.O_CLOEXEC)
    except FileNotFoundError as error:
        raise BaseChanged(path=base, detail="it is gone") from error


@dataclass(kw_only=True)
class _Way:
    """The way from the root to a base, name by name, with the links on it looked at before they are followed."""

    base: CanonicalPath
    trusted: frozenset[str]
    _place: list[str] = field(default_factory=list, init=False)
    _waiting: list[str] = field(init=False)
    _links: int = field(default=0, init=False)

    def __post_init__(self) -> None:
        self._waiting = _reversed_names(self.base.path)

    def walked(self) -> int:
        """A descriptor of the base.

        Raises:
            BaseBehindLink: a link is not to be trusted.
            OSError: a directory cannot be passed through.
        """
        with ExitStack() as stack:
            current = os.open("/", THROUGH | NO_FOLLOW)
            stack.callback(lambda: os.close(current))  # whichever it is by then
            while self._waiting:
                following = self._step(current, self._waiting.pop())
                os.close(current)
                current = following
            stack.pop_all()
        return current

    def _step(self, current: int, name: str) -> int:
        if name == "..":
            self._place[-1:] = []
            return os.open("..", THROUGH | NO_FOLLOW, dir_fd=current)
        try:
            following = os.open(name, THROUGH | NO_FOLLOW, dir_fd=current)
        except NotADirectoryError:
            return self._follow(current, name)
        self._place.append(name)
        return following

    def _follow(self, current: int, name: str) -> int:
        """A link's owner and target are read from one descriptor, so that it cannot be exchanged between the two."""
        link = os.open(name, THROUGH | os.O_NOFOLLOW | os.O_CLOEXEC, dir_fd=current)
        try:
            found = os.fstat(link)
            if not stat.S_ISLNK(found.st_mode):
                raise NotADirectoryError(errno.ENOTDIR, os.strerror(errno.ENOTDIR))
            self._refuse_link(f"/{'/'.join((*self._place, name))}", found.st_uid)
            target = os.readlink("", dir_fd=link)
        finally:
            os.close(link)
        self._waiting.extend(_reversed_names(target))
        if not target.startswith("/"):
            return os.dup(current)
        self._place.clear()
        return os.open("/", THROUGH | NO_FOLLOW)

    def _refuse_link(self, link: str, owner: int) -> None:
        self._links += 1
        if self._links > _MOST_LINKS:
            raise OSError(errno.ELOOP, os.strerror(errno.ELOOP))
        is_base = not self._waiting
        if link not in self.trusted and (is_base or owner not in {_ROOT, os.geteuid()}):
            raise BaseBehindLink(path=self.base, link=link, owner=owner_name(owner))


def _reversed_names(path: str) -> list[str]:
    return [name for name in reversed(path.split("/")) if name not in {"", "."}]


class RealPlaces:
    """Knows paths that are one directory: through links, or because one is mounted on the other.

    Nothing is refused here; a place that cannot be looked at is the one that it is written as.
    """

    def __init__(self) -> None:
        self._by_identity: dict[Identity, CanonicalPath] = {}

    def of(self, path: CanonicalPath) -> CanonicalPath:
        """The same path for all names of one directory on a local disk; other stores' paths stay as they are."""
        if not path.is_local:
            return path
        real = type(path)(path.scheme, path.authority, os.path.realpath(path.path))
        with suppress(OSError):
            found = Path(real.path).stat()
            return self._by_identity.setdefault((found.st_dev, found.st_ino), real)
        return real

    def of_all(self, paths: Iterable[str]) -> Mapping[str, str]:
        """Do as `of` does for many local paths at once: the directory around several of them is resolved once."""
        found: dict[str, str] = {}
        around: dict[str, str] = {}
        for path in paths:
            if path not in found:
                above, _, name = path.rpartition("/")
                if above not in around:
                    around[above] = os.path.realpath(above or "/").rstrip("/")
                found[path] = self._real_in(around[above], name)
        return found

    def _real_in(self, directory: str, name: str) -> str:
        """Return the real path of a name in a directory whose path has no links."""
        real = f"{directory}/{name}"
        with suppress(OSError):
            status = os.lstat(real)
            if stat.S_ISLNK(status.st_mode):
                real = os.path.realpath(real)
                status = Path(real).stat()
            return self._by_identity.setdefault((status.st_dev, status.st_ino), CanonicalPath("file", "", real)).path
        return real

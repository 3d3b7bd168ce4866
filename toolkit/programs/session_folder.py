"""Directories of shared applications on this machine, each locked as long as its runner lives.

A runner that is killed leaves its directory, and perhaps its application. Whoever starts or looks next ends both,
wherever logs go: the lock proves that the runner is dead, and the environment of a process whose it is.
"""

from __future__ import annotations

import fcntl
import os
import shutil
import stat
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from toolkit.programs.left_over import end_processes
from toolkit.programs.step_log import mark_of

_PREFIX = "feedctl-session-"
_LOCK, _UNLOCKED = "host", "host.new"
"""It has the mark of the application, and gets its name when it is locked."""
_LONGEST_PLACE = 70
"""A path of a Unix socket has at most 107 octets; the directory and name of this one have 32."""
_MOST_BYTES = 4096


@dataclass(frozen=True, kw_only=True, slots=True)
class SessionFolder:
    """A directory for its owner alone, with the socket of an application.

    Attributes:
        path: of the directory.
        lock: an open file, whose lock ends with this process.
    """

    path: Path
    lock: int

    @property
    def socket(self) -> Path:
        """The socket that the application listens on."""
        return self.path / "socket"

    def remove(self) -> None:
        """Remove it; nothing of the application runs any more."""
        shutil.rmtree(self.path, ignore_errors=True)
        os.close(self.lock)


def new_folder(log: Path) -> SessionFolder:
    """Return a new directory, in which the path of a socket is not too long.

    Args:
        log: of the application, by which its processes are known.

    Raises:
        OSError: none can be made.
    """
    path = Path(tempfile.mkdtemp(prefix=_PREFIX, dir=_place()))
    try:
        lock = os.open(path / _UNLOCKED, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
        fcntl.flock(lock, fcntl.LOCK_EX)
        os.write(lock, os.fsencode(mark_of(log)))
        (path / _UNLOCKED).rename(path / _LOCK)
    except OSError:
        shutil.rmtree(path, ignore_errors=True)
        raise
    return SessionFolder(path=path, lock=lock)


def end_dead_sessions(*, grace_seconds: float) -> frozenset[int]:
    """End the applications of this user's dead runners, and remove their directories.

    Args:
        grace_seconds: between asking their processes to end and ending them.

    Returns:
        what could not be ended.
    """
    left = frozenset[int]()
    for path in _place().glob(f"{_PREFIX}*"):
        with _dead(path) as mark:
            if mark is None:
                continue
            still = end_processes(Path("/", mark), grace_seconds=grace_seconds)
            if not still:
                shutil.rmtree(path, ignore_errors=True)
            left |= still
    return left


@contextmanager
def _dead(path: Path) -> Iterator[str | None]:
    """Yield the mark of an application whose runner is dead; None: it lives, or the directory is another user's."""
    lock = None
    try:
        with suppress(OSError):
            lock = os.open(path / _LOCK, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
        yield None if lock is None else _mark_in(path, lock)
    finally:
        if lock is not None:
            os.close(lock)


def _mark_in(path: Path, lock: int) -> str | None:
    try:
        found = path.lstat()
        if not stat.S_ISDIR(found.st_mode) or found.st_uid != os.geteuid() or os.fstat(lock).st_uid != os.geteuid():
            return None
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:  # its runner lives, or has removed it meanwhile
        return None
    return os.fsdecode(os.read(lock, _MOST_BYTES)) or None


def _place() -> Path:
    is_long = len(os.fsencode(tempfile.gettempdir())) > _LONGEST_PLACE
    return Path("/tmp" if is_long else tempfile.gettempdir())  # noqa: S108 - mkdtemp's

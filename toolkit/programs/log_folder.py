"""Directories of logs below `FEEDCTL_LOG_DIR`: this user's alone, and reached without a link.

Other users of the machine may write into the directory of all logs. What they put there must neither be written to nor
be printed as a log.
"""

from __future__ import annotations

import errno
import os
import re
import stat
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

from toolkit.errors import InvalidInput

_OWNER_ONLY, _FOLDER_OWNER_ONLY = 0o600, 0o700
_NEW = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_OTHERS_WRITE = stat.S_IWGRP | stat.S_IWOTH


class UnsafeLog(InvalidInput):
    """A file or folder on the path of a log belongs to another user, or is a link."""

    def __init__(self, *, path: Path, found: str) -> None:
        todo = "remove it, or set FEEDCTL_LOG_DIR to a directory that this user alone may write"
        super().__init__(f"{path} {found}, so it is not used for logs; {todo}")


def begin_log(base: Path, log: Path) -> None:
    """Create the file of a log anew, with the directories above it that are missing, for this user alone.

    A log of the same name is put aside: its run was recorded in a state of the ledger that was replaced by a backup.

    Args:
        base: the directory of all logs; it may be a link, since the operator names it.
        log: strictly below it.

    Raises:
        UnsafeLog: a directory below the base is a link, or not this user's alone.
        OSError: it cannot be made.
    """
    for directory in reversed((base, *base.parents)):
        if not directory.is_dir():
            directory.mkdir(mode=_FOLDER_OWNER_ONLY, exist_ok=True)
    *names, name = log.relative_to(base).parts
    with _opened(base, names, is_new=True) as folder:
        _put_aside(folder, name)
        os.close(os.open(name, _NEW, _OWNER_ONLY, dir_fd=folder))


def require_own_folder(base: Path, log: Path) -> None:
    """Return when the directories from the base down to a log are this user's alone, and none is a link.

    Raises:
        UnsafeLog: one of them is not.
        OSError: one of them is not there, or cannot be looked at.
    """
    with _opened(base, log.relative_to(base).parts[:-1], is_new=False):
        return


def opened_log(file: Path) -> int:
    """Open a file of a log for reading; its directory is this user's alone.

    Raises:
        UnsafeLog: it is a link, not a file, or another user's.
        OSError: it cannot be opened.
    """
    try:
        number = os.open(file, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError as error:
        if error.errno == errno.ELOOP:
            raise UnsafeLog(path=file, found="is a link") from error
        raise
    found = os.fstat(number)
    if not stat.S_ISREG(found.st_mode) or found.st_uid != os.geteuid():
        os.close(number)
        raise UnsafeLog(path=file, found="is not a file of this user")
    return number


@contextmanager
def _opened(base: Path, names: Sequence[str], *, is_new: bool) -> Iterator[int]:
    """The directory below the base, opened name by name."""
    number = os.open(base, _FOLDER & ~os.O_NOFOLLOW)
    try:
        path = base
        for name in names:
            path = path / name
            if is_new:
                with suppress(FileExistsError):
                    os.mkdir(name, _FOLDER_OWNER_ONLY, dir_fd=number)
            below = _folder(name, number, path)
            os.close(number)
            number = below
            _require_own(os.fstat(number), path)
        yield number
    finally:
        os.close(number)


def _folder(name: str, above: int, path: Path) -> int:
    try:
        return os.open(name, _FOLDER, dir_fd=above)
    except OSError as error:
        if error.errno in {errno.ELOOP, errno.ENOTDIR}:
            raise UnsafeLog(path=path, found="is a link or a file, expected a directory") from error
        raise


def _require_own(found: os.stat_result, path: Path) -> None:
    if found.st_uid != os.geteuid():
        raise UnsafeLog(path=path, found=f"belongs to the user {found.st_uid}, expected {os.geteuid()}")
    if found.st_mode & _OTHERS_WRITE:
        raise UnsafeLog(path=path, found="may be written by others (chmod go-w)")


def _put_aside(folder: int, name: str) -> None:
    own = re.compile(re.escape(name) + r"(\.[0-9]+)?")
    stamp = time.time_ns()
    for each in os.listdir(folder):
        if own.fullmatch(each):
            os.rename(each, f"before-{stamp}-{each}", src_dir_fd=folder, dst_dir_fd=folder)

"""Operating system's view of local files: errors, owners, mounts."""

from __future__ import annotations

import ctypes
import errno
import grp
import os
import platform
import pwd
import sys
from collections.abc import Callable, Sequence
from contextlib import ExitStack, contextmanager, suppress
from functools import cache, lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

from toolkit.storage.errors import (
    AlreadyExists,
    BadName,
    NotEmpty,
    NotFound,
    PermissionDenied,
    QuotaExceeded,
    StorageError,
    StorageFailure,
    SymlinkRefused,
    Unreachable,
    Unsupported,
    WrongKind,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

    from toolkit.el import CanonicalPath


_BY_NUMBER: dict[int, type[StorageError]] = {
    errno.ENOENT: NotFound,
    errno.EACCES: PermissionDenied,
    errno.EPERM: PermissionDenied,
    errno.EROFS: PermissionDenied,
    errno.EEXIST: AlreadyExists,
    errno.ENOTEMPTY: NotEmpty,
    errno.ENOTDIR: WrongKind,
    errno.EISDIR: WrongKind,
    errno.ENOSPC: QuotaExceeded,
    errno.EDQUOT: QuotaExceeded,
    errno.ENAMETOOLONG: BadName,
    errno.ENOTSUP: Unsupported,
    errno.ELOOP: SymlinkRefused,
    # A network file system that went away answers with these.
    errno.EIO: Unreachable,
    errno.ESTALE: Unreachable,
    errno.ETIMEDOUT: Unreachable,
    errno.ENOTCONN: Unreachable,
    errno.EHOSTDOWN: Unreachable,
}


@contextmanager
def translated(path: CanonicalPath) -> Iterator[None]:
    """Turn an `OSError` of the body into a storage error about `path`."""
    try:
        yield
    except OSError as error:
        kind = _BY_NUMBER.get(error.errno or 0, StorageFailure)
        raise kind(path=path, detail=error.strerror or str(error)) from error


@lru_cache(maxsize=1024)
def owner_name(user_id: int) -> str:
    """The name of a user id, or the id itself."""
    try:
        return pwd.getpwuid(user_id).pw_name
    except KeyError:
        return str(user_id)


@lru_cache(maxsize=1024)
def group_name(group_id: int) -> str:
    """The name of a group id, or the id itself."""
    try:
        return grp.getgrgid(group_id).gr_name
    except KeyError:
        return str(group_id)


def user_number(name: str | None) -> int:
    """The id of a user name, or of a number; -1, which changes nothing, for None.

    Raises:
        KeyError: the machine knows no such user.
    """
    if name is None:
        return -1
    return int(name) if name.isdecimal() else pwd.getpwnam(name).pw_uid


def group_number(name: str | None) -> int:
    """The id of a group name, or of a number; -1, which changes nothing, for None.

    Raises:
        KeyError: the machine knows no such group.
    """
    if name is None:
        return -1
    return int(name) if name.isdecimal() else grp.getgrnam(name).gr_gid


NO_FOLLOW = os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC

OpenInside: TypeAlias = Callable[[int, str], int]
"""Opens the directory of a name in an open one, for listing; `OSError` EXDEV when another mount begins there."""

_OPENAT2 = 437
_SAME_NUMBER = frozenset({"x86_64", "i686", "aarch64", "armv7l", "ppc64le", "s390x", "riscv64", "loongarch64"})
"""Machines on which the call is known to have that number; MIPS and Alpha count their calls in another way."""
_NO_XDEV, _NO_SYMLINKS, _BENEATH = 0x01, 0x04, 0x08


class _OpenHow(ctypes.Structure):
    """`struct open_how` of <linux/openat2.h>."""

    _fields_ = (("flags", ctypes.c_uint64), ("mode", ctypes.c_uint64), ("resolve", ctypes.c_uint64))


_HOW = _OpenHow(os.O_RDONLY | NO_FOLLOW, 0, _NO_XDEV | _NO_SYMLINKS | _BENEATH)


@cache
def _system_call() -> Callable[..., int]:
    if sys.platform != "linux" or platform.machine() not in _SAME_NUMBER:
        raise OSError(errno.ENOSYS, os.strerror(errno.ENOSYS))
    call = ctypes.CDLL(None, use_errno=True).syscall
    call.argtypes = (ctypes.c_long, ctypes.c_int, ctypes.c_char_p, ctypes.c_void_p, ctypes.c_size_t)
    call.restype = ctypes.c_long
    return call


def by_openat2(parent: int, name: str) -> int:
    """The kernel itself refuses (Linux 5.6, unless a sandbox forbids the call)."""
    call = _system_call()
    while True:
        opened = call(_OPENAT2, parent, os.fsencode(name), ctypes.byref(_HOW), ctypes.sizeof(_HOW))
        if opened >= 0:
            return opened
        number = ctypes.get_errno()
        if number != errno.EINTR:
            raise OSError(number, os.strerror(number), name)


def by_mount_id(parent: int, name: str) -> int:
    """The numbers of the mounts that both directories are on, as /proc tells them."""
    with ExitStack() as stack:
        opened = os.open(name, os.O_RDONLY | NO_FOLLOW, dir_fd=parent)
        stack.callback(os.close, opened)
        is_same = _mount_id(opened) == _mount_id(parent)
        stack.pop_all()
    return _same(opened, name, is_same=is_same)


def _same(opened: int, name: str, *, is_same: bool) -> int:
    if is_same:
        return opened
    os.close(opened)
    raise OSError(errno.EXDEV, os.strerror(errno.EXDEV), name)


def _mount_id(descriptor: int) -> str:
    for line in Path(f"/proc/self/fdinfo/{descriptor}").read_text(encoding="ascii").splitlines():
        if line.startswith("mnt_id:"):
            return line
    raise OSError(errno.ENOSYS, os.strerror(errno.ENOSYS))


def by_device(parent: int, name: str) -> int:
    """On systems that have no bind mounts, every mount has a device number of its own."""
    opened = os.open(name, os.O_RDONLY | NO_FOLLOW, dir_fd=parent)
    return _same(opened, name, is_same=os.fstat(opened).st_dev == os.fstat(parent).st_dev)


def _refused(parent: int, name: str) -> int:  # noqa: ARG001 - as every other way
    message = "this machine does not tell what is mounted (neither openat2 nor /proc), so no directory is removed"
    raise OSError(errno.ENOSYS, message, name)


OPENERS: tuple[OpenInside, ...] = (by_openat2, by_mount_id) if sys.platform == "linux" else (by_device,)
"""The best first."""


def first_opener(openers: Sequence[OpenInside] = OPENERS) -> OpenInside:
    """The first of the ways that works on this machine; when none does, one that refuses every directory."""
    root = os.open("/", os.O_RDONLY | NO_FOLLOW)
    try:
        for opener in openers:
            with suppress(OSError):
                os.close(opener(root, "."))
                return opener
    finally:
        os.close(root)
    return _refused

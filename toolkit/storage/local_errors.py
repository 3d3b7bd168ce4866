"""The operating system's error numbers as storage errors."""

from __future__ import annotations

import errno
from contextlib import contextmanager
from typing import TYPE_CHECKING

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

"""Writing files of a local disk: under a temporary name beside the target first, at once or in ranges."""

from __future__ import annotations

import errno
import os
import secrets
import stat
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from typing_extensions import override

from toolkit.storage.base import BasicFileSystem
from toolkit.storage.local.system import translated
from toolkit.storage.multipart import MultipartUpload, UploadedPart, in_order
from toolkit.storage.port import OWN_PREFIX

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from typing import BinaryIO

    from toolkit.el import CanonicalPath


_NEW = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC
_AGAIN = os.O_WRONLY | os.O_NOFOLLOW | os.O_CLOEXEC
_OWNER_ONLY = 0o600
_PART_BYTES = 1 << 20


class LocalWriting(BasicFileSystem):
    """The part of `FileSystem` that writes files.

    Args:
        before_effect: called before every single change.
    """

    def __init__(self, before_effect: Callable[[], None]) -> None:
        self._before_effect = before_effect

    @override
    def write(self, path: CanonicalPath, chunks: Iterable[bytes], *, overwrite: bool = True) -> None:
        """Create a new file for its owner alone; keep the permission of a file that is replaced."""
        temporary = _temporary(path, secrets.token_hex(8))
        self._before_effect()
        with translated(path):
            try:
                with os.fdopen(os.open(temporary, _NEW, _OWNER_ONLY), "wb") as stream:
                    stream.writelines(chunks)
                    _publish(stream, temporary, Path(path.path), overwrite=overwrite)
            finally:
                _remove(temporary)

    @override
    def start_upload(self, path: CanonicalPath, size: int) -> MultipartUpload:
        """Create the file with its full size, and no bytes yet."""
        upload = MultipartUpload(path=path, size=size, part_bytes=_PART_BYTES, token=secrets.token_hex(8))
        self._before_effect()
        with translated(path), os.fdopen(os.open(_temporary_of(upload), _NEW, _OWNER_ONLY), "wb") as stream:
            stream.truncate(size)
        return upload

    @override
    def put_range(self, upload: MultipartUpload, offset: int, chunks: Iterable[bytes]) -> tuple[UploadedPart, ...]:
        """Sync the range before this returns, since another process may complete the file."""
        self._before_effect()
        with translated(upload.path), os.fdopen(os.open(_temporary_of(upload), _AGAIN), "wb") as stream:
            stream.seek(offset)
            stream.writelines(chunks)
            size = stream.tell() - offset
            stream.flush()
            os.fsync(stream.fileno())
        return (UploadedPart(offset, size, ""),)

    @override
    def complete_upload(
        self, upload: MultipartUpload, parts: Iterable[UploadedPart], *, overwrite: bool = True
    ) -> None:
        in_order(upload, parts)
        temporary = _temporary_of(upload)
        self._before_effect()
        with translated(upload.path), os.fdopen(os.open(temporary, _AGAIN), "wb") as stream:
            _publish(stream, temporary, Path(upload.path.path), overwrite=overwrite)
        _remove(temporary)

    @override
    def abort_upload(self, upload: MultipartUpload) -> None:
        with translated(upload.path):
            _remove(_temporary_of(upload))

    @override
    def abort_uploads(self, below: CanonicalPath) -> int:
        return 0


def _temporary(path: CanonicalPath, token: str) -> Path:
    """The name must not depend on the target's, which may be as long as the disk allows."""
    return Path(path.parent.path) / f"{OWN_PREFIX}-writing-{token}"


def _temporary_of(upload: MultipartUpload) -> Path:
    return _temporary(upload.path, upload.token)


def _publish(stream: BinaryIO, temporary: Path, target: Path, *, overwrite: bool) -> None:
    """Give a file that is written to the end its name."""
    if overwrite:
        _keep_permission(stream.fileno(), target)
    stream.flush()
    os.fsync(stream.fileno())
    if overwrite:
        temporary.replace(target)
    else:
        os.link(temporary, target)


def sync_directory(directory: Path) -> None:
    """Sync the names in a directory to the disk, if the directory may be opened and its file system can sync it."""
    try:
        opened = os.open(directory, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    except PermissionError:
        return
    try:
        os.fsync(opened)
    except OSError as error:
        if error.errno not in {errno.EINVAL, errno.ENOTSUP}:
            raise
    finally:
        os.close(opened)


def _remove(temporary: Path) -> None:
    with suppress(FileNotFoundError, NotADirectoryError):
        temporary.unlink()


def _keep_permission(descriptor: int, replaced: Path) -> None:
    """A link is replaced itself, and has no permission of its own."""
    with suppress(FileNotFoundError, NotADirectoryError):
        found = os.lstat(replaced)
        if stat.S_ISREG(found.st_mode):
            os.fchmod(descriptor, stat.S_IMODE(found.st_mode) & 0o777)

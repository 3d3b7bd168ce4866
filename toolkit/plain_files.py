"""Reading and replacing of files in folders that others may write to."""

from __future__ import annotations

import os
import stat
import threading
from contextlib import suppress
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

_MAKE = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC
_READ = os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC


class NotPlain(OSError):  # noqa: N818 - named for what was found
    """A pipe, a directory, a device or a file that is too large.

    Args:
        path: of it.
        found: in words.
    """

    def __init__(self, *, path: Path, found: str) -> None:
        super().__init__(f"{path} {found}")


def read_plain(path: Path, most: int, *, follow: bool = True) -> bytes:
    """Return the content of a file; a pipe is never waited for.

    Args:
        path: of the file.
        most: bytes that it may have.
        follow: the path may be a symbolic link.

    Raises:
        NotPlain: it is not a file, or has more bytes.
        OSError: it cannot be read.
    """
    with os.fdopen(os.open(path, _READ if follow else _READ | os.O_NOFOLLOW), "rb") as file:
        if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
            raise NotPlain(path=path, found="is not a file")
        content = file.read(most + 1)
    if len(content) > most:
        raise NotPlain(path=path, found=f"has more than {most:,} bytes")
    return content


def replace_file(path: Path, content: bytes, mode: int | None = None) -> None:
    """Write a file as a whole or not at all; a link of its name is replaced, and never followed.

    Args:
        path: of the file, in a folder that exists.
        content: of the file.
        mode: permissions; None: those of the file that is there, else the usual ones.

    Raises:
        OSError: it cannot be written; a file that was there is unchanged.
    """
    beside = path.with_name(f".{path.name}.{os.getpid()}.{threading.get_ident()}")
    beside.unlink(missing_ok=True)  # of a killed process of this number, or a link that must not say what is written
    try:
        with os.fdopen(os.open(beside, _MAKE, 0o666 if mode is None else mode), "wb") as file:
            file.write(content)
        if mode is None:
            with suppress(FileNotFoundError):
                beside.chmod(stat.S_IMODE(path.stat().st_mode))
        beside.replace(path)
    finally:
        beside.unlink(missing_ok=True)

"""Reading of files in folders that others may write to."""

from __future__ import annotations

import os
import stat
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

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

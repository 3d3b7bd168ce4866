"""A file of HDFS as a binary stream, each read of which has a time limit."""

from __future__ import annotations

import io
from collections.abc import Callable
from typing import TYPE_CHECKING

from toolkit.storage.errors import Unreachable

if TYPE_CHECKING:
    from _typeshed import WriteableBuffer
    from hdfs_native import FileReader

BUFFER = 1 << 20
"""Bytes that are fetched at once when a reader takes less."""

_AT_ONCE = 8 << 20


class HdfsStream(io.RawIOBase):
    """Reads forward, or anywhere after `seek`.

    Args:
        reader: the library's open file.
        asked: runs one call within its time limit, and turns its error into one of the storage.
        lost: the error for a stream whose last read was not answered: its position is not known any more.
    """

    def __init__(
        self, reader: FileReader, asked: Callable[[Callable[[], bytes]], bytes], lost: Callable[[], Unreachable]
    ) -> None:
        self._reader, self._asked, self._lost = reader, asked, lost
        self._is_lost = False

    def readable(self) -> bool:
        """It is."""
        return True

    def seekable(self) -> bool:
        """It is."""
        return True

    def tell(self) -> int:
        """The position of the next byte."""
        return self._reader.tell()

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        """Go to another position."""
        starts = {io.SEEK_SET: 0, io.SEEK_CUR: self._reader.tell(), io.SEEK_END: len(self._reader)}
        # The library refuses a position behind the end, where a file has nothing to read.
        place = min(max(starts[whence] + offset, 0), len(self._reader))
        self._reader.seek(place)
        return place

    def readinto(self, buffer: WriteableBuffer) -> int:
        """The next bytes, 0 of them at the end."""
        view = memoryview(buffer).cast("B")
        found = self._next(min(len(view), _AT_ONCE))
        view[: len(found)] = found
        return len(found)

    def readall(self) -> bytes:
        """All that is left, in pieces that each have the time limit."""
        return b"".join(iter(lambda: self._next(_AT_ONCE), b""))

    def _next(self, size: int) -> bytes:
        if self._is_lost:
            raise self._lost()
        self._is_lost = True
        found = self._asked(lambda: self._reader.read(size))
        self._is_lost = False
        return found
